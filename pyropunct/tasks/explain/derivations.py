"""How the surface string of each slot derives from its underlying string, given the underlying tree T'.

T' tells which constituent sprouted each underlying token.  The best path of the channel tells which
underlying token each surface token is, and which edits were made (Li, Wang & Eisner 2019, section 2.2).  They
give the fate of each underlying token.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, product
from typing import NamedTuple

import torch

from pyropunct.fitted.fitted_story import FittedStory
from pyropunct.inference.forest import forest_of
from pyropunct.inference.machines.evidence import exactly
from pyropunct.inference.machines.paths import Made, Path, Ways
from pyropunct.inference.machines.products import (
    EDITS,
    KEEP,
    LEFT_ABSORPTION,
    RIGHT_ABSORPTION,
    TRANSPOSITION,
)
from pyropunct.models.channel.slip import SLIP
from pyropunct.text.marks import CLAUSE, START, UNKNOWN, Surface
from pyropunct.treebank.sentence import Puncteme, Sentence, part_of
from pyropunct.treebank.tree import Tree, opens_clause


class SproutedToken(NamedTuple):
    """A token, with the head word and the depth of its constituent; a boundary has word 0 and depth -1."""

    token: str
    word: int
    depth: int


class SlotEdit(NamedTuple):
    """An edit, one of `EDITS` other than "keep", from two underlying tokens, as on the page, to others."""

    before: tuple[str, str]
    name: str
    after: tuple[str, ...]


class SlotDerivation(NamedTuple):
    """How the surface string x_i of a slot derives from its underlying string u_i.

    Both begin with `pyropunct.text.marks.CLAUSE` where a clause begins, if the model has this token.

    :ivar origins: for each token of x_i its place in u_i, None if it has none.
    :ivar edits: those on the channel's best path, without "keep".
    :ivar slipped: whether the channel ignored u_i.
    :ivar kept: the pairs of neighbours that the channel kept, in its order.
    """

    underlying: tuple[SproutedToken, ...]
    surface: tuple[str, ...]
    origins: tuple[int | None, ...]
    edits: tuple[SlotEdit, ...]
    slipped: bool
    kept: tuple[tuple[str, str], ...] = ()

    @property
    def changed(self) -> bool:
        """Whether x_i differs from u_i."""
        return self.slipped or bool(self.edits) or self.origins != tuple(range(len(self.underlying)))


def ways_of(model: FittedStory) -> Ways:
    """The ways in which a model's channel derives surface strings."""
    channel = model.story.channel
    with torch.no_grad():
        return Ways(channel.transducer, channel.probabilities())


