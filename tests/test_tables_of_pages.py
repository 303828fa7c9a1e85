"""The numbers of pages are those that experiments have printed, with the present recipes and models."""

import json
import re
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from pyropunct import load
from pyropunct.tasks.explain.learned_rules import learned_rules

ROOT = Path(__file__).parents[1]


sys.path.append(str(ROOT / "benchmarks"))  # its programs import each other
REPRODUCE = SimpleNamespace(**runpy.run_path(str(ROOT / "benchmarks" / "reproduce.py")))


@pytest.mark.parametrize("name", REPRODUCE.EXPERIMENTS)
def test_an_experiment_was_run_with_the_present_recipes_and_models(name: str) -> None:
    assert REPRODUCE.has_present_settings(name)
    assert 0 < REPRODUCE.kept(name)["minutes"] <= REPRODUCE.LONGEST


def test_pages_have_the_kept_tables() -> None:
    """And each table stands on the page of its experiment."""
    for page in REPRODUCE.pages():
        text = page.read_text(encoding="utf-8")
        assert REPRODUCE.with_tables(text) == text
    for name, experiment in REPRODUCE.EXPERIMENTS.items():
        text = (ROOT / "docs" / experiment.page).read_text(encoding="utf-8")
        assert re.search(rf"<!-- table ([\w-]+ )*{name} ([\w-]+ )*-->", text)


@pytest.mark.parametrize(
    ("page", "tables", "number"), [("section", ["section"], 21), ("openers", ["openers", "openers-kinds"], 5)]
)
def test_the_result_has_the_numbers_of_its_tables(page: str, tables: list[str], number: int) -> None:
    text = (ROOT / "docs" / "guide" / f"{page}.md").read_text(encoding="utf-8")
    rows = "\n".join(row for name in tables for row in REPRODUCE.kept(name)["table"])
    told = re.sub("<!-- table .*?<!-- end -->", "", text, flags=re.DOTALL)
    shares = re.findall(r"(\d+) %\s(\(\d+–\d+\))", told)
    assert len(shares) == number
    assert all(re.search(rf"\b{share} (% )?{re.escape(interval)}", rows) for share, interval in shares)


def test_the_rules_of_the_readme_are_those_of_its_command() -> None:
    rows = re.findall(
        r"^\| (\S) (\S) ((?:\| (?:[01]\.\d{3})? ?){4})\|", (ROOT / "README.md").read_text("utf-8"), re.M
    )
    assert len(rows) == 4
    learned = {pair.before: pair for pair in learned_rules(load("en")).pairs}
    for first, second, cells in rows:
        told = [float(cell) for cell in cells.split("|") if cell.strip()]
        found = [outcome.probability for outcome in learned[first, second].outcomes]
        assert told == pytest.approx(found, abs=0.0005)


PRINTED = re.compile(r"(?<![\w.,])0?(\.\d+)(?![.\d])|(?<![\w.,])([1-9]\d*\.\d+)(?![.\d])")
"""A decimal; 0.5 and .5 are the same."""

OUTSIDE = {
    "README.md": 6,
    "docs/experiments/index.md": 1,
    "docs/guide/all-trees.md": 7,
    "docs/guide/comparing.md": 1,
    "docs/guide/corpora.md": 3,
    "docs/guide/first-fit.md": 7,
    "docs/guide/glossary.md": 1,
    "docs/guide/install.md": 1,
    "docs/guide/programs.md": 1,
    "docs/guide/reading.md": 17,
    "docs/guide/reattachment.md": 11,
    "docs/guide/rephrasing.md": 1,
    "docs/guide/restoring.md": 4,
    "docs/guide/rules.md": 14,
    "docs/guide/text.md": 5,
    "docs/guide/trees.md": 15,
    "docs/guide/typology.md": 11,
    "docs/reference/correction.md": 6,
    "docs/reference/model-file.md": 1,
    "docs/reference/model.md": 2,
    "docs/reference/models.md": 6,
    "docs/reference/performance.md": 4,
    "docs/reference/related.md": 2,
    "docs/reference/reliability.md": 1,
    "docs/reference/results.md": 32,
    "docs/rivals/ma-2014.md": 24,
    "docs/rivals/shieber-tao-2003.md": 8,
    "docs/rivals/zhang-2013.md": 11,
}
"""Pages with decimals that no record has, and at most how many: those of papers, parameters, versions, and
runs that keep no record.  A new number needs a record, or a reader who checks it and changes this table."""


