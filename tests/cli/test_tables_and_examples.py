"""DrawTables for people and for programs, and examples, of the commands ``rules`` and ``typology``."""

import csv
import io
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from command_line import answer, invoke, printed

from pyropunct.cli.console import tell_language
from pyropunct.cli.report import Report, Row
from pyropunct.embedded import embedded_treebank_path
from pyropunct.punctuator import Punctuator
from pyropunct.tables import Column, Table
from pyropunct.tasks.explain.derivations import Derivations
from pyropunct.tasks.explain.examples import Example, rule_examples, sprouting_examples
from pyropunct.treebank.reading import read_text, read_treebank

pytestmark = pytest.mark.usefixtures("single_precision")


def separated(*arguments: object) -> list[list[str]]:
    text = printed(*arguments, "--format", "tsv")
    return list(csv.reader(io.StringIO(text), delimiter="\t"))


def test_rules_for_programs_have_the_numbers_of_the_json(small: Path) -> None:
    arguments = ("rules", small / "model", small / "dev.conllu", "--nunberg")
    header, *rows = separated(*arguments)
    found = [dict(zip(header, row, strict=True)) for row in rows]
    expected = [(pair, one) for pair in answer(*arguments)["pairs"] for one in pair["outcomes"]]
    for row, (pair, outcome) in zip(found, expected, strict=True):
        assert [row["a"], row["b"]] == pair["before"]
        assert row["becomes"] == " ".join(outcome["after"])
        assert (row["probability"], row["count"]) == (str(outcome["probability"]), str(outcome["count"]))
        assert (row["low"], row["high"]) == ("", "")
        assert row["pair_occurs"] == ("yes" if pair["occurs"] else "no")
        assert (row["by_nunberg"] == "yes") <= pair["listed"]
    assert printed(*arguments, "--format", "json") == printed(*arguments, "--json")


def test_what_would_break_a_row_is_shown_as_an_escape() -> None:
    columns = [Column[str]("a", "", str), Column[str]("b", "", lambda text: None)]
    assert Table("", columns, ['"', "x\ty\u2028z"]).tsv() == 'a\tb\n""""\t\nx\\ty\\u2028z\t\n'


# Examples


def test_examples_of_rules_are_where_they_happen(small: Path) -> None:
    """By an edit of the best T', in so many sentences; the sentence is whole."""
    model, sentences = Punctuator.load(small / "model"), list(read_treebank(small / "dev.conllu"))
    texts = {sentence.identifier: sentence.text() for sentence in sentences}
    found = rule_examples(model, sentences, 2)
    happened = set()
    derivations = Derivations(model)
    for sentence, (tree,) in zip(sentences, model.underlying(sentences), strict=True):
        for slot in derivations.of(sentence, tree):
            happened |= {(edit.before, edit.after) for edit in slot.edits}
            happened |= {(pair, pair) for pair in slot.kept}
    assert set(found) == happened
    assert any(before == after for before, after in found)
    assert any(before != after for before, after in found)
    for (_, after), examples in found.items():
        assert 1 <= len(examples) <= 2
        for example in examples:
            assert example.before + example.place + example.after == texts[example.id]
            assert example.place or not set(after) - {"\t^", "\tabbr."}


def test_examples_of_punctemes_are_constituents_with_their_own_marks(small: Path) -> None:
    model, sentences = Punctuator.load(small / "model"), list(read_treebank(small / "dev.conllu"))
    found = sprouting_examples(model, sentences, 3)
    trees = {
        sentence.identifier: (sentence, tree)
        for sentence, (tree,) in zip(sentences, model.underlying(sentences), strict=True)
    }
    for (relation, *pair), examples in found.items():
        for example in examples:
            sentence, tree = trees[example.id]
            assert example.before + example.place + example.after == sentence.text()
            words = zip(sentence.tree.relations, tree, sentence.tree.spans, strict=True)
            spans = [span for name, own, span in words if (name, *own) == (relation, *pair)]
            forms = [sentence.tree.forms[first - 1 : last] for first, last in spans]
            assert any(all(form in example.place for form in some) for some in forms)
    commas = [one.place for one in found["appos", (",",), (",",)]]
    assert commas
    assert all(place.startswith(",") for place in commas)
    assert all(
        place[0].isalnum() for one in found.items() if not any(one[0][1:]) for _, _, place, _ in one[1]
    )


