"""Results of systems that never were."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyropunct.comparison import Comparison, Settings
from pyropunct.comparison.results import (
    GOLD,
    NONE,
    PREDICTED,
    Outcome,
    ParserResult,
    SystemResult,
    TreebankSize,
)
from pyropunct.parsing import AttachmentScores
from pyropunct.treebank.marks import START, Surface

SENTENCES, WORDS = 40, 3
TRUTH: Surface = [(START,), (",",), (), (".",)]
"""The punctuation of every sentence."""


def surface(edits: int) -> Surface:
    """So many tokens too many in the last slot."""
    return [*TRUTH[:-1], (".", *["!"] * edits)]


def outcome(edits: Sequence[int], trees: str = NONE, parser: ParserResult | None = None) -> Outcome:
    """A restoration with so many edits in each sentence."""
    return Outcome(trees, parser, map(surface, edits), [TRUTH] * len(edits), seconds=1.5)


def parser(share: int, las: float) -> ParserResult:
    scores = AttachmentScores(SENTENCES * WORDS, uas=las + 5, las=las, upos=95.0)
    return ParserResult(share, share * 2, scores, 10.0, 0.5, {"epochs": []})


def system(name: str, log_prob: float | None, *outcomes: Outcome, seconds: float = 20.0) -> SystemResult:
    """A system with the same log-probability for every sentence, or with none."""
    log_probs = None if log_prob is None else np.full(SENTENCES, log_prob)
    return SystemResult(name, f"the {name} one", log_probs, outcomes, seconds, {})


def comparison(
    systems: Sequence[SystemResult], parsers: Sequence[ParserResult] = (), **settings: Any
) -> Comparison:
    size = TreebankSize("made-up.conllu", "0", SENTENCES, SENTENCES * WORDS)
    return Comparison(Settings(**settings), size, size, tuple(parsers), tuple(systems), {"threads": 1})


def four_systems() -> Comparison:
    """One that restores badly, one well without trees; one better and one as good as this with trees.

    The difference of the last two is in two sentences alone.
    """
    parsers = parser(20, 60.0), parser(100, 80.0)
    worse, better = [2] * SENTENCES, [1] * SENTENCES
    almost = [1, 1, *[0] * (SENTENCES - 2)]
    best = [0] * SENTENCES

    def with_trees(name: str, log_prob: float, edits: Sequence[int]) -> SystemResult:
        return system(
            name,
            log_prob,
            outcome(edits, GOLD),
            outcome(worse, PREDICTED, parsers[0]),
            outcome(edits, PREDICTED, parsers[1]),
        )

    return comparison(
        [
            system("bad", None, outcome(worse), seconds=0.0),
            system("good", -1.0, outcome(better)),
            with_trees("attach", -0.8, almost),
            with_trees("full", -0.4, best),
        ],
        parsers,
        shares=(20, 100),
    )
