"""Ways to treat punctuation in parsing side by side, as in Tables 4 and 5 of Ma, Zhang & Zhu (2014)."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.compare.significance import PERMUTATIONS, permutation_test
from pyropunct.rivals.ma_2014 import (
    ArcStandardParser,
    ArcStandardRecipe,
    MarkedSentence,
    Oracle,
    ParsedSentence,
    Treatment,
    train_arc_standard,
    train_perceptron_tagger,
    with_jackknifed_tags,
    with_tags,
)
from pyropunct.rivals.ma_2014.tagger import FOLDS
from pyropunct.rivals.restoration.tables import NO_VALUE

WORDS, HEADS, LABELLED, COMPLETE, ROOT = range(5)
"""The columns of counts: words; those with the right head; with the right head and relation; and 1 for a
sentence whose heads all are right, and for one whose root is."""

BEAMS = (1, 4, 16)

Progress = Callable[[str, int], Any]
"""Gets a title and how many steps there are, and gives a context in which to call a function after each."""


@dataclass(frozen=True)
class ParserSettings:
    """The settings of a comparison.

    :ivar treatments: what becomes of marks.
    :ivar beams: the widths of beams.
    :ivar gold_tags: whether tags are those of the treebank; else they are those of a tagger, jackknifed in
        training.
    :ivar iterations: how often each sentence is seen in training.
    :ivar folds: how many parts jackknifing has.
    :ivar permutations: how many permutations each test of significance draws.
    :ivar seed: the seed of these and of training.
    :ivar oracle: which transitions training takes for right.
    """

    treatments: tuple[Treatment, ...] = tuple(Treatment)
    beams: tuple[int, ...] = BEAMS
    gold_tags: bool = True
    iterations: int = ArcStandardRecipe.iterations
    folds: int = FOLDS
    permutations: int = PERMUTATIONS
    seed: int = 0
    oracle: Oracle = Oracle.STATIC


@dataclass(frozen=True)
class WordScores:
    """How well the words of sentences are parsed, marks apart.

    :ivar table: (sentences, 5) the counts of each.
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


class ParserSystem(NamedTuple):
    """A parser and how well it did.

    :ivar treatment: what became of marks.
    :ivar beam: the width of its beam.
    :ivar scores: its scores.
    :ivar training_seconds: the processor time of its training.
    :ivar speed: the sentences of dev that it parsed in a second of processor time.
    :ivar parser: itself.
    """

    treatment: Treatment
    beam: int
    scores: WordScores
    training_seconds: float
    speed: float
    parser: ArcStandardParser