class Derivations:
    """Best derivations of slots: the channel's most probable moves under a trained model.

    If the channel slipped, surface tokens are matched to underlying tokens by `common_tokens`.
    """

    def __init__(self, punctuator: FittedStory) -> None:
        self._vocabulary, self._ways = punctuator.vocabulary, ways_of(punctuator)
        self._known: dict[tuple[tuple[int, ...], tuple[int, ...]], Path | None] = {}

    def of(self, sentence: Sentence, punctemes: Sequence[tuple[Puncteme, Puncteme]]) -> list[SlotDerivation]:
        """The derivation of each of the slots 0..n, given the punctemes T' of each constituent."""
        return self.of_surface(sentence.tree, sentence.surface, punctemes)

    def of_surface(
        self, tree: Tree, surface: Surface, punctemes: Sequence[tuple[Puncteme, Puncteme]]
    ) -> list[SlotDerivation]:
        """The derivation of each of the slots 0..n of a surface over a tree; see `of`."""
        strings = underlying_strings(tree, punctemes, clauses=CLAUSE in self._vocabulary.tokens)
        slots = zip(strings, surface, strict=True)
        return [self._slot(u, (CLAUSE,) * (u[:1] == (CLAUSE_BEGINS,)) + tuple(x)) for u, x in slots]

    def _slot(self, underlying: tuple[SproutedToken, ...], surface: tuple[str, ...]) -> SlotDerivation:
        number = self._vocabulary.token_number
        u = tuple(number[sprouted.token] for sprouted in underlying)
        x = tuple(number.get(token, number[UNKNOWN]) for token in surface)
        if (u, x) not in self._known:
            self._known[u, x] = self._ways.path(u, exactly(x))
        path = self._known[u, x]
        if path is None or path.branch == SLIP:
            origins = common_tokens(u, x, [sprouted.depth for sprouted in underlying])
            return SlotDerivation(underlying, surface, origins, (), True)
        edits, kept = [], []
        for made in path.edits:
            pair, kind = self._neighbours(underlying, made), made.edit.kind
            if kind == KEEP:
                kept.append(pair)
            else:
                edits.append(SlotEdit(pair, EDITS[kind], made.edit.after_of(*pair)))
        return SlotDerivation(underlying, surface, path.origins, tuple(edits), False, tuple(kept))

    def _neighbours(self, underlying: Sequence[SproutedToken], made: Made) -> tuple[str, str]:
        first, second = (
            self._vocabulary.tokens[token] if place is None else underlying[place].token
            for token, place in zip(made.edit[:2], made.places, strict=True)
        )
        return first, second


def sprouted_marks(
    sentence: Sentence, slot: int, derivation: SlotDerivation
) -> list[tuple[int, SproutedToken]]:
    """The marks of a slot that are underlying tokens: the token ids of the original, each with its token."""
    marks = sentence.layout.marks[slot]
    special = len(derivation.surface) - len(marks)  # boundaries and abbreviation dots come first
    return [
        (mark, derivation.underlying[origin])
        for mark, origin in zip(marks, derivation.origins[special:], strict=True)
        if origin is not None and derivation.underlying[origin].word
    ]


CLAUSE_BEGINS = SproutedToken(CLAUSE, 0, -1)


def underlying_strings(
    tree: Tree, punctemes: Sequence[tuple[Puncteme, Puncteme]], *, clauses: bool = False
) -> list[tuple[SproutedToken, ...]]:
    """The underlying string u_i of each of the slots 0..n; that of slot 0 begins with the sentence start.

    :param clauses: whether strings begin with `CLAUSE_BEGINS` where a clause begins.
    """
    forest, has_parts = forest_of([tree.heads]), any(map(part_of, punctemes))
    start, *columns = forest.sprouting_with_parts if has_parts else forest.sprouting
    events = list(zip(*(column.tolist() for column in columns), strict=True))
    begins = opens_clause(tree) if clauses else [False] * len(tree)
    strings = [[SproutedToken(START, 0, -1)], *([CLAUSE_BEGINS] * one for one in begins)]
    for slot, (first, last) in enumerate(pairwise(start.tolist())):
        for node, on_left, outside in events[first:last]:
            tokens = _standing(punctemes[node], 0 if on_left else 1, outside)
            strings[slot] += [SproutedToken(token, node + 1, tree.depths[node]) for token in tokens]
    return [tuple(string) for string in strings]


def _standing(pair: tuple[Puncteme, Puncteme], side: int, outside: int) -> Puncteme:
    """What a constituent puts at one of its `pyropunct.inference.forest.Sprouting` places."""
    part = part_of(pair)
    if outside < 0:
        return pair[side]
    if part is None or outside != (part.right_out if side else part.left_out):
        return ()
    return (part.right if side else part.left,)


