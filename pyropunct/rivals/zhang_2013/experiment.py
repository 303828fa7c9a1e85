"""Compares marks, ends and trees of running words, as Tables 4 to 6 of Zhang, Wu, Yang & Li (2013)."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.compare.experiment import (
    Advance,
    TableExperiment,
    TableResults,
    Trained,
    Watch,
    timed,
    unwatched,
)
from pyropunct.compare.significance import f1
from pyropunct.compare.table import Baseline, Column, Table
from pyropunct.nets.jackknife import folds_of, in_order, others_of
from pyropunct.nets.reader import Counts
from pyropunct.punctuator import Punctuator
from pyropunct.rivals.settings import CASCADED, CRF, RESTORATION, UNIFIED, JointSettings
from pyropunct.rivals.transitions.arc_eager import FULL, MIDDLE, NONE
from pyropunct.rivals.zhang_2013.mark_crf import MarkCRF, train_mark_crf
from pyropunct.rivals.zhang_2013.parser import ArcEagerParser, ArcEagerRecipe, train_arc_eager
from pyropunct.rivals.zhang_2013.streams import SENTENCES, Stream, misheard
from pyropunct.rivals.zhang_2013.systems import (
    Reader,
    SlotReading,
    crf_system,
    parser_system,
    restoration_system,
)

MARKS = {"middle": "M", "full": "F", "any": "all", "ends": "ends"}
"""What is found: middle pauses, full stops, either of them, whichever it is, and ends of sentences."""

Numbers = NDArray[np.int64]

TREES = {"uas": "UAS", "las": "LAS"}


def mark_counts(readings: Sequence[SlotReading], gold: Sequence[Stream]) -> Numbers:
    """(streams, 4, 3) gold, predicted and right places of each of `MARKS`, but for the stream's end."""
    return np.array([_mark_counts(*pair) for pair in zip(readings, gold, strict=True)], np.int64)


def _mark_counts(reading: SlotReading, gold: Stream) -> list[list[int]]:
    found, true = np.array(reading.marks, int), np.array(gold.marks, int)
    pairs = [
        (true == MIDDLE, found == MIDDLE),
        (true == FULL, found == FULL),
        (true != NONE, found != NONE),
        (np.array(gold.ends[:-1], bool), np.array(reading.ends[:-1], bool)),
    ]
    return [[int(there.sum()), int(here.sum()), int((there & here).sum())] for there, here in pairs]


def tree_counts(readings: Sequence[SlotReading], gold: Sequence[Stream]) -> Numbers | None:
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
    def value(result: JointResult) -> float:
        return result.counts(key).f1

    def evidence(result: JointResult) -> Numbers:
        return result.marks[:, place]

    return Column(key, MARKS[key], value, 2, evidence=evidence, statistic=f1, best=max)


def _tree_column(place: int, key: str) -> Column[JointResult]:
    def value(result: JointResult) -> float | None:
        totals = None if result.trees is None else result.trees.sum(0).tolist()
        return None if totals is None else 100 * totals[place] / totals[0]

    def evidence(result: JointResult) -> Numbers | None:
        return None if result.trees is None else result.trees[:, place]

    return Column(key, TREES[key], value, 2, evidence=evidence, best=max)


def _share_column(key: str, share: str) -> Column[JointResult]:
    def value(result: JointResult) -> float:
        return float(getattr(result.counts(key), share))

    return Column(f"{key}_{share}", f"{MARKS[key]} {share[0].upper()}", value, 2)


NAMES: tuple[Column[JointResult], ...] = (
    Column("sentences", "sentences", attrgetter("size")),
    Column("system", "system", attrgetter("name")),
)
COLUMNS: tuple[Column[JointResult], ...] = (
    *NAMES,
    *(_mark_column(place, key) for place, key in enumerate(MARKS)),
    *(_tree_column(place, key) for place, key in enumerate(TREES, start=1)),
    Column("words_per_second", "words/s", attrgetter("speed"), 0),
    Column("training_seconds", "training s", attrgetter("training_seconds"), 0),
)
SHARES = (*NAMES, *(_share_column(key, share) for key in MARKS for share in ("precision", "recall")))
"""The columns of the table of precision and recall."""

ABOVE = Baseline(
    "the row above",
    lambda results, row: row - 1 if row and results[row - 1].size == results[row].size else None,
)


