"""The options of a comparison of systems that restore punctuation."""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Self

from pyropunct.compare.settings import ComparisonSettings, SettingError, chosen, names_of, numbers_to
from pyropunct.limits import Count, Placeholder, Range
from pyropunct.restore.settings import DecisionSettings, Decoder

SYSTEMS = ("trivial", "crf", "attention", "attach", "full", "mixed")
"""The systems in the order of tables; `pyropunct.rivals.restoration.systems.SYSTEMS` has them."""


@dataclass(frozen=True, kw_only=True)
class RestorationSettings(ComparisonSettings):
    """The options of a comparison, apart from the data, the recipes and the number of threads.

    :ivar systems: compare only these systems, such as trivial,crf,full.
    :ivar shares: train a parser on each of these percents of the training sentences, from the first on, such
        as 10,20,50,100; the tables have the results with the last parser.
    :ivar samples: draws for each sentence, of systems that draw.
    :ivar decoder: how these decide.
    :ivar trees: average over at most this many trees of a parser.
    :ivar seeds: train and measure with so many seeds, from the first seed on; tables have mean and standard
        deviation.
    :ivar folds: parse each of so many parts of the training sentences by parsers of the others, and train
        systems with trees on these trees too; 0 to train on gold trees alone.
    :ivar encoder: a pretrained encoder that the package transformers loads: parsers and taggers read its
        states, and so do attach models that can.
    :ivar text: text that all but the trivial system learn from besides, those with trees from the trees that
        the parser of the table finds: a file, a folder or a pattern; repeatable.
    :ivar device: where models and taggers are trained, as torch names it.
    :raises SettingError: if a setting is invalid; the message is one line.
    """

    permutations: Annotated[int, Range(ComparisonSettings.permutations)] = ComparisonSettings.permutations
    systems: Annotated[tuple[str, ...], names_of(f"{__name__}:SYSTEMS", "system")] = SYSTEMS
    shares: Annotated[tuple[int, ...], numbers_to(100, "percents")] = (100,)
    samples: Count = DecisionSettings.samples
    decoder: Decoder = DecisionSettings.decoder
    trees: Count = DecisionSettings.trees
    seeds: Count = 1
    folds: Annotated[int, Range(0)] = 4
    encoder: Annotated[str | None, Placeholder("PLACE")] = None
    text: Annotated[tuple[str, ...], Placeholder("FILES")] = ()
    device: str = "cpu"
    TRAINING: ClassVar[tuple[str, ...]] = ("folds", "device", "encoder")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.folds == 1:
            raise SettingError("folds are two or more, or 0 for none, not 1")
        if self.text and not self.folds:
            raise SettingError("text needs folds: with 0 folds, systems do not learn from trees of a parser")
        if not self.shares or not all(0 < share <= 100 for share in self.shares):
            raise SettingError(f"shares are percents from 1 to 100, not {self.shares}")
        names = chosen(self.systems, SYSTEMS, "system")
        object.__setattr__(self, "systems", tuple(name for name in SYSTEMS if name in names))
        object.__setattr__(self, "shares", tuple(sorted(set(self.shares))))

    def of_each_seed(self) -> list[Self]:
        """The settings of each run, with the seed of the run."""
        return [replace(self, seed=self.seed + run, seeds=1) for run in range(self.seeds)]
