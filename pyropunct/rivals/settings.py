"""The options of the experiments: one class for each command, which imports no networks."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, ClassVar, Self

from pyropunct.compare.settings import (
    ComparisonError,
    ExperimentSettings,
    chosen,
    names_of,
    numbers_to,
)
from pyropunct.limits import Count, NamesIn, Placeholder, Range
from pyropunct.restore.settings import DecisionSettings, Decoder, RestoreSettings

RESTORERS = ("trivial", "crf", "attention", "attach", "full", "mixed")
"""The systems that restore punctuation, in the order of tables; see
`pyropunct.rivals.restoration.systems.SYSTEMS`."""

CRF, CASCADED, UNIFIED, RESTORATION = "crf", "cascaded", "unified", "restoration"

STREAM_READERS: Mapping[str, str] = {
    CRF: "CRF",
    CASCADED: "CRF, then a parser that reads its marks",
    UNIFIED: "parser that predicts marks",
    RESTORATION: "restoration of running text",
}
"""The systems that read running words, with their descriptions."""

ALONE, PAPER, CHANNEL = "alone", "paper", "channel"

CORRECTORS: Mapping[str, str] = {
    ALONE: "left alone",
    RESTORATION: "restoration, not reading punctuation",
    PAPER: "Li, Wang & Eisner, section 6.2",
    CRF: "BiLSTM-CRF, reading punctuation",
    CHANNEL: "noisy channel",
}
"""The systems that correct punctuation, with their names in tables."""


class Treatment(StrEnum):
    """Ways to treat the marks of a sentence that is to be parsed."""

    TOKENS = "tokens"
    """Marks are parsed like words."""
    AWAY = "away"
    """Marks are taken away."""
    PAIRED = "paired"
    """Paired marks are properties; others are parsed like words."""
    ALL = "all"
    """All marks are properties."""


TREATMENTS = tuple(map(str, Treatment))

WIDEST_BEAM = 1024
"""The widest beam of a parser; beyond this, the states of a beam need too much memory."""

COMMA_MODELS = "pyropunct.rivals.shieber_tao_2003.models:MODELS"
"""Where the models of commas are."""

MOST_SENTENCES = 1000
"""The most sentences of a stream."""


@dataclass(frozen=True, kw_only=True)
class RestorationSettings(ExperimentSettings):
    """The options of a comparison of systems that restore punctuation.

    The data, the recipes and the number of threads are no options of this kind.

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
    :raises ComparisonError: if a setting is invalid; the message is one line.
    """

    permutations: Annotated[int, Range(ExperimentSettings.permutations)] = ExperimentSettings.permutations
    systems: Annotated[tuple[str, ...], names_of(f"{__name__}:RESTORERS", "system")] = RESTORERS
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
            raise ComparisonError("folds are two or more, or 0 for none, not 1")
        if self.text and not self.folds:
            raise ComparisonError(
                "text needs folds: with 0 folds, systems do not learn from trees of a parser"
            )
        if not self.shares or not all(0 < share <= 100 for share in self.shares):
            raise ComparisonError(f"shares are percents from 1 to 100, not {self.shares}")
        names = chosen(self.systems, RESTORERS, "system")
        object.__setattr__(self, "systems", tuple(name for name in RESTORERS if name in names))
        object.__setattr__(self, "shares", tuple(sorted(set(self.shares))))

    def of_each_seed(self) -> list[Self]:
        """The settings of each run, with the seed of the run."""
        return [replace(self, seed=self.seed + run, seeds=1) for run in range(self.seeds)]


@dataclass(frozen=True, kw_only=True)
class CommaSettings(ExperimentSettings):
    """The options of a comparison of systems that restore commas.

    :ivar models: compare only these models, such as 1,10c; by default all.
    :ivar smoothing: how the probabilities of rare events are estimated.
    :ivar least: words that training has fewer times count as one word, the unknown word.
    :ivar folds: with --fit: parse each of so many parts of TRAIN by parsers trained on the others.
    :ivar samples: draws of the posterior of a model of latent punctuation for each sentence.
    :raises ComparisonError: if a model is unknown.
    """

    models: Annotated[tuple[str, ...], names_of(COMMA_MODELS, "model")] = ()
    smoothing: Annotated[str, NamesIn("pyropunct.rivals.shieber_tao_2003.smoothing:SMOOTHINGS")] = (
        "witten-bell"
    )
    least: Count = 3
    folds: Annotated[int, Range(2)] = 4
    samples: Count = 300
    TRAINING: ClassVar[tuple[str, ...]] = (*ExperimentSettings.TRAINING, "folds")

    def __post_init__(self) -> None:
        super().__post_init__()
        known = NamesIn(COMMA_MODELS).names  # slow to import
        object.__setattr__(self, "models", chosen(self.models or known, known, "model"))


@dataclass(frozen=True, kw_only=True)
class ParserSettings(ExperimentSettings):
    """The options of a comparison of ways to treat marks in parsing.

    :ivar marks: treatments of marks: as tokens like words, taken away, paired marks as properties of words,
        or all marks as properties.
    :ivar beams: widths of beams.
    :ivar iterations: how often training sees each sentence.
    :raises ComparisonError: if a setting is invalid.
    """

    marks: Annotated[tuple[str, ...], names_of(f"{__name__}:TREATMENTS", "treatment")] = TREATMENTS
    beams: Annotated[tuple[int, ...], numbers_to(WIDEST_BEAM, "widths")] = (1, 4, 16)
    iterations: Count = 25
    TRAINING: ClassVar[tuple[str, ...]] = ("iterations", "seed")

    def __post_init__(self) -> None:
        super().__post_init__()
        chosen(self.marks, TREATMENTS, "treatment")


@dataclass(frozen=True, kw_only=True)
class JointSettings(ExperimentSettings):
    """The options of a comparison of systems that predict punctuation in running words.

    :ivar systems: compare only these systems, such as crf,unified.
    :ivar sentences: numbers of sentences that are joined to streams of running words to measure on.
    :ivar beam: the width of the beam of parsers.
    :ivar iterations: how often training of parsers sees each sentence.
    :ivar folds: predict the marks that a parser reads in each of so many parts of the training sentences by
        what was trained on the others.
    :ivar samples: the most draws of restoration for each sentence.
    :ivar misheard: draw so many percent of the words of DEV anew from all words of TRAIN, as if a recogniser
        of speech had misheard them.
    :raises ComparisonError: if a setting is invalid.
    """

    systems: Annotated[tuple[str, ...], names_of(f"{__name__}:STREAM_READERS", "system")] = tuple(
        STREAM_READERS
    )
    sentences: Annotated[tuple[int, ...], numbers_to(MOST_SENTENCES, "numbers")] = (3, 10)
    beam: Annotated[int, Range(1, WIDEST_BEAM)] = 5
    iterations: Count = 15
    folds: Annotated[int, Range(2)] = 5
    samples: Count = RestoreSettings.samples
    misheard: Annotated[int, Range(0, 100)] = 0
    TRAINING: ClassVar[tuple[str, ...]] = ("beam", "iterations", "folds", "seed")

    def __post_init__(self) -> None:
        super().__post_init__()
        chosen(self.systems, tuple(STREAM_READERS), "system")


@dataclass(frozen=True, kw_only=True)
class CorrectionSettings(ExperimentSettings):
    """The options of a comparison of systems that correct punctuation.

    :ivar systems: compare only these systems, such as alone,channel.
    :ivar curve: measure at several rates of errors, which the systems are not told.
    :ivar copies: copies of each training sentence, each with other errors.
    :ivar epochs: passes of the corrector of the paper over the training sentences.
    :ivar samples: the most draws of restoration and of the corrector of the paper for each sentence.
    :ivar trees: average over at most this many trees of the parser.
    :raises ComparisonError: if a setting is invalid.
    """

    systems: Annotated[tuple[str, ...], names_of(f"{__name__}:CORRECTORS", "system")] = tuple(CORRECTORS)
    curve: bool = False
    copies: Count = 2
    epochs: Count = 3
    samples: Count = DecisionSettings.samples
    trees: Count = DecisionSettings.trees

    def __post_init__(self) -> None:
        super().__post_init__()
        chosen(self.systems, tuple(CORRECTORS), "system")
