"""The program of docs/guide/first-pyro-program.md, and the output that the page shows."""

import re
from pathlib import Path

import pyro
import pytest

PAGE = Path(__file__).parents[1] / "docs" / "guide" / "first-pyro-program.md"
NUMBER = re.compile(r"\d+\.\d+")


@pytest.mark.usefixtures("single_precision")
def test_the_program_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    """Last digits may differ from machine to machine."""
    page = PAGE.read_text(encoding="utf-8")
    code, shown = (
        "".join(re.findall(rf"^```{kind}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE))
        for kind in ("python", "text")
    )
    pyro.clear_param_store()
    exec(code, {})
    pyro.clear_param_store()
    printed = capsys.readouterr().out
    assert NUMBER.sub("", printed) == NUMBER.sub("", shown)
    numbers, expected = ([float(number) for number in NUMBER.findall(text)] for text in (printed, shown))
    assert numbers == pytest.approx(expected, abs=0.1)
