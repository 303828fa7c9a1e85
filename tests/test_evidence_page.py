"""The example of docs/guide/evidence.md, and the output that the page shows."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "guide" / "evidence.md"
NUMBER = re.compile(r"\d+")


def without_numbers(line: str) -> str:
    return NUMBER.sub("", line).strip()


def test_the_example_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    """The same pages; the numbers of a fit may differ a little from machine to machine, and so the order."""
    ((code, shown),) = re.findall(
        r"^```python\n(.*?)^```\n+```text\n(.*?)^```$",
        PAGE.read_text(encoding="utf-8"),
        re.DOTALL | re.MULTILINE,
    )
    exec(code, {})
    printed, expected = (
        sorted(text.splitlines(), key=without_numbers) for text in (capsys.readouterr().out, shown)
    )
    assert list(map(without_numbers, printed)) == list(map(without_numbers, expected))
    for one, other in zip(printed, expected, strict=True):
        if not NUMBER.search(other):  # the sentence as it was typed
            continue
        share, draws = map(int, NUMBER.findall(one))
        assert [share, draws] == pytest.approx(list(map(int, NUMBER.findall(other))), abs=12)
        assert draws / 3 == pytest.approx(share, abs=9)  # of 300 draws: three standard errors
