"""Progress without a terminal is told in lines."""

import pytest

from pyropunct.cli.progress import sentence_bar, training_watch
from pyropunct.nets.trainer import Epoch, Progress


def test_lines_begin_late_and_come_seldom(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr("pyropunct.cli.progress.time.monotonic", lambda: now[0])
    with sentence_bar("examples", 50) as advance:
        for now[0] in (2.0, 3.0, 12.0, 14.0, 30.0):
            advance(10)
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["pyropunct: examples: 40%, 3 s so far", "pyropunct: examples: 80%, 14 s so far"]


def test_nothing_is_told_of_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with sentence_bar("examples", 0) as advance:
        advance(0)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("folds", "told"), [(0, "12 min"), (2, "18 min"), (4, "30 min")])
def test_the_first_epoch_of_the_parser_tells_how_long_all_parsers_take(
    folds: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of 300,000 words: twelve epochs for the parser, six of half or three quarters of them for each fold."""
    with training_watch("parser", folds) as watch:
        for number in (1, 2):
            watch(Progress("parser", number, 300_000, 300_000, Epoch(number, 1.0, None, 60.0 * number), 12))
    first, second = [line for line in capsys.readouterr().err.splitlines() if "epoch" in line]
    assert f"all parsers take some {told}," in first
    assert "all parsers" not in second
