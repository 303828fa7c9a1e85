"""Compares marks, ends and trees of running words, as Tables 4 to 6 of Zhang, Wu, Yang & Li (2013)."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.nets.jackknife import folds_of, in_order, others_of
from pyropunct.nets.reader import Counts, count_labels
from pyropunct.papers.experiment import Experiment, Results, Trained, loader, timed
from pyropunct.papers.options import CRF, RESTORATION, UNIFIED, JointSettings
from pyropunct.papers.transitions.arc_eager_parser import ArcEagerParser, train_arc_eager
from pyropunct.papers.transitions.machine import FULL, MIDDLE, NONE
from pyropunct.papers.transitions.mark_crf import MarkCRF, train_mark_crf
from pyropunct.papers.transitions.parser import Recipe
from pyropunct.papers.transitions.streams import SENTENCES, Reading, Stream, reading_parts
from pyropunct.punctuator import Punctuator
from pyropunct.restore.items import CHUNK
from pyropunct.restore.restorer import Restorer
from pyropunct.restore.settings import RestoreSettings
from pyropunct.significance import f1
from pyropunct.tables import Baseline, Column, Table
from pyropunct.tasks import Advance
from pyropunct.text.raw_sentence import line_of

Reader = Callable[[Sequence[Stream]], list[Reading]]
"""Reads marks, ends and trees into streams, of which it reads words and tags alone."""


# Scores

MARKS = {"middle": "M", "full": "F", "any": "all", "ends": "ends"}
"""What is found: middle pauses, full stops, either of them, whichever it is, and ends of sentences."""

Numbers = NDArray[np.int64]

TREE_SCORES = {"uas": "UAS", "las": "LAS"}
"""The scores of trees, and the heads of their columns."""


def mark_counts(readings: Sequence[Reading], gold: Sequence[Stream]) -> Numbers:
    """(streams, 4, 3) gold, predicted and right places of each of `MARKS`, but for the stream's end."""
    return np.array([_mark_counts(*pair) for pair in zip(readings, gold, strict=True)], np.int64)


def _mark_counts(reading: Reading, gold: Stream) -> list[Counts]:
    found, true = np.array(reading.marks, int), np.array(gold.marks, int)
    ends = found == FULL if reading.ends is None else np.array(reading.ends, bool)
    pairs = [
        (found == MIDDLE, true == MIDDLE),
        (found == FULL, true == FULL),
        (found != NONE, true != NONE),
        (ends[:-1], np.array(gold.ends[:-1], bool)),
    ]
    return [count_labels(*pair) for pair in pairs]


def tree_counts(readings: Sequence[Reading], gold: Sequence[Stream]) -> Numbers | None:
    """(streams, 3) words, words with the right head, and with the right relation too; None without trees."""
    table = []
    for reading, true in zip(readings, gold, strict=True):
        if reading.heads is None or reading.relations is None:
            return None
        right = [word for word, head in enumerate(true.heads) if reading.heads[word] == head]
        labelled = sum(reading.relations[word] == true.relations[word] for word in right)
        table.append([len(true.heads), len(right), labelled])
    return np.array(table, np.int64)


class JointResult(NamedTuple):
    """The result of a system on streams of ``size`` sentences.

    :ivar marks: see `mark_counts`; ``trees``: see `tree_counts`.
    :ivar training_seconds: processor time, with that of systems that it reads; None if not trained here.
    :ivar speed: words a second of processor time.
    """

    name: str
    size: int
    marks: Numbers
    trees: Numbers | None
    training_seconds: float | None
    speed: float

    def counts(self, key: str) -> Counts:
        """The counts of one of `MARKS` in all streams."""
        return Counts(*self.marks[:, list(MARKS).index(key)].sum(0).tolist())


def _mark_column(place: int, key: str) -> Column[JointResult]:
    tested: dict[str, Any] = {"evidence": lambda result: result.marks[:, place], "statistic": f1}
    return Column(key, MARKS[key], lambda result: result.counts(key).f1, 2, **tested, best=max)


def _tree_column(place: int, key: str) -> Column[JointResult]:
    def value(result: JointResult) -> float | None:
        totals = None if result.trees is None else result.trees.sum(0).tolist()
        return None if totals is None else 100 * totals[place] / totals[0]

    def evidence(result: JointResult) -> Numbers | None:
        return None if result.trees is None else result.trees[:, place]

    return Column(key, TREE_SCORES[key], value, 2, evidence=evidence, best=max)


def _share_column(key: str, share: str) -> Column[JointResult]:
    title, of = f"{MARKS[key]} {share[0].upper()}", attrgetter(share)
    return Column(f"{key}_{share}", title, lambda result: of(result.counts(key)), 2)


NAMES: tuple[Column[JointResult], ...] = (
    Column("sentences", "sentences", attrgetter("size")),
    Column("system", "system", attrgetter("name")),
)
COLUMNS: tuple[Column[JointResult], ...] = (
    *NAMES,
    *(_mark_column(place, key) for place, key in enumerate(MARKS)),
    *(_tree_column(place, key) for place, key in enumerate(TREE_SCORES, start=1)),
    Column("words_per_second", "words/s", attrgetter("speed"), 0),
    Column("training_seconds", "training s", attrgetter("training_seconds"), 0),
)
SHARES = (*NAMES, *(_share_column(key, share) for key in MARKS for share in ("precision", "recall")))
"""The columns of the table of precision and recall."""

