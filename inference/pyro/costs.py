"""Costs of punctemes that a story has been told with: expectations of them, and factors of them."""

from torch import Tensor

from pyropunct.inference.pyro.told import Cost, Told


def tree_expectation(told: Told, cost: Cost) -> Tensor:
    """E[sum_w cost(w, l_w, r_w)] of each tree, (..., B), differentiable once.

    Where T' is summed out, the expectation is over the posterior p(T' | T, x); else it is the cost of T'
    itself.  Source: Li, Wang & Eisner (2019, section 2.3).

    :raises ValueError: if the cost has another shape than `Cost`.
    :raises NotImplementedError: if trees of a sentence are mixed.
    """
    numbers = told.of_pairs(cost)
    if told.sentences is not None:
        raise NotImplementedError(
            "tree_expectation is of each tree alone, but mix_trees weighs the trees of a sentence: leave the "
            "symmetry regulariser out"
        )
    return told.cost_of_choices(numbers) if told.sum is None else told.sum.expected(numbers)


def tree_factor(told: Told, cost: Cost) -> Tensor:
    """log of the factor exp(-sum_w cost(w, l_w, r_w)) of each tree, (..., B), for `pyro.factor`.

    Where T' is summed out, the factor is part of the sum: the site "surface" then has::

        log sum_T' p(T', x | T) exp(-sum_w cost(w, l_w, r_w))

    in place of log p(x | T), and this returns 0.  Posteriors and expectations are those of this product.

    :param cost: counts as a constant.
    :raises ValueError: if the cost has another shape than `Cost`, or if the sum has been made.
    """
    numbers = told.of_pairs(cost)
    if told.sum is None:
        return -told.cost_of_choices(numbers)
    if told.sum.is_made:
        raise ValueError(
            "tree_factor comes behind tree_expectation or infer_trees, which know nothing of it: put it "
            "before, or give Told the cost"
        )
    told.cost = numbers if told.cost is None else told.cost + numbers
    return told.log_pairs.new_zeros(told.forest.num_trees)
