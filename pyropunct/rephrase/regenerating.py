"""Surface strings for underlying strings: the channel of a trained model, run forward.

The slip of `pyropunct.models.channel.window.Slip` is left out.  It accounts for slots that ignore their
underlying string, and what is regenerated is to follow it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.inference.transducers import END, HALT, NOTHING, Move, Start, Transducer
from pyropunct.models.channel.window import Channel, Slip
from pyropunct.punctuator import Punctuator
from pyropunct.treebank.marks import UNKNOWN

MOST_STRINGS = 5000
"""Unfinished strings, with the state of the machine, that are followed together: the most probable ones.  A
slot of seven tokens or fewer has no more, and so all sums are exact."""

DRAWS = 1000
"""Draws from a channel that is no transducer, to learn the distribution of its surface strings."""

String = tuple[int, ...]
Unfinished = dict[tuple[int, String], float]
"""The probabilities of pairs of a state and what was written so far."""


class Outcomes(NamedTuple):
    """A distribution of surface strings.

    :ivar strings: the strings.
    :ivar chances: their probabilities.
    """

    strings: tuple[String, ...]
    chances: NDArray[np.float64]


class Regenerator:
    """What surface strings the channel of a model makes of underlying strings.

    :param model: the model.
    """

    def __init__(self, model: Punctuator) -> None:
        self._model = model
        channel = model.story.channel
        self._channel: Channel = channel.channel if isinstance(channel, Slip) else channel
        self._known: dict[String, Outcomes] = {}

    def best(self, underlying: Sequence[str]) -> tuple[str, ...]:
        """The most probable surface string x for an underlying string u: argmax of p(x | u) over x.

        p(x | u) is a sum over all edits that lead to x.
        """
        outcomes = self._outcomes(underlying)
        return self._shown(outcomes.strings[int(outcomes.chances.argmax())], underlying)

    def draw(self, underlying: Sequence[str], generator: np.random.Generator) -> tuple[str, ...]:
        """A surface string drawn from p(x | u)."""
        outcomes = self._outcomes(underlying)
        return self._shown(
            outcomes.strings[generator.choice(len(outcomes.strings), p=outcomes.chances)], underlying
        )

    def distribution(self, underlying: Sequence[str]) -> dict[tuple[str, ...], float]:
        """p(x | u) of each surface string x."""
        strings, chances = self._outcomes(underlying)
        decode = self._model.vocabulary.decode_string
        return {decode(x): chance for x, chance in zip(strings, chances.tolist(), strict=True)}

    def _outcomes(self, underlying: Sequence[str]) -> Outcomes:
        numbers = self._model.vocabulary.token_number
        u = tuple(numbers.get(token, numbers[UNKNOWN]) for token in underlying)
        if u not in self._known:
            machine = self._machine
            found = self._drawn(u) if machine is None else machine.outcomes(u)
            chances = np.array(list(found.values()))
            self._known[u] = Outcomes(tuple(found), chances / chances.sum())
        return self._known[u]

    def _shown(self, surface: String, underlying: Sequence[str]) -> tuple[str, ...]:
        """The tokens of a surface string, the unknown ones those that are unknown in the underlying one."""
        known = self._model.vocabulary.token_number
        unknown = iter([token for token in underlying if token not in known])
        tokens = self._model.vocabulary.decode_string(surface)
        return tuple(next(unknown, token) if token == UNKNOWN else token for token in tokens)

    @cached_property
    def _weights(self) -> Tensor:
        """The weights of the channel itself, without those of the slip."""
        with torch.no_grad():
            return self._channel.weights()

    @cached_property
    def _machine(self) -> "_Machine | None":
        transducer = self._channel.transducer(self._weights)
        return None if transducer is None else _Machine(transducer)

    def _drawn(self, underlying: String) -> dict[String, float]:
        """Relative frequencies of draws from a channel that is no transducer."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            draws = Counter(tuple(self._channel.draw(underlying, self._weights)) for _ in range(DRAWS))
        return {string: count / DRAWS for string, count in draws.items()}


class _Machine:
    """A transducer that tells how probable each of its surface strings is.

    :param transducer: the transducer.
    """

    def __init__(self, transducer: Transducer) -> None:
        self._starts = transducer.starts
        self._moves: dict[tuple[int, int], list[Move]] = {}
        for move in transducer.moves:
            if move.chance > 0:
                self._moves.setdefault((move.source, move.token), []).append(move)

    def outcomes(self, underlying: String) -> dict[String, float]:
        """The probability of each surface string."""
        found: dict[String, float] = {}
        for start in self._starts:
            for string, chance in self._from(start, underlying):
                found[string] = found.get(string, 0.0) + chance
        return found

    def _from(self, start: Start, underlying: String) -> Iterator[tuple[String, float]]:
        read = underlying[::-1] if start.from_right else underlying
        reached: Unfinished = {(start.state, ()): start.chance}
        for token in read:
            reached = self._step(reached, token)
        while reached:
            reached = self._step(reached, END)
            for halted in [key for key in reached if key[0] == HALT]:
                chance, string = reached.pop(halted), halted[1]
                yield string[::-1] if start.from_right else string, chance

    def _step(self, reached: Unfinished, token: int) -> Unfinished:
        """Make one move from each state."""
        further: Unfinished = {}
        for (state, string), chance in reached.items():
            for move in self._moves[state, token]:
                key = move.target, (string if move.written == NOTHING else (*string, move.written))
                further[key] = further.get(key, 0.0) + chance * move.chance
        if len(further) > MOST_STRINGS:
            likely = sorted(further.items(), key=lambda item: -item[1])[:MOST_STRINGS]
            further = dict(likely)
        return further