ABOVE = Baseline(
    "the row above",
    lambda results, row: row - 1 if row and results[row - 1].size == results[row].size else None,
)


# Systems


def restoration_system(model: Punctuator, settings: JointSettings) -> Reader:
    """Restoration of running text by a model. Raises MissingPartError if it has no reader of it."""
    options = RestoreSettings(
        decoder="mbr",
        running=True,
        samples=settings.samples,
        seed=settings.seed,
        best_tree=True,
        as_written=False,
    )
    restorer = Restorer(model, options)

    def read(streams: Sequence[Stream]) -> list[Reading]:
        cut = [list(restorer.sentences([line_of(one.forms)])) if one.forms else [] for one in streams]
        lines = [line for sentences in cut for line in sentences]
        batches = (lines[first : first + CHUNK] for first in range(0, len(lines), CHUNK))
        restored = (sentence for batch in batches for sentence in restorer.restore(batch))
        return [Reading(*reading_parts(list(islice(restored, len(sentences))))) for sentences in cut]

    return read


@dataclass(kw_only=True)
class JointExperiment(Experiment):
    """Trains systems on some streams and measures them on others.

    :ivar dev: the streams to measure on, by their numbers of sentences.
    :ivar model: restores running text, if that is compared.
    :raises MissingPartError: if the model has no reader of running text.
    """

    model: Punctuator | None = None
    settings_type = JointSettings
    clock = staticmethod(time.process_time)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.restoration: Reader | None = None
        if self.model is not None and RESTORATION in self.settings.systems:
            self.restoration = restoration_system(self.model, self.settings)

    def texts(self, data: Any) -> Iterable[str]:
        """All of dev is one text."""
        return [repr(data)] if isinstance(data, Mapping) else map(repr, data)

    def results(self) -> Results:
        """A row for each system and size of streams, size by size. Too few streams raise a ValueError."""
        return self.tabled(list(self._rows()))

    def tabled(self, rows: Sequence[JointResult]) -> Results:
        """The table of F1 and trees, and one of precision (P) and recall (R)."""
        settings, dev = self.settings, next(iter(self.dev.values()))
        sentences, other = (sum(len(stream.sizes) for stream in streams) for streams in (self.train, dev))
        lifted, words = sum(one.lifted for one in self.train), sum(len(stream.forms) for stream in dev)
        notes = (
            f"Trained on {sentences:,} sentences in streams of {SENTENCES}, {lifted:,} arcs of them lifted; "
            f"parsers in {settings.iterations} iterations with a beam of {settings.beam}, seed "
            f"{settings.seed}; measured on {other:,} sentences with {words:,} words, in lower case and "
            "without marks.",
            "Tags are those of the treebanks.",
            "F1 of M: commas, colons, semicolons; F: periods, question and exclamation marks; all: either, "
            "whichever it is; ends: of sentences inside of streams.  Seconds are of processor time.",
        )
        tables = {
            "rows": self.table("Running words", COLUMNS, rows, notes, ABOVE),
            "precision_and_recall": Table("Precision and recall", SHARES, rows),
        }
        sizes = {
            "train": {"sentences": sentences, "lifted_arcs": lifted},
            "dev": {"sentences": other, "words": words},
        }
        return Results(tables, sizes)

    def _rows(self) -> Iterator[JointResult]:
        systems = {name: self._system(name) for name in self.settings.systems}
        with self.watch("measuring", len(systems) * len(self.dev)) as advance:
            for size, streams in self.dev.items():
                words = sum(len(stream.forms) for stream in streams)
                for name, (system, seconds) in systems.items():
                    readings, spent = timed(system, streams)
                    marks, trees = mark_counts(readings, streams), tree_counts(readings, streams)
                    yield JointResult(name, size, marks, trees, seconds, words / spent)
                    advance(1)

    def _system(self, name: str) -> tuple[Reader, float | None]:
        """A system, and the seconds of its training, with those of the systems that it reads."""
        settings = self.settings
        if name == RESTORATION:
            assert self.restoration is not None
            return self.restoration, None
        recipe = Recipe(name, settings.beam, settings.iterations, settings.seed)
        if name == UNIFIED:
            train = partial(train_arc_eager, self.train, recipe)
            parser, seconds = self._part(name, settings.iterations, train, ArcEagerParser)
            return parser.parse, seconds
        crf, before = self._part(CRF, 1, lambda advance: train_mark_crf(self.train), MarkCRF)
        if name == CRF:
            return lambda streams: list(map(Reading, crf.predict(streams))), before
        train = partial(self._train_cascaded, recipe)
        parser, seconds = self._part(name, settings.iterations + settings.folds, train, ArcEagerParser)
        return lambda streams: parser.parse(streams, crf.predict(streams)), before + seconds

    def _train_cascaded(self, recipe: Recipe, advance: Advance) -> ArcEagerParser:
        """A parser that reads marks, trained on those of CRFs of other streams."""
        parts, predicted = folds_of(self.train, self.settings.folds), []
        for fold, part in enumerate(parts):
            predicted.append(train_mark_crf(others_of(parts, fold)).predict(part))
            advance(1)
        return train_arc_eager(self.train, recipe, advance, in_order(predicted))

    def _part(self, name: str, size: int, train: Callable[[Advance], Any], kind: Any) -> Trained[Any]:
        """A part, trained now in so many steps, or loaded."""

        def watched() -> Any:
            with self.watch(f"training {name}: steps", size) as advance:
                return train(advance)

        return self.trained(name, watched, loader(kind.from_parts))
