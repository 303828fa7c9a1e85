"""Languages side by side, from Python and on the command line."""

import re
import shutil
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from command_line import answer, complaint, invoke, printed

from pyropunct.figures.typology_plots import panels_svg, typology_svg
from pyropunct.punctuator import Punctuator
from pyropunct.tasks.explain.kinds import POSITIONS, bare_clauses, positions
from pyropunct.tasks.explain.mark_functions import ALONE, asks, functions_of, is_greek, mark_function
from pyropunct.tasks.explain.sprouted import FINAL_MARKS, IN_CLAUSE, RELATIONS, SPROUTED, Sides, events
from pyropunct.tasks.explain.tallies import Tally, share_of
from pyropunct.tasks.explain.typology import (
    PAIRS,
    Comparison,
    LanguageCounts,
    chosen,
    language_counts,
    side_by_side,
)
from pyropunct.text.marks import START
from pyropunct.treebank.reading import read_text, read_treebank
from pyropunct.treebank.sentence import Sentence

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


def test_a_greek_semicolon_asks(small: Path) -> None:
    greek, english = (sentence(f"1\t{word}\t_\tVERB\t_\t_\t0\troot\t_\t_") for word in ("ἔρχεται", "comes"))
    assert [is_greek([one]) for one in (greek, english)] == [True, False]
    functions = [mark_function(";", greek=greek) for greek in (True, False)]
    assert functions == ["final", "colon"]
    assert [asks(";", function) for function in functions] == [True, False]
    assert [asks(mark, "final") for mark in ("?!", ".")] == [True, False]
    model = Punctuator.load(small / "model")
    never = np.zeros(len(model.vocabulary.inventory.rows))
    assert [functions_of(model, [one], never)[";"] for one in (greek, english)] == functions


SPANISH = {"¿": "other", "?": "final", "!": "final", ",": "comma"}


def test_an_inverted_mark_before_a_question() -> None:
    found = dict(events("root", "final", Sides.of(("¿",), ("?",), SPANISH)))
    assert found[FINAL_MARKS, "? or !"] == {"¿ or ¡ before the constituent": True}
    assert found[FINAL_MARKS, "root"] == {"a question mark": True, "an exclamation mark": False}
    assert (FINAL_MARKS, "? or !") not in dict(events("root", "final", Sides.of((",",), (",",), SPANISH)))


def test_a_dash_closes_what_a_comma_opens() -> None:
    functions = {",": "comma", "–": "dash"}
    pairs = [((",",), ()), ((",",), ("–",)), (("–",), (",",))]
    found = [dict(events("acl:relcl", "final", Sides.of(*pair, functions))) for pair in pairs]
    assert [one[RELATIONS, "acl:relcl"][SPROUTED[1]] for one in found] == [True, False, False]


@pytest.mark.parametrize(
    ("place", "set_off"), [("initial", [False, True]), ("medial", [False, False]), ("final", [True, False])]
)
def test_a_comma_sets_off_on_the_inner_side(place: str, set_off: list[bool]) -> None:
    pairs = [((",",), ()), ((), (",",)), ((",",), (",",))]
    found = [
        dict(events("advcl", place, Sides.of(*pair, SPANISH)))[IN_CLAUSE, f"{place} advcl"] for pair in pairs
    ]
    assert [next(iter(one.values())) for one in found] == [*set_off, True]


def sentence(lines: str) -> Sentence:
    [one] = read_text(lines + "\n\n")
    return one


