"""Surface strings for underlying strings: the channel of a trained model, run forward.

The slip of `pyropunct.models.channel.slip.Slip` is left out.  It models surface strings that ignore their
underlying string, but regenerated strings are meant to follow it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from pyropunct.fitted.story import FittedStory
from pyropunct.inference.machines.paths import Ways
from pyropunct.models.channel.slip import SLIP
from pyropunct.text.marks import UNKNOWN

String = tuple[int, ...]


class Outcomes(NamedTuple):
    """A distribution of surface strings.

    :ivar strings: the strings.
    :ivar chances: their probabilities.
    """

    strings: tuple[String, ...]
    chances: NDArray[np.float64]


class Regenerator:
    """Makes surface strings of underlying strings with the channel of a model.

    :param model: the model.
    """

    def __init__(self, model: FittedStory) -> None:
        self._model = model
        channel = model.story.channel
        with torch.no_grad():
            self._ways = Ways(channel.transducer, channel.probabilities())
        self._known: dict[String, Outcomes] = {}

    def best(self, underlying: Sequence[str]) -> tuple[str, ...]:
        """The most probable surface string x for an underlying string u: argmax of p(x | u) over x.

        p(x | u) is a sum over all edits that lead to x.
        """
        strings, chances = self._outcomes(underlying)
        return self._shown(strings[int(chances.argmax())], underlying)

    def draw(self, underlying: Sequence[str], generator: np.random.Generator) -> tuple[str, ...]:
        """A surface string drawn from p(x | u)."""
        strings, chances = self._outcomes(underlying)
        return self._shown(strings[generator.choice(len(strings), p=chances)], underlying)

    def _outcomes(self, underlying: Sequence[str]) -> Outcomes:
        numbers = self._model.vocabulary.token_number
        u = tuple(numbers.get(token, numbers[UNKNOWN]) for token in underlying)
        if u not in self._known:
            chances = self._ways.outcomes(u, leaving_out=[SLIP])
            self._known[u] = Outcomes(tuple(chances), np.array(list(chances.values())))
        return self._known[u]

    def _shown(self, surface: String, underlying: Sequence[str]) -> tuple[str, ...]:
        """The tokens of a surface string, in which unknown tokens are those unknown in the underlying one."""
        known = self._model.vocabulary.token_number
        unknown = iter([token for token in underlying if token not in known])
        tokens = self._model.vocabulary.decode_string(surface)
        return tuple(next(unknown, token) if token == UNKNOWN else token for token in tokens)
