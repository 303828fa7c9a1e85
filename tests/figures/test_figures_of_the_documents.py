"""The pictures of README.md are those that docs/figures/draw.py makes."""

import runpy
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs" / "figures"


def test_the_drawing_of_the_story() -> None:
    draw = runpy.run_path(str(FOLDER / "draw.py"))
    assert (FOLDER / "story.svg").read_text(encoding="utf-8") == draw["story"]()


def test_the_picture_of_the_page_is_small() -> None:
    assert (FOLDER / "page.png").stat().st_size < 50_000
