"""Languages side by side, from Python and on the command line."""

import re
import shutil
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command_line import answer, complaint, printed

from pyropunct.figures.language_plots import typology_svg
from pyropunct.punctuator import Punctuator
from pyropunct.tasks.explain.mark_functions import ALONE, mark_function
from pyropunct.tasks.explain.sprouted import CLAUSES, DASHES, ENDS, RELATIONS, SPROUTED, Tally
from pyropunct.tasks.explain.typology import (
    PAIRS,
    Comparison,
    LanguageCounts,
    language_counts,
    share_of,
    side_by_side,
)
from pyropunct.text.marks import START
from pyropunct.treebank.reading import read_treebank

pytestmark = pytest.mark.usefixtures("single_precision")

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    ("mark", "left", "right", "function"),
    [
        ("“", 0, 9, "closing-quote"),  # German
        ("“", 9, 0, "opening-quote"),  # French
        ("”", 5, 4, "quote"),  # Finnish
        ('"', 8, 2, "opening-quote"),
        ("「", 1, 3, "quote"),
        ("¿", 9, 0, "other"),
        ("(", 9, 0, "opening-bracket"),
        (",", 9, 0, "comma"),
        ("、", 0, 9, "comma"),
        ("?!", 0, 9, "final"),
        ("۔", 0, 9, "final"),
        ("--", 5, 5, "dash"),
        ("؛", 0, 9, "colon"),
        ("*", 0, 9, "other"),
        (START, 0, 0, "^"),
    ],
)
def test_what_a_mark_does(mark: str, left: float, right: float, function: str) -> None:
    assert mark_function(mark, left, right) == function


def test_counts_are_those_of_posterior_draws(small: Path) -> None:
    """Each constituent of each drawn T' is looked at; a mean of draws is near the expectation."""
    model, sentences = Punctuator.load(small / "model"), list(read_treebank(small / "dev.conllu"))
    found, draws = language_counts(model, sentences), 400
    seen, totals = Counter[tuple[str, str, str]](), Counter[tuple[str, str]]()
    for sentence, trees in zip(sentences, model.underlying(sentences, samples=draws), strict=True):
        for tree in trees:
            for name, (left, right) in zip(sentence.tree.relations, tree, strict=True):
                known = model.vocabulary.relations[model.vocabulary.relation_number(name)]
                relation = known.split(":")[0] or "(other)"
                before, behind = ([found.functions[mark] for mark in side] for side in (left, right))
                totals[RELATIONS, relation] += 1
                commas = ("comma" in before) + ("comma" in behind)
                if commas:
                    seen[RELATIONS, relation, SPROUTED[2 - commas]] += 1
                opens, closes = (
                    any(one.startswith(which) for one in side)
                    for side, which in ((before, "opening"), (behind, "closing"))
                )
                if opens and closes:
                    seen[RELATIONS, relation, SPROUTED[2]] += 1
                finals = [*before, *behind].count("final")
                totals[ENDS, "final mark"] += finals
                seen[ENDS, "final mark", "root"] += finals * (relation == "root")
    assert {"opening-quote", "closing-quote", "comma", "final", "dash"} <= set(found.functions.values())
    compared = 0
    for (table, of), tally in found.tallies.items():
        if table != PAIRS:
            assert totals[table, of] / draws == pytest.approx(tally.total, abs=0.4)
            for outcome, expected in tally.outcomes.items():
                frequency = seen[table, of, outcome] / draws
                assert frequency == pytest.approx(expected, abs=5 * (expected / draws) ** 0.5 + 0.02)
                compared += expected > 0.5
    assert compared > 10


def test_outcomes_of_functions_are_sums_over_their_marks(small: Path) -> None:
    """From a list of the edits of single marks."""
    model, sentences = Punctuator.load(small / "model"), list(read_treebank(small / "dev.conllu"))
    found = language_counts(model, sentences)
    does = {mark.removeprefix("\t"): function for mark, function in found.functions.items()}
    sums = Counter[tuple[str, str]]()  # type: ignore[type-arg]
    for edit in model.edits(sentences):
        a, b = (does[mark] for mark in edit.before)
        after = {"keep": (a, b), "left absorption": (b,), "right absorption": (a,), "transposition": (b, a)}
        sums[f"{a} {b}", " ".join(after[edit.name])] += edit.count  # type: ignore[assignment]
    tallies = {of: tally for (table, of), tally in found.tallies.items() if table == PAIRS}
    for of, tally in tallies.items():
        assert sum(tally.outcomes.values()) == pytest.approx(tally.total)
        for outcome, expected in tally.outcomes.items():
            assert expected == pytest.approx(sums[of, outcome], abs=1e-4)
    assert sum(tally.total for tally in tallies.values()) == pytest.approx(sum(sums.values()), abs=1e-3)
    assert tallies["comma final"].total > 1
    assert not any(of.endswith(ALONE[START]) and tally.total for of, tally in tallies.items())


