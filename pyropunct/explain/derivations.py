"""How the surface string of each slot came from its underlying string, given the underlying tree T'.

T' says which constituent sprouted each underlying token; the best path of the channel says which of them each
token on the page is, and which edits made it so (Li, Wang & Eisner 2019, section 2.2).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.inference.forest import forest_of
from pyropunct.models.channel.window import (
    EDITS,
    KEEP,
    LEFT_ABSORPTION,
    RIGHT_ABSORPTION,
    TRANSPOSITION,
    Channel,
    SlidingWindow,
    Slip,
)
from pyropunct.punctuator import Puncteme, Punctuator
from pyropunct.treebank.marks import START, UNKNOWN
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree

_READ_FROM_RIGHT = (KEEP, RIGHT_ABSORPTION, LEFT_ABSORPTION, TRANSPOSITION)
"""What each edit on the page looks like to a window that slides from right to left."""


class Sprouted(NamedTuple):
    """An underlying token.

    :ivar token: the token.
    :ivar word: the head word, counted from 1, of the constituent that sprouted it; 0 for the sentence start.
    :ivar depth: how deep that constituent is: 0 for the whole sentence; -1 for the sentence start.
    """

    token: str
    word: int
    depth: int


class SlotEdit(NamedTuple):
    """An edit that changed something.

    :ivar before: the two underlying tokens, as on the page.
    :ivar name: one of `pyropunct.models.channel.window.EDITS`, not "keep".
    :ivar after: what they became.
    """

    before: tuple[str, str]
    name: str
    after: tuple[str, ...]


class SlotDerivation(NamedTuple):
    """How the surface string x_i of a slot came from its underlying string u_i.

    :ivar underlying: u_i, left to right.
    :ivar surface: x_i, left to right.
    :ivar origins: for each token of x_i the place in u_i of the token that it is, None if it is none of them.
    :ivar edits: the edits on the best path of a sliding window, in its order; none for other channels.
    :ivar slipped: whether the best path of a sliding window is a slip, which ignores u_i; not told for other
        channels.
    """

    underlying: tuple[Sprouted, ...]
    surface: tuple[str, ...]
    origins: tuple[int | None, ...]
    edits: tuple[SlotEdit, ...]
    slipped: bool

    @property
    def changed(self) -> bool:
        """Whether the page shows something else than u_i."""
        return self.slipped or bool(self.edits) or self.origins != tuple(range(len(self.underlying)))


class EditPath(NamedTuple):
    """A path of the sliding window through an underlying string.

    :ivar log_probability: the sum of log phi over its edits.
    :ivar origins: for each surface token its place in the underlying string.
    :ivar edits: the places, as on the page, of the two tokens of each edit, and the edit; in the window's
        order.
    """

    log_probability: float
    origins: tuple[int, ...]
    edits: tuple[tuple[int, int, int], ...]


class Derivations:
    """Best derivations of slots under a trained model.

    Where the channel is a sliding window, the best path is exact.  For other channels, and for slips, tokens
    on the page are those of a longest common subsequence of u_i and x_i, see `common_tokens`.

    :param punctuator: the model.
    """

    def __init__(self, punctuator: Punctuator) -> None:
        self._vocabulary = punctuator.vocabulary
        channel = punctuator.story.channel
        slip = channel if isinstance(channel, Slip) else None
        inner: Channel = channel if slip is None else slip.channel
        self._direction = inner.direction
        self._bigrams = None if slip is None else slip.bigrams
        self._slip = 0.0 if slip is None else float(slip.slip_logit.sigmoid())
        # A channel that rewrites in another way may have a table of edits too, which means something else.
        slides = type(inner).rewrite is SlidingWindow.rewrite
        table = punctuator.edit_probabilities() if slides else None
        self._table = None if table is None else _log(table.double().cpu().numpy())

    def of(self, sentence: Sentence, punctemes: Sequence[tuple[Puncteme, Puncteme]]) -> list[SlotDerivation]:
        """The derivation of each of the slots 0..n of a sentence.

        :param punctemes: T': the left and right puncteme of each word's constituent.
        """
        strings = underlying_strings(sentence.tree, punctemes)
        return [self._slot(u, x) for u, x in zip(strings, sentence.surface, strict=True)]

    def _slot(self, underlying: tuple[Sprouted, ...], surface: tuple[str, ...]) -> SlotDerivation:
        number = self._vocabulary.token_number
        u = [number[sprouted.token] for sprouted in underlying]
        x = [number.get(token, number[UNKNOWN]) for token in surface]
        path = None if self._table is None else best_edit_path(u, x, self._table, self._direction)
        slipped = self._table is not None and self._slips(x, path)
        if path is None or slipped:
            origins = common_tokens(u, x, [sprouted.depth for sprouted in underlying])
            return SlotDerivation(underlying, surface, origins, (), slipped)
        edits = [_named(underlying, edit) for edit in path.edits if edit[2] != KEEP]
        return SlotDerivation(underlying, surface, path.origins, tuple(edits), False)

    def _slips(self, surface: Sequence[int], path: EditPath | None) -> bool:
        """Whether a slip explains the surface better than the best path of the window."""
        if path is None:
            return True
        if not surface or self._bigrams is None:
            return False
        slip = self._slip * self._bigrams.probability(surface)
        return bool(_log(slip) > _log(1 - self._slip) + path.log_probability)


def underlying_strings(
    tree: Tree, punctemes: Sequence[tuple[Puncteme, Puncteme]]
) -> list[tuple[Sprouted, ...]]:
    """The underlying string u_i of each of the slots 0..n.

    Right punctemes of the constituents that end at the slot come first, inner ones before outer ones, then
    the left ones of those that start there, outer ones first.  The sentence start is the first of slot 0.
    """
    forest = forest_of([tree.heads])
    depth, left, right = (part.tolist() for part in (forest.depth, forest.left_slot, forest.right_slot))
    strings: list[list[Sprouted]] = [[] for _ in range(len(tree) + 1)]
    strings[0].append(Sprouted(START, 0, -1))
    outer_first = sorted(range(len(tree)), key=depth.__getitem__)
    for node in reversed(outer_first):
        strings[right[node]] += [Sprouted(token, node + 1, depth[node]) for token in punctemes[node][1]]
    for node in outer_first:
        strings[left[node]] += [Sprouted(token, node + 1, depth[node]) for token in punctemes[node][0]]
    return [tuple(string) for string in strings]


def best_edit_path(
    underlying: Sequence[int], surface: Sequence[int], log_table: NDArray[np.float64], direction: str
) -> EditPath | None:
    """The most probable path of the window from an underlying to a surface string, if there is one.

    :param log_table: (tokens, tokens, 4) log phi[a, b], as on the page, see
        `pyropunct.models.channel.window.EDITS`.
    :param direction: "left" if the window slides from left to right, "right" if from right to left.

    Source: Li, Wang & Eisner (2019, section 2.2).
    """
    if direction == "left":
        return _slide(underlying, surface, log_table)
    mirrored = log_table.transpose(1, 0, 2)[..., _READ_FROM_RIGHT]
    path = _slide(underlying[::-1], surface[::-1], mirrored)
    if path is None:
        return None
    last = len(underlying) - 1
    edits = [(last - second, last - first, _READ_FROM_RIGHT[edit]) for first, second, edit in path.edits]
    origins = tuple(last - origin for origin in reversed(path.origins))
    return EditPath(path.log_probability, origins, tuple(edits))


def _slide(u: Sequence[int], x: Sequence[int], log_table: NDArray[np.float64]) -> EditPath | None:
    """`best_edit_path` from left to right.

    A state is the window's place in u and the number of tokens emitted; with each goes the best path to it.
    """
    if not u or not x:
        return None if u or x else EditPath(0.0, (), ())
    states = {(0, 0): EditPath(0.0, (), ())}
    for new in range(1, len(u)):
        reached: dict[tuple[int, int], EditPath] = {}
        for (window, emitted), path in states.items():
            for edit, written, state in (
                (KEEP, window, (new, emitted + 1)),
                (LEFT_ABSORPTION, None, (new, emitted)),
                (RIGHT_ABSORPTION, None, (window, emitted)),
                (TRANSPOSITION, new, (window, emitted + 1)),
            ):
                chance = path.log_probability + float(log_table[u[window], u[new], edit])
                fits = written is None or (emitted + 1 < len(x) and u[written] == x[emitted])
                if fits and chance > -np.inf and (state not in reached or chance > reached[state][0]):
                    origins = path.origins if written is None else (*path.origins, written)
                    reached[state] = EditPath(chance, origins, (*path.edits, (window, new, edit)))
        states = reached
    complete = [
        path._replace(origins=(*path.origins, window))
        for (window, emitted), path in states.items()
        if emitted + 1 == len(x) and u[window] == x[-1]
    ]
    return max(complete, key=lambda path: path.log_probability, default=None)


def common_tokens(
    underlying: Sequence[int], surface: Sequence[int], depths: Sequence[int]
) -> tuple[int | None, ...]:
    """For each surface token the place of an equal underlying one, or None: a longest common subsequence.

    :param depths: how deep the constituent of each underlying token is.  Of several longest subsequences it
        is one whose constituents are least deep in sum.
    """
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


def _named(underlying: Sequence[Sprouted], edit: tuple[int, int, int]) -> SlotEdit:
    first, second = underlying[edit[0]].token, underlying[edit[1]].token
    after = ((first, second), (second,), (first,), (second, first))[edit[2]]
    return SlotEdit((first, second), EDITS[edit[2]], after)


def _log(value: NDArray[np.float64] | float) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(value, np.float64))
