"""Beam search, and learning from its errors, compiled.

The next beam is the best k states that follow the states of a beam by one transition; the answer is the best
state of the last beam (Zhang & Clark 2008, "A tale of two parsers").  In training the search stops as soon as
the right state leaves the beam, and learns from the transitions so far: *early update* (Collins & Roark
2004).  Ties go to the better previous state, then to the lesser number of the action.
"""

from typing import NamedTuple

import numpy as np

from pyropunct.inference.compiling import compiled, inner
from pyropunct.papers.transitions.cells import workspace_of
from pyropunct.papers.transitions.machine import ATOMS, SHIFT, advance, kinds_allowed, write_atoms
from pyropunct.papers.transitions.perceptron import (
    Array,
    PerceptronWeights,
    add_scores,
    change,
    features_of,
    with_room,
)


class TransitionSystem(NamedTuple):
    """What a parser can do, and what it sees.

    :ivar moves: (actions, 4) the kind of transition of each action, its relation from 1, and one or two
        numbers of weights, whose scores are added; -1 if there is no second number.
    :ivar templates: see `pyropunct.papers.transitions.perceptron.features_of`.
    :ivar weighted: the number of actions and parts of actions that have weights.
    """

    moves: Array
    templates: Array
    weighted: int


@compiled
def search(
    system: TransitionSystem, sentence: Array, weights: PerceptronWeights, beam: int, gold: Array
) -> Array:
    """The actions of the best sequence of transitions that a beam finds.

    :param sentence: (5, n + 1) see `pyropunct.papers.transitions.cells.WORD`.
    :param beam: the most states that are kept.
    :param gold: (steps,) the right actions, or (0,) if they are unknown.  The search stops when they have
        left the beam, or after the last one.
    :returns: the actions until the search stopped.
    """
    words, moves = sentence.shape[1] - 1, system.moves
    steps = len(gold) if len(gold) else 2 * words - (1 if moves[0, 0] < SHIFT else 0)
    work = workspace_of(sentence, beam * steps, len(ATOMS), len(system.templates), system.weighted)
    best_scores, best_orders = np.zeros(beam, np.int64), np.zeros(beam, np.int64)
    start, end = 0, 1
    for step in range(steps):
        kept = 0
        for state in range(start, end):
            write_atoms(work, state)
            number = features_of(work.atoms, system.templates, work.keys)
            work.scores[:] = 0
            add_scores(weights, work.keys, number, work.scores)
            allowed = kinds_allowed(work, state, words)
            kept = _offer_actions(work, moves, allowed, state, state - start, best_scores, best_orders, kept)
        right = False
        for place in range(kept):
            state, action = start + best_orders[place] // len(moves), best_orders[place] % len(moves)
            new = end + place
            advance(work, state, moves[action, 0], moves[action, 1], new)
            after = work.states[new]
            after["previous"], after["action"], after["score"] = state, action, best_scores[place]
            if len(gold):
                after["gold"] = 1 if after["gold"] and action == gold[step] else 0
                right |= after["gold"] == 1
        start, end = end, end + kept
        if len(gold) and not right:
            return _actions_to(work.states, start, step + 1)
    return _actions_to(work.states, start, steps)


@inner
def _offer_actions(work, moves, allowed, state, place, best_scores, best_orders, kept):
    """Let the actions of a state compete for a place in the next beam; return the number of taken places."""
    before = work.states[state]["score"]
    for action in range(len(moves)):
        if allowed >> moves[action, 0] & 1:
            score = before + work.scores[moves[action, 2]]
            if moves[action, 3] >= 0:
                score += work.scores[moves[action, 3]]
            if kept < len(best_scores):
                kept += 1
            elif score <= best_scores[kept - 1]:
                continue
            rank = kept - 1  # if all places are taken, the worst falls out
            while rank > 0 and score > best_scores[rank - 1]:
                best_scores[rank], best_orders[rank] = best_scores[rank - 1], best_orders[rank - 1]
                rank -= 1
            best_scores[rank], best_orders[rank] = score, place * len(moves) + action
    return kept


@inner
def _actions_to(states, state, steps):
    actions = np.empty(steps, np.int64)
    for step in range(steps - 1, -1, -1):
        actions[step] = states[state]["action"]
        state = states[state]["previous"]
    return actions


@compiled
def learn(
    system: TransitionSystem,
    weights: PerceptronWeights,
    sentence: Array,
    right: Array,
    found: Array,
    first: int,
    example: int,
) -> PerceptronWeights:
    """The weights after those of right actions grew and those of found ones shrank; use the old ones no more.

    Both start with the sentence, and are equal before step ``first``.
    """
    moves, most = system.moves, len(system.templates)
    for actions, by in ((right, 1), (found, -1)):
        work = workspace_of(sentence, len(actions), len(ATOMS), most, system.weighted)
        for step in range(len(actions)):
            if step >= first:
                weights = with_room(weights, 2 * most, system.weighted)
                write_atoms(work, step)
                number = features_of(work.atoms, system.templates, work.keys)
                for column in (2, 3):
                    if moves[actions[step], column] >= 0:
                        change(weights, work.keys, number, moves[actions[step], column], by, example)
            advance(work, step, moves[actions[step], 0], moves[actions[step], 1], step + 1)
    return weights
