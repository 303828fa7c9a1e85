"""Results of systems that never were."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyropunct.nets.parser import AttachmentScores
from pyropunct.papers.experiment import Results
from pyropunct.papers.li_2019.restorers import Conditions
from pyropunct.papers.li_2019.results import (
    GOLD,
    NONE,
    PREDICTED,
    Outcome,
    ParserResult,
    Runs,
    SystemResult,
    TreebankSize,
    restoration_results,
)
from pyropunct.text.marks import START, Surface

SENTENCES, WORDS = 40, 3
TRUTH: Surface = [(START,), (",",), (), (".",)]
"""The punctuation of every sentence."""


def surface(edits: int) -> Surface:
    """So many tokens too many in the last slot."""
    return [*TRUTH[:-1], (".", *["!"] * edits)]


def outcome(
    edits: Sequence[int],
    trees: str = NONE,
    parser: ParserResult | None = None,
    log_prob: float | None = None,
) -> Outcome:
    """A restoration with so many edits in each sentence, all equally probable if they have a probability."""
    log_probs = None if log_prob is None else np.full(len(edits), log_prob)
    restored = map(surface, edits)
    return Outcome(trees, parser, restored, [TRUTH] * len(edits), log_probs=log_probs)


def parser(share: int, las: float) -> ParserResult:
    scores = AttachmentScores(SENTENCES * WORDS, uas=las + 5, las=las, upos=95.0)
    return ParserResult(share, share * 2, scores, 10.0)


def system(name: str, *outcomes: Outcome, seconds: float = 20.0) -> SystemResult:
    return SystemResult(name, f"the {name} one", outcomes, seconds)


def comparison(
    systems: Sequence[SystemResult], parsers: Sequence[ParserResult] = (), **settings: Any
) -> Results:
    """A comparison with one seed, measured on dev."""
    return repeated([systems], [parsers], **settings)


def repeated(
    systems: Sequence[Sequence[SystemResult]], parsers: Sequence[Sequence[ParserResult]] = (), **settings: Any
) -> Results:
    """A comparison measured on dev, with the results of systems and parsers for each seed."""
    size = TreebankSize("made-up.conllu", "0", SENTENCES, SENTENCES * WORDS)
    of_systems, of_parsers = (tuple(map(Runs, zip(*results, strict=True))) for results in (systems, parsers))
    every = Conditions(seeds=len(systems), **settings)
    return restoration_results(every, {"train": size, "dev": size}, of_parsers, of_systems)


def four_systems(seconds: float = 20.0) -> Results:
    """A bad one, a good one without trees, and two good ones with trees that differ in two sentences."""
    parsers = parser(20, 60.0), parser(100, 80.0)
    worse, better = [2] * SENTENCES, [1] * SENTENCES
    almost = [1, 1, *[0] * (SENTENCES - 2)]
    best = [0] * SENTENCES

    def with_trees(name: str, log_prob: float, edits: Sequence[int]) -> SystemResult:
        return system(
            name,
            outcome(edits, GOLD, log_prob=log_prob),
            outcome(worse, PREDICTED, parsers[0], 4 * log_prob),
            outcome(edits, PREDICTED, parsers[1], 2 * log_prob),
            seconds=seconds,
        )

    return comparison(
        [
            system("bad", outcome(worse), seconds=0.0),
            system("good", outcome(better, log_prob=-1.0), seconds=seconds),
            with_trees("attach", -0.8, almost),
            with_trees("full", -0.4, best),
        ],
        parsers,
        shares=(20, 100),
    )