def common_tokens(
    underlying: Sequence[int], surface: Sequence[int], depths: Sequence[int]
) -> tuple[int | None, ...]:
    """For each surface token the place of an equal underlying one (LCS); ties: the least sum of depths."""
    # best[j]: of the underlying tokens read so far and the first j of the surface,
    # (- length, sum of depths, pairs (place in surface, place in underlying)).
    best: list[tuple[int, int, tuple[tuple[int, int], ...]]] = [(0, 0, ())] * (len(surface) + 1)
    for i, token in enumerate(underlying):
        before = best
        best = [(0, 0, ())]
        for j, other in enumerate(surface):
            choices = [before[j + 1], best[j]]
            if token == other:
                length, depth, pairs = before[j]
                choices.append((length - 1, depth + depths[i], (*pairs, (j, i))))
            best.append(min(choices, key=lambda choice: choice[:2]))
    origins = dict(best[-1][2])
    return tuple(origins.get(j) for j in range(len(surface)))


SLIPPED, OTHER_CHANGE = "slip", "other change"
"""The fate where the channel ignored the underlying string, and the fate of a channel without named edits."""


class Fate(NamedTuple):
    """The fate of an underlying token, or the origin of a surface token without an underlying one.

    :ivar word: the head word, from 1, of the constituent that sprouted it; 0 if there is none.
    :ivar token: the underlying token; None if there was none.
    :ivar slot: the slot, from 0.
    :ivar edit: one of `pyropunct.inference.machines.products.EDITS`, `SLIPPED`, or `OTHER_CHANGE`.
    """

    word: int
    token: str | None
    slot: int
    edit: str


def token_fates(derivations: Sequence[SlotDerivation]) -> list[Fate]:
    """The fates of all tokens but boundaries, slot by slot.

    A token that is missing in the surface string was absorbed.  A token that is in it was transposed if it
    was swapped with another token, which may have been absorbed afterwards.  Every edit of a slot is the fate
    of some token.  If edits are ambiguous, those of equal absorbed tokens are assigned from left to right,
    and the nearest token counts as swapped with an absorbed one.

    :param derivations: of the slots 0..n, see `pyropunct.tasks.explain.derivations.Derivations.of`.
    """
    return [fate for slot, derivation in enumerate(derivations) for fate in _slot_fates(slot, derivation)]


def _slot_fates(slot: int, derivation: SlotDerivation) -> Iterator[Fate]:
    absorptions = _absorptions(derivation.edits)
    transposed = _transposed(derivation)
    for place, (token, word, _) in enumerate(derivation.underlying):
        if derivation.slipped:
            edit = SLIPPED
        elif place not in derivation.origins:
            edit = absorptions[token].pop(0) if absorptions[token] else OTHER_CHANGE
        else:
            edit = EDITS[TRANSPOSITION if place in transposed else KEEP]
        if word:
            yield Fate(word, token, slot, edit)
    if None in derivation.origins:
        yield Fate(0, None, slot, SLIPPED if derivation.slipped else OTHER_CHANGE)


def _absorptions(edits: Sequence[SlotEdit]) -> defaultdict[str, list[str]]:
    """For each token the names of the edits that absorbed it."""
    absorbed = {EDITS[LEFT_ABSORPTION]: 0, EDITS[RIGHT_ABSORPTION]: 1}
    names: defaultdict[str, list[str]] = defaultdict(list)
    for edit in edits:
        if edit.name in absorbed:
            names[edit.before[absorbed[edit.name]]].append(edit.name)
    return names


def _transposed(derivation: SlotDerivation) -> set[int]:
    """The places of the transposed tokens that are in the surface string."""
    stay = [place for place in derivation.origins if place is not None]
    moved = {place for pair in combinations(stay, 2) if pair[0] > pair[1] for place in pair}
    tokens = [sprouted.token for sprouted in derivation.underlying]
    gone = set(range(len(tokens))) - set(stay)
    for edit in derivation.edits:
        if edit.name == EDITS[TRANSPOSITION]:
            partners = [
                (abs(place - other), place)
                for place, other in product(stay, gone)
                if edit.before == (tokens[min(place, other)], tokens[max(place, other)])
            ]
            moved |= {place for _, place in sorted(partners)[:1]}
    return moved