UNTOLD = re.compile(
    r"<!-- table .*?<!-- end -->|```.*?```|^    [^\n]*$|`[^`\n]*`|\]\([^)]*\)", re.DOTALL | re.MULTILINE
)
"""Kept tables, code, and targets of links."""


def decimals(text: str) -> set[str]:
    return {small or large for small, large in PRINTED.findall(text)}


def test_new_decimals_of_pages_stand_in_a_record() -> None:
    """Outside of code, links and kept tables."""
    rows = [row for file in REPRODUCE.DATA.rglob("*.json") for row in json.loads(file.read_bytes())["table"]]
    recorded = decimals("\n".join(rows))
    for page in REPRODUCE.pages():
        found = decimals(UNTOLD.sub("", page.read_text(encoding="utf-8"))) - recorded
        assert len(found) <= OUTSIDE.get(str(page.relative_to(ROOT)), 0), (page, sorted(found))


def test_no_data_without_an_experiment() -> None:
    assert {path.stem for path in REPRODUCE.DATA.glob("*.json")} == set(REPRODUCE.EXPERIMENTS)


@pytest.mark.parametrize(
    ("command", "on_test"),
    [
        ("benchmarks/underlying.py multi {de-dev}", "benchmarks/underlying.py multi {de-test}"),
        (
            "benchmarks/languages.py multi de={de-dev} es={es-dev}",
            "benchmarks/languages.py multi de={de-test}",
        ),
        (
            "benchmarks/reattachment.py en {de-dev}:{de-train}",
            "benchmarks/reattachment.py en {de-test}:{de-train}",
        ),
        ("benchmarks/treebanks.py {} --threads 2", "benchmarks/treebanks.py {} --threads 2 --test {test}"),
        ("benchmarks/underlying.py multi {es-dev}", None),
        ("benchmarks/channel_worth.py {de-train} {de-dev}", None),
        ("benchmarks/treebanks.py {} --counts", None),
    ],
)
def test_what_is_measured_on_test_parts(tmp_path: Path, command: str, on_test: str | None) -> None:
    """Only what learns nothing from dev parts, and only files that are there."""
    file = tmp_path / "below" / "de-test.conllu"
    file.parent.mkdir()
    file.touch()
    assert REPRODUCE.on_test(command, tmp_path) == on_test


def test_a_dev_file_under_another_name_is_refused(tmp_path: Path) -> None:
    for folder, name in ("trees", "de-dev"), ("tests", "de-test"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{name}.conllu").write_text("a tree")
    with pytest.raises(SystemExit, match=r"de-test\.conllu: is the file de-dev"):
        REPRODUCE.refuse_known(tmp_path / "tests", tmp_path / "trees")


BEFORE = frozenset(
    [
        "channel",
        "permutation",
        "restoring-ar",
        "restoring-hi",
        "rules",
        "worth",
    ]
)
"""The records that were made before records had checksums; a new run of one takes it from this list."""


@pytest.mark.parametrize("file", sorted(REPRODUCE.DATA.rglob("*.json")), ids=lambda file: file.stem)
def test_no_record_was_edited(file: Path) -> None:
    record = json.loads(file.read_text(encoding="utf-8"))
    assert ("digest" in record) == (file.stem not in BEFORE)
    digest = REPRODUCE.digest_of_record(record)
    assert record.get("digest", digest) == digest
    assert REPRODUCE.digest_of_record(record | {"minutes": record["minutes"] + 1}) != digest


def test_tables_of_results_are_not_older_than_the_release_before() -> None:
    releases = re.findall(r"^## (\d+\.\d+\.\d+) ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    least = [int(number) for number in releases[1].split(".")]
    for name, experiment in REPRODUCE.EXPERIMENTS.items():
        if experiment.page == "reference/results.md" and name not in BEFORE:
            version = REPRODUCE.kept(name)["versions"]["pyropunct"]
            assert [int(number) for number in version.split(".")] >= least


def test_a_table_is_old_if_a_file_that_its_experiment_imports_has_changed() -> None:
    """Parsers draw no pictures; a program is one of its own files."""
    of_parsers = REPRODUCE.sources("-m pyropunct compare parsers A B")
    assert Path("pyropunct/papers/transitions/parser_experiment.py") in of_parsers
    assert not any("figures" in str(file) for file in of_parsers)
    of_program = REPRODUCE.sources("benchmarks/channel_worth.py A B")
    assert {Path("benchmarks/channel_worth.py"), Path("benchmarks/trials.py")} <= of_program
    assert Path("models/story.py") in of_program
