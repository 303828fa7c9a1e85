"""Marks, ends and trees of running words side by side, as in Tables 4 to 6 of Zhang, Wu, Yang & Li (2013)."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.compare.comparison import Comparison
from pyropunct.compare.progress import Watch, unwatched
from pyropunct.compare.runner import Runner, checksum
from pyropunct.compare.significance import f1
from pyropunct.compare.table import Baseline, Column, Table
from pyropunct.nets.reader.scores import Counts
from pyropunct.punctuator import Punctuator
from pyropunct.rivals.ma_2014.tagger import train_perceptron_tagger, with_jackknifed_tags, with_tags
from pyropunct.rivals.transitions.arc_eager import FULL, MIDDLE, NONE
from pyropunct.rivals.zhang_2013.settings import RESTORATION, JointSettings
from pyropunct.rivals.zhang_2013.streams import SENTENCES, Stream
from pyropunct.rivals.zhang_2013.systems import Reading, RestorationSystem, System, Training

MARKS = {"middle": "M", "full": "F", "any": "all", "ends": "ends"}
"""What is found: middle pauses, full stops, either of them, whichever it is, and ends of sentences."""

TREES = {"uas": "UAS", "las": "LAS"}


@dataclass(frozen=True)
class JointScores:
    """How well streams are read.

    :ivar marks: (streams, 4, 3) for each of `MARKS` the numbers of true, found and rightly found places.  The
        end of a stream does not count.
    :ivar trees: (streams, 3) words, words with the right head, and words with the right relation too; None
        if the system finds no trees.
    """

    marks: NDArray[np.int64]
    trees: NDArray[np.int64] | None

    @classmethod
    def of(cls, readings: Sequence[Reading], gold: Sequence[Stream]) -> "JointScores":
        """The scores of the readings of streams."""
        pairs = list(zip(readings, gold, strict=True))
        marks = np.array([_mark_counts(*pair) for pair in pairs], np.int64)
        parsed = all(reading.heads is not None for reading in readings)
        return cls(marks, np.array([_tree_counts(*pair) for pair in pairs], np.int64) if parsed else None)

    def counts(self, key: str) -> Counts:
        """The counts of one of `MARKS` in all streams."""
        return Counts(*self.marks[:, list(MARKS).index(key)].sum(0).tolist())

    def tree_score(self, key: str) -> float | None:
        """The percentage of one of `TREES`, None if there are no trees."""
        if self.trees is None:
            return None
        words, *right = self.trees.sum(0).tolist()
        return 100 * right[list(TREES).index(key)] / words


def _mark_counts(reading: Reading, gold: Stream) -> list[list[int]]:
    found, true = np.array(reading.marks, int), np.array(gold.marks, int)
    pairs = [
        (true == MIDDLE, found == MIDDLE),
        (true == FULL, found == FULL),
        (true != NONE, found != NONE),
        (np.array(gold.ends[:-1], bool), np.array(reading.ends[:-1], bool)),
    ]
    return [[int(there.sum()), int(here.sum()), int((there & here).sum())] for there, here in pairs]


def _tree_counts(reading: Reading, gold: Stream) -> list[int]:
    assert reading.heads is not None
    assert reading.relations is not None
    right = [word for word, head in enumerate(gold.heads) if reading.heads[word] == head]
    labelled = sum(reading.relations[word] == gold.relations[word] for word in right)
    return [len(gold.heads), len(right), labelled]


class JointResult(NamedTuple):
    """The result of a system on streams of one size.

    :ivar name: the name of the system.
    :ivar size: how many sentences the streams have.
    :ivar scores: its scores.
    :ivar training_seconds: the processor time of its training, with that of the systems that it reads; None
        if it was not trained here.
    :ivar speed: the words that it read in a second of processor time.
    """

    name: str
    size: int
    scores: JointScores
    training_seconds: float | None
    speed: float


def _mark_column(place: int, key: str) -> Column[JointResult]:
    return Column(
        key,
        MARKS[key],
        lambda result: result.scores.counts(key).f1,
        2,
        evidence=lambda result: result.scores.marks[:, place],
        statistic=f1,
        best=max,
    )


def _tree_column(place: int, key: str) -> Column[JointResult]:
    return Column(
        key,
        TREES[key],
        lambda result: result.scores.tree_score(key),
        2,
        evidence=lambda result: None if result.scores.trees is None else result.scores.trees[:, place],
        best=max,
    )


COLUMNS: tuple[Column[JointResult], ...] = (
    Column("sentences", "sentences", lambda result: result.size),
    Column("system", "system", lambda result: result.name),
    *(_mark_column(place, key) for place, key in enumerate(MARKS)),
    *(_tree_column(place, key) for place, key in enumerate(TREES, start=1)),
    Column("words_per_second", "words/s", lambda result: result.speed, 0),
    Column("training_seconds", "training s", lambda result: result.training_seconds, 0),
)

ABOVE = Baseline(
    "the row above",
    lambda results, row: row - 1 if row and results[row - 1].size == results[row].size else None,
)


@dataclass(frozen=True)
class JointComparison(Comparison):
    """The results of all systems.

    :ivar settings: the settings.
    :ivar train: the numbers of sentences for training, and of lifted arcs in them.
    :ivar dev: the numbers of sentences and words on which everything was measured.
    :ivar tags: the percentage of dev's words with the tags of the treebank, for each size of streams.
    :ivar results: the results, size by size.
    """

    settings: JointSettings
    train: tuple[int, int]
    dev: tuple[int, int]
    tags: tuple[float, ...]
    results: tuple[JointResult, ...]

    @cached_property
    def tables(self) -> Sequence[Table[JointResult]]:
        """A row for each system and size of streams."""
        settings, (sentences, words), (learned, lifted) = self.settings, self.dev, self.train
        shares = ", ".join(f"{share:.2f} %" for share in self.tags)
        notes = (
            f"Trained on {learned:,} sentences in streams of {SENTENCES}, {lifted:,} arcs of them lifted; "
            f"parsers in {settings.iterations} iterations with a beam of {settings.beam}, seed "
            f"{settings.seed}; "
            f"measured on {sentences:,} sentences with {words:,} words, in lower case and without marks.",
            f"Tags of a tagger, in training {settings.folds}-fold jackknifed; {shares} of dev's are right.",
            "F1 of M: commas, colons, semicolons; F: periods, question and exclamation marks; all: either, "
            "whichever it is; ends: of sentences inside of streams.  Seconds are of processor time.",
        )
        options = settings.permutations, settings.seed
        return [Table("Running words", COLUMNS, self.results, notes, ABOVE, *options)]

    def to_json(self) -> dict[str, Any]:
        """All numbers in plain JSON types; marks with their precision and recall."""
        rows = zip(self.tables[0].to_json(), self.results, strict=True)
        return {
            **self.settings.to_json(),
            "train": dict(zip(("sentences", "lifted_arcs"), self.train, strict=True)),
            "dev": dict(zip(("sentences", "words"), self.dev, strict=True)),
            "right_tags": dict(zip(map(str, self.settings.sentences), self.tags, strict=True)),
            "rows": [{**row, **_marks(result.scores)} for row, result in rows],
        }


def _marks(scores: JointScores) -> dict[str, dict[str, float]]:
    counts = {key: scores.counts(key) for key in MARKS}
    return {
        key: {"precision": one.precision, "recall": one.recall, "f1": one.f1} for key, one in counts.items()
    }


def compare_joint(
    train: Sequence[Stream],
    dev: Mapping[int, Sequence[Stream]],
    model: Punctuator | None = None,
    settings: JointSettings | None = None,
    folder: str | Path | None = None,
    *,
    watch: Watch = unwatched,
) -> JointComparison:
    """Train systems on some streams and measure them on others.

    :param dev: the streams to measure on, by how many sentences they have.
    :param model: restores running text, if that is compared.
    :param settings: the settings.
    :param folder: the CRF and each parser are saved there when they are trained, and loaded when the
        comparison is repeated.
    :param watch: gets reports of progress.
    :raises ComparisonFolderError: if the folder cannot be written, or holds another comparison.
    :raises ValueError: if there are too few streams for training.
    :raises NoReaderError: if the model has no reader of running text.
    """
    settings = settings or JointSettings()
    restoration = None
    if RESTORATION in settings.systems and model is not None:
        restoration = RestorationSystem(model, settings)
    checksums = {"train": checksum(map(repr, train)), "dev": checksum([repr(dev)])}
    with Runner.alone(folder, checksums, settings, time.process_time) as runner:
        with watch("folds of tags", settings.folds) as advance:
            tagged_train = with_jackknifed_tags(
                train, folds=settings.folds, seed=settings.seed, advance=advance
            )
        training = Training(tagged_train, settings, runner, watch)
        tagger = train_perceptron_tagger(train, seed=settings.seed)
        tagged = {size: with_tags(streams, tagger) for size, streams in dev.items()}
        systems: dict[str, tuple[System, float | None]] = {
            name: training.system(name) for name in settings.systems if name != RESTORATION
        }
        if restoration is not None:
            systems[RESTORATION] = restoration, None
        systems = {name: systems[name] for name in settings.systems if name in systems}
        results = tuple(_measured(systems, tagged, watch))
        streams = next(iter(dev.values()))
        comparison = JointComparison(
            settings,
            (sum(len(stream.sizes) for stream in train), sum(stream.lifted for stream in train)),
            (sum(len(stream.sizes) for stream in streams), sum(len(stream.forms) for stream in streams)),
            tuple(_right_tags(tagged[size], dev[size]) for size in dev),
            results,
        )
        runner.write(comparison)
    return comparison


def _measured(
    systems: Mapping[str, tuple[System, float | None]], dev: Mapping[int, Sequence[Stream]], watch: Watch
) -> Iterator[JointResult]:
    with watch("measuring", len(systems) * len(dev)) as advance:
        for size, streams in dev.items():
            words = sum(len(stream.forms) for stream in streams)
            for name, (system, seconds) in systems.items():
                system.read(streams[:1])  # which compiles, and looks weights up for the first time
                start = time.process_time()
                readings = system.read(streams)
                spent = max(time.process_time() - start, 1e-9)
                yield JointResult(name, size, JointScores.of(readings, streams), seconds, words / spent)
                advance(1)


def _right_tags(tagged: Sequence[Stream], gold: Sequence[Stream]) -> float:
    """The percentage of words with the right tag."""
    pairs = [
        pair
        for both in zip(tagged, gold, strict=True)
        for pair in zip(both[0].tags, both[1].tags, strict=True)
    ]
    return 100 * sum(tag == true for tag, true in pairs) / len(pairs)
