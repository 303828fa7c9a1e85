"""The options of the experiments: one class for each command, which imports no networks."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from inspect import isfunction
from typing import Annotated, Any, ClassVar, Self, get_type_hints

from pyropunct.errors import SettingError
from pyropunct.limits import Count, NamesIn, Placeholder, Range, Seed, forbidden, limits
from pyropunct.restore.settings import DecisionSettings, Decoder, RestoreSettings

RESTORERS = ("trivial", "crf", "attention", "attach", "full", "mixed")
"""The systems that restore punctuation, in the order of tables; see
`pyropunct.papers.li_2019.restorers.SYSTEMS`."""

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


TOKENS, AWAY, PAIRED, ALL = TREATMENTS = "tokens", "away", "paired", "all"
"""Treatments of the marks of a sentence to parse: marks are parsed like words; are taken away; are properties
if they are paired, else parsed like words; or are all properties."""

WIDEST_BEAM = 1024
"""The widest beam of a parser; beyond this, the states of a beam need too much memory."""

COMMA_MODELS = "pyropunct.papers.shieber_tao_2003.models:MODELS"
"""Where the models of commas are."""

MOST_SENTENCES = 1000
"""The most sentences of a stream."""


@dataclass(frozen=True, kw_only=True)
class ExperimentSettings:
    """The settings of an experiment.

    :ivar permutations: permutations in each significance test.
    :ivar seed: equal seeds give equal results, on the same machine with the same number of threads.
    :cvar TRAINING: the names of the settings that affect training; if only others change, trained parts are
        reused.
    :raises SettingError: if a number is out of its bounds; the message is one line.
    """

    permutations: Count = 10_000
    seed: Seed = 0
    TRAINING: ClassVar[tuple[str, ...]] = ("seed",)

    def __post_init__(self) -> None:
        if problem := forbidden(self):
            raise SettingError(problem)
        for name, read in _readers(type(self)):
            object.__setattr__(self, name, read(",".join(map(str, getattr(self, name)))))

    def to_json(self) -> dict[str, Any]:
        """A dictionary of plain JSON types."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain


def names_of(registry: str, kind: str) -> Callable[[str], tuple[str, ...]]:
    """A reader of names separated by commas, for an option; ``kind`` is for messages.

    :param registry: ``module:NAME`` of the collection of all names; the module is imported when needed.
    """

    def names(text: str) -> tuple[str, ...]:
        found, known = tuple(dict.fromkeys(text.split(","))), NamesIn(registry).names
        for name in found:
            if name not in known:
                raise SettingError(f"there is no {kind} {name!r}; there are {', '.join(known)}")
        return found

    return names


def numbers_to(most: int, kind: str) -> Callable[[str], tuple[int, ...]]:
    """A function that reads distinct whole numbers from 1 to ``most``, separated by commas."""

    def numbers(text: str) -> tuple[int, ...]:
        items = text.split(",")
        if not all(item.isdecimal() and 1 <= int(item) <= most for item in items):
            raise SettingError(f"give {kind} from 1 to {most} with commas between them, not {text!r}")
        return tuple(dict.fromkeys(map(int, items)))

    return numbers


def _readers(settings: Any) -> Iterator[tuple[str, Callable[[str], tuple[Any, ...]]]]:
    """The fields that have a reader of names or numbers."""
    for name, hint in get_type_hints(settings, include_extras=True).items():
        for read in filter(isfunction, limits(hint).extras):
            yield name, read


@dataclass(frozen=True, kw_only=True)
class RestorationSettings(ExperimentSettings):
    """The options of a comparison of systems that restore punctuation.

    :ivar systems: compare only these systems, such as trivial,crf,full.
    :ivar shares: train parsers on the first so many percent of the training sentences, such as 10,20,50,100;
        tables show results with the last parser.
    :ivar samples: draws for each sentence, for systems that draw.
    :ivar decoder: decision rule of these systems.
    :ivar trees: average over at most this many trees of a parser.
    :ivar seeds: train and measure with this many seeds, starting with --seed; tables show mean and standard
        deviation.
    :ivar folds: split the training sentences into this many parts, parse each with parsers of the others, and
        train systems with trees on these trees too; 0 to train on gold trees alone.
    :ivar encoder: a pretrained encoder for the package transformers: parsers, taggers and attach models that
        can read its states.
    :ivar device: where models and taggers are trained, as torch names it.
    :raises SettingError: if a setting is invalid; the message is one line.
    """

    permutations: Annotated[int, Range(ExperimentSettings.permutations)] = ExperimentSettings.permutations
    systems: Annotated[tuple[str, ...], names_of(f"{__name__}:RESTORERS", "system")] = RESTORERS
    shares: Annotated[tuple[int, ...], numbers_to(100, "percents")] = (100,)
    samples: Count = RestoreSettings.samples
    decoder: Decoder = DecisionSettings.decoder
    trees: Count = DecisionSettings.trees
    seeds: Count = 1
    folds: Annotated[int, Range(0)] = 4
    encoder: Annotated[str | None, Placeholder("PLACE")] = None
    device: str = "cpu"
    TRAINING: ClassVar[tuple[str, ...]] = ("folds", "device", "encoder")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.folds == 1:
            raise SettingError("folds are two or more, or 0 for none, not 1")
        object.__setattr__(self, "systems", tuple(sorted(self.systems, key=RESTORERS.index)))
        object.__setattr__(self, "shares", tuple(sorted(self.shares)))

    def of_each_seed(self) -> list[Self]:
        """The settings of each run, with its seed."""
        return [replace(self, seed=self.seed + run, seeds=1) for run in range(self.seeds)]


