"""Projective dependency trees scored by the sum of their arcs: best tree, sum, draws, marginals; compiled.

Eisner (1996, "Three new probabilistic models for dependency parsing") builds such trees in O(n^3) out of
spans of words, each headed by its first or its last word:

    C[h, e]     complete: the span from its head h to the word e at its other end
    I[h, d]     incomplete: the same with the arc h -> d just added, where d can still grow outward

    I[h, d] = s(h -> d) + (+)_{i <= k < j} C[i, k] + C[j, k + 1]      i, j = the lesser, the greater of h, d
    C[h, e] = (+)_d I[h, d] + C[d, e]                                 d from next to h to e
    total   = (+)_r s(root -> r) + C[r, first] + C[r, last]

where (+) is max or log-sum-exp.  The last line gives the artificial root exactly one dependent.  Words are
numbered from 0 in tables, and from 1 in the heads of trees.

C is stored by rows and by columns, so that sums over k run along rows of memory.  Split points are recomputed
on the way down, in O(n) for each of the O(n) spans of a tree.
"""

from typing import NamedTuple

import numpy as np

from pyropunct.inference.compiling import compiled, inner
from pyropunct.inference.ragged import Array

NEGLIGIBLE = -40.0
"""Logarithm of the share below which a term leaves the rounded sum as it is."""


class EisnerChart(NamedTuple):
    """The totals of all spans of one sentence of n words.

    :ivar complete: C[head, end].
    :ivar reached: its transpose, [end, head].
    :ivar incomplete: I[head, dependent].
    :ivar roots: for each word the total of the trees with this root.
    """

    complete: Array
    reached: Array
    incomplete: Array
    roots: Array


@inner
def _greatest(first: Array, second: Array) -> float:
    """The maximum of the sum of two rows."""
    top = first[0] + second[0]
    for k in range(1, len(first)):
        term = first[k] + second[k]
        top = term if term > top else top
    return top


@inner
def _log_sum(first: Array, second: Array) -> float:
    """Log-sum-exp of the sum of two rows."""
    top = _greatest(first, second)
    total = 0.0
    for k in range(len(first)):
        term = first[k] + second[k] - top
        if term > NEGLIGIBLE:
            total += np.exp(term)
    return top + np.log(total)


@inner
def _add(first: Array, second: Array, best: bool) -> float:
    return _greatest(first, second) if best else _log_sum(first, second)


@compiled
def _fill(scores: Array, best: bool) -> EisnerChart:
    """The chart of a sentence, from arc scores (n, n + 1) at [word, head]; ``best`` makes (+) max."""
    n = len(scores)
    complete, reached = np.zeros((n, n)), np.zeros((n, n))
    incomplete = np.zeros((n, n))
    for j in range(1, n):  # this order keeps the rows of j in the cache
        for i in range(j - 1, -1, -1):
            between = _add(complete[i, i:j], complete[j, i + 1 : j + 1], best)
            incomplete[i, j] = between + scores[j, i + 1]
            incomplete[j, i] = between + scores[i, j + 1]
            complete[i, j] = _add(incomplete[i, i + 1 : j + 1], reached[j, i + 1 : j + 1], best)
            complete[j, i] = _add(incomplete[j, i:j], reached[i, i:j], best)
            reached[j, i] = complete[i, j]
            reached[i, j] = complete[j, i]
    roots = scores[:, 0] + complete[:, 0] + complete[:, n - 1]
    return EisnerChart(complete, reached, incomplete, roots)


@inner
def _choose(first: Array, second: Array, uniform: float) -> int:
    """The argmax of the sum of two rows; or, if ``uniform`` is in [0, 1), a draw from its softmax."""
    if uniform < 0:
        chosen = 0
        for k in range(1, len(first)):
            if first[k] + second[k] > first[chosen] + second[chosen]:
                chosen = k
        return chosen
    rest = uniform
    total = _log_sum(first, second)
    for k in range(len(first)):
        rest -= np.exp(first[k] + second[k] - total)
        if rest < 0:
            return k
    return _choose(first, second, -1.0)  # rounding may leave a little of the uniform draw


