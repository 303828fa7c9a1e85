"""The true parameters of the embedded treebank, which a fitted model should recover.

By the generative story of Li, Wang & Eisner 2019, section 2, every constituent sprouts a pair of punctemes
from `true_attach`, and a channel edits every slot with the probabilities `TRUE_EDITS`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf, log
from typing import Literal

from pyropunct.text.marks import ABBREVIATION_DOT, START, Surface
from pyropunct.treebank.tree import Tree

# What the rules look at

CAN_BE_ASKED = frozenset({"nsubj", "obj", "obl", "advmod"})
AUXILIARIES = frozenset({"aux", "cop"})
WH_WORDS = frozenset({"who", "what", "which", "where", "when", "why", "how"})


@dataclass(frozen=True)
class Constituent:
    """A word of a tree, by its number, with all its descendants; relations lack their subtype."""

    tree: Tree
    word: int

    @property
    def relation(self) -> str:
        """The relation to its head, subtype included."""
        return self.tree.relations[self.word - 1]

    @property
    def tag(self) -> str:
        """The tag of its head word."""
        return self.tree.tags[self.word - 1]

    @property
    def form(self) -> str:
        """The form of its head word."""
        return self.tree.forms[self.word - 1]

    @property
    def head(self) -> "Constituent":
        """The constituent around it.  The root has none."""
        return Constituent(self.tree, self.tree.heads[self.word - 1])

    @property
    def on_left(self) -> bool:
        """Whether it stands to the left of its head."""
        return self.word < self.tree.heads[self.word - 1]

    @property
    def children(self) -> list["Constituent"]:
        """The constituents directly inside it, from left to right."""
        return [Constituent(self.tree, word) for word in self.tree.children[self.word]]

    @property
    def siblings(self) -> list["Constituent"]:
        """The other constituents that depend on its head."""
        return [sibling for sibling in self.head.children if sibling.word != self.word]

    @property
    def first(self) -> int:
        """The number of its first word."""
        return self.tree.spans[self.word - 1][0]

    @property
    def last(self) -> int:
        """The number of its last word."""
        return self.tree.spans[self.word - 1][1]

    def has(self, *relations: str) -> bool:
        """Whether one of its children has one of these relations."""
        return any(_without_subtype(child.relation) in relations for child in self.children)

    @property
    def interrogative(self) -> bool:
        """Whether it is a question: an auxiliary before the subject, or a question word before the verb."""
        left = [child for child in self.children if child.on_left]
        relations = [_without_subtype(child.relation) for child in left]
        if "nsubj" in relations and AUXILIARIES & set(relations[: relations.index("nsubj")]):
            return True
        asked = [child for child in left if _without_subtype(child.relation) in CAN_BE_ASKED]
        return any(self.tree.forms[child.first - 1].lower() in WH_WORDS for child in asked)


def _without_subtype(relation: str) -> str:
    return relation.partition(":")[0]


Puncteme = tuple[str, ...]
Pair = tuple[Puncteme, Puncteme]

NOTHING: dict[str, float] = {"|": 1.0}
COMMAS: dict[str, float] = {", | ,": 1.0}
QUOTES: dict[str, float] = {"“ | ”": 0.97, "|": 0.03}
"""Distributions are written with the left and the right puncteme around a bar."""

ABBREVIATIONS = frozenset(["Dr", "Mr", "Mrs", "Prof", "Inc", "Corp", "Ltd", "Co", "a.m", "p.m", "etc"])
"""Words that are printed with a dot."""

# Attach


def true_attach(tree: Tree, node: int) -> dict[Pair, float]:
    """The distribution p(l, r | w) of the puncteme pairs (left, right) of a constituent headed by w.

    It depends on relations, tags and a few forms around the constituent, and on its position: a log-linear
    attach model sees the same.
    """
    constituent = Constituent(tree, node)
    rule = RULES.get(constituent.relation, lambda _: NOTHING)
    dot = (ABBREVIATION_DOT,) if _is_abbreviation(constituent) else ()
    pairs: dict[Pair, float] = {}
    for notation, probability in rule(constituent).items():
        left, right = _pair(notation)
        pairs[left, dot + right] = probability
    return pairs


def _is_abbreviation(constituent: Constituent) -> bool:
    """Whether the dot of the head word stands at the right edge of the constituent."""
    return constituent.form in ABBREVIATIONS and constituent.last == constituent.word


@cache
def _pair(notation: str) -> Pair:
    left, right = notation.split("|")
    return tuple(left.split()), tuple(right.split())


def _root(root: Constituent) -> dict[str, float]:
    return {f"| {end}": probability for end, probability in _end_of_sentence(root).items()}


def _end_of_sentence(root: Constituent) -> dict[str, float]:
    """The marks that can end a sentence, or a heading."""
    if root.interrogative:
        return {"?": 0.97, ".": 0.03}
    if root.has("ccomp"):
        return {".": 1.0}
    if root.has("nsubj"):
        return {".": 0.6, "!": 0.4} if root.has("discourse") else {".": 0.97, "!": 0.03}
    if root.tag == "VERB":
        return {".": 0.8, "!": 0.2}
    exclamative = any(child.relation == "det:predet" for child in root.children)
    return {"!": 0.95, ".": 0.05} if exclamative else {"": 0.95, ".": 0.05}


def _clause_as_object(clause: Constituent) -> dict[str, float]:
    """Direct speech, unless a conjunction introduces it; a comma stands between it and the verb of saying."""
    if clause.has("mark"):
        return NOTHING
    openings = {"“": 1.0} if clause.on_left else {", “": 0.77, ": “": 0.2, "“": 0.03}
    closing = "” ," if clause.on_left else "”"
    return {
        f"{opening} | {end} {closing}": first * second
        for opening, first in openings.items()
        for end, second in _end_of_speech(clause).items()
    }


def _end_of_speech(clause: Constituent) -> dict[str, float]:
    """The marks inside the quotation; the full stop is left to the sentence around it."""
    if clause.interrogative:
        return {"?": 0.98, "": 0.02}
    if not clause.has("nsubj"):
        return {"": 0.75, "!": 0.25}
    return {"": 0.65, "!": 0.35} if clause.has("discourse") else {"": 0.97, "!": 0.03}


def _apposition(apposition: Constituent) -> dict[str, float]:
    head, tag = apposition.head, apposition.tag
    if tag == "X":
        return QUOTES
    if head.has("nummod"):
        return {": |": 0.85, "— |": 0.15}
    if tag == "PROPN" and head.tag == "PROPN":
        return {"( | )": 0.95, ", | ,": 0.05}
    if tag == "PROPN":
        return {"|": 0.6, ", | ,": 0.4}
    return {", | ,": 0.8, "( | )": 0.12, "— | —": 0.08}


def _relative_clause(clause: Constituent) -> dict[str, float]:
    """A clause is set off if its head is a name or has a possessor, which identifies it alone."""
    if clause.head.tag == "PROPN":
        return {", | ,": 0.95, "— | —": 0.05}
    if clause.head.has("nmod"):
        return {", | ,": 0.9, "|": 0.1}
    return {"|": 0.97, ", | ,": 0.03}


def _conjunct(conjunct: Constituent) -> dict[str, float]:
    """A conjunct is set off unless it has the conjunction; the last but one shows the Oxford comma."""
    if conjunct.has("cc"):
        return {", |": 0.85, "|": 0.15} if conjunct.has("nsubj") else NOTHING
    return {", | ,": 0.55, ", |": 0.45}


def _adverbial_clause(clause: Constituent) -> dict[str, float]:
    if clause.on_left:
        return {", | ,": 0.93, "|": 0.07}
    return {"|": 0.88, ", | ,": 0.12} if clause.has("mark") else {", | ,": 0.92, "|": 0.08}


def _adverb(adverb: Constituent) -> dict[str, float]:
    """An adverb is set off when it opens a main clause or stands between subject and auxiliary."""
    if not adverb.on_left or adverb.head.interrogative:
        return NOTHING
    opens = adverb.first == adverb.head.first and adverb.head.relation in {"root", "ccomp", "parataxis"}
    if opens:
        return {", | ,": 0.85, "|": 0.15}
    return {", | ,": 0.95, "|": 0.05} if adverb.tree.tags[adverb.last] == "AUX" else NOTHING


def _parataxis(clause: Constituent) -> dict[str, float]:
    """An aside of two words, a remark in the middle, or a second sentence."""
    if clause.last - clause.first < 2:
        return COMMAS
    if clause.on_left:
        return {"( | )": 0.55, "— | —": 0.45}
    return {"; |": 0.45, ": |": 0.27, "— |": 0.28}


def _adjective(adjective: Constituent) -> dict[str, float]:
    """A comma keeps two adjectives apart."""
    following = any(
        sibling.relation == "amod" and sibling.word > adjective.word for sibling in adjective.siblings
    )
    return {"| ,": 0.9, "|": 0.1} if following else NOTHING


def _number(number: Constituent) -> dict[str, float]:
    """The year after the day and the month."""
    preceding = any(
        sibling.relation == "nummod" and number.head.word < sibling.word < number.word
        for sibling in number.siblings
    )
    return {", | ,": 0.95, "|": 0.05} if preceding else NOTHING


def _part_of_name(part: Constituent) -> dict[str, float]:
    """A nickname is a common noun between two names."""
    return QUOTES if part.tag == "NOUN" else NOTHING


def _modifier(modifier: Constituent) -> dict[str, float]:
    """The country after a city, which has no preposition."""
    if modifier.tag == "PROPN" and modifier.head.tag == "PROPN" and not modifier.has("case"):
        return {", | ,": 0.97, "|": 0.03}
    return NOTHING


def _argument(argument: Constituent) -> dict[str, float]:
    """Titles of books; unlike other names, they have an article and are not compounds."""
    is_title = argument.tag == "PROPN" and argument.has("det") and not argument.has("compound")
    return QUOTES if is_title else NOTHING


def _oblique(oblique: Constituent) -> dict[str, float]:
    return {", | ,": 0.6, "|": 0.4} if oblique.on_left else NOTHING


def _open_complement(complement: Constituent) -> dict[str, float]:
    """Somebody's words: the mayor called the plan a disaster."""
    return {"“ | ”": 0.85, "|": 0.15} if complement.tag == "NOUN" else NOTHING


