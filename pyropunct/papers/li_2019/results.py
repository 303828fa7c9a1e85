"""The results of each parser and of each system."""

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pyropunct.fitted.evaluation import RestorationScores
from pyropunct.nets.parser import AttachmentScores
from pyropunct.significance import Totals
from pyropunct.tables import Column, Value
from pyropunct.text.marks import Surface, display
from pyropunct.treebank.preparing import Omission

GOLD, PREDICTED, NONE = "gold", "predicted", "none"
"""The source of trees: the treebank, a parser, or no source for a system without trees."""


class TreebankSize(NamedTuple):
    """The size of a treebank, with a checksum of its sentences; ``omitted`` were left out."""

    path: str | None
    checksum: str
    sentences: int
    words: int
    omitted: tuple[Omission, ...] = ()

    @property
    def slots(self) -> int:
        """n + 1 for each sentence of n words."""
        return self.words + self.sentences

    def to_json(self) -> dict[str, Any]:
        """A dictionary of plain JSON types."""
        return {
            **self._asdict(),
            "slots": self.slots,
            "omitted": len(self.omitted),
            "omissions": [one.to_json() for one in self.omitted],
        }


class ParserResult(NamedTuple):
    """The results of a parser, or of gold trees (``share`` 0, ``sentences`` and seconds None).

    :ivar share: the percentage of the training sentences that it was trained on, ``sentences`` their number.
    :ivar scores: of its best trees of the measured sentences.
    :ivar training_seconds: of training; ``parsing_seconds``, to parse the measured sentences.
    :ivar report: what happened in training.
    """

    share: int
    sentences: int | None
    scores: AttachmentScores
    training_seconds: float | None
    parsing_seconds: float
    report: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """A dictionary of plain JSON types."""
        return {**self._asdict(), "scores": self.scores._asdict(), "report": dict(self.report)}


GOLD_TREES = ParserResult(0, None, AttachmentScores(0, 100.0, 100.0, 100.0), None, 0.0, {})
"""A perfect parser."""


class Outcome:
    """How well a system predicts and restores punctuation, given trees of one source.

    :param trees: `GOLD`, `PREDICTED`, or `NONE` for a system without trees.
    :param parser: the parser, if the trees are predicted.
    :param seconds: the time from words to punctuation; from trees to punctuation if they are gold.
    :param log_probs: (sentences,) log p(x) of the gold punctuation given these trees, or given the words, in
        natural logarithms; None if the system has no probabilities.
    """

    def __init__(
        self,
        trees: str,
        parser: ParserResult | None,
        restored: Iterable[Surface],
        gold: Sequence[Surface],
        seconds: float,
        log_probs: NDArray[np.float64] | None = None,
    ) -> None:
        self.trees, self.parser, self.seconds, self.log_probs = trees, parser, seconds, log_probs
        self.scores = RestorationScores()
        rows = []
        for pair in zip(restored, gold, strict=True):
            alone = RestorationScores()
            for scores in (self.scores, alone):
                scores.add(*pair)
            rows.append((alone.edits, *alone.overall()))
        self.edits, self.marks = np.split(np.array(rows, np.int64), [1], 1)
        """(sentences, 1) edits; (sentences, 3) true marks, restored marks, right marks."""

    @property
    def f1(self) -> float | None:
        """The micro-averaged F1 of all marks."""
        return self.scores.overall().f1

    @property
    def aed(self) -> float:
        """The average edit distance: edits per slot (section 6.1 of the paper)."""
        return self.scores.edits / self.scores.slots

    @property
    def log_likelihood(self) -> float | None:
        """The sum of the log-probabilities."""
        return None if self.log_probs is None else math.fsum(self.log_probs.tolist())

    @property
    def perplexity(self) -> float | None:
        """exp(- log-likelihood per slot), as in section 4 of the paper."""
        if self.log_likelihood is None:
            return None
        return float(np.exp(-self.log_likelihood / self.scores.slots))

    @property
    def las(self) -> float | None:
        """The labelled attachment score of the trees in percent, 100 for gold trees; None without trees."""
        if self.trees == GOLD:
            return 100.0
        return None if self.parser is None else self.parser.scores.las

    def to_json(self) -> dict[str, Any]:
        """A dictionary of plain JSON types."""
        marks = self.scores.of_marks()
        return {
            "trees": self.trees,
            "share": None if self.parser is None else self.parser.share,
            "las": self.las,
            "log_likelihood": self.log_likelihood,
            "perplexity": self.perplexity,
            "aed": self.aed,
            "edits": self.scores.edits,
            "all_marks": self.scores.overall().to_json(),
            "marks": [{"mark": display(mark), **score.to_json()} for mark, score in marks.items()],
            "seconds": self.seconds,
        }


class SystemResult(NamedTuple):
    """The results of a system.

    :ivar name: on the command line; ``title`` in tables.
    :ivar outcomes: with gold trees and with those of each parser; a single one for a system without trees.
    :ivar training_seconds: the time of its training, without that of parsers; ``report`` says how it went.
    """

    name: str
    title: str
    outcomes: tuple[Outcome, ...]
    training_seconds: float
    report: Mapping[str, Any]

    @property
    def uses_trees(self) -> bool:
        """Whether it punctuates trees."""
        return self.outcomes[0].trees != NONE

    def aed_at(self, share: int) -> float:
        """Its average edit distance with the trees of the parser of this share, 0 for gold trees."""
        shares = [0 if outcome.parser is None else outcome.parser.share for outcome in self.outcomes]
        return self.outcomes[shares.index(share)].aed

    @property
    def with_gold_trees(self) -> Outcome:
        """The outcome with gold trees, or the only outcome of a system without trees."""
        return self.outcomes[0]

    @property
    def with_predicted_trees(self) -> Outcome:
        """The outcome with trees of the last parser, or the only outcome of a system without trees."""
        return self.outcomes[-1]


Result = TypeVar("Result")
"""The result of a system or of a parser with one seed."""


@dataclass(frozen=True)
class Runs(Generic[Result]):
    """The results of a system, at least one, one for each seed."""

    results: tuple[Result, ...]

    @property
    def first(self) -> Result:
        """The result with the first seed, for facts that do not depend on seeds."""
        return self.results[0]

    def mean(self, value: Callable[[Result], Value]) -> float | None:
        """The mean of a number over seeds; None if it is missing with a seed."""
        values = self._numbers(value)
        return statistics.fmean(values) if values else None

    def spread(self, value: Callable[[Result], Value]) -> float | None:
        """The standard deviation over seeds (n - 1); None where `mean` is None or n is 1."""
        values = self._numbers(value)
        return statistics.stdev(values) if len(values) > 1 else None

    def _numbers(self, value: Callable[[Result], Value]) -> list[float]:
        values = [value(result) for result in self.results]
        numbers = [number for number in values if isinstance(number, (int, float))]
        return numbers if len(numbers) == len(values) else []


def over_seeds(column: Column[Result]) -> Column[Runs[Result]]:
    """The column of the means over seeds, with the mean evidence."""
    take = column.evidence

    def evidence(runs: Runs[Result]) -> Totals | None:
        counts = [] if take is None else [take(result) for result in runs.results]
        known = [np.asarray(one, float) for one in counts if one is not None]
        return np.mean(known, axis=0) if known else None

    return Column(
        column.key,
        column.title,
        lambda runs: runs.mean(column.value),
        column.decimals,
        spread=lambda runs: runs.spread(column.value),
        evidence=None if take is None else evidence,
        statistic=column.statistic,
        best=column.best,
    )
