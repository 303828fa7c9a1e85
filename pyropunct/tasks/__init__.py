"""Work that a fitted model does besides restoration: correct, explain, rephrase.

Each task takes a fitted model and sentences; sentences, findings and scores go out.  The settings of tasks
are in this file, so that the command line lists options without importing torch.  The command line,
`pyropunct.figures` and `pyropunct.papers` may call this room.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from pyropunct.errors import SettingError
from pyropunct.limits import Count, Range, Seed
from pyropunct.restore.settings import DecisionSettings
from pyropunct.text.typography import RULES

Advance = Callable[[int], None]
"""Called with the amount of work done since the last call, mostly in sentences."""


@dataclass(frozen=True, kw_only=True)
class CorrectingSettings(DecisionSettings):
    """How sentences are corrected.

    :ivar threshold: change a slot only if its new marks are at least this probable.
    :ivar typing: slips of typing in raw text that are mended first: a mark typed "twice", a space "before" or
        none "behind" a mark.
    """

    threshold: Annotated[float, Range(0, 1)] = 0.0
    typing: str = " ".join(RULES)

    def __post_init__(self) -> None:
        super().__post_init__()
        if unknown := sorted(set(self.typing.split()).difference(RULES)):
            raise SettingError(f"typing: {unknown[0]} is none of {', '.join(RULES)}")


USUAL = CorrectingSettings()
"""How sentences are corrected by default."""


@dataclass(frozen=True, kw_only=True)
class SimulationSettings:
    """How a corrector is fitted to simulated errors.

    :ivar errors: multiply the published error rates by this factor.
    :ivar copies: copies of each sentence, each with other errors.
    """

    errors: Annotated[float, Range(above=0)] = 1.0
    copies: Count = 2
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class RuleSettings:
    """When an edit is confident, and when a pair of marks is frequent (by default as in the paper).

    :ivar confidence: an edit is confident if its probability is above this.
    :ivar least: a pair is frequent if it is expected this often in FILE.
    :ivar level: posterior probability of credible intervals, for a MODEL fitted with --guide channel or
        normal.
    """

    confidence: Annotated[float, Range(0, below=1)] = 0.75
    least: Annotated[float, Range(0)] = 25.0
    level: Annotated[float, Range(above=0, below=1)] = 0.9
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class TypologySettings:
    """What is compared between languages.

    :ivar least: compare a pair of marks, or a relation, in languages whose FILE has it this often.
    :ivar level: the probability that all intervals of a row cover their shares.
    """

    least: Annotated[float, Range(above=0)] = 5.0
    level: Annotated[float, Range(above=0, below=1)] = 0.95


FIRST, LAST = "first", "last"
PLACES = (FIRST, LAST)
"""Where a constituent can be moved to among the dependents of its head."""

BASE, HALF, FULL = "base", "half", "full"
VARIANTS = (FULL, HALF, BASE)
"""What is permuted.

For full, the words of the underlying tree, from which new surface punctuation is made.  For half, all surface
tokens, whose marks are then replaced by new ones made from the underlying marks.  For base, all surface
tokens, as in Wang & Eisner (2016).
"""
