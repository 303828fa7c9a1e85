"""What was found for each parser and for each system."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.parsing import AttachmentScores
from pyropunct.restore.mark_scores import MarkScore, RestorationScores
from pyropunct.treebank.marks import Surface, display

GOLD, PREDICTED, NONE = "gold", "predicted", "none"
"""Where trees come from: the treebank, or a parser; or there are none."""


class TreebankSize(NamedTuple):
    """One of the two treebanks.

    :ivar path: its file, if it is known.
    :ivar checksum: of its sentences.
    :ivar sentences: how many.
    :ivar words: how many.
    """

    path: str | None
    checksum: str
    sentences: int
    words: int

    @property
    def slots(self) -> int:
        """n + 1 for each sentence of n words."""
        return self.words + self.sentences

    def to_json(self) -> dict[str, Any]:
        """A dictionary of plain JSON types."""
        return {**self._asdict(), "slots": self.slots}


class ParserResult(NamedTuple):
    """A parser.

    :ivar share: percent of the training sentences that it was trained on.
    :ivar sentences: how many these are.
    :ivar scores: of its best trees on dev.
    :ivar training_seconds: how long its training took.
    :ivar parsing_seconds: how long it took to parse dev.
    :ivar report: what happened in training.
    """

    share: int
    sentences: int
    scores: AttachmentScores
    training_seconds: float
    parsing_seconds: float
    report: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """A dictionary of plain JSON types."""
        return {**self._asdict(), "scores": self.scores._asdict(), "report": dict(self.report)}


class Outcome:
    """How well a system restored the punctuation of dev.

    :param trees: where the trees came from: `GOLD`, `PREDICTED`, or `NONE` if the system does without.
    :param parser: what parsed them, if they are predicted.
    :param restored: the restored punctuation of each sentence.
    :param gold: the truth.
    :param seconds: how long it took, from words to punctuation; from trees if they are gold.
    """

    def __init__(
        self,
        trees: str,
        parser: ParserResult | None,
        restored: Iterable[Surface],
        gold: Sequence[Surface],
        seconds: float,
    ) -> None:
        self.trees, self.parser, self.seconds = trees, parser, seconds
        self.scores = RestorationScores()
        rows = [self._count(*pair) for pair in zip(restored, gold, strict=True)]
        self.counts: NDArray[np.int64] = np.array(rows, np.int64)
        """(sentences, 4) edits, true marks, restored marks, right marks."""

    def _count(self, restored: Surface, gold: Surface) -> tuple[int, int, int, int]:
        alone = RestorationScores()
        for scores in (self.scores, alone):
            scores.add(restored, gold)
        return (alone.edits, *alone.overall())

    @property
    def aed(self) -> float:
        """The average edit distance: edits per slot (section 6.1 of the paper)."""
        return self.scores.edits / self.scores.slots

    @property
    def las(self) -> float | None:
        """The labelled attachment score of the trees in percent, 100 for gold trees; None without trees."""
        if self.trees == GOLD:
            return 100.0
        return None if self.parser is None else self.parser.scores.las

    def to_json(self) -> dict[str, Any]:
        """A dictionary of plain JSON types."""
        return {
            "trees": self.trees,
            "share": None if self.parser is None else self.parser.share,
            "las": self.las,
            "aed": self.aed,
            "edits": self.scores.edits,
            "all_marks": _mark_json(self.scores.overall()),
            "marks": {display(mark): _mark_json(score) for mark, score in self.scores.of_marks().items()},
            "seconds": self.seconds,
        }


def _mark_json(score: MarkScore) -> dict[str, Any]:
    return {
        **score._asdict(),
        "precision": score.precision,
        "recall": score.recall,
        "f1": score.f1,
    }


class SystemResult(NamedTuple):
    """A system.

    :ivar name: its name on the command line.
    :ivar title: its name in tables.
    :ivar log_probs: (sentences,) log p(x | T) given the gold trees, or log p(x | words), in natural
        logarithms; None if it has no probabilities.
    :ivar outcomes: its restorations: with gold trees and with those of each parser; or one without trees.
    :ivar training_seconds: how long its training took, without that of parsers.
    :ivar report: what happened in training.
    """

    name: str
    title: str
    log_probs: NDArray[np.float64] | None
    outcomes: tuple[Outcome, ...]
    training_seconds: float
    report: Mapping[str, Any]

    @property
    def log_likelihood(self) -> float | None:
        """The sum of its log-probabilities."""
        return None if self.log_probs is None else math.fsum(self.log_probs.tolist())

    @property
    def perplexity(self) -> float | None:
        """exp(- log-likelihood per slot), as in section 4 of the paper."""
        if self.log_likelihood is None:
            return None
        return math.exp(-self.log_likelihood / self.outcomes[0].scores.slots)

    @property
    def uses_trees(self) -> bool:
        """Whether it punctuates trees."""
        return self.outcomes[0].trees != NONE

    @property
    def with_gold_trees(self) -> Outcome:
        """Its restoration with gold trees; without any, if it does without."""
        return self.outcomes[0]

    @property
    def with_predicted_trees(self) -> Outcome:
        """Its restoration with the trees of the last parser; without any, if it does without."""
        return self.outcomes[-1]
