"""The command ``pyropunct rules``."""

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import pytest
import torch
from command_line import answer, complaint, invoke, printed
from made_up_rules import TOKENS, made_up

from pyropunct.embedded import embedded_treebank_path
from pyropunct.figures.plots import rules_svg
from pyropunct.models.learned import settle
from pyropunct.punctuator import Punctuator
from pyropunct.tasks.explain.languages import is_english
from pyropunct.tasks.explain.rules import LearnedPair, learned_rules
from pyropunct.treebank.marks import display
from pyropunct.treebank.reading import read_treebank

pytestmark = pytest.mark.usefixtures("single_precision")

SVG = "{http://www.w3.org/2000/svg}"


def cells(line: str) -> list[str]:
    """The cells of a row of a table; none of what is no row."""
    return [cell.strip() for cell in line.split("│")[1:-1]]


@pytest.mark.parametrize("counted", [False, True])
def test_the_table_has_the_numbers_of_the_json(small: Path, counted: bool) -> None:
    file = [small / "train.conllu"] if counted else []
    arguments = ["rules", small / "model", *file, "--least", "5", "--nunberg"]
    value = answer(*arguments)
    assert (value["sentences"], value["file"]) == (
        (120, str(small / "train.conllu")) if counted else (None, None)
    )
    rows = [cells(line) for line in printed(*arguments, "--pairs", 6).splitlines() if "│" in line]
    pairs = {" ".join(pair["before"]): pair for pair in value["pairs"]}
    for row in rows[:6]:
        pair = pairs[row[0]]
        assert row[1] == (f"{pair['count']:,.1f}" if counted else "–")
        assert row[3] == ("–" if pair["rank"] is None else f"{pair['rank']:g}")
        assert list(filter(None, row[4:])) == [f"{one['probability']:.3f}" for one in pair["outcomes"]]
    assert len(value["precision"]) == (3 if counted else 1)
    for row, (name, one) in zip(rows[6:], value["precision"].items(), strict=False):
        share = "–" if one["share"] is None else f"{one['share']:.3f}"
        assert row == [name, str(one["edits"]), str(one["listed"]), share]
    for row, (name, one) in zip(rows[6 + len(value["precision"]) :], value["recall"].items(), strict=True):
        assert row[:5] == [name, *(str(one[key]) for key in ("rules", "first", "second", "worse"))]
    assert rows[-1][0] == ("edited, frequent" if counted else "edited")


def test_marks_that_the_model_lacks_are_told(small: Path) -> None:
    arguments = ("rules", small / "model", "--nunberg")
    lacking = len(answer(*arguments)["unlearned"])
    assert lacking > 0
    told = f"\n{lacking} of Nunberg's rules are about marks that the model lacks."
    assert told in printed(*arguments)


