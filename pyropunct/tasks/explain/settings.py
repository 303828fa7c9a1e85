"""How learned rules are judged."""

from dataclasses import dataclass
from typing import Annotated

from pyropunct.limits import Range, Seed


@dataclass(frozen=True, kw_only=True)
class RuleSettings:
    """When an edit is confident, and when a pair of marks is frequent.

    :ivar confidence: an edit is confident if its probability is above this.
    :ivar least: a pair is frequent if it is expected this often in FILE.
    :ivar level: posterior probability of credible intervals, for a MODEL fitted with --guide channel or
        normal.
    """

    confidence: Annotated[float, Range(0, below=1)] = 0.75
    least: Annotated[float, Range(0)] = 25.0
    level: Annotated[float, Range(above=0, below=1)] = 0.9
    seed: Seed = 0
