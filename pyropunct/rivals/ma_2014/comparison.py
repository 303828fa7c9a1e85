"""Ways to treat punctuation in parsing side by side, as in Tables 4 and 5 of Ma, Zhang & Zhu (2014)."""

import time
from collections.abc import Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.compare.comparison import TableComparison
from pyropunct.compare.progress import Advance, Watch, unwatched
from pyropunct.compare.runner import Runner, checksum, timed
from pyropunct.compare.table import Baseline, Column, Table
from pyropunct.rivals.ma_2014.parser import (
    ArcStandardParser,
    ArcStandardRecipe,
    ParsedSentence,
    train_arc_standard,
)
from pyropunct.rivals.ma_2014.treatments import MarkedSentence
from pyropunct.rivals.settings import ParserSettings, Treatment

WORDS, HEADS, LABELLED, SENTENCES, COMPLETE, ROOT = range(6)
"""The columns of counts: words; words with the right head; with the right head and relation; and 1 for each
sentence, for a sentence whose heads all are right, and for a sentence whose root is right."""


def word_counts(parsed: Sequence[ParsedSentence], gold: Sequence[MarkedSentence]) -> NDArray[np.int64]:
    """(sentences, 6) how well the words of each sentence are parsed, marks apart."""
    return np.array([_counts(*pair) for pair in zip(parsed, gold, strict=True)], np.int64)


def _counts(parsed: ParsedSentence, gold: MarkedSentence) -> list[int]:
    words = [place for place, mark in enumerate(gold.marks) if not mark]
    right = [place for place in words if parsed.heads[place] == gold.heads[place]]
    labelled = sum(parsed.relations[place] == gold.relations[place] for place in right)
    root = any(gold.heads[place] == 0 for place in right)
    return [len(words), len(right), labelled, 1, len(right) == len(words), root]


Sentences = Sequence[MarkedSentence]


class ParserResult(NamedTuple):
    """The result of a parser.

    :ivar treatment: what became of marks.
    :ivar beam: the width of its beam.
    :ivar counts: see `word_counts`.
    :ivar training_seconds: the processor time of its training.
    :ivar speed: the sentences of dev that it parsed in a second of processor time.
    :ivar report: what happened in its training.
    """

    treatment: Treatment
    beam: int
    counts: NDArray[np.int64]
    training_seconds: float
    speed: float
    report: Mapping[str, Any]


def _percentage(key: str, title: str, part: int, whole: int, *, tested: bool = False) -> Column[ParserResult]:
    def value(result: ParserResult) -> float:
        return 100 * float(result.counts[:, part].sum() / result.counts[:, whole].sum())

    def evidence(result: ParserResult) -> NDArray[np.int64]:
        return result.counts[:, part]

    return Column(key, title, value, 2, evidence=evidence if tested else None, best=max)


COLUMNS: tuple[Column[ParserResult], ...] = (
    Column("beam", "beam", attrgetter("beam")),
    Column("marks", "marks", attrgetter("treatment.value")),
    _percentage("uas", "UAS", HEADS, WORDS, tested=True),
    _percentage("las", "LAS", LABELLED, WORDS, tested=True),
    _percentage("complete", "complete", COMPLETE, SENTENCES),
    _percentage("root", "root", ROOT, SENTENCES),
    Column("sentences_per_second", "sentences/s", attrgetter("speed"), 0),
    Column("training_seconds", "training s", attrgetter("training_seconds"), 0),
)


def _marks_as_tokens(results: Sequence[ParserResult], row: int) -> int | None:
    """The row of marks as tokens with the same beam; None for this row, or if there is no such row."""
    if results[row].treatment is Treatment.TOKENS:
        return None
    tokens = {result.beam: i for i, result in enumerate(results) if result.treatment is Treatment.TOKENS}
    return tokens.get(results[row].beam)


def parser_comparison(
    settings: ParserSettings, train: int, dev: Mapping[str, int], results: Sequence[ParserResult]
) -> TableComparison[ParserResult]:
    """A table with a row for each parser.

    :param train: the number of sentences for training.
    :param dev: the numbers of sentences and words on which everything was measured.
    """
    notes = (
        f"Trained on {train:,} sentences, {results[0].report['lifted_sentences']:,} of them made projective, "
        f"in {settings.iterations} iterations, seed {settings.seed}; measured on "
        f" {dev['sentences']:,} with {dev['words']:,} words, marks left out.",
        "Tags are those of the treebanks; seconds are of processor time.",
    )
    against = Baseline("marks as tokens with the same beam", _marks_as_tokens)
    report = attrgetter("report")
    table = Table("Parsers", COLUMNS, results, notes, against, *settings.tests, report)
    return TableComparison(settings, {"train": {"sentences": train}, "dev": dev}, table)


def compare_parsers(
    train: Sequence[MarkedSentence],
    dev: Sequence[MarkedSentence],
    settings: ParserSettings | None = None,
    folder: str | Path | None = None,
    *,
    watch: Watch = unwatched,
) -> TableComparison[ParserResult]:
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
    checksums = {"train": checksum(map(repr, train)), "dev": checksum(map(repr, dev))}
    with Runner.alone(folder, checksums, settings, time.process_time) as runner:
        _compile(train)
        recipes = [
            ArcStandardRecipe(Treatment(marks), beam, settings.iterations, settings.seed)
            for beam in settings.beams
            for marks in settings.marks
        ]
        steps = settings.iterations * len(recipes)
        with watch("iterations", steps) as advance:
            results = [_result(recipe, train, dev, runner, advance) for recipe in recipes]
        size = {"sentences": len(dev), "words": sum(sentence.marks.count(False) for sentence in dev)}
        comparison = parser_comparison(settings, len(train), size, results)
        runner.write(comparison)
    return comparison


def _compile(train: Sequence[MarkedSentence]) -> None:
    """Parse one sentence, so that nothing that is measured has to wait for a compiler."""
    sentences = [sentence for sentence in train if sentence.marks.count(False) > 1][:1]
    train_arc_standard(sentences, ArcStandardRecipe(beam=1, iterations=2)).parse(sentences)


def _result(
    recipe: ArcStandardRecipe, train: Sentences, dev: Sentences, runner: Runner, advance: Advance
) -> ParserResult:
    """A parser, trained now or before, and measured."""
    parser, seconds = runner.trained_parts(
        f"{recipe.treatment.value}-{recipe.beam}",
        lambda: train_arc_standard(train, recipe, advance=advance),
        ArcStandardParser.from_parts,
    )
    parsed, spent = timed(parser.parse, dev)
    counts, speed = word_counts(parsed, dev), len(dev) / spent
    return ParserResult(recipe.treatment, recipe.beam, counts, seconds, speed, parser.report)