class JointExperiment(TableExperiment[JointResult]):
    """Trains systems on some streams and measures them on others.

    :param dev: the streams to measure on, by their numbers of sentences.
    :param model: restores running text, if that is compared.
    :param folder: keeps each trained part, so that a repeated experiment loads it.
    :raises MissingPartError: if the model has no reader of running text.
    """

    title = "Running words"
    clock = staticmethod(time.process_time)
    key = "rows"
    baseline = ABOVE

    def __init__(
        self,
        train: Sequence[Stream],
        dev: Mapping[int, Sequence[Stream]],
        model: Punctuator | None = None,
        settings: JointSettings | None = None,
        folder: str | Path | None = None,
        watch: Watch = unwatched,
    ) -> None:
        super().__init__(train, dev, settings or JointSettings(), folder, watch)
        restored = model is not None and RESTORATION in self.settings.systems
        self.restoration = restoration_system(model, self.settings) if restored and model else None

    def texts(self, data: Any) -> Iterable[str]:
        """All of dev is one text."""
        return [repr(data)] if isinstance(data, Mapping) else map(repr, data)

    def rows(self) -> Iterator[JointResult]:
        """A row for each system and size of streams, size by size. Too few streams raise a ValueError."""
        names = [one for one in self.settings.systems if one != RESTORATION or self.restoration is not None]
        systems = {name: self._system(name) for name in names}
        with self.watch("measuring", len(systems) * len(self.dev)) as advance:
            for size, streams in self.dev.items():
                words = sum(len(stream.forms) for stream in streams)
                heard = misheard(streams, self.train, self.settings.misheard, self.settings.seed)
                for name, (system, seconds) in systems.items():
                    readings, spent = timed(system, heard)
                    marks, trees = mark_counts(readings, streams), tree_counts(readings, streams)
                    yield JointResult(name, size, marks, trees, seconds, words / spent)
                    advance(1)

    def _system(self, name: str) -> tuple[Reader, float | None]:
        """A system, and the seconds of its training, with those of the systems that it reads."""
        if name == RESTORATION:
            assert self.restoration is not None
            return self.restoration, None
        if name == UNIFIED:
            parser, seconds = self._parser(name)
            return parser_system(parser), seconds
        crf, before = self._part(CRF, 1, lambda advance: train_mark_crf(self.train), MarkCRF)
        if name == CRF:
            return crf_system(crf), before
        parser, seconds = self._parser(name)
        return parser_system(parser, crf), before + seconds

    def _parser(self, name: str) -> Trained[ArcEagerParser]:
        """The parser of a system; one that reads marks is trained on those of CRFs of other streams."""
        settings, cascaded = self.settings, name == CASCADED
        recipe = ArcEagerRecipe(cascaded, settings.beam, settings.iterations, settings.seed)

        def train(advance: Advance) -> ArcEagerParser:
            marks = None
            if cascaded:
                parts, predicted = folds_of(self.train, settings.folds), []
                for fold, part in enumerate(parts):
                    predicted.append(train_mark_crf(others_of(parts, fold)).predict(part))
                    advance(1)
                marks = in_order(predicted)
            return train_arc_eager(self.train, recipe, found=marks, advance=advance)

        return self._part(name, settings.iterations + cascaded * settings.folds, train, ArcEagerParser)

    def _part(self, name: str, size: int, train: Callable[[Advance], Any], kind: Any) -> Trained[Any]:
        """A part, trained now in so many steps, or loaded."""

        def watched() -> Any:
            with self.watch(f"training {name}: steps", size) as advance:
                return train(advance)

        return self.trained_parts(name, watched, kind.from_parts)

    def columns(self, rows: Sequence[JointResult]) -> Sequence[Column[JointResult]]:
        """`COLUMNS`."""
        return COLUMNS

    def tabled(self, rows: Sequence[JointResult]) -> TableResults:
        """The table of F1 and trees, and one of precision (P) and recall (R)."""
        results = super().tabled(rows)
        shares = Table("Precision and recall", SHARES, rows)
        return TableResults({**results.named, "precision_and_recall": shares}, results.data)

    def described(self, rows: Sequence[JointResult]) -> dict[str, Any]:
        """The numbers of sentences, words and lifted arcs."""
        dev = next(iter(self.dev.values()))
        sentences, other = (sum(len(stream.sizes) for stream in streams) for streams in (self.train, dev))
        return {
            "train": {"sentences": sentences, "lifted_arcs": sum(one.lifted for one in self.train)},
            "dev": {"sentences": other, "words": sum(len(stream.forms) for stream in dev)},
        }

    def notes(self, rows: Sequence[JointResult]) -> Sequence[str]:
        """What was trained and measured."""
        settings, (train, dev) = self.settings, self.described(rows).values()
        return (
            f"Trained on {train['sentences']:,} sentences in streams of {SENTENCES}, "
            f"{train['lifted_arcs']:,} arcs of them lifted; parsers in {settings.iterations} iterations with "
            f"a beam of {settings.beam}, seed {settings.seed}; measured on {dev['sentences']:,} sentences "
            f"with {dev['words']:,} words, in lower case and without marks.",
            f"Tags are those of the treebanks; {settings.misheard} % of the words of dev are drawn anew.",
            "F1 of M: commas, colons, semicolons; F: periods, question and exclamation marks; all: either, "
            "whichever it is; ends: of sentences inside of streams.  Seconds are of processor time.",
        )

    def details(self, row: JointResult) -> dict[str, dict[str, float]]:
        """The precision, recall and F1 of each of `MARKS`."""
        counts = {key: row.counts(key) for key in MARKS}
        return {
            key: {"precision": one.precision, "recall": one.recall, "f1": one.f1}
            for key, one in counts.items()
        }
