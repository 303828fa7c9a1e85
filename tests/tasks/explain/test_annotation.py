"""What is odd about the punctuation of a treebank."""

import csv
from pathlib import Path

import pytest
from command_line import printed
from sentences import conllu_of

from pyropunct.tasks.explain.annotation import findings
from pyropunct.treebank.reading import read_text

ROOT = "1 Go 0 root VERB"


@pytest.mark.parametrize(
    ("rows", "what", "token"),
    [
        (["2 + 3 cc PUNCT", "3 up 1 conj X"], "a mark has the relation cc", 2),
        (["2 + 1 punct SYM"], "a token of tag SYM has the relation punct", 2),
        (["2 ( 3 punct PUNCT", "3 ... 1 punct PUNCT", "4 ) 1 punct PUNCT"], "a mark has dependents", 3),
        (
            ["2 ( 1 punct PUNCT", "3 … 1 punct PUNCT", "4 ) 1 punct PUNCT"],
            "dots in brackets, which stand for words, have the tag PUNCT",
            3,
        ),
        (["2 :-) 1 punct PUNCT"], "an emoticon has the tag PUNCT", 2),
        ([f"{n} . 1 punct PUNCT" for n in (2, 3, 4, 5)], "an ellipsis is split into dots", 2),
        (["2 ( 1 punct PUNCT", "3 up 1 x X"], "the opening mark ( has no partner", 2),
        (
            ["2 things 1 obj X", "3 . 1 punct PUNCT", "4 nothing 1 obj X"],
            "a period before a small letter, behind no known abbreviation",
            3,
        ),
        (["2 up 1 x X", "3 ) 1 punct PUNCT"], "the closing mark ) has no partner", 3),
    ],
)
def test_findings(rows: list[str], what: str, token: int) -> None:
    lines = []
    for number, form, head, relation, tag in (row.split() for row in (ROOT, *rows)):
        lines.append(f"{number}\t{form}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t_")
    treebank = read_text("\n".join([*lines, "", "1\tGo\t_\tX\t_\t_\t0\troot\t_\t_"]))
    found = findings(treebank.in_order())
    assert [one.token for one in found if one.what == what] == [token]


def test_the_rarer_relation_of_speech() -> None:
    speech = conllu_of("“/3/punct He/3/nsubj is/0/root in/3/x ”/3/punct said/3/parataxis")
    other = speech.replace("\t0\troot", "\t6\tccomp").replace("\t3\tparataxis", "\t0\troot")
    assert findings(read_text(speech)) == []
    [found] = findings(read_text(other + speech + other))
    assert (found.what, found.token) == ("quoted speech has the relation root", 1)


def test_marks_that_close_in_another_sentence() -> None:
    """They have their partners, unless it is far away; a bracket behind a number has none."""

    def block(mark: str) -> str:
        return conllu_of(f"Go/0/root {mark}/1/punct")

    assert findings(read_text(block("„") + block(",") * 9 + block("“"))) == []
    assert len(findings(read_text(block("„") + block(",") * 10 + block("“")))) == 2
    assert findings(read_text(block(")").replace("Go", "2"))) == []
    assert len(findings(read_text(block(")")))) == 1


def test_the_report_names_them(small: Path, tmp_path: Path) -> None:
    """In the order of their kinds, with a few places for people and all for programs."""
    block = conllu_of("Go/0/root :-)/1/discourse*")
    file = tmp_path / "odd.conllu"
    file.write_text(block * 12 + (small / "dev.conllu").read_text(encoding="utf-8"), encoding="utf-8")
    arguments = ("underlying", small / "model", file, "--format")
    text = printed(*arguments, "report")
    assert "12 places: an emoticon has the tag PUNCT\n" in text
    assert "12 places: a mark has the relation discourse\n" in text
    assert f"{file}:2: #1: token 2: Go ⟦:-)⟧ \n" in text
    assert text.count("and 2 more (--format tsv has all)") == 2
    rows = list(csv.DictReader(printed(*arguments, "tsv").splitlines(), delimiter="\t"))
    emoticons = [row for row in rows if row["rule"] == "an emoticon has the tag PUNCT"]
    assert [int(row["line"]) for row in emoticons] == list(range(2, 37, 3))
