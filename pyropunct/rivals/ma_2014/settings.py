"""The options of a comparison of ways to treat punctuation in parsing."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from pyropunct.compare.settings import ComparisonSettings, chosen, names_of, numbers_to
from pyropunct.limits import Count
from pyropunct.rivals.ma_2014.treatments import Treatment

WIDEST_BEAM = 1024
"""The widest beam of a parser; beyond this, the states of a beam need too much memory."""

TREATMENTS, ALL = "pyropunct.rivals.ma_2014.treatments", tuple(map(str, Treatment))


@dataclass(frozen=True, kw_only=True)
class ParserSettings(ComparisonSettings):
    """The options of a comparison.

    :ivar marks: treatments of marks: as tokens like words, taken away, paired marks as properties of words,
        or all marks as properties.
    :ivar beams: widths of beams.
    :ivar iterations: how often training sees each sentence.
    :raises SettingError: if a setting is invalid.
    """

    marks: Annotated[tuple[str, ...], names_of(f"{TREATMENTS}:Treatment", "treatment")] = ALL
    beams: Annotated[tuple[int, ...], numbers_to(WIDEST_BEAM, "widths")] = (1, 4, 16)
    iterations: Count = 25
    TRAINING: ClassVar[tuple[str, ...]] = ("iterations", "seed")

    def __post_init__(self) -> None:
        super().__post_init__()
        chosen(self.marks, ALL, "treatment")
