"""The command ``pyropunct rules``."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from command_line import answer, complaint, printed
from made_up_rules import TOKENS, made_up

from pyropunct.cli.rule_reports import disagreement, rule_report, side_by_side_report
from pyropunct.models.learned import settle
from pyropunct.punctuator import Punctuator
from pyropunct.tables import Table
from pyropunct.tasks.explain.learned_rules import learned_rules
from pyropunct.tasks.explain.rule_pairs import LearnedPair, LearnedRules
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
        pair = pairs[row[0].rstrip(" †‡")]
        assert row[1] == (f"{pair['count']:,.1f}" if counted else "–")
        assert row[3] == ("–" if pair["rank"] is None else f"{pair['rank']:g}")
        assert [cell.split()[0] for cell in filter(None, row[4:])] == [
            f"{one['probability']:.3f}" for one in pair["outcomes"]
        ]
        for cell, one in zip(row[4:], pair["outcomes"], strict=False):
            assert not counted or cell.removesuffix(" !").endswith(f" / {one['share']:.2f}")
    assert len(value["precision"]) == (3 if counted else 1)
    for row, (name, one) in zip(rows[6:], value["precision"].items(), strict=False):
        share = "–" if one["share"] is None else f"{one['share']:.3f}"
        assert row == [name, str(one["edits"]), str(one["listed"]), share]
    for row, (name, one) in zip(rows[6 + len(value["precision"]) :], value["recall"].items(), strict=True):
        assert row[:5] == [name, *(str(one[key]) for key in ("rules", "first", "second", "worse"))]
    assert rows[-1][0] == ("frequent" if counted else "determined")


def test_probabilities_that_disagree_with_their_shares() -> None:
    """Beside each stands its share; those of pairs that are expected five times or more are marked."""
    model = made_up({(",", ","): {"keep": 0.9, "left absorption": 0.1}})
    by_pair = {pair.before: pair for pair in learned_rules(model).pairs}

    def counted(before: tuple[str, str], *counts: float) -> LearnedPair:
        outcomes = by_pair[before].outcomes
        several = (one._replace(count=count) for one, count in zip(outcomes, counts, strict=True))
        return replace(by_pair[before], outcomes=tuple(several))

    pairs = (counted((",", ","), 1.0, 5.0), counted((",", "."), 1.0, 3.9, 0.0, 0.0))
    learned = LearnedRules(pairs, nunberg=False, sentences=9)
    assert learned.disagreeing == 2
    assert [pairs[1].share(outcome) for outcome in pairs[1].outcomes] == pytest.approx(
        [10 / 49, 39 / 49, 0, 0]
    )
    [table] = rule_report(learned, pairs, {}).text_parts
    assert isinstance(table, Table)
    assert table.cells(str)[1][0][2:4] == ["0.900 / 0.17 !", "0.100 / 0.83 !"]
    assert table.cells(str)[1][1][2:4] == ["1.000 / 0.20", "0.000 / 0.80"]
    assert "! 2 probabilities differ by over 0.25 from their shares" in table.text()
    assert disagreement(1).startswith("1 probability differs by over 0.25 from its share, ")


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
    monkeypatch.setattr("pyropunct.tasks.explain.nunberg.ENGLISH_WORDS", frozenset({"the", "a", "unheard"}))
    assert answer("rules", small / "model") == answer("rules", small / "model", "--nunberg")
    assert answer("rules", small / "model", "--no-nunberg") == value


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


def test_the_plot_is_written(small: Path, tmp_path: Path) -> None:
    shown = printed("rules", small / "model", "--plot", tmp_path / "plot.svg", "--pairs", 7)
    names = re.findall(r'id="pair-(\d+)-outcome-', (tmp_path / "plot.svg").read_text(encoding="utf-8"))
    assert set(names) == {str(number) for number in range(7)}
    assert shown == printed("rules", small / "model", "--pairs", 7)


# Several models, other channels, other formats


def test_models_side_by_side() -> None:
    """They agree on `, .`, but not on `, ,`; the second lacks the dash."""
    edits = {(",", "."): {"keep": 0.25, "left absorption": 0.75}}
    first = made_up({**edits, (",", ","): {"left absorption": 1.0}})
    tokens = tuple(token for token in TOKENS if token != "—")
    second = made_up({**edits, (",", ","): {"keep": 0.75, "left absorption": 0.25}}, tokens=tokens)
    several = {name: learned_rules(model) for name, model in (("first", first), ("second", second))}
    shown = side_by_side_report(several, 2, {})
    found = {(*one["before"], *one["after"]): one for one in shown.plain["outcomes"]}
    commas = found[",", ",", ","]
    assert commas["probabilities"] == pytest.approx([1.0, 0.25])
    spread = 0.75 / 2**0.5
    assert (commas["mean"], commas["standard_deviation"]) == pytest.approx((0.625, spread))
    assert {tuple(one["before"]) for one in shown.plain["outcomes"] if one["disputed"]} == {(",", ",")}
    assert found[",", ".", "."]["standard_deviation"] == pytest.approx(0)
    alone = found["—", ",", "—", ","]
    assert (alone["probabilities"], alone["mean"], alone["standard_deviation"]) == ([1, None], 1, None)
    [table] = shown.text_parts
    assert isinstance(table, Table)
    header, rows = table.cells(str)
    assert header == ["underlying", "becomes", "count", "first", "second", "mean", "±", " "]
    assert [", ,", ",", "–", "1.000", "0.250", "0.625", f"{spread:.3f}", "?"] in rows
    assert [", .", ".", "–", "0.750", "0.750", "0.750", "0.000", ""] in rows
    assert {row[0] for row in rows} == {", ,", ", ."}


def test_several_models_on_the_command_line(small: Path, tmp_path: Path) -> None:
    model = Punctuator.load(small / "model")
    settle(model.story, {name: value / 2 for name, value in model.values.items()}, {})
    model.save(tmp_path / "m")
    arguments = ("rules", small / "model", tmp_path / "m", small / "dev.conllu")
    value = answer(*arguments)
    assert value["models"] == [str(small / "model"), str(tmp_path / "m")]
    assert value["file"] == str(small / "dev.conllu")
    one, other = (answer(*arguments[:1], name, arguments[3])["pairs"] for name in arguments[1:3])
    alone = [{tuple(pair["before"]): pair for pair in pairs} for pairs in (one, other)]
    for outcome in value["outcomes"]:
        pairs = [pairs[tuple(outcome["before"])] for pairs in alone]
        of_each = [
            next(each["probability"] for each in pair["outcomes"] if each["after"] == outcome["after"])
            for pair in pairs
        ]
        assert outcome["probabilities"] == of_each
        assert outcome["count"] == pytest.approx(sum(pair["count"] for pair in pairs) / 2)
    assert len(printed(*arguments, "--format", "tsv").splitlines()) == 1 + len(value["outcomes"])
    assert "--plot are for one" in complaint(2, *arguments, "--plot", tmp_path / "x.svg")
    assert "named twice" in complaint(2, "rules", small / "model", small / "model")


def test_tables_for_papers(small: Path) -> None:
    markdown = printed("rules", small / "model", "--format", "markdown").split("\n")
    assert markdown[0].startswith("| underlying | count |")
    assert "    underlying   two neighbouring underlying marks, a and b; ^ is the beginning of" in markdown


def test_the_weights_of_another_channel(small: Path, tmp_path: Path) -> None:
    """Each slot that is not empty takes one of the two."""
    train, dev = small / "train.conllu", small / "dev.conllu"
    options = ("--channel", "variants:Stutter", "--epochs", 1, "--direction", "left")
    printed("fit", train, "--out", tmp_path / "m", *options)
    arguments = ("rules", tmp_path / "m", dev, "--trust-variants")
    found = {one["name"]: one for one in answer(*arguments)["weights"]}
    assert set(found) == {"once", "twice", "slip", "no slip"}
    once, twice = found["once"], found["twice"]
    assert once["probability"] + twice["probability"] == pytest.approx(1)
    filled = sum(bool(slot) for sentence in read_treebank(dev) for slot in sentence.surface)
    assert once["count"] + twice["count"] == pytest.approx(filled, rel=0.05)
    rows = [cells(line) for line in printed(*arguments).splitlines()]
    assert ["once", "", f"{once['probability']:.3f}", f"{once['count']:,.1f}"] in rows


# Bad input


def test_a_channel_without_edits(small: Path, tmp_path: Path) -> None:
    train = small / "train.conllu"
    printed(
        "fit", train, "--out", tmp_path / "m", "--channel", "identity", "--epochs", 1, "--direction", "left"
    )
    assert {one["name"] for one in answer("rules", tmp_path / "m")["weights"]} == {"slip", "no slip"}
    message = complaint(2, "rules", tmp_path / "m", small / "model")
    assert message == f"{tmp_path / 'm'}: the channel identity has no edits, so there are no rules to show"