def test_wilson_by_hand() -> None:
    """z is 1.96, so z² is 3.84."""
    one, none = share_of(5, 10, 0.95), share_of(0, 10, 0.95)
    assert one[2:] == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert none[2:] == pytest.approx((0, 0.2775), abs=1e-4)


def language(relation: str, total: float, commas: float) -> LanguageCounts:
    return LanguageCounts({}, {(RELATIONS, relation): Tally(total, {SPROUTED[0]: commas})})


def test_languages_differ_where_intervals_do_not_overlap() -> None:
    many, few = language("appos", 200, 180), language("appos", 200, 60)
    rare, other = language("appos", 4, 0), language("list", 9, 1)
    [appos, of_list] = side_by_side([many, few, rare, other])
    assert [share and share.value for share in appos.shares] == [0.9, 0.3, None, None]
    assert (appos.of, appos.differs, of_list.of, of_list.differs) == ("appos", True, "list", False)
    assert not side_by_side([many, language("appos", 200, 170)])[0].differs
    alone, beside = (side_by_side([many] * number)[0].known[0] for number in (1, 9))
    assert beside.low < alone.low < 0.9 < alone.high < beside.high


# On the command line


@pytest.fixture
def pair(small: Path, tmp_path: Path) -> tuple[Path, ...]:
    """A model beside itself, with other treebanks."""
    places = [tmp_path / "one.safetensors", tmp_path / "two.safetensors"]
    for place in places:
        shutil.copy(small / "model.safetensors", place)
    return places[0], small / "dev.conllu", places[1], small / "train.conllu"


def test_the_tables_have_the_numbers_of_the_json(pair: tuple[Path, ...]) -> None:
    value = answer("typology", *pair)
    assert value["languages"] == ["one", "two"]
    shown = {
        (one["of"], one["outcome"], one["language"]): one for one in value["shares"] if one["table"] != PAIRS
    }
    lines = printed("typology", *pair, "--rows", 99).splitlines()
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if line.startswith("│")]
    compared = 0
    for of, outcome, differs, *cells in rows:
        for name, cell in zip(("one", "two"), cells, strict=True):
            one = shown.get((of, outcome, name))
            if one is not None:
                ends = f"({100 * one['low']:.0f}–{100 * one['high']:.0f})"
                assert cell == f"{100 * one['share']:.0f} {ends}"
                assert differs == ("*" if one["differs"] else "")
                compared += 1
    assert compared > 10
    tsv = printed("typology", *pair, "--format", "tsv").splitlines()
    assert len(tsv) == 1 + len(value["shares"])


def test_bad_input(pair: tuple[Path, ...]) -> None:
    assert "needs a FILE" in complaint(2, "typology", *pair[:3])
    assert "the same name" in complaint(2, "typology", *pair[:2], *pair[:2])


def test_every_share_is_in_the_plot(pair: tuple[Path, ...], tmp_path: Path) -> None:
    printed("typology", *pair, "--plot", tmp_path / "plot.svg", "--rows", 3)
    written = (tmp_path / "plot.svg").read_text(encoding="utf-8")
    assert {"one", "two"} <= {text.text for text in ElementTree.fromstring(written).iter(f"{SVG}text")}
    share = share_of(3, 9, 0.9)
    rows = [
        Comparison(PAIRS, "comma final", "final", (share, None)),
        Comparison(PAIRS, "$ _", "$", (None, share)),
    ]
    drawn = typology_svg(["a", "b"], rows)
    assert re.findall(r'id="(row-[^"]*)"', drawn.decode()) == ["row-0-language-0", "row-1-language-1"]
    assert drawn == typology_svg(["a", "b"], rows)
