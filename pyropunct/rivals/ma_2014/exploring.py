"""A dynamic oracle: the transitions that cost nothing in a state, so that training can go on after errors.

The *loss* of a state is the least number of words with wrong heads in a tree that can still be reached.  A
transition is right if it does not raise the loss.  The loss of an arc-standard state is computed as by
Goldberg, Sartorio & Satta (2014, "A tabular method for dynamic oracles in transition-based parsing").  A word
of the buffer can always find its head if the head waits in the buffer too, unless a tree of the stack or
another needed word depends on it.  All other words of the buffer are needed: in order, they are joined with
the trees of the stack, from its top outwards::

    cost[i, j, h]   the least cost of joining the trees s_0 .. s_i and the words b_1 .. b_j under the head h

Training with exploration (Goldberg & Nivre 2012) follows the transition with the highest score, whether it is
right or wrong.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyropunct.inference.compiling import compiled, inner
from pyropunct.rivals.transitions.arc_standard import LEFT, RIGHT, SHIFT, advance, kinds_allowed
from pyropunct.rivals.transitions.cells import BELOW, CELL, NEXT, head_of
from pyropunct.rivals.transitions.perceptron import Weights
from pyropunct.rivals.transitions.search import score
from pyropunct.rivals.transitions.systems import ARC_STANDARD, room_for

Array = NDArray[Any]

FOLLOWED, BEST_RIGHT, BEST, RIGHT_KINDS = range(4)
"""The rows of the results of `explore`: the followed action; the right action with the highest score; the
action with the highest score; and the kinds of right transitions, as bits."""


@compiled
def explore(
    sentence: Array,
    moves: Array,
    templates: Array,
    weights: Weights,
    heads: Array,
    relations: Array,
    follows_best: Array,
) -> Array:
    """A greedy sequence of transitions through a sentence, and the right transitions on its way.

    :param sentence: as in `pyropunct.rivals.transitions.search.search`, and so are the next three.
    :param heads: (n + 1,) the right heads, after a zero.
    :param relations: (n + 1,) the numbers of their relations, as in ``moves``.
    :param follows_best: (2 n - 1,) whether a step follows the best action, right or wrong, or the best right
        action.
    :returns: (4, 2 n - 1) the rows of `RIGHT_KINDS` at each step.
    """
    steps = len(follows_best)
    found = np.zeros((4, steps), np.int64)
    work = room_for(sentence, steps, len(templates), len(moves))
    stack = np.zeros(len(heads), np.int64)
    for step in range(steps):
        score(ARC_STANDARD, work, sentence, templates, weights, step)
        allowed = kinds_allowed(work, step, len(heads) - 1)
        right = _right_kinds(work, step, allowed, heads, stack)
        best, best_right = -1, -1
        for action in range(len(moves)):
            kind, relation = moves[action, 0], moves[action, 1]
            if not allowed >> kind & 1:
                continue
            if best < 0 or work.scores[action] > work.scores[best]:
                best = action
            better = best_right < 0 or work.scores[action] > work.scores[best_right]
            if better and right >> kind & 1 and _fits(work, step, kind, relation, heads, relations):
                best_right = action
        if best_right < 0:  # no transition of a right kind was seen in training
            best_right = best
        followed = best if follows_best[step] else best_right
        found[FOLLOWED, step], found[BEST_RIGHT, step] = followed, best_right
        found[BEST, step], found[RIGHT_KINDS, step] = best, right
        advance(work, step, moves[followed, 0], moves[followed, 1], step + 1)
    return found


@inner
def _pair(work, state, kind):
    """The head and the dependent of the arc that a transition makes."""
    top = work.states[state, CELL]
    first, second = head_of(work, top), head_of(work, work.cells[top, BELOW])
    return (first, second) if kind == LEFT else (second, first)


@inner
def _fits(work, state, kind, relation, heads, relations):
    """Whether the relation of an action is right; any relation fits a wrong arc."""
    if kind == SHIFT:
        return True
    head, dependent = _pair(work, state, kind)
    return heads[dependent] != head or relations[dependent] == relation


@inner
def _right_kinds(work, state, allowed, heads, stack):
    """The kinds of transitions that do not raise the loss, as bits."""
    following, least, right = work.states[state, NEXT], len(heads) + 1, 0
    for kind in (SHIFT, LEFT, RIGHT):
        if not allowed >> kind & 1:
            continue
        cell, cost, size, after = work.states[state, CELL], 0, 1, following
        if kind == SHIFT:
            stack[0], after = following, following + 1
        else:
            stack[0], dependent = _pair(work, state, kind)
            cost = 0 if heads[dependent] == stack[0] else 1
            cell = work.cells[work.cells[cell, BELOW], BELOW]
        while cell:
            stack[size] = head_of(work, cell)
            size += 1
            cell = work.cells[cell, BELOW]
        cost += _loss(heads, stack[:size], after)
        if cost < least:
            least, right = cost, 0
        if cost == least:
            right |= 1 << kind
    return right


@inner
def _loss(heads, stack, following):
    """The least number of words of a stack, its top first, and of the buffer that get a wrong head."""
    size = len(stack)
    nodes = np.zeros(size + len(heads) - following, np.int64)
    for place in range(size):
        nodes[place] = stack[place]
    number = _needed(heads, stack, following, nodes)
    right = number - size + 1
    cost = np.full((size, right, number), len(heads) + 1, np.int64)
    cost[0, 0, 0] = 0
    for i in range(size):
        for j in range(right):
            for h in range(number):
                before = cost[i, j, h]
                if before > len(heads):
                    continue
                if i + 1 < size:
                    _join(heads, nodes, cost[i + 1, j], i + 1, h, before)
                if j + 1 < right:
                    _join(heads, nodes, cost[i, j + 1], size + j, h, before)
    least = len(heads) + 1
    for h in range(number):
        least = min(least, cost[size - 1, right - 1, h] + (0 if heads[nodes[h]] == 0 else 1))
    return least


@inner
def _needed(heads, stack, following, nodes):
    """Write the needed words of the buffer behind the words of the stack; return the number of all."""
    number = len(stack)
    for word in range(following, len(heads)):
        needed = heads[word] < following
        for place in range(number):
            needed |= heads[nodes[place]] == word
        if needed:
            nodes[number] = word
            number += 1
    return number


@inner
def _join(heads, nodes, cost, new, head, before):
    """Lower the costs by joining another node with a tree: as a dependent of its head, or as its new head."""
    under = before + (0 if heads[nodes[new]] == nodes[head] else 1)
    over = before + (0 if heads[nodes[head]] == nodes[new] else 1)
    cost[head] = min(cost[head], under)
    cost[new] = min(cost[new], over)
