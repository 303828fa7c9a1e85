"""Costs of punctemes: expectations of them, and factors of them in the sum over T'.

A cost is a table or a function.  A table, (R,), has a number for each row of the inventory: for each pair
(l, r) that a relation may sprout.  A function is given the nodes, (C,), and the rows, (C,), of all pairs that
the nodes may sprout; it returns (C,) numbers.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from pyropunct.inference.problem import choice_rows
from pyropunct.inference.pyro.pairs import of_choices
from pyropunct.inference.pyro.told import Told

Cost = Tensor | Callable[[Tensor, Tensor], Tensor]


def tree_expectation(told: Told, cost: Cost) -> Tensor:
    """E[sum_w cost(w, l_w, r_w)] of each tree, (..., B), differentiable once.

    Where T' is summed out, the expectation is over the posterior p(T' | T, x); else it is the cost of T'
    itself.  Source: Li, Wang & Eisner (2019, section 2.3).

    :param cost: see the docstring of this module.
    :raises ValueError: if the cost has another shape.
    :raises NotImplementedError: if trees of a sentence are mixed.
    """
    numbers = _numbers(told, cost)
    if told.sentences is not None:
        raise NotImplementedError(
            "tree_expectation is of each tree alone, but mix_trees weighs the trees of a sentence: leave the "
            "symmetry regulariser out"
        )
    if told.sum is not None:
        return told.sum.expected(numbers)
    return told.forest.per_tree(of_choices(numbers, told.choices, told.start))


def tree_factor(told: Told, cost: Cost) -> Tensor:
    """log of the factor exp(-sum_w cost(w, l_w, r_w)) of each tree, (..., B), for `pyro.factor`.

    Where T' is summed out, the factor is part of the sum: the site "surface" then has::

        log sum_T' p(T', x | T) exp(-sum_w cost(w, l_w, r_w))

    in place of log p(x | T), and this returns 0.  Posteriors and expectations are those of this product.

    :param cost: see the docstring of this module; it counts as a constant.
    :raises ValueError: if the cost has another shape, or if the sum has been made, as by `tree_expectation`.
    """
    numbers = _numbers(told, cost)
    if told.sum is None:
        return -told.forest.per_tree(of_choices(numbers, told.choices, told.start))
    if told.sum.is_made:
        raise ValueError(
            "tree_factor comes behind a tree_expectation, which knows nothing of it: put it before"
        )
    told.cost = numbers if told.cost is None else told.cost + numbers
    return told.log_pairs.new_zeros(told.forest.num_trees)


def _numbers(told: Told, cost: Cost) -> Tensor:
    """(C,) the cost of each pair of each node, node after node."""
    rows = choice_rows(told.inventory, told.trees.relation)
    if isinstance(cost, Tensor):
        wanted, found = (len(told.inventory.rows),), tuple(cost.shape)
        numbers = cost[rows.to(cost.device)] if found == wanted else cost
    else:
        node = torch.repeat_interleave(told.start.diff())
        numbers = cost(node, rows)
        wanted, found = (len(rows),), tuple(numbers.shape)
    if found != wanted:
        what = "row of the inventory" if isinstance(cost, Tensor) else "pair of each node"
        raise ValueError(f"a cost has shape {found}: it needs {wanted}, a number for each {what}")
    return numbers
