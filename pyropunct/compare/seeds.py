"""Results with several seeds: means, and standard deviations beside them."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from pyropunct.compare.significance import Totals
from pyropunct.compare.table import Column, Value

Result = TypeVar("Result")
"""The result of a system or of a parser with one seed."""


@dataclass(frozen=True)
class Runs(Generic[Result]):
    """The results of a system with each of the seeds.

    :ivar results: a result for each seed, at least one.
    """

    results: tuple[Result, ...]

    @property
    def first(self) -> Result:
        """The result with the first seed, for facts that do not depend on seeds."""
        return self.results[0]

    def mean(self, value: Callable[[Result], Value]) -> float | None:
        """The mean of a number over seeds; None if it is missing with a seed.

        :param value: takes the value from a result.
        """
        values = self._numbers(value)
        return statistics.fmean(values) if values else None

    def spread(self, value: Callable[[Result], Value]) -> float | None:
        """The standard deviation over seeds, with n - 1 in the denominator; None where `mean` is or n is 1.

        :param value: takes the value from a result.
        """
        values = self._numbers(value)
        return statistics.stdev(values) if len(values) > 1 else None

    def _numbers(self, value: Callable[[Result], Value]) -> list[float]:
        values = [value(result) for result in self.results]
        numbers = [number for number in values if isinstance(number, (int, float))]
        return numbers if len(numbers) == len(values) else []


def over_seeds(column: Column[Result]) -> Column[Runs[Result]]:
    """The column of the means over seeds, with evidence that is averaged over seeds."""
    take = column.evidence

    def evidence(runs: Runs[Result]) -> Totals | None:
        counts = [] if take is None else [take(result) for result in runs.results]
        known = [np.asarray(one, float) for one in counts if one is not None]
        return np.mean(known, axis=0) if known else None

    return Column(
        column.key,
        column.title,
        lambda runs: runs.mean(column.value),
        column.decimals,
        spread=lambda runs: runs.spread(column.value),
        evidence=None if take is None else evidence,
        statistic=column.statistic,
        best=column.best,
    )
