"""Systems that restore commas side by side, as in Table 1 of Shieber & Tao (2003), with significance."""

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.compare.comparison import TableComparison
from pyropunct.compare.progress import Watch, unwatched
from pyropunct.compare.significance import f1
from pyropunct.compare.table import Column, Table
from pyropunct.nets.parser.protocol import Parser
from pyropunct.rivals.settings import CommaSettings
from pyropunct.rivals.shieber_tao_2003.models import MODELS, CommaSystem
from pyropunct.rivals.shieber_tao_2003.scores import CORRECT, GOLD, RESTORED, RIGHT, CommaScores
from pyropunct.rivals.shieber_tao_2003.sentences import CommaSentence, parsed

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


def columns(baseline: CommaScores | None) -> tuple[Column[CommaResult], ...]:
    """The columns; F and the accuracy in sentences are tested.

    :param baseline: the scores from which reductions of errors are counted.
    """

    def reduction(result: CommaResult) -> float | None:
        return None if baseline is None else result.scores.error_reduction(baseline)

    def marks(result: CommaResult) -> NDArray[np.int64]:
        return result.scores.table[:, (GOLD, RESTORED, RIGHT)]

    def correct(result: CommaResult) -> NDArray[np.int64]:
        return result.scores.table[:, CORRECT]

    accuracy = attrgetter("scores.sentence_accuracy")
    return (
        Column("model", "model", attrgetter("name")),
        Column("title", "what it looks at", attrgetter("title")),
        Column("trees", "trees", attrgetter("trees")),
        Column("precision", "P", attrgetter("scores.precision"), 3),
        Column("recall", "R", attrgetter("scores.recall"), 3),
        Column("f", "F", attrgetter("scores.f"), 3, evidence=marks, statistic=f1, best=max),
        Column("token_accuracy", "tokens", attrgetter("scores.token_accuracy"), 3),
        Column("sentence_accuracy", "sentences", accuracy, 3, evidence=correct, best=max),
        Column("error_reduction", "reduction", reduction, 3),
    )


def comma_comparison(
    settings: CommaSettings,
    train: Mapping[str, int],
    dev: Mapping[str, int],
    results: Sequence[CommaResult],
) -> TableComparison[CommaResult]:
    """A table with a row for each system.

    :param train: the numbers of sentences and of commas for training.
    :param dev: the numbers of sentences and of commas on which everything was measured.
    """
    notes = (
        f"Trained on {train['sentences']:,} sentences with {train['commas']:,} commas, measured on "
        f"{dev['sentences']:,} with {dev['commas']:,}; smoothing {settings.smoothing}; words with fewer than "
        f"{settings.least} places in training count as one.",
        "tokens, sentences: the shares of positions, and of sentences, in which all is right; reduction: "
        f"of the errors in sentences of model {BASELINE} that people would avoid.",
    )
    scores = columns(next((result.scores for result in results if result.name == BASELINE), None))
    table = Table("Commas", scores, results, notes, None, *settings.tests)
    best = {column.key: table.best(column) for column in scores if column.evidence}
    names = {key: None if row is None else results[row].name for key, row in best.items()}
    return TableComparison(settings, {"train": train, "dev": dev, "best": names}, table)


def compare_commas(
    train: Sequence[CommaSentence],
    dev: Sequence[CommaSentence],
    settings: CommaSettings | None = None,
    parser: Parser | None = None,
    others: Iterable[CommaResult] = (),
    *,
    parser_of_train: Parser | None = None,
    watch: Watch = unwatched,
) -> TableComparison[CommaResult]:
    """Train the models on some sentences and measure them on others.

    :param train: the training sentences; they should have commas.
    :param dev: the sentences to measure on.
    :param settings: the settings; by default all models.
    :param parser: finds trees for the models of :data:`ON_PARSED_TREES`, which are left out without it.
    :param others: results of further systems on the same sentences.
    :param parser_of_train: finds the trees of the training sentences; by default the same parser does.
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
            train, dev = parsed(train, parser_of_train or parser), parsed(dev, parser)
        results += [measured(name, model, "parsed") for name, model in on_parsed.items()]
    return comma_comparison(settings, _size(train), _size(dev), [*results, *others])


def _size(sentences: Sequence[CommaSentence]) -> dict[str, int]:
    commas = sum(int(sentence.commas.sum()) for sentence in sentences)
    return {"sentences": len(sentences), "commas": commas}
