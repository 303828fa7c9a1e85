"""The pictures of the documents are those that the programs beside them draw."""

import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "figures"


@pytest.mark.parametrize(("program", "picture"), [("draw", "story"), ("draw", "openers"), ("house", "house")])
def test_a_drawing_is_up_to_date(program: str, picture: str) -> None:
    drawn = runpy.run_path(str(FOLDER / f"{program}.py"))[picture]()
    assert (FOLDER / f"{picture}.svg").read_text(encoding="utf-8") == drawn


def test_the_picture_of_the_page_is_small() -> None:
    assert (FOLDER / "page.png").stat().st_size < 50_000
