"""The columns of the table of systems."""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.compare.significance import Statistic, f1, permutation_test, total
from pyropunct.rivals.restoration.results import Runs, SystemResult


class Column(NamedTuple):
    """A column of the table, and how its values are tested.

    :ivar key: its name in JSON.
    :ivar title: its name in tables.
    :ivar decimals: how many decimals are shown.
    :ivar value: gives the value of a system; None if it has none.
    :ivar evidence: gives the quantities of each sentence that the test permutes; None if there is no test.
    :ivar statistic: turns the totals of these quantities into the value that the test compares.
    :ivar best: `min` or `max`, whichever value is the best.
    """

    key: str
    title: str
    decimals: int
    value: Callable[[SystemResult], float | None]
    evidence: Callable[[SystemResult], NDArray[Any] | None]
    statistic: Statistic = total
    best: Callable[..., str] = min

    def p_values(
        self, systems: Sequence[Runs[SystemResult]], permutations: int, seed: int
    ) -> dict[tuple[str, str], float]:
        """The p-value of each pair of systems that can be tested, by their names."""
        return {
            (one, other): permutation_test(first, second, permutations, seed=seed, statistic=self.statistic)
            for (one, first), (other, second) in combinations(self.tested(systems).items(), 2)
        }

    def tested(self, systems: Sequence[Runs[SystemResult]]) -> dict[str, NDArray[Any]]:
        """The evidence, averaged over seeds, of the systems that have both value and evidence, by name."""
        found = {}
        for system in systems:
            evidence = [one for one in map(self.evidence, system.results) if one is not None]
            if evidence and system.mean(self.value) is not None:
                found[system.first.name] = np.mean(evidence, axis=0)
        return found


COLUMNS = (
    Column(
        "perplexity_gold_trees",
        "perplexity, gold trees",
        4,
        lambda system: system.with_gold_trees.perplexity,
        lambda system: system.with_gold_trees.log_probs,
    ),
    Column(
        "perplexity_predicted_trees",
        "perplexity, predicted trees",
        4,
        lambda system: system.with_predicted_trees.perplexity,
        lambda system: system.with_predicted_trees.log_probs,
    ),
    Column(
        "aed_gold_trees",
        "AED, gold trees",
        4,
        lambda system: system.with_gold_trees.aed,
        lambda system: system.with_gold_trees.counts[:, 0],
    ),
    Column(
        "aed_predicted_trees",
        "AED, predicted trees",
        4,
        lambda system: system.with_predicted_trees.aed,
        lambda system: system.with_predicted_trees.counts[:, 0],
    ),
    Column(
        "f1_predicted_trees",
        "micro F1, predicted trees",
        4,
        lambda system: system.with_predicted_trees.scores.overall().f1,
        lambda system: system.with_predicted_trees.counts[:, 1:],
        f1,
        max,
    ),
    Column(
        "training_seconds",
        "training seconds",
        0,
        lambda system: system.training_seconds,
        lambda system: None,
    ),
)
"""All columns.  All systems have the same slots, so totals are compared instead of averages per slot."""
