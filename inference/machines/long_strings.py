"""Surface strings too long for double precision to hold their probabilities: scaled, token by token.

Where a channel slips, each of a string's tokens divides its probability by ten, or by ten thousand: behind a
hundred of them double precision ends.  So each token of a long string is given a weight above 1, about as
great as what the token costs.  All ways to the string get the same factor, the product of these weights,
which is taken off again as a logarithm.  Any weights would be right; these keep the numbers near 1.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from pyropunct.inference.machines.evidence import Evidence, String
from pyropunct.inference.machines.machine import Machine
from pyropunct.inference.machines.moves import END
from pyropunct.inference.ragged import Floats, Ints

SHORT = 16
"""Strings of up to so many tokens have probabilities far from the least number of double precision."""


class Scaled(NamedTuple):
    """Evidence with weights on its tokens.

    :ivar evidence: the evidence.
    :ivar log_scale: the logarithm of the factor that makes its weights those of the string again.
    """

    evidence: Evidence
    log_scale: float


def scaled(evidence: Evidence, machines: Iterable[Machine]) -> Scaled:
    """Evidence of one long string with weights on its tokens; any other evidence as it is.

    :param machines: the machines that may write it.
    """
    string = evidence.string
    if string is None or len(string) <= SHORT:
        return Scaled(evidence, 0.0)
    least = min((_costs(string, machine) for machine in machines), key=np.sum, default=np.zeros(len(string)))
    if not np.isfinite(least).all():
        return Scaled(evidence, 0.0)
    weights = np.exp(least).tolist()
    steps = tuple(step._replace(weight=weight) for step, weight in zip(evidence.steps, weights, strict=True))
    return Scaled(evidence._replace(steps=steps, string=None), float(-least.sum()))


def _costs(string: String, machine: Machine) -> Floats:
    """(L,) what each token costs in the best way to write the string behind the end, as -log probability.

    Infinite if the machine does not write it there token by token.
    """
    moves, size = _moves_by_token(machine), len(machine.states)
    best, table = np.zeros(len(string) + 1), np.zeros(size)
    for place, token in reversed(list(enumerate(string[::-1] if machine.from_right else string))):
        further = np.full(size, -np.inf)
        if token in moves:
            source, target, log_factor = moves[token]
            np.maximum.at(further, source, log_factor + table[target])
        table, best[place] = further, further.max()
        if best[place] == -np.inf:
            return np.full(len(string), np.inf)
    costs = best[1:] - best[:-1]
    return costs[::-1] if machine.from_right else costs


def _moves_by_token(machine: Machine) -> Mapping[int, tuple[Ints, Ints, Floats]]:
    """The moves behind the end that write one token and go on: source, target, logarithm of the factor."""
    goes_on = (machine.token == END) & (machine.target >= 0) & (machine.factor > 0)
    moves = {}
    for number, written in enumerate(machine.strings.strings):
        writing = goes_on & (machine.written == number)
        if len(written) == 1 and writing.any():
            factor = np.log(machine.factor[writing])
            moves[written[0]] = machine.source[writing], machine.target[writing], factor
    return moves
