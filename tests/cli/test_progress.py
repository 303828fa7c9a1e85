"""Progress without a terminal is told in lines."""

import pytest

from pyropunct.cli import console


def test_lines_begin_late_and_come_seldom(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = iter([0.0, 2.0, 3.0, 12.0, 14.0, 30.0])
    monkeypatch.setattr("pyropunct.cli.console.time.monotonic", lambda: next(now))
    with console.sentence_bar("examples", 50) as advance:
        for _ in range(5):
            advance(10)
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["pyropunct: examples: 40%, 3 s so far", "pyropunct: examples: 80%, 14 s so far"]


def test_nothing_is_told_of_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with console.sentence_bar("examples", 0) as advance:
        advance(0)
    assert capsys.readouterr().err == ""
