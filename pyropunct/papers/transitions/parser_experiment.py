"""Compares treatments of punctuation in parsing, as Tables 4 and 5 of Ma, Zhang & Zhu (2014)."""

import time
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.papers.experiment import Experiment, Results, loader, timed
from pyropunct.papers.options import ALL, TOKENS, ParserSettings
from pyropunct.papers.transitions.arc_standard_parser import (
    ArcStandardParser,
    ParsedSentence,
    train_arc_standard,
)
from pyropunct.papers.transitions.marked_sentences import MarkedSentence
from pyropunct.papers.transitions.parser import Recipe
from pyropunct.tables import Baseline, Column
from pyropunct.tasks import Advance

WORDS, HEADS, LABELLED, SENTENCES, COMPLETE, ROOT, MARKS, MARK_HEADS = range(8)
"""The columns of counts: words; words with the right head; with the right head and relation; 1 for each
sentence, for a sentence whose heads all are right, and for a sentence whose root is right; marks that are
parsed; and those with the right head."""


def word_counts(parsed: Sequence[ParsedSentence], gold: Sequence[MarkedSentence]) -> NDArray[np.int64]:
    """(sentences, 8) how well the words of each sentence are parsed, and marks separately."""
    return np.array([_counts(*pair) for pair in zip(parsed, gold, strict=True)], np.int64)


def _counts(parsed: ParsedSentence, gold: MarkedSentence) -> list[int]:
    words = [place for place, mark in enumerate(gold.marks) if not mark]
    right = [place for place in words if parsed.heads[place] == gold.heads[place]]
    labelled = sum(parsed.relations[place] == gold.relations[place] for place in right)
    root = any(gold.heads[place] == 0 for place in right)
    marks = [place for place, mark in enumerate(gold.marks) if mark and parsed.heads[place] is not None]
    right_marks = sum(parsed.heads[place] == gold.heads[place] for place in marks)
    return [len(words), len(right), labelled, 1, len(right) == len(words), root, len(marks), right_marks]


class ParsingResult(NamedTuple):
    """The result of a parser with a treatment of marks; ``counts``: see `word_counts`.

    :ivar training_seconds: processor time.
    :ivar speed: sentences of dev a second of processor time.
    """

    treatment: str
    beam: int
    counts: NDArray[np.int64]
    training_seconds: float
    speed: float
    report: Mapping[str, Any]


def _percentage(
    key: str, title: str, part: int, whole: int, *, tested: bool = False
) -> Column[ParsingResult]:
    def value(result: ParsingResult) -> float | None:
        right, all_of_them = result.counts[:, part].sum(), result.counts[:, whole].sum()
        return 100 * float(right / all_of_them) if all_of_them else None

    def evidence(result: ParsingResult) -> NDArray[np.int64]:
        return result.counts[:, part]

    return Column(key, title, value, 2, evidence=evidence if tested else None, best=max)


COLUMNS: tuple[Column[ParsingResult], ...] = (
    Column("beam", "beam", attrgetter("beam")),
    Column("marks", "marks", attrgetter("treatment")),
    _percentage("uas", "UAS", HEADS, WORDS, tested=True),
    _percentage("las", "LAS", LABELLED, WORDS, tested=True),
    _percentage("complete", "complete", COMPLETE, SENTENCES),
    _percentage("root", "root", ROOT, SENTENCES),
    _percentage("marks_uas", "marks' UAS", MARK_HEADS, MARKS),
    Column("sentences_per_second", "sentences/s", attrgetter("speed"), 0),
    Column("training_seconds", "training s", attrgetter("training_seconds"), 0),
)


def _marks_as_tokens(results: Sequence[ParsingResult], row: int) -> int | None:
    """The row of marks as tokens with the same beam; None for this row, or without such a row."""
    if results[row].treatment == TOKENS:
        return None
    tokens = {result.beam: i for i, result in enumerate(results) if result.treatment == TOKENS}
    return tokens.get(results[row].beam)


MARKS_AS_TOKENS = Baseline("marks as tokens with the same beam", _marks_as_tokens)


class ParserExperiment(Experiment):
    """Trains parsers on sentences of two words or more, and measures them on others.

    Both treebanks are sequences of `MarkedSentence`.
    """

    settings_type = ParserSettings
    clock = staticmethod(time.process_time)

    def results(self) -> Results:
        """A row for each beam and treatment of marks. Raises ValueError for too few sentences."""
        self._compile()
        settings = self.settings
        recipes = [
            Recipe(marks, beam, settings.iterations, settings.seed)
            for beam in settings.beams
            for marks in settings.marks
        ]
        with self.watch("iterations", settings.iterations * len(recipes)) as advance:
            return self.tabled([self._result(recipe, advance) for recipe in recipes])

    def tabled(self, rows: Sequence[ParsingResult]) -> Results:
        """The table of all parsers."""
        settings = self.settings
        words = sum(sentence.marks.count(False) for sentence in self.dev)
        notes = (
            f"Trained on {len(self.train):,} sentences, {rows[0].report['lifted_sentences']:,} of them made "
            f"projective, in {settings.iterations} iterations, seed {settings.seed}; measured on "
            f"{len(self.dev):,} with {words:,} words, marks left out.",
            "Tags are those of the treebanks; seconds are of processor time.",
        )
        table = self.table("Parsers", COLUMNS, rows, notes, MARKS_AS_TOKENS, attrgetter("report"))
        sizes = {"train": {"sentences": len(self.train)}, "dev": {"sentences": len(self.dev), "words": words}}
        return Results({"systems": table}, sizes)

    def _compile(self) -> None:
        """Parse one sentence, so that compilation is not measured."""
        sentences = [sentence for sentence in self.train if sentence.marks.count(False) > 1][:1]
        train_arc_standard(sentences, Recipe(ALL, beam=1, iterations=2)).parse(sentences)

    def _result(self, recipe: Recipe, advance: Advance) -> ParsingResult:
        """A parser, trained now or loaded, and measured."""
        parser, seconds = self.trained(
            f"{recipe.features}-{recipe.beam}",
            lambda: train_arc_standard(self.train, recipe, advance=advance),
            loader(ArcStandardParser.from_parts),
        )
        parsed, spent = timed(parser.parse, self.dev)
        counts, speed = word_counts(parsed, self.dev), len(self.dev) / spent
        return ParsingResult(recipe.features, recipe.beam, counts, seconds, speed, parser.report)
