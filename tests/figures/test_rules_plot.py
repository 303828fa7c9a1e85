"""The plot of learned rules says what is there."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import matplotlib
import pytest
import torch
from made_up_rules import TOKENS, made_up

from pyropunct.figures.rules_plot import rules_svg
from pyropunct.tasks.explain.learned_rules import learned_rules
from pyropunct.tasks.explain.rule_pairs import LearnedPair
from pyropunct.text.marks import display

SVG = "{http://www.w3.org/2000/svg}"


def bars(svg: bytes) -> dict[str, ElementTree.Element]:
    """The bars in a plot, by their names."""
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    groups = (group for group in root.iter(f"{SVG}g") if "outcome" in group.get("id", ""))
    return {group.attrib["id"]: group for group in groups}


def height(bar: ElementTree.Element) -> float:
    path = bar.find(f"{SVG}path")
    assert path is not None
    places = [float(y) for _, y in re.findall(r"[ML] ([\d.]+) ([\d.]+)", path.attrib["d"])]
    return max(places) - min(places)


def drawn() -> tuple[LearnedPair, ...]:
    model = made_up(
        {(",", ","): {"keep": 0.25, "left absorption": 0.75}, ("!", "."): {"right absorption": 1.0}}
    )
    return learned_rules(model).prominent(8)


def written(svg: bytes) -> set[str]:
    return {text.text or "" for text in ElementTree.fromstring(svg).iter(f"{SVG}text")}


def test_axes_and_legend_say_what_is_there() -> None:
    pairs = drawn()
    texts = written(rules_svg(pairs))
    assert {"probability", "what becomes of the pair above"} <= texts
    assert {"Nunberg's rule", "other outcomes"} <= texts
    assert "credible interval" not in texts
    strangers = [replace(pair, listed=False, rule=None) for pair in pairs]
    assert "Nunberg's rule" not in written(rules_svg(strangers))
    counted = tuple(one._replace(interval=(0.1, 0.2), count=3.0) for one in pairs[0].outcomes)
    surer = replace(pairs[0], outcomes=counted)
    texts = written(rules_svg([surer]))
    assert {"credible interval", "what becomes of the pair above (its expected number)"} <= texts


def test_every_bar_is_in_the_plot() -> None:
    pairs = drawn()
    found = bars(rules_svg(pairs))
    assert set(found) == {
        f"pair-{number}-outcome-{place}"
        for number, pair in enumerate(pairs)
        for place in range(len(pair.outcomes))
    }
    whole = max(height(bar) for bar in found.values())
    for number, pair in enumerate(pairs):
        for place, outcome in enumerate(pair.outcomes):
            share = height(found[f"pair-{number}-outcome-{place}"]) / whole
            assert share == pytest.approx(outcome.probability, abs=0.01)


def test_titles_and_outcomes_are_written() -> None:
    """Long outcomes are written on several lines."""
    texts = {text.text for text in ElementTree.fromstring(rules_svg(drawn())).iter(f"{SVG}text")}
    for pair in drawn():
        assert any((text or "").startswith(" ".join(map(display, pair.before))) for text in texts)
        outcomes = [" ".join(map(display, outcome.after)) for outcome in pair.outcomes]
        assert texts.issuperset(outcomes) or texts.issuperset(" ".join(outcomes).split())


def test_intervals_are_drawn() -> None:
    logits = torch.zeros(len(TOKENS), len(TOKENS), 4)
    sure, unsure = made_up(logits=logits), made_up(logits=logits, scale=torch.ones_like(logits))
    one, other = (rules_svg(learned_rules(model).prominent(6)) for model in (sure, unsure))
    lines = [svg.count(b'id="LineCollection_') for svg in (one, other)]
    assert lines == [0, sum(len(pair.outcomes) for pair in learned_rules(sure).prominent(6))]


def test_the_plot_is_always_the_same_and_grey(monkeypatch: pytest.MonkeyPatch) -> None:
    first = rules_svg(drawn())
    monkeypatch.setitem(matplotlib.rcParams, "font.size", 20)
    assert rules_svg(drawn()) == first
    assert b"dc:date" not in first
    assert all(colour[1:3] == colour[3:5] == colour[5:] for colour in re.findall(rb"#[0-9a-f]{6}", first))


def test_no_pairs_to_draw() -> None:
    assert bars(rules_svg(())) == {}


def test_pairs_expected_once_have_no_panel() -> None:
    pair = drawn()[0]
    several = [
        replace(pair, outcomes=(pair.outcomes[0]._replace(count=number), *pair.outcomes[1:]))
        for number in (1.4, 1.6, 1.4)
    ]
    assert set(bars(rules_svg(several))) == {f"pair-0-outcome-{k}" for k in range(len(pair.outcomes))}
    assert bars(rules_svg(several[:1])) == {}
