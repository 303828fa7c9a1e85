"""How economically underlying punctuation explains what is on the page: how many marks, and how far inside.

Likelihood does not tell a period that an inner clause sprouts, and that the channel absorbs, from none at
all; nor whose period it is, where the clause and the sentence end together.  The number n(T') does::

    n(T') = sum over w of  paired(l, r) + (1 + above_left(w)) alone(l) + (1 + above_right(w)) alone(r)

where *paired* counts tokens of l and r that face each other, two as one, and *alone* the others;
above_left(w) is the number of larger constituents that start where w starts, above_right(w) of those that end
where w ends.  What is on the page has been sprouted, so for a given x a greater n(T') means more tokens that
never reach the page, outside of balanced pairs, or tokens that smaller constituents have sprouted than need
be.  A mark that stands alone belongs to the largest constituent, as Universal Dependencies attach it to the
highest word.  A pair stays where it is, one half of it absorbed or not: it encloses its constituent.

Training with the weight kappa maximises, for each tree::

    log sum over T' of p(T', x | T) exp(-kappa n(T'))
        = max over q of  log p(x | T) - KL(q || p(T' | T, x)) - kappa E_q[n(T')]

so the posterior q from which it learns leans towards economical trees, most of all where likelihood does not
decide.  This is posterior regularisation with a linear penalty (Ganchev, Graça, Gillenwater & Taskar 2010,
"Posterior Regularization for Structured Latent Variable Models", JMLR 11, section 2).  The left side takes no
longer to compute than log p(x | T), as n adds up over nodes.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from pyropunct.inference.forest import Forest
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.problem import choice_rows, choice_start
from pyropunct.models.symmetry import FACING


class Sprouted(NamedTuple):
    """How many tokens a puncteme pair has.

    :ivar paired: pairs of tokens, one of the left and one of the right puncteme, that face each other.
    :ivar left: other tokens of the left puncteme.
    :ivar right: other tokens of the right puncteme.
    """

    paired: int
    left: int
    right: int


def sprouted(left: Sequence[str], right: Sequence[str]) -> Sprouted:
    """The counts of a puncteme pair.

    A quotation mark or bracket faces the one that closes it, any other token faces its like.
    """
    facing = Counter(FACING.get(token, token) for token in left)
    paired = (facing & Counter(right)).total()
    return Sprouted(paired, len(left) - paired, len(right) - paired)


class Economy:
    """n(T') of trees with the relations of an inventory.

    :param inventory: the sets W_d.
    :param marks: the inventory's tokens.
    """

    def __init__(self, inventory: Inventory, marks: Sequence[str]) -> None:
        counts = [
            sprouted([marks[t] for t in left], [marks[t] for t in right]) for left, right in inventory.rows
        ]
        self._inventory, self._counts = inventory, torch.tensor(counts, dtype=torch.double)

    def numbers(self, relation: Tensor, forest: Forest) -> Tensor:
        """(C,) what each pair of each node adds to n(T'), node after node.

        :param relation: (N,) the relation of each node.
        """
        paired, left, right = self._counts[choice_rows(self._inventory, relation)].unbind(-1)
        sizes = torch.from_numpy(choice_start(self._inventory, relation)).diff()
        above_left, above_right = (torch.repeat_interleave(one, sizes) for one in above(forest))
        return paired + (1 + above_left) * left + (1 + above_right) * right


def above(forest: Forest) -> tuple[Tensor, Tensor]:
    """(N,), (N,) how many larger constituents start where each one starts, and end where each one ends."""
    return _above(forest, forest.left_slot), _above(forest, forest.right_slot)


def _above(forest: Forest, edge: Tensor) -> Tensor:
    """Constituents that have an edge in common hold one another, so their depths follow each other."""
    outermost = torch.full((forest.num_slots,), forest.num_nodes, device=edge.device)
    return forest.depth - outermost.scatter_reduce(0, edge, forest.depth, "amin")[edge]
