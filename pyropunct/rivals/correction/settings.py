"""The options of a comparison of systems that correct punctuation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pyropunct.compare.settings import ComparisonSettings, chosen, names_of
from pyropunct.limits import Count
from pyropunct.restore.settings import DecisionSettings

ALONE, PAPER, CRF, CHANNEL = "alone", "paper", "crf", "channel"

SYSTEMS: Mapping[str, str] = {
    ALONE: "left alone",
    PAPER: "Li, Wang & Eisner, section 6.2",
    CRF: "BiLSTM-CRF, reading punctuation",
    CHANNEL: "noisy channel",
}
"""The systems, with their names in tables."""


@dataclass(frozen=True, kw_only=True)
class CorrectionSettings(ComparisonSettings):
    """The options of a comparison.

    :ivar systems: compare only these systems, such as alone,channel.
    :ivar curve: measure at several rates of errors, which the systems are not told.
    :ivar copies: copies of each training sentence, each with other errors.
    :ivar epochs: passes of the corrector of the paper over the training sentences.
    :ivar samples: the most draws of the corrector of the paper for each sentence.
    :ivar trees: average over at most this many trees of the parser.
    :raises SettingError: if a setting is invalid.
    """

    systems: Annotated[tuple[str, ...], names_of(f"{__name__}:SYSTEMS", "system")] = tuple(SYSTEMS)
    curve: bool = False
    copies: Count = 2
    epochs: Count = 3
    samples: Count = DecisionSettings.samples
    trees: Count = DecisionSettings.trees

    def __post_init__(self) -> None:
        super().__post_init__()
        chosen(self.systems, tuple(SYSTEMS), "system")
