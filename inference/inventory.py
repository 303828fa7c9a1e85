"""The punctemes that a constituent may sprout: the sets V and W_d."""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from pyropunct.inference.machines.evidence import padded
from pyropunct.inference.ragged import Ints, starts_of

Puncteme = tuple[int, ...]
"""A string of token ids, left to right; ``()`` is the empty puncteme."""


class Tries(NamedTuple):
    """For each relation, the punctemes of one side as a trie, so that shared parts are read once.

    Entry 0 of every relation is the empty puncteme.  Reading an entry means reading its parent and
    one token more: on the token's right for right punctemes, on its left for left punctemes.

    :ivar start: (D + 1,) where each relation's entries start.
    :ivar token: the token of each entry, -1 for the empty puncteme.
    :ivar parent: the parent of each entry, counted from the start of the relation; it comes before
        its children.
    :ivar of_pair: for each puncteme pair, the entry of its puncteme on this side, counted likewise.
    """

    start: Ints
    token: Ints
    parent: Ints
    of_pair: Ints


class Inventory:
    """The puncteme pairs (l, r) that a constituent of each relation may sprout.

    The sets W_d of Li, Wang & Eisner (2019, section 2.1) for relations d = 0 .. D - 1, concatenated: a *row*
    is a place in this list, a *choice* a place in one W_d.

    :param pairs: for each relation its puncteme pairs, sorted here, the pair of empty punctemes first.
    :param start_token: the token at the left of the first slot of every tree, if any.
    :param end_token: the token at the right of the last slot of every tree, if any.
    :param clause_token: the token at the left of slots where a clause begins, if any, in u and on the page.
    :raises ValueError: if a relation lacks the pair of empty punctemes.
    """

    def __init__(
        self,
        num_tokens: int,
        pairs: Sequence[Sequence[tuple[Puncteme, Puncteme]]],
        start_token: int | None = None,
        end_token: int | None = None,
        clause_token: int | None = None,
    ) -> None:
        for relation, some in enumerate(pairs):
            if ((), ()) not in some:
                raise ValueError(f"relation {relation} lacks the pair of empty punctemes")
        self.num_tokens = num_tokens
        self.start_token = start_token
        self.end_token = end_token
        self.clause_token = clause_token
        # The empty tuple sorts first, which puts the pair of empty punctemes at choice 0 and
        # all pairs with an empty left puncteme at the head of the list: Algorithm 1 relies on it.
        self.pairs = [sorted(set(some)) for some in pairs]

    @property
    def num_relations(self) -> int:
        """The number D of relations."""
        return len(self.pairs)

    @cached_property
    def pair_start(self) -> Ints:
        """(D + 1,) the first row of each relation, and the number of all rows."""
        return starts_of([len(some) for some in self.pairs])

    @cached_property
    def rows(self) -> list[tuple[Puncteme, Puncteme]]:
        """The pairs of all relations, one relation after the other."""
        return [pair for some in self.pairs for pair in some]

    @cached_property
    def longest(self) -> int:
        """The number of tokens in the longest puncteme."""
        return max(max(len(left), len(right)) for left, right in self.rows)

    @cached_property
    def padded_rows(self) -> tuple[Ints, Ints]:
        """The left and right punctemes of all rows, (rows, longest) each, padded with -1."""
        left, right = (padded(side, least=self.longest).numpy() for side in zip(*self.rows, strict=True))
        return left, right

    @cached_property
    def left_tries(self) -> Tries:
        """Left punctemes, sharing what they end with: they are read from the head word outward."""
        return _tries([[left[::-1] for left, _ in some] for some in self.pairs])

    @cached_property
    def right_tries(self) -> Tries:
        """Right punctemes, sharing what they begin with."""
        return _tries([[right for _, right in some] for some in self.pairs])

    @cached_property
    def whole_tries(self) -> tuple[Tries, Tries]:
        """The left and the right punctemes of all relations together, as one trie on each side."""
        left, right = ([row[side] for row in self.rows] for side in (0, 1))
        return _tries([[string[::-1] for string in left]]), _tries([right])

    @cached_property
    def empty_left(self) -> Ints:
        """(D,) how many pairs of each relation have an empty left puncteme; they come first."""
        return np.array([sum(left == () for left, _ in some) for some in self.pairs])

    def choice_start(self, relation: Tensor) -> Ints:
        """(N + 1,) where each node's pairs start when those of all nodes are written in one line.

        :param relation: (N,) the relation of each node.
        """
        return starts_of(np.diff(self.pair_start)[relation.cpu().numpy()])

    def choice_rows(self, relation: Tensor) -> Tensor:
        """(C,) the row of each pair of each node, node after node."""
        start = torch.from_numpy(self.choice_start(relation))
        first = torch.from_numpy(self.pair_start)[relation] - start[:-1]
        return torch.arange(int(start[-1])) + torch.repeat_interleave(first, start.diff())

    def sprouted(self, relation: Tensor, choices: Tensor, with_parts: bool = True) -> tuple[Tensor, Tensor]:
        """(..., N) the rows that choices of nodes stand for, and the numbers of their parts, 0 for none.

        :param with_parts: whether there may be parts of constituents, see `pyropunct.inference.parts`.
        :raises ValueError: if a choice is outside of its W_d.
        """
        start = torch.from_numpy(self.pair_start)
        pair, part = split(choices, start.diff()[relation])
        if (choices < 0).any() or (not with_parts and part.any()):
            raise ValueError(f"a choice is outside of the pairs that its node may sprout: {choices.tolist()}")
        return start[relation] + pair, part


def split(choices: Tensor, sizes: Tensor) -> tuple[Tensor, Tensor]:
    """(..., N) the pairs of choices within W_d of these sizes, and the numbers of their parts, 0 for none."""
    return choices % sizes, choices // sizes


def _tries(strings: Sequence[Sequence[Puncteme]]) -> Tries:
    start, token, parent, of_pair = [0], [], [], []
    for some in strings:
        prefixes = sorted({string[:length] for string in some for length in range(len(string) + 1)})
        place = {prefix: entry for entry, prefix in enumerate(prefixes)}
        token += [prefix[-1] if prefix else -1 for prefix in prefixes]
        parent += [place[prefix[:-1]] for prefix in prefixes]
        of_pair += [place[string] for string in some]
        start.append(len(token))
    return Tries(*(np.array(values, dtype=np.int64) for values in (start, token, parent, of_pair)))