def test_places_in_the_clause() -> None:
    """But if asked he, when tired, says that and laughs."""
    words = ["cc 6", "mark 3", "advcl 6", "nsubj 6", "advcl 6", "root 0", "obj 6", "cc 9", "conj 6"]
    lines = "\n".join(
        f"{number}\tw\t_\tX\t_\t_\t{head}\t{relation}\t_\t_"
        for number, (relation, head) in enumerate(map(str.split, words), 1)
    )
    places = [POSITIONS[place] for place in positions(sentence(lines).tree)]
    assert (places[2], places[3], places[4], places[6]) == ("initial", "medial", "medial", "final")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("Moskva/NOUN/nsubj/3 —/PUNCT/punct/3 stolica/NOUN/root/0", {2: True}),
        ("Moskva/NOUN/nsubj/2 stolica/NOUN/root/0", {2: False}),
        ("Moskva/NOUN/nsubj/3 est/AUX/cop/3 stolica/NOUN/root/0", {}),
        ("Moskva/NOUN/nsubj/2 stoit/VERB/root/0", {}),
        ("Moskva/NOUN/nsubj/2 stolica/NOUN/root/0 —/PUNCT/punct/4 Rossii/NOUN/nmod/2", {2: False}),
        ("Moskva/NOUN/nsubj/5 B/NOUN/conj/1 —/PUNCT/punct/5 tam/ADV/advmod/5 stolicy/NOUN/root/0", {4: True}),
        ("Moskva/NOUN/nsubj/5 a/NOUN/nmod/5 —/PUNCT/punct/4 b/NOUN/nmod/2 stolica/NOUN/root/0", {4: False}),
    ],
)
def test_a_dash_for_a_copula(words: str, found: dict[int, bool]) -> None:
    lines = (
        "\t".join((str(number), form, "_", tag, "_", "_", head, relation, "_", "_"))
        for number, (form, tag, relation, head) in enumerate((word.split("/") for word in words.split()), 1)
    )
    assert bare_clauses(sentence("\n".join(lines))) == found


def test_counts_are_those_of_posterior_draws(small: Path) -> None:
    """Each constituent of each drawn T' is looked at; a mean of draws is near the expectation."""
    model, sentences = Punctuator.load(small / "model"), list(read_treebank(small / "dev.conllu"))
    found, draws = language_counts(model, sentences), 400
    seen, totals = Counter[tuple[str, str, str]](), Counter[tuple[str, str]]()
    for sentence, trees in zip(sentences, model.underlying(sentences, samples=draws), strict=True):
        places = [POSITIONS[place] for place in positions(sentence.tree)]
        for tree in trees:
            for name, place, (left, right) in zip(sentence.tree.relations, places, tree, strict=True):
                relation = name.split(":")[0]
                apart = name if ":" in name else f"{name} (no subtype)"
                before, behind = ([found.functions[mark] for mark in side] for side in (left, right))
                totals[RELATIONS, relation] += 1
                totals[RELATIONS, apart] += 1
                if relation == "advcl":
                    totals[IN_CLAUSE, f"{place} advcl"] += 1
                    seen[IN_CLAUSE, "final advcl", "a comma before"] += place == "final" and "comma" in before
                if relation == "root":
                    totals[FINAL_MARKS, "root"] += 1
                    seen[FINAL_MARKS, "root", "a question mark"] += any("?" in mark for mark in right)
                    seen[FINAL_MARKS, "root", "an exclamation mark"] += any("!" in mark for mark in right)
                commas = ("comma" in before) + ("comma" in behind)
                if commas and not (commas == 1 and "dash" in [*before, *behind]):
                    for row in (relation, apart):
                        seen[RELATIONS, row, SPROUTED[2 - commas]] += 1
                opens, closes = (
                    any(one.startswith(which) for one in side)
                    for side, which in ((before, "opening"), (behind, "closing"))
                )
                if opens and closes:
                    seen[RELATIONS, relation, SPROUTED[2]] += 1
                    seen[RELATIONS, apart, SPROUTED[2]] += 1
                finals = [*before, *behind].count("final")
                totals[FINAL_MARKS, "final mark"] += finals
                seen[FINAL_MARKS, "final mark", "root"] += finals * (relation == "root")
    assert {"opening-quote", "closing-quote", "comma", "final", "dash"} <= set(found.functions.values())
    compared = 0
    for (table, of), tally in found.tallies.items():
        if (table in (RELATIONS, FINAL_MARKS) and of != "? or !") or of == "final advcl":
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