RULES: dict[str, Callable[[Constituent], dict[str, float]]] = {
    "root": _root,
    "ccomp": _clause_as_object,
    "appos": _apposition,
    "acl:relcl": _relative_clause,
    "conj": _conjunct,
    "advcl": _adverbial_clause,
    "advmod": _adverb,
    "parataxis": _parataxis,
    "amod": _adjective,
    "nummod": _number,
    "flat": _part_of_name,
    "nmod": _modifier,
    "obj": _argument,
    "obl": _oblique,
    "xcomp": _open_complement,
    "vocative": lambda _: COMMAS,
    "discourse": lambda _: COMMAS,
}
"""The rule of each relation; the constituents of other relations stay without punctuation."""

# Channel

TRUE_DIRECTION: Literal["left", "right"] = "right"
"""The window slides from right to left."""


Edits = Mapping[tuple[str, str], tuple[float, float, float, float]]
"""For a window (a, b) the probabilities of keep, left absorption, right absorption, transposition."""

KEEP = (1.0, 0.0, 0.0, 0.0)
"""What happens to a window that has no entry."""

Histories = dict[tuple[str, tuple[str, ...]], float]
"""From the token in the window and the string finished so far to the probability of both."""


def _edits() -> Iterator[tuple[tuple[str, str], tuple[float, float, float, float]]]:
    yield (START, ","), (0.0, 0.0, 1.0, 0.0)
    yield (",", ","), (0.0, 1.0, 0.0, 0.0)
    yield ("—", "—"), (0.0, 1.0, 0.0, 0.0)
    for stronger in ".?!;:—":
        yield (",", stronger), (0.0, 1.0, 0.0, 0.0)
    for stronger in "?!;:—":
        yield (stronger, ","), (0.0, 0.0, 1.0, 0.0)
    for strongest in "?!":
        yield (strongest, "."), (0.0, 0.0, 1.0, 0.0)
    for stronger in ".?!;:":
        yield ("—", stronger), (0.0, 1.0, 0.0, 0.0)
    for bracket in ")”":
        yield (",", bracket), (0.0, 1.0, 0.0, 0.0)
    for bracket in "(“":
        yield (bracket, ","), (0.0, 0.0, 1.0, 0.0)
    yield (ABBREVIATION_DOT, "."), (0.0, 0.0, 1.0, 0.0)
    yield ("”", "."), (0.1, 0.0, 0.0, 0.9)
    yield ("”", ","), (0.1, 0.0, 0.0, 0.9)