@dataclass(frozen=True)
class ParserComparison:
    """What a comparison found.

    :ivar settings: its settings.
    :ivar train: how many sentences there were for training.
    :ivar dev: how many sentences and words were measured on.
    :ivar tags: the percentage of tags of dev's words that are those of the treebank.
    :ivar systems: the parsers.
    """

    settings: ParserSettings
    train: int
    dev: tuple[int, int]
    tags: float
    systems: tuple[ParserSystem, ...]

    @cached_property
    def p_values(self) -> list[dict[str, float]]:
        """For each system, the p-values of its differences from marks as tokens with the same beam.

        They are those of ``uas`` and ``las``; there are none for marks as tokens, or if these are left out.
        """
        tokens = {one.beam: one.scores for one in self.systems if one.treatment is Treatment.TOKENS}
        return [
            {}
            if system.treatment is Treatment.TOKENS or system.beam not in tokens
            else {
                name: permutation_test(
                    system.scores.table[:, column],
                    tokens[system.beam].table[:, column],
                    self.settings.permutations,
                    seed=self.settings.seed,
                )
                for name, column in (("uas", HEADS), ("las", LABELLED))
            }
            for system in self.systems
        ]

    def table(self) -> tuple[list[str], list[list[str]]]:
        """The header and a row for each parser."""
        header = ["beam", "marks", "UAS", "p", "LAS", "p", "complete", "root", "sentences/s", "training s"]
        return header, [self._row(*pair) for pair in zip(self.systems, self.p_values, strict=True)]

    def notes(self) -> list[str]:
        """Lines that explain the table."""
        settings, (sentences, words) = self.settings, self.dev
        source = (
            "of the treebanks"
            if settings.gold_tags
            else f"of a tagger, in training {settings.folds}-fold jackknifed"
        )
        lifted = self.systems[0].parser.report["lifted_sentences"]
        return [
            f"Trained on {self.train:,} sentences, {lifted:,} of them made projective, in "
            f"{settings.iterations} iterations with a {settings.oracle.value} oracle, seed {settings.seed}; "
            f"measured on {sentences:,} with {words:,} words, marks left out.",
            f"Tags {source}; {self.tags:.2f} % of those of words are right.",
            "p: against marks as tokens with the same beam (two-sided paired permutation test, "
            f"{settings.permutations:,} permutations).  Seconds are of processor time.",
        ]

    def to_json(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        settings = self.settings
        return {
            "tags": "gold" if settings.gold_tags else "jackknifed",
            "right_tags": self.tags,
            "iterations": settings.iterations,
            "oracle": settings.oracle.value,
            "folds": settings.folds,
            "permutations": settings.permutations,
            "seed": settings.seed,
            "train": {"sentences": self.train},
            "dev": dict(zip(("sentences", "words"), self.dev, strict=True)),
            "systems": [_plain(*pair) for pair in zip(self.systems, self.p_values, strict=True)],
        }

    def _row(self, system: ParserSystem, p_values: dict[str, float]) -> list[str]:
        scores = system.scores
        tests = [f"{p_values[name]:.4f}" if name in p_values else NO_VALUE for name in ("uas", "las")]
        return [
            str(system.beam),
            system.treatment.value,
            f"{scores.uas:.2f}",
            tests[0],
            f"{scores.las:.2f}",
            tests[1],
            f"{scores.complete:.2f}",
            f"{scores.root:.2f}",
            f"{system.speed:,.0f}",
            f"{system.training_seconds:,.0f}",
        ]


def _plain(system: ParserSystem, p_values: dict[str, float]) -> dict[str, Any]:
    scores = system.scores
    return {
        "marks": system.treatment.value,
        "beam": system.beam,
        "uas": scores.uas,
        "las": scores.las,
        "complete": scores.complete,
        "root": scores.root,
        "sentences_per_second": system.speed,
        "training_seconds": system.training_seconds,
        "p": p_values,
        **system.parser.report,
    }


def compare_parsers(
    train: Sequence[MarkedSentence],
    dev: Sequence[MarkedSentence],
    settings: ParserSettings | None = None,
    *,
    steps: Progress,
    done: Callable[[ParserSystem], None] = lambda system: None,
) -> ParserComparison:
    """Train parsers on some sentences and measure them on others.

    :param train: the training sentences, of two words or more.
    :param dev: those to measure on.
    :param settings: the settings.
    :param steps: shows how far tagging is, and then training.
    :param done: called with each parser.
    :raises ValueError: if there are too few training sentences.
    """
    settings = settings or ParserSettings()
    gold = dev
    if not settings.gold_tags:
        with steps("folds", settings.folds) as advance:
            dev = with_tags(dev, train_perceptron_tagger(train, seed=settings.seed))
            train = with_jackknifed_tags(train, folds=settings.folds, seed=settings.seed, progress=advance)
    _compile(train)
    systems = []
    with steps("iterations", settings.iterations * len(settings.beams) * len(settings.treatments)) as advance:
        for system in _systems(train, dev, settings, advance):
            done(system)
            systems.append(system)
    size = len(dev), sum(sentence.marks.count(False) for sentence in dev)
    return ParserComparison(settings, len(train), size, _right_tags(dev, gold), tuple(systems))


def _compile(train: Sequence[MarkedSentence]) -> None:
    """Parse one sentence, so that nothing that is measured has to wait for a compiler."""
    some = [sentence for sentence in train if sentence.marks.count(False) > 1][:1]
    train_arc_standard(some, ArcStandardRecipe(beam=1, iterations=2)).parse(some)


def _systems(
    train: Sequence[MarkedSentence],
    dev: Sequence[MarkedSentence],
    settings: ParserSettings,
    advance: Callable[[int], None],
) -> Iterator[ParserSystem]:
    for beam in settings.beams:
        for treatment in settings.treatments:
            recipe = ArcStandardRecipe(treatment, beam, settings.iterations, settings.seed, settings.oracle)
            start = time.process_time()
            parser = train_arc_standard(train, recipe, watch=lambda finished, wrong: advance(1))
            training = time.process_time() - start
            parser.parse(dev[:1])  # which looks its weights up for the first time
            start = time.process_time()
            parsed = parser.parse(dev)
            speed = len(dev) / max(time.process_time() - start, 1e-9)
            yield ParserSystem(treatment, beam, WordScores.of(parsed, dev), training, speed, parser)


def _right_tags(found: Sequence[MarkedSentence], gold: Sequence[MarkedSentence]) -> float:
    """The percentage of words with the right tag."""
    right = [
        tag == other
        for one, two in zip(found, gold, strict=True)
        for tag, other, mark in zip(one.tags, two.tags, two.marks, strict=True)
        if not mark
    ]
    return 100 * sum(right) / len(right)
