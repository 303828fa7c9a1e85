"""The results of each parser and of each system, and the tables of a comparison, with significance."""

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pyropunct.fitted.evaluation import RestorationScores
from pyropunct.nets.parser import AttachmentScores
from pyropunct.papers.experiment import Results
from pyropunct.papers.options import RestorationSettings
from pyropunct.significance import Totals, f1
from pyropunct.tables import Column, Table, Value
from pyropunct.text.marks import Surface

GOLD, PREDICTED, NONE = "gold", "predicted", "none"
"""The source of trees: the treebank, a parser, or no source for a system without trees."""


class TreebankSize(NamedTuple):
    """The size of a treebank, with a checksum of its sentences."""

    path: str | None
    checksum: str
    sentences: int
    words: int

    @property
    def slots(self) -> int:
        """n + 1 for each sentence of n words."""
        return self.words + self.sentences


class ParserResult(NamedTuple):
    """The results of a parser, or of gold trees (``share`` 0, ``sentences`` and seconds None).

    :ivar share: the percentage of the training sentences that it was trained on, ``sentences`` their number.
    :ivar scores: of its best trees of the measured sentences.
    :ivar training_seconds: of training.
    """

    share: int
    sentences: int | None
    scores: AttachmentScores
    training_seconds: float | None


GOLD_TREES = ParserResult(0, None, AttachmentScores(0, 100.0, 100.0, 100.0), None)
"""A perfect parser."""


class Outcome:
    """How well a system predicts and restores punctuation, given trees of one source.

    :param trees: `GOLD`, `PREDICTED`, or `NONE` for a system without trees.
    :param parser: the parser, if the trees are predicted.
    :param log_probs: (sentences,) log p(x) of the gold punctuation given these trees, or given the words, in
        natural logarithms; None if the system has no probabilities.
    """

    def __init__(
        self,
        trees: str,
        parser: ParserResult | None,
        restored: Iterable[Surface],
        gold: Sequence[Surface],
        log_probs: NDArray[np.float64] | None = None,
    ) -> None:
        self.trees, self.parser, self.log_probs = trees, parser, log_probs
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
    def perplexity(self) -> float | None:
        """exp(- log-likelihood per slot), as in section 4 of the paper."""
        if self.log_probs is None:
            return None
        return float(np.exp(-math.fsum(self.log_probs.tolist()) / self.scores.slots))

    @property
    def las(self) -> float | None:
        """The labelled attachment score of the trees in percent, 100 for gold trees; None without trees."""
        if self.trees == GOLD:
            return 100.0
        return None if self.parser is None else self.parser.scores.las

    def to_json(self) -> dict[str, Any]:
        """A dictionary of plain JSON types."""
        share = None if self.parser is None else self.parser.share
        numbers = {key: getattr(self, key) for key in ("trees", "las", "perplexity", "aed", "f1")}
        return {**numbers, "share": share}


class SystemResult(NamedTuple):
    """The results of a system.

    :ivar name: on the command line; ``title`` in tables.
    :ivar outcomes: with gold trees and with those of each parser; a single one for a system without trees.
    :ivar training_seconds: the time of its training, without that of parsers.
    """

    name: str
    title: str
    outcomes: tuple[Outcome, ...]
    training_seconds: float

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


def _over_seeds(
    key: str, title: str, decimals: int, value: str, evidence: str = "", **test: Any
) -> Column[Any]:
    """A column of `Runs`: the mean of the attribute ``value`` over seeds, with the mean of ``evidence``."""
    of, take = attrgetter(value), attrgetter(evidence) if evidence else None

    def mean_evidence(runs: Runs[Any]) -> Totals | None:
        counts = [] if take is None else [take(result) for result in runs.results]
        known = [np.asarray(one, float) for one in counts if one is not None]
        return np.mean(known, axis=0) if known else None

    return Column(
        key,
        title,
        lambda runs: runs.mean(of),
        decimals,
        spread=lambda runs: runs.spread(of),
        evidence=mean_evidence if evidence else None,
        **test,
    )


def _score(key: str, title: str, trees: str, evidence: str, **test: Any) -> Column[Any]:
    """The column of a score with gold or with predicted trees."""
    outcome, title = f"with_{trees}_trees.", f"{title}, {trees} trees"
    return _over_seeds(f"{key}_{trees}_trees", title, 4, outcome + key, outcome + evidence, **test)


