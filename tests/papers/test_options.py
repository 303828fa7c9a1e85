"""Bounds of settings, and lists of names and numbers."""

from dataclasses import dataclass
from typing import Annotated

import pytest

from pyropunct.errors import SettingError
from pyropunct.limits import Range
from pyropunct.papers.options import ExperimentSettings, names_of, numbers_to


@dataclass(frozen=True, kw_only=True)
class Settings(ExperimentSettings):
    epochs: Annotated[int, Range(1, 9)] = 3
    sizes: tuple[Annotated[int, Range(2)], ...] = (2, 3)


def test_bounds() -> None:
    for values, problem in (
        ({"epochs": 10}, "epochs is 10: it must be 1 to 9"),
        ({"permutations": 0}, "permutations is 0: it must be 1 or more"),
        ({"sizes": (5, 1)}, r"sizes is \(5, 1\): it must be 2 or more"),
    ):
        with pytest.raises(SettingError, match=problem):
            Settings(**values)


def test_names() -> None:
    names = names_of("pyropunct.papers.options:RESTORERS", "system")
    assert names("full,crf,full") == ("full", "crf")
    for text in ("crf,oracle", ",", ""):
        with pytest.raises(SettingError, match=r"there is no system '(oracle)?'; there are trivial, crf, "):
            names(text)


def test_numbers() -> None:
    numbers = numbers_to(100, "percents")
    assert numbers("50,100,50") == (50, 100)
    for text in ("0,100", "101", "all", "", "-1"):
        with pytest.raises(SettingError, match="give percents from 1 to 100 with commas between them, not "):
            numbers(text)
