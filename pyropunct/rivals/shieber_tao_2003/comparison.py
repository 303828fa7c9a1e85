"""Systems that restore commas side by side, as in Table 1 of Shieber & Tao (2003), with significance."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

from pyropunct.compare.comparison import Comparison
from pyropunct.compare.progress import Watch, unwatched
from pyropunct.compare.significance import f1
from pyropunct.compare.table import Column, Table
from pyropunct.nets.parser.protocol import Parser
from pyropunct.rivals.shieber_tao_2003.models import MODELS
from pyropunct.rivals.shieber_tao_2003.parsed import parsed
from pyropunct.rivals.shieber_tao_2003.scores import CORRECT, GOLD, RESTORED, RIGHT, CommaScores
from pyropunct.rivals.shieber_tao_2003.sentences import CommaSentence
from pyropunct.rivals.shieber_tao_2003.settings import CommaSettings
from pyropunct.rivals.shieber_tao_2003.system import CommaSystem

BASELINE = "1"
"""The model from which reductions of errors are counted."""

ON_PARSED_TREES: Mapping[str, str] = MappingProxyType(
    {"5": "3", "5t": "3t", "9": "8", "9c": "8c", "12": "10", "12c": "10c"}
)
"""The models with a parser's constituents, and the same model with those of the treebank."""


class CommaResult(NamedTuple):
    """The result of a system.

    :ivar name: the name of its model.
    :ivar title: what the model looks at.
    :ivar trees: where its constituents come from: ``gold`` or ``parsed``, or empty if it looks at none.
    :ivar scores: its scores.
    """

    name: str
    title: str
    trees: str
    scores: CommaScores


@dataclass(frozen=True)
class CommaComparison(Comparison):
    """The results of all systems.

    :ivar settings: the settings.
    :ivar train: the numbers of sentences and of commas for training.
    :ivar dev: the numbers of sentences and of commas on which everything was measured.
    :ivar results: the results.
    """

    settings: CommaSettings
    train: tuple[int, int]
    dev: tuple[int, int]
    results: tuple[CommaResult, ...]

    @property
    def columns(self) -> tuple[Column[CommaResult], ...]:
        """The columns; F and the accuracy in sentences are tested."""
        baseline = next((result.scores for result in self.results if result.name == BASELINE), None)
        return (
            Column("model", "model", lambda result: result.name),
            Column("title", "what it looks at", lambda result: result.title),
            Column("trees", "trees", lambda result: result.trees),
            Column("precision", "P", lambda result: result.scores.precision, 3),
            Column("recall", "R", lambda result: result.scores.recall, 3),
            Column(
                "f",
                "F",
                lambda result: result.scores.f,
                3,
                evidence=lambda result: result.scores.table[:, (GOLD, RESTORED, RIGHT)],
                statistic=f1,
                best=max,
            ),
            Column("token_accuracy", "tokens", lambda result: result.scores.token_accuracy, 3),
            Column(
                "sentence_accuracy",
                "sentences",
                lambda result: result.scores.sentence_accuracy,
                3,
                evidence=lambda result: result.scores.table[:, CORRECT],
                best=max,
            ),
            Column(
                "error_reduction",
                "reduction",
                lambda result: None if baseline is None else result.scores.error_reduction(baseline),
                3,
            ),
        )

    @cached_property
    def tables(self) -> Sequence[Table[CommaResult]]:
        """A row for each system."""
        (sentences, commas), (measured, true), settings = self.train, self.dev, self.settings
        notes = (
            f"Trained on {sentences:,} sentences with {commas:,} commas, measured on {measured:,} with "
            f"{true:,}; smoothing {settings.smoothing}; words with fewer than {settings.least} places in "
            "training count as one.",
            "tokens, sentences: the shares of positions, and of sentences, in which all is right; reduction: "
            f"of the errors in sentences of model {BASELINE} that people would avoid.",
        )
        return [
            Table("Commas", self.columns, self.results, notes, None, settings.permutations, settings.seed)
        ]

    def to_json(self) -> dict[str, Any]:
        """All numbers in plain JSON types."""
        [table] = self.tables
        best = {column.key: table.best(column) for column in table.columns if column.evidence}
        return {
            **self.settings.to_json(),
            "train": dict(zip(("sentences", "commas"), self.train, strict=True)),
            "dev": dict(zip(("sentences", "commas"), self.dev, strict=True)),
            "best": {key: None if row is None else self.results[row].name for key, row in best.items()},
            "systems": table.to_json(),
        }


def compare_commas(
    train: Sequence[CommaSentence],
    dev: Sequence[CommaSentence],
    settings: CommaSettings | None = None,
    parser: Parser | None = None,
    others: Iterable[CommaResult] = (),
    *,
    watch: Watch = unwatched,
) -> CommaComparison:
    """Train the models on some sentences and measure them on others.

    :param train: the training sentences; they should have commas.
    :param dev: the sentences to measure on.
    :param settings: the settings; by default all models.
    :param parser: finds trees for the models of :data:`ON_PARSED_TREES`, which are left out without it.
    :param others: results of further systems on the same sentences.
    :param watch: gets reports of progress.
    :raises ValueError: if there is no training sentence.
    """
    settings = settings or CommaSettings()

    def measured(name: str, model: str, trees: str) -> CommaResult:
        system = CommaSystem(train, model, settings.smoothing, settings.least)
        scores = CommaScores.of(system.restore(dev), [sentence.commas for sentence in dev])
        advance(1)
        return CommaResult(name, MODELS[model].title, trees, scores)

    on_parsed = {} if parser is None else {n: m for n, m in ON_PARSED_TREES.items() if m in settings.models}
    with watch("models", len(settings.models) + len(on_parsed)) as advance:
        results = [
            measured(name, name, "gold" if MODELS[name].looks_at_constituents else "")
            for name in settings.models
        ]
        if parser is not None:
            train, dev = parsed(train, parser), parsed(dev, parser)
        results += [measured(name, model, "parsed") for name, model in on_parsed.items()]
    return CommaComparison(settings, _size(train), _size(dev), (*results, *others))


def _size(sentences: Sequence[CommaSentence]) -> tuple[int, int]:
    """How many sentences and how many commas there are."""
    return len(sentences), sum(int(sentence.commas.sum()) for sentence in sentences)
