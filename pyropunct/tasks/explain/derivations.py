"""How the surface string of each slot derives from its underlying string, given the underlying tree T'.

T' tells which constituent sprouted each underlying token.  The best path of the channel tells which
underlying token each surface token is, and which edits were made (Li, Wang & Eisner 2019, section 2.2).
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import torch

from pyropunct.fitted.fitted_story import FittedStory
from pyropunct.inference.forest import forest_of
from pyropunct.inference.machines.evidence import exactly
from pyropunct.inference.machines.paths import Made, Path, Ways
from pyropunct.inference.machines.products import EDITS, KEEP
from pyropunct.models.channel.composed import SLIP
from pyropunct.text.marks import START, UNKNOWN, Surface
from pyropunct.treebank.sentence import Puncteme, Sentence, part_of
from pyropunct.treebank.tree import Tree


class SproutedToken(NamedTuple):
    """A token, with the head word (0: the start) and the depth (-1: the start) of its constituent."""

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
        strings = underlying_strings(tree, punctemes)
        return [self._slot(u, tuple(x)) for u, x in zip(strings, surface, strict=True)]

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
    special = len(derivation.surface) - len(marks)  # the sentence start or an abbreviation dot comes first
    return [
        (mark, derivation.underlying[origin])
        for mark, origin in zip(marks, derivation.origins[special:], strict=True)
        if origin is not None and derivation.underlying[origin].word
    ]


def underlying_strings(
    tree: Tree, punctemes: Sequence[tuple[Puncteme, Puncteme]]
) -> list[tuple[SproutedToken, ...]]:
    """The underlying string u_i of each of the slots 0..n; that of slot 0 begins with the sentence start."""
    forest, has_parts = forest_of([tree.heads]), any(map(part_of, punctemes))
    start, *columns = forest.sprouting_with_parts if has_parts else forest.sprouting
    events = list(zip(*(column.tolist() for column in columns), strict=True))
    strings = [[SproutedToken(START, 0, -1)], *([] for _ in range(len(tree)))]
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
