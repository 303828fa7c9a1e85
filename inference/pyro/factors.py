"""Costs of punctemes: their expectation under the posterior, and factors that make costly ones improbable."""

from pyro.poutine.runtime import effectful
from torch import Tensor

from pyropunct.inference.forest import Forest


@effectful(type="tree_expectation")
def tree_expectation(choices: Tensor, cost: Tensor, start: Tensor, forest: Forest) -> Tensor:
    """E[sum_w cost(w, l_w, r_w)] of each tree, (..., B), differentiable.

    Under `pyropunct.inference.pyro.collapse.collapse_trees` the expectation is over the posterior
    p(T' | T, x), and the surface sites must have been observed before; else it is the cost of ``choices``
    itself.  Source: Li, Wang & Eisner (2019, section 2.3).

    :param choices: (..., N) the choice of each node.
    :param cost: (C,) the cost of each pair at each node, node after node.
    :param start: (N + 1,) where each node's part of ``cost`` starts.
    """
    return forest.per_tree(cost[start[:-1] + choices])


@effectful(type="tree_factor")
def tree_factor(choices: Tensor, cost: Tensor, start: Tensor, forest: Forest) -> Tensor:
    """log of the factor exp(-sum_w cost(w, l_w, r_w)) of each tree, (..., B), for `pyro.factor`.

    Under `pyropunct.inference.pyro.collapse.collapse_trees` the factor is part of the sum over T': it is::

        log sum_T' p(T', x | T) exp(-sum_w cost(w, l_w, r_w))

    in place of log p(x | T).  This returns 0 then.  Posteriors, and expectations behind this call, are then
    those of this product.

    :param choices: (..., N) the choice of each node.
    :param cost: (C,) the cost of each pair at each node, node after node; it counts as a constant.
    :param start: (N + 1,) where each node's part of ``cost`` starts.
    """
    return -forest.per_tree(cost[start[:-1] + choices])
