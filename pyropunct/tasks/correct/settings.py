"""How punctuation is corrected."""

from dataclasses import dataclass
from typing import Annotated

from pyropunct.limits import Range
from pyropunct.restore.settings import DecisionSettings


@dataclass(frozen=True, kw_only=True)
class CorrectingSettings(DecisionSettings):
    """How sentences are corrected.

    :ivar threshold: change a slot only if its new marks have at least this probability.
    """

    threshold: Annotated[float, Range(0, 1)] = 0.0


USUAL = CorrectingSettings()
"""How sentences are corrected by default."""
