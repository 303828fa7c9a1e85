"""Marks, ends and trees of running words side by side, as in Tables 4 to 6 of Zhang, Wu, Yang & Li (2013)."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.compare.significance import f1, permutation_test
from pyropunct.nets.reader.scores import Counts
from pyropunct.punctuator import Punctuator
from pyropunct.rivals.ma_2014 import train_perceptron_tagger, with_jackknifed_tags, with_tags
from pyropunct.rivals.ma_2014.comparison import Progress
from pyropunct.rivals.restoration.tables import NO_VALUE
from pyropunct.rivals.transitions.arc_eager import FULL, MIDDLE, NONE
from pyropunct.rivals.zhang_2013 import Stream
from pyropunct.rivals.zhang_2013.systems import (
    STREAM,
    Found,
    JointSettings,
    JointSystem,
    Trained,
    restoring,
    systems_of,
    trained_on,
)

MARK_COLUMNS = ("middle", "full", "any", "ends")
"""What is found: middle pauses, full stops, either of them, whichever it is, and ends of sentences."""

TREE_COLUMNS = ("uas", "las")


@dataclass(frozen=True)
class JointScores:
    """How well streams are read.

    :ivar marks: (streams, 4, 3) of each of `MARK_COLUMNS` how many there are, were found, and were found
        where they are.  The end of a stream is no end to be found.
    :ivar trees: (streams, 3) words, those with the right head, and those with the right relation too; None
        if the system finds no trees.
    """

    marks: NDArray[np.int64]
    trees: NDArray[np.int64] | None

    @classmethod
    def of(cls, found: Sequence[Found], gold: Sequence[Stream]) -> "JointScores":
        """The scores of what was found in streams."""
        pairs = list(zip(found, gold, strict=True))
        marks = np.array([_mark_counts(*pair) for pair in pairs], np.int64)
        parsed = all(one.heads is not None for one in found)
        return cls(marks, np.array([_tree_counts(*pair) for pair in pairs], np.int64) if parsed else None)

    def counts(self, column: str) -> Counts:
        """The counts of one of `MARK_COLUMNS` in all streams."""
        return Counts(*self.marks[:, MARK_COLUMNS.index(column)].sum(0).tolist())

    def tree_score(self, column: str) -> float | None:
        """The percentage of one of `TREE_COLUMNS`, None if there are no trees."""
        if self.trees is None:
            return None
        words, *right = self.trees.sum(0).tolist()
        return 100 * right[TREE_COLUMNS.index(column)] / words

    def p_values(self, other: "JointScores", permutations: int, seed: int) -> dict[str, float]:
        """Of each column, the p-value of the difference between two systems."""
        found = {
            column: permutation_test(
                self.marks[:, place], other.marks[:, place], permutations, seed=seed, statistic=f1
            )
            for place, column in enumerate(MARK_COLUMNS)
        }
        if self.trees is not None and other.trees is not None:
            for place, column in enumerate(TREE_COLUMNS, start=1):
                one, two = self.trees[:, place], other.trees[:, place]
                found[column] = permutation_test(one, two, permutations, seed=seed)
        return found


def _mark_counts(found: Found, gold: Stream) -> list[list[int]]:
    own, right = np.array(found.marks, int), np.array(gold.marks, int)
    pairs = [
        (right == MIDDLE, own == MIDDLE),
        (right == FULL, own == FULL),
        (right != NONE, own != NONE),
        (np.array(gold.ends[:-1], bool), np.array(found.ends[:-1], bool)),
    ]
    return [[int(one.sum()), int(two.sum()), int((one & two).sum())] for one, two in pairs]


def _tree_counts(found: Found, gold: Stream) -> list[int]:
    assert found.heads is not None
    assert found.relations is not None
    right = [place for place, head in enumerate(gold.heads) if found.heads[place] == head]
    labelled = sum(found.relations[place] == gold.relations[place] for place in right)
    return [len(gold.heads), len(right), labelled]


class JointRow(NamedTuple):
    """A system and how well it did on streams of one size.

    :ivar name: of the system.
    :ivar size: how many sentences the streams have.
    :ivar scores: its scores.
    :ivar training_seconds: the processor time of its training, that of what it reads included.
    :ivar speed: the words that it read in a second of processor time.
    """

    name: str
    size: int
    scores: JointScores
    training_seconds: float | None
    speed: float


@dataclass(frozen=True)
class JointComparison:
    """What a comparison found.

    :ivar settings: its settings.
    :ivar train: how many sentences there were for training, and how many arcs of them were lifted.
    :ivar dev: how many sentences and words were measured on.
    :ivar tags: the percentage of tags of dev's words that are those of the treebank, for each size.
    :ivar rows: the systems, size by size.
    """

    settings: JointSettings
    train: tuple[int, int]
    dev: tuple[int, int]
    tags: tuple[float, ...]
    rows: tuple[JointRow, ...]

    def p_values(self) -> list[dict[str, float]]:
        """For each row the p-values of its differences from the row before, if it is of the same size."""
        before = [None, *self.rows[:-1]]
        return [
            {}
            if other is None or other.size != row.size
            else row.scores.p_values(other.scores, self.settings.permutations, self.settings.seed)
            for row, other in zip(self.rows, before, strict=True)
        ]

    def table(self) -> tuple[list[str], list[list[str]]]:
        """The header and a row for each system and size."""
        marks = [name for title in ("M", "F", "all", "ends") for name in (title, "p")]
        header = ["sentences", "system", *marks, "UAS", "p", "LAS", "p", "words/s", "training s"]
        return header, [_cells(*pair) for pair in zip(self.rows, self.p_values(), strict=True)]

    def notes(self) -> list[str]:
        """Lines that explain the table."""
        settings, (sentences, words), (learned, lifted) = self.settings, self.dev, self.train
        shares = ", ".join(f"{share:.2f} %" for share in self.tags)
        return [
            f"Trained on {learned:,} sentences in streams of {STREAM}, {lifted:,} arcs of them lifted; "
            f"parsers in {settings.iterations} iterations with a beam of {settings.beam}, seed "
            f"{settings.seed}; "
            f"measured on {sentences:,} sentences with {words:,} words, in lower case and without marks.",
            f"Tags of a tagger, in training {settings.folds}-fold jackknifed; {shares} of dev's are right.",
            "F1 of M: commas, colons, semicolons; F: periods, question and exclamation marks; all: either, "
            "whichever it is; ends: of sentences inside of streams.",
            "p: against the row above (two-sided paired permutation test over streams, "
            f"{settings.permutations:,} permutations).  Seconds are of processor time.",
        ]

    def to_json(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        settings = self.settings
        return {
            "beam": settings.beam,
            "iterations": settings.iterations,
            "folds": settings.folds,
            "samples": settings.samples,
            "permutations": settings.permutations,
            "seed": settings.seed,
            "train": dict(zip(("sentences", "lifted_arcs"), self.train, strict=True)),
            "dev": dict(zip(("sentences", "words"), self.dev, strict=True)),
            "right_tags": dict(zip(map(str, settings.sizes), self.tags, strict=True)),
            "rows": [_plain(*pair) for pair in zip(self.rows, self.p_values(), strict=True)],
        }


def _cells(row: JointRow, p_values: Mapping[str, float]) -> list[str]:
    marks = [row.scores.counts(column).f1 for column in MARK_COLUMNS]
    values = [*marks, *(row.scores.tree_score(column) for column in TREE_COLUMNS)]
    cells = [str(row.size), row.name]
    for column, value in zip((*MARK_COLUMNS, *TREE_COLUMNS), values, strict=True):
        p = f"{p_values[column]:.4f}" if column in p_values else NO_VALUE
        cells += [NO_VALUE if value is None else f"{value:.2f}", p]
    seconds = row.training_seconds
    return [*cells, f"{row.speed:,.0f}", NO_VALUE if seconds is None else f"{seconds:,.0f}"]


def _plain(row: JointRow, p_values: dict[str, float]) -> dict[str, Any]:
    marks = {
        column: {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1}
        for column in MARK_COLUMNS
        for counts in [row.scores.counts(column)]
    }
    return {
        "system": row.name,
        "sentences": row.size,
        **marks,
        **{column: row.scores.tree_score(column) for column in TREE_COLUMNS},
        "p": p_values,
        "words_per_second": row.speed,
        "training_seconds": row.training_seconds,
    }


def compare_joint(
    train: Sequence[Stream],
    dev: Mapping[int, Sequence[Stream]],
    model: Punctuator | None = None,
    settings: JointSettings | None = None,
    *,
    steps: Progress,
    done: Callable[[Trained], None] = lambda trained: None,
) -> JointComparison:
    """Train systems on some streams and measure them on others.

    :param dev: the streams to measure on, by how many sentences they have.
    :param model: restores running text, if that is compared.
    :param settings: the settings.
    :param steps: shows how far training and measuring are.
    :param done: called with what was trained.
    :raises ValueError: if there are too few streams for training.
    :raises NoReaderError: if the model has no reader of running text.
    """
    settings = settings or JointSettings()
    restores = restoring(model, settings)
    with steps("folds of tags", settings.folds) as advance:
        tagger = train_perceptron_tagger(train, seed=settings.seed)
        train = with_jackknifed_tags(train, folds=settings.folds, seed=settings.seed, progress=advance)
    tagged = {size: with_tags(some, tagger) for size, some in dev.items()}
    trained = trained_on(train, settings, steps)
    done(trained)
    systems = systems_of(trained, restores, settings)
    rows = list(_measured(systems, tagged, trained.seconds, steps))
    [some, *_] = dev.values()
    return JointComparison(
        settings,
        (sum(len(one.sizes) for one in train), sum(one.lifted for one in train)),
        (sum(len(one.sizes) for one in some), sum(len(one.forms) for one in some)),
        tuple(_right_tags(tagged[size], dev[size]) for size in dev),
        tuple(rows),
    )


def _measured(
    systems: Mapping[str, JointSystem],
    dev: Mapping[int, Sequence[Stream]],
    seconds: Mapping[str, float],
    steps: Progress,
) -> Iterator[JointRow]:
    with steps("measuring", len(systems) * len(dev)) as advance:
        for size, some in dev.items():
            for name, system in systems.items():
                system.find(some[:1])  # which compiles, and looks weights up for the first time
                start = time.process_time()
                found = system.find(some)
                spent = max(time.process_time() - start, 1e-9)
                words = sum(len(one.forms) for one in some)
                yield JointRow(name, size, JointScores.of(found, some), seconds.get(name), words / spent)
                advance(1)


def _right_tags(found: Sequence[Stream], gold: Sequence[Stream]) -> float:
    """The percentage of words with the right tag."""
    streams = zip(found, gold, strict=True)
    pairs = [pair for one, two in streams for pair in zip(one.tags, two.tags, strict=True)]
    return 100 * sum(one == other for one, other in pairs) / len(pairs)
