"""How punctuation is corrected."""

from dataclasses import dataclass
from typing import Annotated

from pyropunct.limits import Count, Range, Seed
from pyropunct.restore.settings import DecisionSettings


@dataclass(frozen=True, kw_only=True)
class CorrectingSettings(DecisionSettings):
    """How sentences are corrected.

    :ivar threshold: change a slot only if its new marks have at least this probability.
    """

    threshold: Annotated[float, Range(0, 1)] = 0.0


USUAL = CorrectingSettings()
"""How sentences are corrected by default."""


@dataclass(frozen=True, kw_only=True)
class SimulationSettings:
    """How a corrector is fitted to simulated errors.

    :ivar errors: factor of the published error rates in the simulation.
    :ivar copies: copies of each sentence, each with other errors.
    :ivar epochs: passes over the data, with --paper.
    """

    errors: Annotated[float, Range(above=0)] = 1.0
    copies: Count = 2
    epochs: Count = 3
    seed: Seed = 0