def test_a_relation_that_a_treebank_never_uses_is_not_annotated() -> None:
    [row] = side_by_side([language("appos", 200, 180), language("appos", 2, 1), language("list", 0, 0)])
    assert (row.of, len(row.known), row.unused) == ("appos", 1, {2})
    assert row.is_sparse
    [kept] = chosen([row], [0, 2], "^appos: commas")
    assert ([share and share.value for share in kept.shares], kept.unused) == ([0.9, None], {1})
    assert not kept.is_sparse
    assert not chosen([row], [0, 2], "^commas")
    [split, _] = side_by_side([language("appos, finite", 9, 5), language("appos, not finite", 9, 5)])
    assert not split.unused


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
            if one is not None and one["note"]:
                assert cell == "–"
            elif one is not None:
                ends = f"({100 * one['low']:.0f}–{100 * one['high']:.0f})"
                assert cell == f"{100 * one['share']:.0f} {ends} of {one['total']:,.0f}"
                assert differs == ("*" if one["differs"] else "")
                compared += 1
    assert compared > 10
    tsv = printed("typology", *pair, "--format", "tsv").splitlines()
    assert len(tsv) == 1 + len(value["shares"])


def test_columns_and_rows_that_are_asked_for(small: Path, tmp_path: Path) -> None:
    """Several FILEs of one MODEL; each example has the marks of its row."""
    files = [
        shutil.copy(small / "dev.conllu", tmp_path / f"{name}.conllu") for name in ("one", "two", "three")
    ]
    asked = ("--languages", "one,two", "--match", "^appos: commas on both")
    value = answer("typology", small / "model", *files, *asked, "--examples", 2)
    assert value["languages"] == ["one", "two"]
    assert [(one["of"], one["language"]) for one in value["shares"]] == [("appos", "one"), ("appos", "two")]
    places = [example["place"] for one in value["shares"] for example in one["examples"]]
    assert len(places) == 4
    assert all("," in place for place in places)


def test_rows_that_few_languages_have_are_not_drawn(small: Path, tmp_path: Path) -> None:
    """Two of three treebanks have one sentence; the command says how many rows it leaves out."""
    dev = (small / "dev.conllu").read_text(encoding="utf-8")
    files, plot = [tmp_path / f"{name}.conllu" for name in ("many", "one", "other")], tmp_path / "plot.svg"
    for file, text in zip(files, (dev, *dev.split("\n\n")[:2]), strict=True):
        file.write_text(text + "\n\n", encoding="utf-8")
    command = ("typology", small / "model", *files, "--plot", plot)
    told = re.search(r"leaves out (\d+) of (\d+) rows", invoke(*command).stderr)
    assert told is not None
    names = {text.text for text in ElementTree.parse(plot).iter(f"{SVG}text")}
    assert len(names - {"many", "one", "other"}) == int(told[2]) - int(told[1]) + 1
    assert "leaves out" not in invoke(*command, "--match", ".").stderr


def test_bad_input(pair: tuple[Path, ...]) -> None:
    assert "needs a FILE" in complaint(2, "typology", *pair[:3])
    assert "the same name" in complaint(2, "typology", *pair[:2], *pair[:2])
    assert "there is no three" in complaint(2, "typology", *pair, "--languages", "one,three")
    assert "no rows are left" in complaint(2, "typology", *pair, "--match", "^nothing")
    assert "is no regular expression" in complaint(2, "typology", *pair, "--match", "(")
    assert "--plot" in complaint(2, "typology", *pair, "--panels")


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


def test_panels_sort_languages_by_share() -> None:
    """Those without a share are not in the panel; what all have in common is a line."""
    low, high = share_of(3, 9, 0.9), share_of(8, 9, 0.9)
    row = Comparison(RELATIONS, "appos", SPROUTED[0], (low, low, None, high), first=1)
    drawn = panels_svg(["all", "a", "b", "c"], [row]).decode()
    assert re.findall(r'id="(row-[^"]*)"', drawn) == ["row-0-language-3", "row-0-language-1"]
    texts = [text.text for text in ElementTree.fromstring(drawn).iter(f"{SVG}text")]
    assert {"a", "c", "appos", "share and interval; vertical line: all languages; *: languages differ"} <= {
        *texts
    }
    assert "b" not in texts
    assert (
        ">share and interval<"
        in panels_svg(["a"], [Comparison(RELATIONS, "appos", SPROUTED[0], (low,))]).decode()
    )
