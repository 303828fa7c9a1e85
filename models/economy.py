"""The economy of underlying trees: which T' training prefers among those that explain the page."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby

import torch
from torch import Tensor

from pyropunct.inference.forest import Forest
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.packed import PackedForest
from pyropunct.models.symmetry import PAIRED, PARTNERS, as_marks, unmatched_sides
from pyropunct.text.marks import paired
from pyropunct.treebank.functions import DELIMITING, FINAL, SEPARATING


def facing(left: Sequence[str], right: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """The tokens of l that face a token of r, equal or its closer, and the other tokens of l and of r."""
    paired, others, alone = list[str](), list(right), list[str]()
    for token in left:
        partner = next((one for one in others if one in PARTNERS.get(token, (token,))), None)
        if partner is None:
            alone.append(token)
        else:
            others.remove(partner)
            paired.append(token)
    return paired, alone, others


COSTS = {DELIMITING: (1.0, 1.5, 1.0), FINAL: (2.0, 1.0, 5.0), SEPARATING: (10.0, 5.0, 1.0)}
"""How many marks two facing marks, one alone, and one alone a level deeper count as in `Economy`."""

BETWEEN_CONJUNCTS = (10.0, 1.0, 1.0)
"""The same for delimiting marks of a conjunct: one separates it from the others, and the next is theirs."""

INSIDE = 5.0
"""How many marks more a delimiting mark counts as inside a bracket or quotation mark of its puncteme."""

UNMATCHED = 30.0
"""How many marks an unmatched side of a constituent counts as in `Economy`."""


def _inside(puncteme: Sequence[str], function: Mapping[str, str]) -> int:
    """How many delimiting marks of a puncteme, from the outside, follow a bracket or quotation mark."""
    brackets = [rank for rank, mark in enumerate(puncteme) if mark in PAIRED]
    within = puncteme[brackets[0] + 1 :] if brackets else ()
    return sum(function[mark] == DELIMITING for mark in within)


class Economy:
    """n(T') of trees: how many marks they sprout, how far inside, and how unbalanced.

    Likelihood decides neither whether an inner clause sprouts a period that the channel absorbs, nor whether
    an initial clause sprouts a comma that the beginning of the sentence absorbs. n(T') does::

        n(T') = sum over w of  cost(l, r) + above_left(w) depth(l) + above_right(w) depth(r) + 30 c(l, r)

    *cost* adds, by the function of marks (`pyropunct.treebank.functions`):

    - 1 for two delimiting marks that face each other, and 1.5 for one that stands alone; but 10 and 1 at a
      conjunct or an item of a list, where one separates (Nunberg 1990, chapter 3)
    - 1 for a final mark
    - 5 for any other mark
    - 5 more for a delimiting mark inside a bracket or quotation mark of its puncteme, where the
      channel may have moved it

    *depth* adds 5 for each final mark and 1 for each other mark that faces no mark on the other side: no
    equal one, no closer. above_left(w) is the number of larger constituents that start where w starts;
    above_right(w), those that end where w ends.

    So a mark that stands alone belongs to the largest constituent, as in Universal Dependencies; where the
    other comma of a constituent may be its neighbour's, it has both; and marks that do not reach the page are
    commas, dashes and final marks. c(l, r) counts the sides with a bracket or quotation mark that lacks its
    partner, except at slots where the page has such a mark too.

    Training with the weight kappa maximises, for each tree::

        log sum over T' of p(T', x | T) exp(-kappa n(T'))
            = max over q of  log p(x | T) - KL(q || p(T' | T, x)) - kappa E_q[n(T')]

    so the posterior q prefers economical trees. This is posterior regularisation with a linear penalty
    (Ganchev, Graça, Gillenwater & Taskar 2010, "Posterior Regularization for Structured Latent Variable
    Models", JMLR 11, section 2). n is a sum over nodes, so the left side costs the same as log p(x | T).

    :param marks: the tokens of the inventory.
    :param functions: their functions, one for each; without them, each mark counts as 1.
    :param separated: the numbers of the relations of conjuncts and items of lists.
    """

    def __init__(
        self,
        inventory: Inventory,
        marks: Sequence[str],
        functions: Sequence[str] = (),
        separated: Iterable[int] = (),
    ) -> None:
        self._closers = {
            number: {other for other, closer in enumerate(marks) if closer in PARTNERS.get(mark, ())}
            for number, mark in enumerate(marks)
            if mark in PAIRED
        }
        function = dict(zip(marks, functions or [FINAL] * len(marks), strict=True))
        of_marks = [
            {mark: of.get(function[mark], of[SEPARATING]) for mark in marks}
            for of in (COSTS, COSTS | {DELIMITING: BETWEEN_CONJUNCTS})
        ]
        rows, starts = [], inventory.pair_start
        separating = {row for d in separated for row in range(starts[d], starts[d + 1])}
        for row, (left, right) in enumerate(as_marks(inventory, marks)):
            opposite, *alone = facing(left, right)
            costs = of_marks[row in separating]
            cost = sum(costs[mark][0] for mark in opposite) + sum(costs[mark][1] for mark in chain(*alone))
            cost += INSIDE * (_inside(left, function) + _inside(right[::-1], function))
            deeper = (sum(costs[mark][2] for mark in side) for side in alone)
            rows.append((cost, *deeper, *unmatched_sides(left, right)))
        self._rows = torch.tensor(rows, dtype=torch.double)

    def cost(
        self,
        forest: Forest | PackedForest,
        surface: object = None,
        weight: float = 1.0,
        *,
        balanced: bool = True,
    ) -> Callable[[Tensor, Tensor], Tensor]:
        """kappa n(T') as a cost of pairs, for `pyropunct.inference.story_inputs.StoryInputs`.

        For latent trees, above_left and above_right are unknown and taken as 0.

        :param surface: (S, L) the page; if it is something else, no mark is known to lack its partner there.
        :param balanced: whether c counts.
        """
        if isinstance(forest, PackedForest):
            nothing = torch.zeros(forest.num_nodes)
            above_left, above_right, lone_left, lone_right = (nothing,) * 4
        else:
            above_left, above_right = above(forest, forest.left_slot), above(forest, forest.right_slot)
            lone = torch.zeros(forest.num_slots)
            if isinstance(surface, Tensor):
                lone = self._lone(surface.cpu(), forest.slot_tree.tolist())
            lone_left, lone_right = lone[forest.left_slot], lone[forest.right_slot]
        return _CostOfPairs(self._rows, weight, balanced, above_left, above_right, lone_left, lone_right)

    def _lone(self, surface: Tensor, slot_tree: Sequence[int]) -> Tensor:
        """(S,) 1 for slots with a bracket or quotation mark whose partner the sentence lacks, else 0."""
        lone = torch.zeros(len(surface))
        is_paired = torch.isin(surface, torch.tensor([*self._closers], dtype=torch.long))
        marks = zip(is_paired.nonzero()[:, 0].tolist(), surface[is_paired].tolist(), strict=True)
        for _, of_tree in groupby(marks, key=lambda found: slot_tree[found[0]]):
            slots, numbers = zip(*of_tree, strict=True)
            whole = set(chain(*paired(numbers, self._closers)))
            lone[[slot for place, slot in enumerate(slots) if place not in whole]] = 1
        return lone


@dataclass(frozen=True)
class _CostOfPairs:
    """kappa n(T') of pairs, given as the nodes that sprout them and their rows in the inventory.

    :ivar above_left: (N,) how many larger constituents start where each node starts, and so on.
    :ivar lone_left: (N,) 1 if the slot at the left edge has a mark without its partner, and so on.
    """

    rows: Tensor
    weight: float
    balanced: bool
    above_left: Tensor
    above_right: Tensor
    lone_left: Tensor
    lone_right: Tensor

    def __call__(self, node: Tensor, row: Tensor) -> Tensor:
        cost, left, right, unmatched_left, unmatched_right = self.rows[row].unbind(-1)
        inside = self.above_left[node] * left + self.above_right[node] * right
        on_left = unmatched_left * (1 - self.lone_left[node])
        on_right = unmatched_right * (1 - self.lone_right[node])
        return self.weight * (cost + inside + self.balanced * UNMATCHED * (on_left + on_right))


def above(forest: Forest, edge: Tensor) -> Tensor:
    """(N,) how many larger constituents share the edge of each; ``edge``: (N,) the slots at left or right
    edges.
    """
    outermost = torch.full((forest.num_slots,), forest.num_nodes, device=edge.device)
    return forest.depth - outermost.scatter_reduce(0, edge, forest.depth, "amin")[edge]
