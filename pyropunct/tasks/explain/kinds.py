"""Kinds of constituents that are compared: of relations with and without subtypes, by features, and by place.

Also nominal clauses without a copula.
"""

from collections.abc import Iterator, Sequence

from pyropunct.text.marks import DASHES
from pyropunct.treebank.conllu_block import FEATS
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree, base

PLACE, LENGTH, FINITE = "place", "length", "finite"
"""What rows can be split by, besides features of the head word such as ``VerbForm``."""

LENGTHS = ((1, "1 word"), (3, "2–3 words"), (6, "4–6 words"), (10, "7–10 words"))
"""The most words of constituents that are called so."""

LONG = "over 10 words"

UNKNOWN_FINITE = "finite or not is unknown"
"""What constituents are like in a treebank without ``VerbForm=Fin``."""

NO_SUBTYPE = " (no subtype)"

PREDICATE = {"aux", "cop"}
"""Dependents that belong to a predicate, and may be finite in its place."""


def features(sentence: Sentence, word: int) -> dict[str, str]:
    """The column FEATS of a word."""
    column = sentence.layout.block.tokens[sentence.layout.words[word - 1] - 1].columns[FEATS]
    return dict(one.split("=", 1) for one in column.split("|") if "=" in one)


def likenesses(sentences: Sequence[Sentence], by: Sequence[str]) -> list[list[str]]:
    """What each constituent is like, such as ", behind its head, 2–3 words"; "" if nothing is asked for."""
    has_finite = FINITE in by and any(
        features(one, word).get("VerbForm") == "Fin"
        for one in sentences
        for word in range(1, len(one.tree) + 1)
    )
    known = [UNKNOWN_FINITE if one == FINITE and not has_finite else one for one in by]
    return [
        ["".join(f", {_like(one, word, name)}" for name in known) for word in range(1, len(one.tree) + 1)]
        for one in sentences
    ]


def _like(sentence: Sentence, word: int, by: str) -> str:
    tree = sentence.tree
    if by == PLACE:
        head = tree.heads[word - 1]
        return "root" if not head else "before its head" if word < head else "behind its head"
    if by == LENGTH:
        first, last = tree.spans[word - 1]
        return next((name for most, name in LENGTHS if last - first < most), LONG)
    if by == FINITE:
        predicate = [one for one in tree.children[word] if base(tree.relations[one - 1]) in PREDICATE]
        is_finite = any(features(sentence, one).get("VerbForm") == "Fin" for one in (word, *predicate))
        return "finite" if is_finite else "not finite"
    if by == UNKNOWN_FINITE:
        return UNKNOWN_FINITE
    return f"{by}={features(sentence, word).get(by, 'none')}"


def rows_of(relation: str, like: str) -> Iterator[str]:
    """The rows in which a constituent is counted: of its relation, and with or without the subtype."""
    general = base(relation)
    yield general + like
    yield (relation + NO_SUBTYPE if general == relation else relation) + like


INITIAL, MEDIAL, LAST = POSITIONS = ("initial", "medial", "final")
"""Where a constituent stands among its head and the other dependents of the head."""

OUTSIDE = {"cc", "conj", "discourse", "mark", "parataxis", "punct", "vocative"}
"""Dependents that a clause may have before its first and behind its last constituent."""

NOMINAL = {"NOUN", "PROPN", "PRON", "NUM", "ADJ"}
"""The tags of predicates that may have a copula."""


def positions(tree: Tree) -> list[int]:
    """For each word the number of its constituent's place, one of `POSITIONS`.

    It is initial if nothing of its head's clause stands before it, final if nothing stands behind it.
    """
    first, last = (list(range(len(tree) + 1)) for _ in range(2))
    for word, (head, relation) in enumerate(zip(tree.heads, tree.relations, strict=True), 1):
        if head and base(relation) not in OUTSIDE:
            first[head], last[head] = min(first[head], word), max(last[head], word)
    return [
        POSITIONS.index(INITIAL if word <= first[head] else LAST if word >= last[head] else MEDIAL)
        for word, head in enumerate(tree.heads, 1)
    ]


def bare_predicates(tree: Tree) -> dict[int, int]:
    """The nominal predicates without ``cop``, each with its first subject."""
    found = {}
    for word, tag in enumerate(tree.tags, 1):
        own = {one: base(tree.relations[one - 1]) for one in tree.children[word]}
        subjects = [one for one, relation in own.items() if relation in ("nsubj", "csubj")]
        if tag in NOMINAL and subjects and not {"cop", "aux"}.intersection(own.values()):
            found[word] = subjects[0]
    return found


def bare_clauses(sentence: Sentence) -> dict[int, bool]:
    """The predicates of `bare_predicates`; whether a dash is between each and its subject.

    The dash stands on the page, beside the subject, the predicate, or what stands between them.
    """
    tree, surface = sentence.tree, sentence.surface
    return {
        word: any(DASHES.issuperset(mark) for slot in _between(tree, subject, word) for mark in surface[slot])
        for word, subject in bare_predicates(tree).items()
    }


def _between(tree: Tree, subject: int, predicate: int) -> list[int]:
    """The slots between the subject and the predicate that are inside no dependent of the predicate."""
    first, last = tree.spans[subject - 1]
    slots = range(last, predicate) if subject < predicate else range(predicate, first)
    spans = (tree.spans[one - 1] for one in tree.children[predicate])
    inside = {slot for span in spans for slot in range(*span)}
    return [slot for slot in slots if slot not in inside]
