"""What the README, the guides and docstrings name is there.  Links inside docs/ are checked by mkdocs too."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("models", "inference", "pyropunct", "tests", "benchmarks", "docs", "tutorials")
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "tutorials" / "README.md"]
)
LINK = re.compile(r"\]\(([^)\s]+)\)")
PATH = re.compile(rf"(?<![\w/.<-])(?:{'|'.join(ROOMS)})/[\w./-]*\w")
DOCUMENT = re.compile(r"(?<![\w/.-])docs/[\w/-]+\.md")


def missing(paths: list[Path]) -> list[str]:
    return [str(path) for path in paths if not path.exists()]


@pytest.mark.parametrize("page", PAGES)
def test_the_files_that_a_page_links_to_are_there(page: str) -> None:
    folder = (ROOT / page).parent
    targets = LINK.findall((ROOT / page).read_text(encoding="utf-8"))
    relative = [target.partition("#")[0] for target in targets if not target.startswith(("http", "#"))]
    assert missing([folder / target for target in relative]) == []


@pytest.mark.parametrize("page", PAGES)
def test_the_files_that_a_page_names_are_there(page: str) -> None:
    text = LINK.sub("]", (ROOT / page).read_text(encoding="utf-8"))
    assert missing([ROOT / name for name in PATH.findall(text)]) == []


def test_the_pages_that_the_source_names_are_there() -> None:
    named = {
        name
        for room in ROOMS
        for kind in ("*.py", "*.ipynb")
        for path in (ROOT / room).rglob(kind)
        for name in DOCUMENT.findall(path.read_text(encoding="utf-8"))
    }
    assert "docs/reference/treebanks.md" in named
    assert missing([ROOT / name for name in sorted(named)]) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("`models/story.py`, `inference/`", ["models/story.py"]),
        ("see models/attach/.", ["models/attach"]),
        ("https://x.org/models/y and my/models/z", []),
        ("bash tests/run -k channel", ["tests/run"]),
    ],
)
def test_paths_are_found(text: str, found: list[str]) -> None:
    assert PATH.findall(text) == found
