"""The options of a comparison of systems that predict punctuation in running words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pyropunct.compare.settings import ComparisonSettings, chosen, names_of, numbers_to
from pyropunct.limits import Count, Range
from pyropunct.restore.settings import RestoreSettings
from pyropunct.rivals.ma_2014.settings import WIDEST_BEAM

CRF, CASCADED, UNIFIED, RESTORATION = "crf", "cascaded", "unified", "restoration"

SYSTEMS: Mapping[str, str] = {
    CRF: "CRF",
    CASCADED: "CRF, then a parser that reads its marks",
    UNIFIED: "parser that predicts marks",
    RESTORATION: "restoration of running text",
}
"""The systems, with their descriptions."""

MOST_SENTENCES = 1000
"""The most sentences of a stream."""


@dataclass(frozen=True, kw_only=True)
class JointSettings(ComparisonSettings):
    """The options of a comparison.

    :ivar systems: compare only these systems, such as crf,unified.
    :ivar sentences: numbers of sentences that are joined to streams of running words to measure on.
    :ivar beam: the width of the beam of parsers.
    :ivar iterations: how often training of parsers sees each sentence.
    :ivar folds: predict the marks that a parser reads in each of so many parts of the training sentences by
        what was trained on the others.
    :ivar samples: the most draws of restoration for each sentence.
    :raises SettingError: if a setting is invalid.
    """

    systems: Annotated[tuple[str, ...], names_of(f"{__name__}:SYSTEMS", "system")] = tuple(SYSTEMS)
    sentences: Annotated[tuple[int, ...], numbers_to(MOST_SENTENCES, "numbers")] = (3, 10)
    beam: Annotated[int, Range(1, WIDEST_BEAM)] = 5
    iterations: Count = 15
    folds: Annotated[int, Range(2)] = 5
    samples: Count = RestoreSettings.samples
    TRAINING: ClassVar[tuple[str, ...]] = ("beam", "iterations", "folds", "seed")

    def __post_init__(self) -> None:
        super().__post_init__()
        chosen(self.systems, tuple(SYSTEMS), "system")