def test_nunberg_is_shown_for_english(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which the small treebank is too small to be recognised as."""
    text = printed("rules", small / "model")
    assert "rank" not in text
    assert "Nunberg's rules are of English: --nunberg shows them.\n" in text
    value = answer("rules", small / "model")
    assert value["nunberg"] is False
    assert value["precision"] is value["recall"] is value["unlearned"] is None
    assert all(pair["rule"] is pair["rank"] is None for pair in value["pairs"])
    monkeypatch.setattr("pyropunct.tasks.explain.languages.ENGLISH_WORDS", frozenset({"the", "a", "unheard"}))
    assert answer("rules", small / "model") == answer("rules", small / "model", "--nunberg")
    assert answer("rules", small / "model", "--no-nunberg") == value


def test_the_language_of_treebanks() -> None:
    for part in ("train", "test"):
        words = [form for one in read_treebank(embedded_treebank_path(part)) for form in one.tree.forms]
        assert is_english([word.lower() for word in words])
    assert not is_english(["the", "of", "and", "to", "a", "in", "on", "for", "as", "die", "is", "his", "le"])


def test_which_pairs_occur(small: Path) -> None:
    value = answer("rules", small / "model", small / "dev.conllu")
    assert {pair["occurs"] for pair in value["pairs"]} == {True, False}
    assert all(pair["occurs"] == (pair["count"] >= 0.5) for pair in value["pairs"])
    assert value["occurring"] == sum(pair["occurs"] for pair in value["pairs"])
    text = printed("rules", small / "model", small / "dev.conllu", "--pairs", value["occurring"] + 2)
    numbers = f"{value['occurring']} of {len(value['pairs']):,}"
    assert f"\n{numbers} pairs are expected in FILE; 2 of those above are not: (in parentheses).\n" in text
    rows = [cells(line) for line in text.splitlines() if line.startswith("│")]
    bracketed = [any(cell.startswith("(0.") for cell in row) for row in rows]
    assert bracketed == [False] * value["occurring"] + [True] * 2
    alone = answer("rules", small / "model")
    assert alone["occurring"] is None
    assert {pair["occurs"] for pair in alone["pairs"]} == {None}
    assert "Without FILE it is not known which pairs occur." in printed("rules", small / "model")


def test_intervals_are_shown(small: Path, tmp_path: Path) -> None:
    model = Punctuator.load(small / "model")
    scales = {name: torch.full_like(value, 0.3) for name, value in model.values.items()}
    settle(model.story, model.values, scales)
    model.save(tmp_path / "model")
    value = answer("rules", tmp_path / "model", "--level", 0.8)
    assert value["level"] == 0.8
    low, high = value["pairs"][0]["outcomes"][0]["interval"]
    assert 0 < low < high < 1
    assert re.search(r" 0\.\d{3} \(0\.\d\d–\d\.\d\d\) ", printed("rules", tmp_path / "model"))


def test_a_model_fitted_with_a_normal_guide(small: Path, tmp_path: Path) -> None:
    """Every bar has an interval around it, or nearly: the bar is at the mean of the logits."""
    train = small / "train.conllu"
    printed("fit", train, "--out", tmp_path / "m", "--guide", "normal", "--epochs", 1, "--direction", "left")
    value = answer("rules", tmp_path / "m")
    assert value["level"] == 0.9
    for pair in value["pairs"]:
        for outcome in pair["outcomes"]:
            low, high = outcome["interval"]
            assert low - 0.05 < outcome["probability"] < high + 0.05


# Plot


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
    texts = {text.text for text in ElementTree.fromstring(rules_svg(drawn())).iter(f"{SVG}text")}
    for pair in drawn():
        assert any((text or "").startswith(" ".join(map(display, pair.before))) for text in texts)
        assert {" ".join(map(display, outcome.after)) for outcome in pair.outcomes} <= texts


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


def test_the_plot_is_written(small: Path, tmp_path: Path) -> None:
    shown = printed("rules", small / "model", "--plot", tmp_path / "plot.svg", "--pairs", 7)
    found = bars((tmp_path / "plot.svg").read_bytes())
    assert {name.split("-")[1] for name in found} == {str(number) for number in range(7)}
    assert shown == printed("rules", small / "model", "--pairs", 7)


# Bad input


def test_a_channel_without_edits(small: Path, tmp_path: Path) -> None:
    train = small / "train.conllu"
    printed(
        "fit", train, "--out", tmp_path / "m", "--channel", "identity", "--epochs", 1, "--direction", "left"
    )
    message = complaint(2, "rules", tmp_path / "m", train)
    assert message == f"{tmp_path / 'm'}: the channel identity has no edits, so there are no rules to show"


def test_other_bad_input(small: Path, tmp_path: Path) -> None:
    model = small / "model"
    assert complaint(2, "rules", tmp_path / "none") == f"{tmp_path / 'none'}: no such model"
    assert "none.conllu" in complaint(2, "rules", model, tmp_path / "none.conllu")
    plot = tmp_path / "none" / "plot.svg"
    assert complaint(2, "rules", model, "--plot", plot) == f"{plot}: the folder {plot.parent} does not exist"


@pytest.mark.parametrize("option", ["--level", "--confidence", "--least"])
@pytest.mark.parametrize("value", ["nan", "-1", "some"])
def test_options_that_are_no_sensible_numbers(small: Path, option: str, value: str) -> None:
    result = invoke("rules", small / "model", option, value)
    assert result.exit_code == 2
    assert option in result.stderr
