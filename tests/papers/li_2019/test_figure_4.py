"""The plot: what is in it, and where names are put."""

import json
import re
import runpy
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up import SENTENCES, comparison, four_systems, outcome, system

FIGURE = runpy.run_path(str(Path(__file__).parents[3] / "benchmarks" / "figure_4.py"))
FILES = ("comparison.json", "plot.svg")
svg, spread = FIGURE["svg"], FIGURE["spread"]


def texts(svg: bytes) -> set[str]:
    """All that is written in an SVG file, which is well-formed."""
    root = ElementTree.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    return {element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")}


def test_every_system_is_in_the_plot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = four_systems()
    (tmp_path / "comparison.json").write_text(json.dumps(found.to_json()))
    monkeypatch.setattr("sys.argv", ["figure_4.py", *(str(tmp_path / name) for name in FILES)])
    FIGURE["main"]()
    written = texts((tmp_path / "plot.svg").read_bytes())
    assert {one.first.title for one in found.tables["systems"].rows} <= written
    assert {"average edit distance per slot", "100"} <= written


def test_equal_results_give_equal_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """On another day and with other settings of matplotlib as well."""
    first = svg(four_systems().to_json())
    monkeypatch.setitem(matplotlib.rcParams, "lines.linewidth", 9)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert svg(four_systems().to_json()) == first
    assert b"dc:date" not in first


def test_nothing_but_black_and_grey() -> None:
    colours = set(re.findall(rb"#[0-9a-f]{6}", svg(four_systems().to_json())))
    assert {colour[1:3] for colour in colours} == {colour[3:5] for colour in colours}
    assert all(colour[1:3] == colour[3:5] == colour[5:7] for colour in colours)


def test_systems_look_different() -> None:
    looks = [repr(sorted(look.items())) for look in (*FIGURE["WITH_TREES"], *FIGURE["WITHOUT_TREES"])]
    assert len(set(looks)) == len(looks)


def test_systems_without_trees_alone() -> None:
    some = comparison([system(name, outcome([1] * SENTENCES)) for name in "abcdef"])
    assert {f"the {name} one" for name in "abcdef"} <= texts(svg(some.to_json()))


@given(st.lists(st.floats(0, 1), max_size=8))
def test_names_keep_their_distance_and_their_order(places: list[float]) -> None:
    moved = spread(places, 0.1)
    ordered = sorted(range(len(places)), key=moved.__getitem__)
    assert [places[number] for number in ordered] == sorted(places)
    assert all(moved[b] - moved[a] >= 0.1 - 1e-9 for a, b in pairwise(ordered))
    assert sum(moved) == pytest.approx(sum(places))


def test_names_that_are_far_apart_stay() -> None:
    assert spread([0.9, 0.1, 0.5], 0.1) == [0.9, 0.1, 0.5]
    assert spread([0.5, 0.5], 0.1) == [0.45, 0.55]
