"""Marks, ends and trees of running words side by side, as in Tables 4 to 6 of Zhang, Wu, Yang & Li (2013)."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pyropunct.baselines.mark_crf import MarkCRF, train_mark_crf
from pyropunct.comparison.columns import f1
from pyropunct.comparison.parsers import Progress
from pyropunct.comparison.significance import PERMUTATIONS, permutation_test
from pyropunct.comparison.tables import NO_VALUE
from pyropunct.parsing.arc_eager import (
    ArcEagerParser,
    ArcEagerRecipe,
    ParsedStream,
    Stream,
    marks_in,
    train_arc_eager,
)
from pyropunct.parsing.arc_standard import train_perceptron_tagger, with_jackknifed_tags, with_tags
from pyropunct.parsing.jackknife import folds_of, in_order, others_of
from pyropunct.parsing.transitions.arc_eager import FULL, MIDDLE, NONE
from pyropunct.punctuator import Punctuator
from pyropunct.restore.raw_words import line_of
from pyropunct.restore.reading import CHUNK
from pyropunct.restore.restoring import SAMPLES, Restoration
from pyropunct.restore.running import Finding
from pyropunct.running.scores import Counts

CRF, CASCADED, UNIFIED, RESTORATION = "crf", "cascaded", "unified", "restoration"

SYSTEMS: Mapping[str, str] = {
    CRF: "CRF",
    CASCADED: "CRF, then a parser that reads its marks",
    UNIFIED: "parser that predicts marks",
    RESTORATION: "restoration of running text",
}
"""The systems, and what they are."""

MARK_COLUMNS = ("middle", "full", "any", "ends")
"""What is found: middle pauses, full stops, either of them, whichever it is, and ends of sentences."""

TREE_COLUMNS = ("uas", "las")

FOLDS = 5
"""In how many parts tags, and marks for the parser that reads them, are jackknifed."""

STREAM = 10
"""How many sentences a stream has in training, as in the paper."""


@dataclass(frozen=True)
class JointSettings:
    """The settings of a comparison.

    :ivar systems: what is compared.
    :ivar sizes: how many sentences the streams have on which it is measured.
    :ivar beam: the width of the beam of parsers.
    :ivar iterations: how often they see each sentence in training.
    :ivar folds: in how many parts tags and marks are jackknifed.
    :ivar samples: the most draws of restoration for each sentence.
    :ivar permutations: how many permutations each test of significance draws.
    :ivar seed: the seed of all.
    """

    systems: tuple[str, ...] = tuple(SYSTEMS)
    sizes: tuple[int, ...] = (3, 10)
    beam: int = ArcEagerRecipe.beam
    iterations: int = ArcEagerRecipe.iterations
    folds: int = FOLDS
    samples: int = SAMPLES
    permutations: int = PERMUTATIONS
    seed: int = 0


class Found(NamedTuple):
    """What a system makes of the n words of a stream.

    :ivar marks: the mark behind each.
    :ivar ends: whether a sentence ends behind each.
    :ivar heads: their heads from 1, 0 for roots; none if the system finds no trees.
    :ivar relations: their relations to these.
    """

    marks: Sequence[int]
    ends: Sequence[bool]
    heads: Sequence[int] | None = None
    relations: Sequence[str] | None = None


class JointSystem(Protocol):
    """What is compared."""

    def find(self, some: Sequence[Stream]) -> list[Found]:
        """Marks, ends and trees of streams, of which words and tags alone are read."""
        ...


@dataclass(frozen=True)
class CRFAlone:
    """The marks of a CRF, without trees."""

    crf: MarkCRF

    def find(self, some: Sequence[Stream]) -> list[Found]:
        """Its marks, and ends behind full stops."""
        return [Found(marks, [mark == FULL for mark in marks]) for marks in self.crf.predict(some)]


@dataclass(frozen=True)
class Parsing:
    """A parser that predicts marks, and reads those of a CRF if there is one."""

    parser: ArcEagerParser
    crf: MarkCRF | None = None

    def find(self, some: Sequence[Stream]) -> list[Found]:
        """Its marks and trees, and ends behind full stops."""
        read = None if self.crf is None else self.crf.predict(some)
        return [_found(one) for one in self.parser.parse(some, read)]


def _found(one: ParsedStream) -> Found:
    return Found(one.marks, [mark == FULL for mark in one.marks], one.heads, one.relations)


@dataclass(frozen=True)
class Restoring:
    """Restoration of running text, whose model finds sentences, parses and punctuates them.

    :raises NoReaderError: if it has no reader of running text.
    """

    model: Punctuator
    samples: int = SAMPLES
    seed: int = 0

    def __post_init__(self) -> None:
        Finding(self.model.reader, running=True)

    def find(self, some: Sequence[Stream]) -> list[Found]:
        """Its marks, and the best trees of the sentences that it finds."""
        finding = Finding(self.model.reader, running=True)
        cut = [list(finding.sentences([line_of(one.forms)])) if one.forms else [] for one in some]
        lines = [line for sentences in cut for line in sentences]
        restoration = Restoration(self.model, samples=self.samples, seed=self.seed, best_tree=True)
        parts = (lines[first : first + CHUNK] for first in range(0, len(lines), CHUNK))
        restored = (one for part in parts for one in restoration.restore(part))
        return [_joined(list(islice(restored, len(sentences)))) for sentences in cut]


def _joined(sentences: Sequence[Any]) -> Found:
    """Restored sentences as one stream."""
    marks: list[int] = []
    ends: list[bool] = []
    heads: list[int] = []
    relations: list[str] = []
    for one in sentences:
        first = len(heads)
        heads += [head and first + head for head in one.tree.heads]
        relations += one.tree.relations
        marks += marks_in(one.surface)
        ends += [*[False] * (len(one.tree) - 1), True]
    return Found(marks, ends, heads, relations)


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


class Trained(NamedTuple):
    """What was trained: a CRF and parsers, by the names of the systems that they are of."""

    parts: Mapping[str, MarkCRF | ArcEagerParser]
    seconds: Mapping[str, float]


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
    restoring = _restoring(model, settings)
    with steps("folds of tags", settings.folds) as advance:
        tagger = train_perceptron_tagger(train, seed=settings.seed)
        train = with_jackknifed_tags(train, folds=settings.folds, seed=settings.seed, progress=advance)
    tagged = {size: with_tags(some, tagger) for size, some in dev.items()}
    trained = _trained(train, settings, steps)
    done(trained)
    systems = _systems(trained, restoring, settings)
    rows = list(_measured(systems, tagged, trained.seconds, steps))
    [some, *_] = dev.values()
    return JointComparison(
        settings,
        (sum(len(one.sizes) for one in train), sum(one.lifted for one in train)),
        (sum(len(one.sizes) for one in some), sum(len(one.forms) for one in some)),
        tuple(_right_tags(tagged[size], dev[size]) for size in dev),
        tuple(rows),
    )


def _restoring(model: Punctuator | None, settings: JointSettings) -> Restoring | None:
    if RESTORATION not in settings.systems or model is None:
        return None
    return Restoring(model, settings.samples, settings.seed)


def _trained(train: Sequence[Stream], settings: JointSettings, steps: Progress) -> Trained:
    """The CRF and the parsers that are to be compared, or are part of what is."""
    parts: dict[str, MarkCRF | ArcEagerParser] = {}
    seconds: dict[str, float] = {}
    chosen = settings.systems
    if CRF in chosen or CASCADED in chosen:
        with steps("CRFs", 1 + settings.folds * (CASCADED in chosen)) as advance:
            start = time.process_time()
            parts[CRF] = train_mark_crf(train)
            seconds[CRF] = time.process_time() - start
            advance(1)
            found = _jackknifed_marks(train, settings.folds, advance) if CASCADED in chosen else None
            seconds[CASCADED] = time.process_time() - start
    wanted = [name for name in (CASCADED, UNIFIED) if name in chosen]
    with steps("iterations", settings.iterations * len(wanted)) as advance:
        for name in wanted:
            recipe = ArcEagerRecipe(name == CASCADED, settings.beam, settings.iterations, settings.seed)
            start = time.process_time()
            read = found if name == CASCADED else None
            parts[name] = train_arc_eager(train, recipe, found=read, watch=lambda done, wrong: advance(1))
            seconds[name] = seconds.get(name, 0.0) + time.process_time() - start
    return Trained(parts, seconds)


def _jackknifed_marks(
    train: Sequence[Stream], folds: int, advance: Callable[[int], None]
) -> list[tuple[int, ...]]:
    """The marks of CRFs that were trained on other streams."""
    parts = folds_of(train, folds)
    found = []
    for fold, part in enumerate(parts):
        found.append(train_mark_crf(others_of(parts, fold)).predict(part))
        advance(1)
    return in_order(found)


def _systems(
    trained: Trained, restoring: Restoring | None, settings: JointSettings
) -> dict[str, JointSystem]:
    crf, systems = trained.parts.get(CRF), dict[str, JointSystem]()
    for name in settings.systems:
        part = trained.parts.get(name)
        if isinstance(part, MarkCRF):
            systems[name] = CRFAlone(part)
        elif isinstance(part, ArcEagerParser):
            reads = crf if name == CASCADED and isinstance(crf, MarkCRF) else None
            systems[name] = Parsing(part, reads)
        elif restoring is not None:
            systems[name] = restoring
    return systems


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