def test_a_place_in_the_text() -> None:
    """A multiword token is in it as a whole; without tokens the place is between the words."""
    lines = [
        "1\t«\t_\tPUNCT\t_\t_\t4\tpunct\t_\t_",
        "2-3\tDu\t_\t_\t_\t_\t_\t_\t_\t_",
        "2\tDe\t_\tADP\t_\t_\t4\tcase\t_\t_",
        "3\tle\t_\tDET\t_\t_\t4\tdet\t_\t_",
        "4\tNord\t_\tPROPN\t_\t_\t0\troot\t_\tSpaceAfter=No",
        "5\t.\t_\tPUNCT\t_\t_\t4\tpunct\t_\t_",
    ]
    [sentence] = read_text("\n".join(lines))
    assert sentence.passage({3}, 2) == ("« ", "Du", " Nord.")
    assert sentence.passage({4, 5}, 3) == ("« Du ", "Nord.", "")
    assert sentence.passage(set(), 2) == ("« Du", "", " Nord.")
    assert sentence.passage({1}, 0) == ("", "«", " Du Nord.")
    assert sentence.passage(set(), 0) == ("«", "", " Du Nord.")


def in_all_formats(arguments: tuple[object, ...]) -> tuple[list[Any], list[Any], str]:
    """The examples in JSON and in rows, and what is printed."""
    header, *rows = separated(*arguments)
    own = [row[header.index("sentence") :] for row in rows]
    return answer(*arguments)["shares"], own, printed(*arguments)


def test_examples_are_the_same_in_all_formats(small: Path) -> None:
    match = r"^(acl:relcl|appos|root): .* \| "
    arguments = ("typology", small / "model", small / "dev.conllu", "--examples", 2, "--match", match)
    shares, rows, text = in_all_formats(arguments)
    flat = [list(one.values()) for share in shares for one in share["examples"]]
    assert len(flat) > 5
    assert [row for row in rows if row[0]] == flat
    assert all(len(share["examples"]) <= 2 for share in shares)
    for number, (identifier, before, place, after) in enumerate(flat, 1):
        assert f"\n  ({number}) {identifier}: {before}⟦{place}⟧{after}\n" in text
    lines = [line for line in text.splitlines() if line.startswith("  ") and "⟦" in line]
    assert len(lines) == len(flat)
    assert printed(*arguments, "--format", "json") == printed(*arguments, "--json")


def test_which_titles_of_examples_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """A row that is expected but has no example says so; one that is not expected is left out."""
    rows = [Row((), {}, name, name, number) for name, number in (("a", 5), ("b", 5), ("c", 0))]
    report = Report({}, [], (), rows, rows)
    report.give({"a": [Example("s1", "A ", "sentence", ".")]})
    report.show("text")
    assert capsys.readouterr().out.split("\n") == [
        "",
        "a",
        "  (1) s1: A ⟦sentence⟧.",
        "",
        "b: nowhere in the best underlying trees",
        "",
    ]


def test_examples_need_a_file(small: Path) -> None:
    result = invoke("rules", small / "model", "--examples", 5)
    assert result.exit_code == 2
    assert "--examples are places in FILE, which is missing" in result.stderr


def test_a_treebank_of_another_language_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    sentences = list(read_treebank(embedded_treebank_path("dev")))
    words = Counter(form.lower() for one in sentences for form in one.tree.forms)
    commonest = [word for word, _ in words.most_common(50)]
    others = [f"{number}" for number in range(1000, 1300)]
    for forms, told in (
        (commonest[:19] + others, True),
        (commonest[:20] + others, False),
        (others[:99], False),
    ):
        model: Any = SimpleNamespace(vocabulary=SimpleNamespace(forms=forms))
        tell_language("m", model, "f", sentences)
        assert ("another one" in capsys.readouterr().err) == told