TRUE_EDITS: dict[tuple[str, str], tuple[float, float, float, float]] = dict(_edits())
"""For each window (a, b) the probabilities of keep, left absorption (b remains), right absorption
(a remains) and transposition.  A window that is not listed is kept.

When a and b are equal, as in windows of two commas or two dashes, the two absorptions have the same effect,
so surface strings determine only the sum of their probabilities.
"""


def surface_distribution(underlying: Sequence[str], edits: Edits) -> dict[tuple[str, ...], float]:
    """The probability p(x | u) of every surface string x of an underlying string u.

    A slow, literal sliding window of Li, Wang & Eisner 2019, section 2.2, which shares no code with the rest
    of the package and serves as a reference.

    The window holds two neighbouring tokens a b and makes one of four edits: keep (a b stays), left
    absorption (b remains), right absorption (a remains), transposition (b a).  English slides it from right
    to left: b is held, a is read, and the token on the right is finished.
    """
    if not underlying:
        return {(): 1.0}
    histories: Histories = {(underlying[-1], ()): 1.0}
    for read in reversed(underlying[:-1]):
        histories = _slide(histories, read, edits)
    surfaces: dict[tuple[str, ...], float] = {}
    for (held, finished), probability in histories.items():
        surface = (held, *finished)
        surfaces[surface] = surfaces.get(surface, 0.0) + probability
    return surfaces