@dataclass(frozen=True, kw_only=True)
class CommaSettings(ExperimentSettings):
    """The options of a comparison of systems that restore commas.

    :ivar models: compare only these models, such as 1,10c; by default all.
    :ivar smoothing: how the probabilities of rare events are estimated.
    :ivar least: words that are rarer in training count as one unknown word.
    :ivar folds: with --fit: split TRAIN into this many parts, and parse each with parsers of the others.
    :ivar samples: posterior draws of a model of latent punctuation for each sentence.
    :raises SettingError: if a model is unknown.
    """

    models: Annotated[tuple[str, ...], names_of(COMMA_MODELS, "model")] = ()
    smoothing: Annotated[str, NamesIn("pyropunct.papers.shieber_tao_2003.smoothing:SMOOTHINGS")] = (
        "witten-bell"
    )
    least: Count = 3
    folds: Annotated[int, Range(2)] = 4
    samples: Count = 300
    TRAINING: ClassVar[tuple[str, ...]] = (*ExperimentSettings.TRAINING, "folds")

    def __post_init__(self) -> None:
        if not self.models:
            object.__setattr__(self, "models", NamesIn(COMMA_MODELS).names)  # slow to import
        super().__post_init__()


@dataclass(frozen=True, kw_only=True)
class ParserSettings(ExperimentSettings):
    """The options of a comparison of treatments of marks in parsing.

    :ivar marks: treatments of marks: as tokens, removed, paired marks as properties of words, or all marks as
        properties.
    :ivar beams: beam widths.
    :ivar iterations: training passes over the sentences.
    :raises SettingError: if a setting is invalid.
    """

    marks: Annotated[tuple[str, ...], names_of(f"{__name__}:TREATMENTS", "treatment")] = TREATMENTS
    beams: Annotated[tuple[int, ...], numbers_to(WIDEST_BEAM, "widths")] = (1, 4, 16)
    iterations: Count = 25
    TRAINING: ClassVar[tuple[str, ...]] = ("iterations", "seed")


@dataclass(frozen=True, kw_only=True)
class JointSettings(ExperimentSettings):
    """The options of a comparison of systems that predict punctuation in running words.

    :ivar systems: compare only these systems, such as crf,unified.
    :ivar sentences: numbers of sentences to join to streams of running words to measure on.
    :ivar beam: beam width of parsers.
    :ivar iterations: training passes of parsers over the sentences.
    :ivar folds: split the training sentences into this many parts, and predict the marks that a parser reads
        in each with a model of the others.
    :ivar samples: the most draws of restoration for each sentence.
    :raises SettingError: if a setting is invalid.
    """

    systems: Annotated[tuple[str, ...], names_of(f"{__name__}:STREAM_READERS", "system")] = tuple(
        STREAM_READERS
    )
    sentences: Annotated[tuple[int, ...], numbers_to(MOST_SENTENCES, "numbers")] = (3, 10)
    beam: Annotated[int, Range(1, WIDEST_BEAM)] = 5
    iterations: Count = 15
    folds: Annotated[int, Range(2)] = 5
    samples: Count = RestoreSettings.samples
    TRAINING: ClassVar[tuple[str, ...]] = ("beam", "iterations", "folds", "seed")


@dataclass(frozen=True, kw_only=True)
class CorrectionSettings(ExperimentSettings):
    """The options of a comparison of systems that correct punctuation.

    :ivar systems: compare only these systems, such as alone,channel.
    :ivar curve: measure at several error rates, which the systems do not know.
    :ivar copies: copies of each training sentence, each with other errors.
    :ivar epochs: passes of the corrector of the paper over the training sentences.
    :ivar samples: the most draws of restoration and of the corrector of the paper for each sentence.
    :ivar trees: average over at most this many trees of the parser.
    :raises SettingError: if a setting is invalid.
    """

    systems: Annotated[tuple[str, ...], names_of(f"{__name__}:CORRECTORS", "system")] = tuple(CORRECTORS)
    curve: bool = False
    copies: Count = 2
    epochs: Count = 3
    samples: Count = RestoreSettings.samples
    trees: Count = DecisionSettings.trees
