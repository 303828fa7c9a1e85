"""Systems that restore commas side by side, as in Table 1 of Shieber & Tao (2003), with significance."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

from pyropunct.compare.significance import PERMUTATIONS, Statistic, f1, permutation_test, total
from pyropunct.nets.parser.protocol import Parser
from pyropunct.rivals.restoration.findings import SIGNIFICANT
from pyropunct.rivals.restoration.tables import NO_VALUE
from pyropunct.rivals.shieber_tao_2003.models import MODELS
from pyropunct.rivals.shieber_tao_2003.parsed import parsed
from pyropunct.rivals.shieber_tao_2003.restorer import LEAST_SEEN, CommaRestorer
from pyropunct.rivals.shieber_tao_2003.scores import CORRECT, GOLD, RESTORED, RIGHT, CommaScores
from pyropunct.rivals.shieber_tao_2003.sentences import CommaSentence

BASELINE = "1"
"""The model from which reductions of errors are counted."""

ON_PARSED_TREES: Mapping[str, str] = MappingProxyType(
    {"5": "3", "5t": "3t", "9": "8", "9c": "8c", "12": "10", "12c": "10c"}
)
"""The models with a parser's constituents, and the same model with those of the treebank."""


@dataclass(frozen=True)
class CommaSettings:
    """The settings of a comparison.

    :ivar models: the names of the models.
    :ivar smoothing: ``witten-bell`` or ``katz``.
    :ivar least: words that were seen less often in training count as one.
    :ivar permutations: how many permutations each test of significance draws.
    :ivar seed: the seed of these.
    """

    models: tuple[str, ...] = tuple(MODELS)
    smoothing: str = "witten-bell"
    least: int = LEAST_SEEN
    permutations: int = PERMUTATIONS
    seed: int = 0


class CommaSystem(NamedTuple):
    """A system and how well it did.

    :ivar name: the name of the model.
    :ivar title: what it is.
    :ivar trees: where its constituents come from: ``gold`` or ``parsed``, or empty if it looks at none.
    :ivar scores: its scores.
    """

    name: str
    title: str
    trees: str
    scores: CommaScores


class _Column(NamedTuple):
    """A column whose differences are tested.

    :ivar value: gives the value of a system.
    :ivar evidence: the counts of each sentence that the test permutes.
    :ivar statistic: turns their totals into the value.
    """

    value: Callable[[CommaScores], float | None]
    evidence: tuple[int, ...]
    statistic: Statistic


TESTED: Mapping[str, _Column] = MappingProxyType(
    {
        "f": _Column(lambda scores: scores.f, (GOLD, RESTORED, RIGHT), f1),
        "sentence_accuracy": _Column(lambda scores: scores.sentence_accuracy, (CORRECT,), total),
    }
)
"""The columns whose differences are tested, by their names in JSON."""


