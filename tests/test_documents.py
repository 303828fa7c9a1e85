"""What the README, the guides and docstrings name is there.  Links inside docs/ are checked by mkdocs too."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from pyropunct.cli.main import main

ROOT = Path(__file__).parent.parent
ROOMS = ("models", "inference", "pyropunct", "tests", "benchmarks", "docs", "tutorials")
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "benchmarks/README.md", "tutorials/README.md")
    for path in ROOT.glob(pattern)
)
LINK = re.compile(r"\]\(([^)\s]+)\)")
PATH = re.compile(rf"(?<![\w/.<-])(?:{'|'.join(ROOMS)})/[\w./-]*\w")
COMMAND = re.compile(
    r"(?:^ {4}|`|&& )pyropunct ((?:(?:compare|corpus) )?[a-z][a-z-]*)((?:\\\n|[^`&\n])*)", re.MULTILINE
)
IMPORT = re.compile(r"^from pyropunct[\w.]* import .*$", re.MULTILINE)
DOCUMENT = re.compile(r"(?<![\w/.-])docs/[\w/-]+\.md")


TEXTS = {page: (ROOT / page).read_text(encoding="utf-8") for page in PAGES}


def missing(paths: list[Path]) -> list[str]:
    return [str(path) for path in paths if not path.exists()]


def test_the_files_that_pages_link_to_are_there() -> None:
    absent = {}
    for page, text in TEXTS.items():
        targets = [target.partition("#")[0] for target in LINK.findall(text) if target[0] != "#"]
        relative = [target for target in targets if not target.startswith("http")]
        absent[page] = missing([(ROOT / page).parent / target for target in relative])
    assert {page: paths for page, paths in absent.items() if paths} == {}


def test_the_files_that_pages_name_are_there() -> None:
    named = {page: PATH.findall(LINK.sub("]", text)) for page, text in TEXTS.items()}
    absent = {page: missing([ROOT / name for name in names]) for page, names in named.items()}
    assert {page: paths for page, paths in absent.items() if paths} == {}


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


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of a page, with the names of their options."""
    for name, rest in COMMAND.findall(text):
        yield name, re.findall(r"(?<!\S)(--[a-z][a-z-]*)", rest)


def unknown(name: str, options: list[str]) -> set[str]:
    """What a command does not have of its options, or the command itself if there is none."""
    command: click.Command = main
    for part in name.split():
        inside = command if isinstance(command, click.Group) else click.Group()
        found = inside.get_command(click.Context(inside), part)
        if found is None:
            return {name}
        command = found
    known = {one for some in command.params for one in (*some.opts, *some.secondary_opts)}
    return set(options) - known - {"--help"}


def test_the_commands_of_pages_are_there() -> None:
    used = [(page, name, options) for page, text in TEXTS.items() for name, options in commands(text)]
    wrong = [(page, name, unknown(name, options)) for page, name, options in used]
    assert [one for one in wrong if one[2]] == []


def test_all_commands_are_in_the_reference() -> None:
    assert isinstance(main, click.Group)
    text = TEXTS["docs/reference/commands.md"]
    assert {name.split()[0] for name, _ in commands(text)} >= set(main.list_commands(click.Context(main)))


def rows(page: str) -> list[list[str]]:
    """The cells of all tables of a page."""
    lines = TEXTS[page].splitlines()
    return [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| ")]


def test_the_numbers_of_the_readme_are_those_of_the_results() -> None:
    """A row has a treebank, its training sentences, and the edits of the tagger of words and of the model."""
    edits = {
        (first.split(", ")[1], system): numbers[3]
        for first, system, *numbers in (row for row in rows("docs/reference/results.md") if len(row) == 7)
        if ", " in first
    }
    told = {name.split(", ")[1]: numbers for name, *numbers in rows("README.md") if len(numbers) == 2}
    assert told.pop("training sentences") == ["BiLSTM-CRF", "pyropunct with a tagger"]
    assert len(told) == 5
    assert told == {one: [edits[one, "BiLSTM-CRF"], edits[one, "full model and tagger"]] for one in told}


def test_the_imports_of_pages_work() -> None:
    failed = []
    for page, text in TEXTS.items():
        for line in IMPORT.findall(text):
            try:
                exec(line, {})
            except ImportError as error:
                failed.append((page, line, str(error)))
    assert failed == []


def test_commands_are_found() -> None:
    text = "    pyropunct fit --set x=1 \\\n        --seed 3\n`pyropunct rules --plot f`\npyropunct is --no"
    text += "\n`pyropunct corpus parse en IN --json`"
    expected = [("fit", ["--set", "--seed"]), ("rules", ["--plot"]), ("corpus parse", ["--json"])]
    assert list(commands(text)) == expected
