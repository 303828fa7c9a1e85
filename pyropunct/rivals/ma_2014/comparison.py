"""Ways to treat punctuation in parsing side by side, as in Tables 4 and 5 of Ma, Zhang & Zhu (2014)."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.compare.comparison import Comparison
from pyropunct.compare.progress import Advance, Watch, unwatched
from pyropunct.compare.runner import Runner, checksum, load_parts, save_parts
from pyropunct.compare.table import Baseline, Column, Table
from pyropunct.rivals.ma_2014.parser import ArcStandardParser, ArcStandardRecipe, Oracle, ParsedSentence
from pyropunct.rivals.ma_2014.settings import ParserSettings
from pyropunct.rivals.ma_2014.tagger import train_perceptron_tagger, with_jackknifed_tags, with_tags
from pyropunct.rivals.ma_2014.training import train_arc_standard
from pyropunct.rivals.ma_2014.treatments import MarkedSentence, Treatment

WORDS, HEADS, LABELLED, COMPLETE, ROOT = range(5)
"""The columns of counts: words; words with the right head; with the right head and relation; and 1 for a
sentence whose heads all are right, and for one whose root is."""


@dataclass(frozen=True)
class WordScores:
    """How well the words of sentences are parsed, marks apart.

    :ivar table: (sentences, 5) the counts of each sentence.
    """

    table: NDArray[np.int64]

    @classmethod
    def of(cls, parsed: Sequence[ParsedSentence], gold: Sequence[MarkedSentence]) -> "WordScores":
        """The scores of parsed sentences."""
        return cls(np.array([_counts(*pair) for pair in zip(parsed, gold, strict=True)], np.int64))

    @property
    def uas(self) -> float:
        """The percentage of words with the right head."""
        return self._share(HEADS, WORDS)

    @property
    def las(self) -> float:
        """The percentage of words with the right head and the right relation, subtype included."""
        return self._share(LABELLED, WORDS)

    @property
    def complete(self) -> float:
        """The percentage of sentences in which all words have the right head."""
        return 100 * float(self.table[:, COMPLETE].mean())

    @property
    def root(self) -> float:
        """The percentage of sentences with the right root."""
        return 100 * float(self.table[:, ROOT].mean())

    def _share(self, part: int, whole: int) -> float:
        return 100 * float(self.table[:, part].sum() / self.table[:, whole].sum())


def _counts(parsed: ParsedSentence, gold: MarkedSentence) -> list[int]:
    words = [place for place, mark in enumerate(gold.marks) if not mark]
    right = [place for place in words if parsed.heads[place] == gold.heads[place]]
    labelled = sum(parsed.relations[place] == gold.relations[place] for place in right)
    root = any(gold.heads[place] == 0 for place in right)
    return [len(words), len(right), labelled, len(right) == len(words), root]


class ParserResult(NamedTuple):
    """The result of a parser.

    :ivar treatment: what became of marks.
    :ivar beam: the width of its beam.
    :ivar scores: its scores.
    :ivar training_seconds: the processor time of its training.
    :ivar speed: the sentences of dev that it parsed in a second of processor time.
    :ivar report: what happened in its training.
    """

    treatment: Treatment
    beam: int
    scores: WordScores
    training_seconds: float
    speed: float
    report: Mapping[str, Any]


COLUMNS: tuple[Column[ParserResult], ...] = (
    Column("beam", "beam", lambda result: result.beam),
    Column("marks", "marks", lambda result: result.treatment.value),
    Column(
        "uas",
        "UAS",
        lambda result: result.scores.uas,
        2,
        evidence=lambda result: result.scores.table[:, HEADS],
        best=max,
    ),
    Column(
        "las",
        "LAS",
        lambda result: result.scores.las,
        2,
        evidence=lambda result: result.scores.table[:, LABELLED],
        best=max,
    ),
    Column("complete", "complete", lambda result: result.scores.complete, 2),
    Column("root", "root", lambda result: result.scores.root, 2),
    Column("sentences_per_second", "sentences/s", lambda result: result.speed, 0),
    Column("training_seconds", "training s", lambda result: result.training_seconds, 0),
)


def _marks_as_tokens(results: Sequence[ParserResult], row: int) -> int | None:
    """The row of marks as tokens with the same beam; None for this row, or if there is no such row."""
    if results[row].treatment is Treatment.TOKENS:
        return None
    tokens = {result.beam: i for i, result in enumerate(results) if result.treatment is Treatment.TOKENS}
    return tokens.get(results[row].beam)


@dataclass(frozen=True)
class ParserComparison(Comparison):
    """The results of all parsers.

    :ivar settings: the settings.
    :ivar train: the number of sentences for training.
    :ivar dev: the numbers of sentences and words on which everything was measured.
    :ivar tags: the percentage of words of dev with the tags of the treebank.
    :ivar results: the results.
    """

    settings: ParserSettings
    train: int
    dev: tuple[int, int]
    tags: float
    results: tuple[ParserResult, ...]

    @cached_property
    def tables(self) -> Sequence[Table[ParserResult]]:
        """A row for each parser."""
        settings, (sentences, words) = self.settings, self.dev
        source = (
            "of the treebanks"
            if settings.tags == "gold"
            else f"of a tagger, in training {settings.folds}-fold jackknifed"
        )
        lifted = self.results[0].report["lifted_sentences"]
        notes = (
            f"Trained on {self.train:,} sentences, {lifted:,} of them made projective, in "
            f"{settings.iterations} iterations with a {settings.oracle} oracle, seed {settings.seed}; "
            f"measured on {sentences:,} with {words:,} words, marks left out.",
            f"Tags {source}; {self.tags:.2f} % of the tags of words are right.",
            "Seconds are of processor time.",
        )
        against = Baseline("marks as tokens with the same beam", _marks_as_tokens)
        options = settings.permutations, settings.seed
        return [Table("Parsers", COLUMNS, self.results, notes, against, *options)]

    def to_json(self) -> dict[str, Any]:
        """All numbers in plain JSON types."""
        rows = zip(self.tables[0].to_json(), self.results, strict=True)
        return {
            **self.settings.to_json(),
            "right_tags": self.tags,
            "train": {"sentences": self.train},
            "dev": dict(zip(("sentences", "words"), self.dev, strict=True)),
            "systems": [{**row, **result.report} for row, result in rows],
        }


def compare_parsers(
    train: Sequence[MarkedSentence],
    dev: Sequence[MarkedSentence],
    settings: ParserSettings | None = None,
    folder: str | Path | None = None,
    *,
    watch: Watch = unwatched,
) -> ParserComparison:
    """Train parsers on some sentences and measure them on others.

    :param train: the training sentences, of two words or more.
    :param dev: the sentences to measure on.
    :param settings: the settings.
    :param folder: each parser is saved there when it is trained, and loaded when the comparison is repeated.
    :param watch: gets reports of progress.
    :raises ComparisonFolderError: if the folder cannot be written, or holds another comparison.
    :raises ValueError: if there are too few training sentences.
    """
    settings = settings or ParserSettings()
    gold, checksums = dev, {"train": checksum(map(repr, train)), "dev": checksum(map(repr, dev))}
    with Runner.alone(folder, checksums, settings, time.process_time) as runner:
        if settings.tags == "jackknifed":
            with watch("folds", settings.folds) as advance:
                dev = with_tags(dev, train_perceptron_tagger(train, seed=settings.seed))
                train = with_jackknifed_tags(train, folds=settings.folds, seed=settings.seed, advance=advance)
        _compile(train)
        steps = settings.iterations * len(settings.beams) * len(settings.marks)
        with watch("iterations", steps) as advance:
            results = tuple(
                _result(Treatment(marks), beam, train, dev, settings, runner, advance)
                for beam in settings.beams
                for marks in settings.marks
            )
        size = len(dev), sum(sentence.marks.count(False) for sentence in dev)
        comparison = ParserComparison(settings, len(train), size, _right_tags(dev, gold), results)
        runner.write(comparison)
    return comparison


def _compile(train: Sequence[MarkedSentence]) -> None:
    """Parse one sentence, so that nothing that is measured has to wait for a compiler."""
    sentences = [sentence for sentence in train if sentence.marks.count(False) > 1][:1]
    train_arc_standard(sentences, ArcStandardRecipe(beam=1, iterations=2)).parse(sentences)


def _result(
    treatment: Treatment,
    beam: int,
    train: Sequence[MarkedSentence],
    dev: Sequence[MarkedSentence],
    settings: ParserSettings,
    runner: Runner,
    advance: Advance,
) -> ParserResult:
    """A parser, trained now or before, and measured."""
    oracle = Oracle(settings.oracle)
    recipe = ArcStandardRecipe(treatment, beam, settings.iterations, settings.seed, oracle)
    parser, seconds = runner.trained(
        f"{treatment.value}-{beam}",
        lambda: train_arc_standard(train, recipe, advance=advance),
        save_parts,
        partial(load_parts, from_parts=ArcStandardParser.from_parts),
    )
    parser.parse(dev[:1])  # which looks its weights up for the first time
    start = time.process_time()
    parsed = parser.parse(dev)
    speed = len(dev) / max(time.process_time() - start, 1e-9)
    return ParserResult(treatment, beam, WordScores.of(parsed, dev), seconds, speed, parser.report)


def _right_tags(found: Sequence[MarkedSentence], gold: Sequence[MarkedSentence]) -> float:
    """The percentage of words with the right tag."""
    right = [
        tag == other
        for one, two in zip(found, gold, strict=True)
        for tag, other, mark in zip(one.tags, two.tags, two.marks, strict=True)
        if not mark
    ]
    return 100 * sum(right) / len(right)