@dataclass(frozen=True)
class CommaComparison:
    """What a comparison found.

    :ivar settings: its settings.
    :ivar train: how many sentences and commas there were for training.
    :ivar dev: how many sentences and commas were measured on.
    :ivar systems: the systems.
    """

    settings: CommaSettings
    train: tuple[int, int]
    dev: tuple[int, int]
    systems: tuple[CommaSystem, ...]

    def best(self, column: str) -> CommaSystem:
        """The system with the highest value in a column of :data:`TESTED`; the first of equals."""
        value = TESTED[column].value
        return max(self.systems, key=lambda system: value(system.scores) or 0.0)

    @cached_property
    def p_values(self) -> dict[str, dict[str, float]]:
        """For each column of :data:`TESTED` the p-value of each system against the best."""
        return {column: dict(self._against_best(column)) for column in TESTED}

    def leaders(self, column: str) -> list[str]:
        """The best system of a column and those that are not significantly worse, by name."""
        return [name for name, p in self.p_values[column].items() if p >= SIGNIFICANT]

    def table(self) -> tuple[list[str], list[list[str]]]:
        """The header and a row for each system; leaders have a star."""
        header = ["model", "what it looks at", "trees", "P", "R", "F", "tokens", "sentences", "reduction"]
        return header, [self._row(system) for system in self.systems]

    def notes(self) -> list[str]:
        """Lines that explain the table."""
        (sentences, commas), (measured, there) = self.train, self.dev
        settings = self.settings
        return [
            f"Trained on {sentences:,} sentences with {commas:,} commas, measured on {measured:,} with "
            f"{there:,}; smoothing {settings.smoothing}; words with fewer than {settings.least} places in "
            "training count as one.",
            "tokens, sentences: the shares of positions, and of sentences, in which all is right; reduction: "
            f"of the errors in sentences of model {BASELINE} that people would avoid.",
            "*: the best F or accuracy in sentences, and all that are not significantly worse (two-sided "
            f"paired permutation test, {settings.permutations:,} permutations, p < {SIGNIFICANT}).",
        ]

    def to_json(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        settings = self.settings
        return {
            "smoothing": settings.smoothing,
            "least": settings.least,
            "permutations": settings.permutations,
            "seed": settings.seed,
            "train": dict(zip(("sentences", "commas"), self.train, strict=True)),
            "dev": dict(zip(("sentences", "commas"), self.dev, strict=True)),
            "best": {column: self.best(column).name for column in TESTED},
            "systems": [self._plain(system) for system in self.systems],
        }

    def _against_best(self, column: str) -> Iterator[tuple[str, float]]:
        _, evidence, statistic = TESTED[column]
        best = self.best(column).scores.table[:, evidence]
        for system in self.systems:
            yield (
                system.name,
                permutation_test(
                    system.scores.table[:, evidence],
                    best,
                    self.settings.permutations,
                    seed=self.settings.seed,
                    statistic=statistic,
                ),
            )

    def _reduction(self, system: CommaSystem) -> float | None:
        baseline = [other.scores for other in self.systems if other.name == BASELINE]
        return system.scores.error_reduction(baseline[0]) if baseline else None

    def _row(self, system: CommaSystem) -> list[str]:
        scores = system.scores
        leading = {column: "*" * (system.name in self.leaders(column)) for column in TESTED}
        cells = [
            _shown(scores.precision),
            _shown(scores.recall),
            leading["f"] + _shown(scores.f),
            _shown(scores.token_accuracy),
            leading["sentence_accuracy"] + _shown(scores.sentence_accuracy),
            _shown(self._reduction(system)),
        ]
        return [system.name, system.title, system.trees, *cells]

    def _plain(self, system: CommaSystem) -> dict[str, Any]:
        scores = system.scores
        return {
            "model": system.name,
            "title": system.title,
            "trees": system.trees,
            "precision": scores.precision,
            "recall": scores.recall,
            "f": scores.f,
            "token_accuracy": scores.token_accuracy,
            "sentence_accuracy": scores.sentence_accuracy,
            "error_reduction": self._reduction(system),
            "p": {column: found[system.name] for column, found in self.p_values.items()},
        }


def _shown(value: float | None) -> str:
    return NO_VALUE if value is None else f"{value:.3f}"


def compare_commas(
    train: Sequence[CommaSentence],
    dev: Sequence[CommaSentence],
    settings: CommaSettings | None = None,
    parser: Parser | None = None,
    others: Iterable[CommaSystem] = (),
    *,
    progress: Callable[[int], None] = lambda done: None,
) -> CommaComparison:
    """Train the models on some sentences and measure them on others.

    :param train: the training sentences; they should have commas.
    :param dev: those to measure on.
    :param settings: the settings; by default all models.
    :param parser: finds trees for the models of :data:`ON_PARSED_TREES`, which are left out without it.
    :param others: further systems, measured on the same sentences.
    :param progress: called after each model with 1.
    :raises KeyError: if the settings name a model or a smoothing that is not there.
    :raises ValueError: if there is no training sentence.
    """
    settings = settings or CommaSettings()
    systems = []
    for name in settings.models:
        trees = "gold" if MODELS[name].looks_at_constituents else ""
        systems.append(_measured(name, name, trees, train, dev, settings))
        progress(1)
    if parser is not None:
        train, dev = parsed(train, parser), parsed(dev, parser)
        for name, model in ON_PARSED_TREES.items():
            if model in settings.models:
                systems.append(_measured(name, model, "parsed", train, dev, settings))
                progress(1)
    return CommaComparison(settings, _size(train), _size(dev), (*systems, *others))


def _measured(
    name: str,
    model: str,
    trees: str,
    train: Sequence[CommaSentence],
    dev: Sequence[CommaSentence],
    settings: CommaSettings,
) -> CommaSystem:
    restorer = CommaRestorer(train, model, settings.smoothing, settings.least)
    scores = CommaScores.of(restorer.restore(dev), [sentence.commas for sentence in dev])
    return CommaSystem(name, MODELS[model].title, trees, scores)


def _size(sentences: Sequence[CommaSentence]) -> tuple[int, int]:
    """How many sentences and how many commas there are."""
    return len(sentences), sum(int(sentence.commas.sum()) for sentence in sentences)