@compiled
def _walks(chart: EisnerChart, uniforms: Array) -> Array:
    """(trees, n) heads of trees, from uniforms (trees, 2 n), one for each choice; see `_choose`."""
    heads = np.zeros((len(uniforms), len(chart.roots)), np.int64)
    for tree in range(len(uniforms)):
        _walk(chart, uniforms[tree], heads[tree])
    return heads


@inner
def _walk(chart: EisnerChart, uniforms: Array, heads: Array) -> None:
    """Write the heads of one tree from the root down, for each span its last dependent first."""
    complete, reached, incomplete, roots = chart
    n = len(roots)
    stack = np.empty((2 * n, 2), np.int64)  # complete spans (head, end) still to be split
    root = _choose(roots, np.zeros(n), uniforms[0])
    _put(stack, 0, root, 0)
    _put(stack, 1, root, n - 1)
    height, used = 2, 1
    while height:
        height -= 1
        head, end = stack[height]
        if head == end:
            continue
        low, high = (head + 1, end + 1) if head < end else (end, head)
        dependent = low + _choose(incomplete[head, low:high], reached[end, low:high], uniforms[used])
        heads[dependent] = head + 1
        i, j = min(head, dependent), max(head, dependent)
        k = i + _choose(complete[i, i:j], complete[j, i + 1 : j + 1], uniforms[used + 1])
        used += 2
        _put(stack, height, dependent, end)
        _put(stack, height + 1, i, k)
        _put(stack, height + 2, j, k + 1)
        height += 3


@inner
def _put(stack: Array, place: int, head: int, end: int) -> None:
    """Push a span, a number at a time: see `pyropunct.inference.compiling`."""
    stack[place, 0], stack[place, 1] = head, end


def best_tree(scores: Array) -> Array:
    """Heads of the best projective tree with one root (0), given (n, n + 1) scores at [word, head]."""
    chart = _fill(np.ascontiguousarray(scores, dtype=np.float64), True)
    return _walks(chart, np.full((1, 2 * len(scores)), -1.0))[0]


def log_total(scores: Array) -> float:
    """Log-sum-exp of the scores of all such trees; ``scores`` as for `best_tree`."""
    roots = _fill(np.ascontiguousarray(scores, dtype=np.float64), False).roots
    return float(np.logaddexp.reduce(roots))


def draw_trees(scores: Array, draws: int, random: np.random.Generator) -> Array:
    """(draws, n) heads of trees drawn from the softmax of their scores; ``scores`` as for `best_tree`."""
    chart = _fill(np.ascontiguousarray(scores, dtype=np.float64), False)
    return _walks(chart, random.random((draws, 2 * len(scores))))


@compiled
def _marginals(chart: EisnerChart, scores: Array) -> Array:
    """The probability of each arc: the gradient of the log total, by reverse differentiation of `_fill`."""
    complete, _, incomplete, roots = chart
    n = len(roots)
    of_complete, of_incomplete, of_arcs = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n + 1))
    total = _log_sum(roots, np.zeros(n))
    for root in range(n):
        share = np.exp(roots[root] - total)
        of_arcs[root, 0] = share
        of_complete[root, 0] += share
        of_complete[root, n - 1] += share
    for width in range(n - 1, 0, -1):
        for i in range(n - width):
            j = i + width
            for k in range(i + 1, j + 1):  # complete[i, j]
                share = of_complete[i, j] * np.exp(incomplete[i, k] + complete[k, j] - complete[i, j])
                of_incomplete[i, k] += share
                of_complete[k, j] += share
            for k in range(i, j):  # complete[j, i]
                share = of_complete[j, i] * np.exp(incomplete[j, k] + complete[k, i] - complete[j, i])
                of_incomplete[j, k] += share
                of_complete[k, i] += share
            of_arcs[j, i + 1], of_arcs[i, j + 1] = of_incomplete[i, j], of_incomplete[j, i]
            both = of_incomplete[i, j] + of_incomplete[j, i]
            between = incomplete[i, j] - scores[j, i + 1]
            for k in range(i, j):
                share = both * np.exp(complete[i, k] + complete[j, k + 1] - between)
                of_complete[i, k] += share
                of_complete[j, k + 1] += share
    return of_arcs


def arc_marginals(scores: Array) -> Array:
    """The probability of each arc, at [word, head], in a tree of `draw_trees`."""
    given = np.ascontiguousarray(scores, dtype=np.float64)
    return _marginals(_fill(given, False), given)
