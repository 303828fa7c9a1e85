"""Raw text in the shipped model; raw_text.json has settings with pairs of input and output."""

import json
import random
import runpy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import pyropunct
from pyropunct.inference.conditioning import Conditioned, WeightedDraws
from pyropunct.restore.deciding import MOST_WEIGHED

pytestmark = pytest.mark.usefixtures("single_precision")

CASES = json.loads(Path(__file__).with_name("raw_text.json").read_text(encoding="utf-8"))
ATTACKS = Path(__file__).parents[2] / "benchmarks" / "attacks"
MATERIAL, UNCHANGED = (runpy.run_path(str(ATTACKS / f"{name}.py")) for name in ("material", "unchanged"))
"""The lines and the check of benchmarks/attacks, which tries more lines."""


@pytest.fixture(scope="module")
def punctuator() -> pyropunct.Punctuator:
    return pyropunct.load("en")


@pytest.mark.parametrize("group", CASES, ids=lambda group: group["what"])
def test_raw_text(punctuator: pyropunct.Punctuator, group: dict[str, object]) -> None:
    given, expected = zip(*group["cases"], strict=True)  # type: ignore[call-overload]
    assert punctuator(given, **group["settings"]) == list(expected)


def test_the_draws_of_a_line_with_marks_that_stay_are_bounded(
    punctuator: pyropunct.Punctuator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nearly all punctuations of letters differ, and each is weighed."""
    weighed = list[int]()
    draw = Conditioned.draw

    def counted(self: Conditioned, number: int) -> WeightedDraws:
        found = draw(self, number)
        weighed.append(self.weighed)
        return found

    monkeypatch.setattr(Conditioned, "draw", counted)
    punctuator("spell it: " + " ".join("abcdefghijklmnopqrstuvwxyz"))
    assert len(weighed) > 1
    assert weighed[-1] < 2 * MOST_WEIGHED


@hypothesis_settings(max_examples=40)
@given(st.randoms(use_true_random=False), st.sampled_from([None, False]))
def test_words_and_white_space_of_random_lines(
    punctuator: pyropunct.Punctuator, chance: random.Random, keep: bool | None
) -> None:
    line = MATERIAL["random_line"](chance)
    restored = punctuator(line, keep=keep, case="keep", samples=5, trees=1)
    assert UNCHANGED["problem"](line, restored, kept=keep is None) is None


def test_the_check_of_random_lines_finds_losses() -> None:
    lost = ["a b, c -5", "a b c 5", "a  b, c 5", "a b, c5", "a b,c - 5", "x a b, c - 5"]
    found = [UNCHANGED["problem"]("a b, c - 5", one, kept=True) for one in lost]
    assert None not in found
    for right in ("a b, c - 5", "A (b, c) - 5.", "a — b, c - 5"):
        assert UNCHANGED["problem"]("a b, c - 5", right, kept=True) is None
