"""The options of a comparison of ways to treat punctuation in parsing."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pyropunct.compare.settings import ComparisonSettings, SettingError, chosen, names_of, numbers_to
from pyropunct.limits import Count, Range
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
    :ivar tags: parts of speech of the treebanks, or of a tagger, which are jackknifed in training.
    :ivar iterations: how often training sees each sentence.
    :ivar folds: tag each of so many parts of the training sentences by a tagger of the others.
    :ivar oracle: the transitions that training takes for right: those of one way to the tree, or all that
        lose nothing, with a beam of 1.
    :raises SettingError: if a setting is invalid.
    """

    marks: Annotated[tuple[str, ...], names_of(f"{TREATMENTS}:Treatment", "treatment")] = ALL
    beams: Annotated[tuple[int, ...], numbers_to(WIDEST_BEAM, "widths")] = (1, 4, 16)
    tags: Literal["gold", "jackknifed"] = "gold"
    iterations: Count = 25
    folds: Annotated[int, Range(2)] = 10
    oracle: Literal["static", "dynamic"] = "static"
    TRAINING: ClassVar[tuple[str, ...]] = ("tags", "iterations", "folds", "oracle", "seed")

    def __post_init__(self) -> None:
        super().__post_init__()
        chosen(self.marks, ALL, "treatment")
        if self.oracle == "dynamic" and self.beams != (1,):
            raise SettingError("--oracle dynamic: trains parsers with --beams 1")