SECONDS = _over_seeds("training_seconds", "training seconds", 0, "training_seconds")

COLUMNS: tuple[Column[Runs[SystemResult]], ...] = (
    *(_score("perplexity", "perplexity", trees, "log_probs") for trees in (GOLD, PREDICTED)),
    *(_score("aed", "AED", trees, "edits") for trees in (GOLD, PREDICTED)),
    _score("f1", "micro F1", PREDICTED, "marks", statistic=f1, best=max),
    SECONDS,
)
"""All systems have the same slots, so the tests compare totals instead of averages per slot."""

PARSER_COLUMNS: tuple[Column[Runs[ParserResult]], ...] = (
    Column("trees", "trees", lambda row: f"parser, {row.first.share}%" if row.first.share else GOLD),
    Column("sentences", "sentences", attrgetter("first.sentences")),
    _over_seeds("uas", "UAS", 2, "scores.uas"),
    _over_seeds("las", "LAS", 2, "scores.las"),
    _over_seeds("tags", "tags", 2, "scores.upos"),
    SECONDS,
)


def _edits_of(system: Runs[SystemResult]) -> Column[Runs[ParserResult]]:
    """The average edit distances of a system with the trees of each row."""

    def aed(row: Runs[ParserResult]) -> Callable[[SystemResult], float]:
        return lambda result: result.aed_at(row.first.share)

    key, title = f"aed_{system.first.name}", f"AED, {system.first.title}"
    return Column(key, title, lambda row: system.mean(aed(row)), 4, lambda row: system.spread(aed(row)))


def restoration_results(
    conditions: RestorationSettings,
    sizes: Mapping[str, TreebankSize],
    parsers: Sequence[Runs[ParserResult]],
    systems: Sequence[Runs[SystemResult]],
) -> Results:
    """All systems side by side, and with parsers a table of these and of the gold trees.

    :param sizes: of "train", "dev", which decides when training stops, and of "test" if that is measured on.
    :param parsers: the parsers, the one with most training data last; empty if no system uses trees.
    :param systems: the systems; like the parsers, each with a result for every seed.
    """
    title: Column[Runs[SystemResult]] = Column("title", "system", attrgetter("first.title"))
    notes, tests = tuple(_notes(conditions, sizes, parsers)), (conditions.permutations, conditions.seed)
    tables: dict[str, Table[Any]] = {
        "systems": Table("Comparison", (title, *COLUMNS), systems, notes, None, *tests, _runs)
    }
    if parsers:
        with_each = (one for one in systems if len(one.first.outcomes) == 1 + len(parsers))
        columns = [*PARSER_COLUMNS, *map(_edits_of, with_each)]
        tables["parsers"] = Table("Trees", columns, [*parsers, Runs((GOLD_TREES,))])
    data = {
        "treebanks": {name: {**size._asdict(), "slots": size.slots} for name, size in sizes.items()},
        "parsers": [
            [{**one._asdict(), "scores": one.scores._asdict()} for one in parser.results]
            for parser in parsers
        ],
    }
    return Results(tables, data)


def _notes(
    conditions: RestorationSettings, sizes: Mapping[str, TreebankSize], parsers: Sequence[Runs[ParserResult]]
) -> Iterable[str]:
    *_, (name, measured) = sizes.items()
    seed, seeds = conditions.seed, conditions.seeds
    several = f"mean ± standard deviation of the seeds {seed} to {seed + seeds - 1}"
    yield (
        f"Trained on {sizes['train'].sentences:,} sentences, measured on {measured.sentences:,} of {name} "
        f"with {measured.slots:,} slots; {conditions.samples} draws, decoder {conditions.decoder}, "
        f"{several if seeds > 1 else f'seed {seed}'}."
    )
    if name == "dev":
        yield "Dev also says when training stops, which flatters what is measured on it."
    if parsers:
        yield (
            f"Predicted trees: at most {conditions.trees} for each sentence, by the parser trained on "
            f"{parsers[-1].first.share}%; the perplexity is that of their mixture."
        )


def _runs(system: Runs[SystemResult]) -> dict[str, Any]:
    """For programs: the results with each seed and each kind of trees."""
    runs = [
        {
            "outcomes": [outcome.to_json() for outcome in result.outcomes],
            "training_seconds": result.training_seconds,
        }
        for result in system.results
    ]
    return {"name": system.first.name, "runs": runs}