def _slide(histories: Histories, read: str, edits: Edits) -> Histories:
    """Read one more token to the left in every history."""
    following: Histories = {}
    for (held, finished), probability in histories.items():
        keep, left, right, transpose = edits.get((read, held), KEEP)
        outcomes = (
            ((read, (held, *finished)), keep),
            ((held, finished), left),
            ((read, finished), right),
            ((held, (read, *finished)), transpose),
        )
        for outcome, share in outcomes:
            if share:
                following[outcome] = following.get(outcome, 0.0) + probability * share
    return following


# The probability of a sentence


def true_log_prob(tree: Tree, surface: Surface) -> float:
    """The exact log p(x | T) under the true parameters, minus infinity for an impossible surface.

    The underlying punctuation is summed out from the leaves upwards.  The slots strictly inside a constituent
    are complete once its children are known, so only the strings at its two edges are remembered.
    """
    first, last = tuple(surface[0]), tuple(surface[len(tree)])
    total = sum(
        weight * _surfaces((START, *left)).get(first, 0.0) * _surfaces(right).get(last, 0.0)
        for (left, right), weight in _inside(Constituent(tree, tree.root), surface).items()
    )
    return log(total) if total else -inf


@cache
def _surfaces(underlying: Puncteme) -> dict[tuple[str, ...], float]:
    return surface_distribution(underlying, TRUE_EDITS)


def _inside(constituent: Constituent, surface: Surface) -> dict[Pair, float]:
    """The joint weight of the strings at both edges of a constituent and the surface inside it."""
    pieces = [(child.first, _inside(child, surface)) for child in constituent.children]
    pieces.append((constituent.word, {((), ()): 1.0}))
    (_, inner), *others = sorted(pieces, key=lambda piece: piece[0])
    for first, piece in others:
        inner = _join(inner, piece, surface[first - 1])
    weights: dict[Pair, float] = defaultdict(float)
    for (left, right), prior in true_attach(constituent.tree, constituent.word).items():
        for (inner_left, inner_right), weight in inner.items():
            weights[left + inner_left, inner_right + right] += prior * weight
    return weights


def _join(first: dict[Pair, float], second: dict[Pair, float], surface: Sequence[str]) -> dict[Pair, float]:
    """Put two neighbours side by side and sum over the underlying string of the slot between them."""
    weights: dict[Pair, float] = defaultdict(float)
    for (outer_left, inner_left), before in first.items():
        for (inner_right, outer_right), after in second.items():
            shown = _surfaces(inner_left + inner_right).get(tuple(surface), 0.0)
            if shown:
                weights[outer_left, outer_right] += before * after * shown
    return weights
