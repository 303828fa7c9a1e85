"""Marks beside constituents on the page, counted by hand."""

import re
from collections import Counter
from pathlib import Path

import pytest
from command_line import answer, complaint, printed

from pyropunct.embedded import embedded_treebank_path
from pyropunct.tasks.explain.examples import example_of
from pyropunct.tasks.explain.kinds import FINITE, LENGTH, PLACE, likenesses
from pyropunct.tasks.explain.sprouted import ANY, PAGE, PUNCTEMES, SYMMETRIC, examples_beside, marks_beside
from pyropunct.tasks.explain.tallies import share_of
from pyropunct.treebank.reading import read_text

TEXT = """\
# sent_id = behind
1 the _ DET _ _ 2 det
2 man _ NOUN _ _ 7 nsubj
3 , _ PUNCT _ _ 5 punct
4 who _ PRON _ _ 5 nsubj
5 saw _ VERB _ VerbForm=Fin 2 acl:relcl
6 , _ PUNCT _ _ 5 punct
7 left _ VERB _ VerbForm=Fin 0 root
8 . _ PUNCT _ _ 7 punct

# sent_id = end
1 people _ NOUN _ _ 0 root
2 — _ PUNCT _ _ 4 punct
3 who _ PRON _ _ 4 nsubj
4 saw _ VERB _ VerbForm=Fin 1 acl:relcl
5 . _ PUNCT _ _ 1 punct

# sent_id = other
1 seen _ VERB _ VerbForm=Part 2 acl
2 people _ NOUN _ _ 3 nsubj
3 left _ VERB _ VerbForm=Fin 0 root

"""
"""Columns apart by spaces, without the last two."""


def in_columns(text: str) -> str:
    return "\n".join(
        "\t".join([*line.split(" "), "_", "_"]) if line[:1].isdigit() else line for line in text.split("\n")
    )


LINES = in_columns(TEXT)
BOTH = [PLACE, FINITE]


def test_marks_beside_by_hand() -> None:
    found = marks_beside(read_text(LINES).sentences)
    counted = {of: (tally.total, tally.outcomes) for (table, of), tally in found.items() if table == PAGE}
    assert counted["before acl:relcl"] == (2, {"a comma": 1, "another mark": 1})
    assert counted["behind acl:relcl"] == (1, {"a comma": 1, "another mark": 0})
    assert counted["on both sides of acl:relcl"] == (1, {"commas": 1})
    assert counted["behind acl (no subtype)"] == (1, {"a comma": 0, "another mark": 0})
    assert counted["before acl"] == counted["before acl:relcl"]  # nothing stands before the other one
    assert "before acl (no subtype)" not in counted
    assert not any("nsubj (no subtype)" in of or "root" in of for of in counted)
    split = {of: tally.total for (_, of), tally in marks_beside(read_text(LINES).sentences, BOTH).items()}
    assert split["before acl:relcl, behind its head, finite"] == 2
    assert split["behind acl, before its head, not finite"] == 1
    assert split["behind acl (no subtype), before its head, not finite"] == 1


def test_own_counts_from_the_columns_are_the_same() -> None:
    """Commas before constituents with words on their left, by place and finiteness, without tree or slots."""
    own = Counter[tuple[str, bool]]()
    text = embedded_treebank_path("test").read_text(encoding="utf-8")
    text = re.sub(r"(?m)^(\d*[02468]\t.*\t(?:VERB|AUX)\t.*?\t)_(?=\t)", r"\1VerbForm=Fin", text)  # a part
    for block in text.strip().split("\n\n"):
        rows = [line.split("\t") for line in block.split("\n") if line[0].isdigit()]
        heads = {int(row[0]): int(row[6]) for row in rows}
        words = [int(row[0]) for row in rows if row[3] != "PUNCT"]
        for word in filter(heads.get, words):
            inside, size = {word}, 0
            while size < len(inside):
                size = len(inside)
                inside |= {one for one in words if heads[one] in inside}
            if first := [one for one in words if one < min(inside)][-1:]:
                before = {row[1] for row in rows[first[0] : min(inside) - 1]}
                side = "before" if word < heads[word] else "behind"
                relation = rows[word - 1][7].partition(":")[0]
                verbs = [
                    one for one in words if heads[one] == word and rows[one - 1][7][:3] in ("cop", "aux")
                ]
                is_finite = any("VerbForm=Fin" in rows[one - 1][5] for one in (word, *verbs))
                kind = "finite" if is_finite else "not finite"
                own[f"before {relation}, {side} its head, {kind}", "," in before] += 1
    found = marks_beside(read_text(text).sentences, BOTH)
    assert {"finite", "not finite"} == {of.rpartition(", ")[2] for of, _ in own}
    assert len({of for of, _ in own}) > 10
    for of in {of for of, _ in own}:
        total, outcomes = found[PAGE, of]
        assert (total, outcomes["a comma"]) == (own[of, True] + own[of, False], own[of, True])


def test_examples_have_the_marks_of_their_row() -> None:
    found = examples_beside(read_text(LINES).sentences, 2)
    [comma] = found[PAGE, "before acl:relcl", "a comma"]
    [dash] = found[PAGE, "before acl:relcl", "another mark"]
    assert (comma.id, comma.place) == ("behind", ", who saw ,")
    assert (dash.id, dash.place) == ("end", "— who saw .")


def test_what_constituents_are_like() -> None:
    like = likenesses(read_text(LINES).sentences, [PLACE, LENGTH, FINITE, "VerbForm"])
    assert like[0][3] == ", behind its head, 2–3 words, finite, VerbForm=Fin"
    assert like[2][0] == ", before its head, 1 word, not finite, VerbForm=Part"
    assert like[2][2].startswith(", root, 2–3 words")
    [[word, *_]] = likenesses([read_text(LINES.replace("VerbForm=Fin", "_")).sentences[2]], [FINITE])
    assert word == ", finite or not is unknown"


@pytest.mark.parametrize("options", [(), ("--by", "place")])
def test_a_page_needs_no_model(options: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "xx_made-ud-test.conllu"
    file.write_text(LINES, encoding="utf-8")
    value = answer("typology", "--page", file, "--least", 1, "--match", "before acl:relcl.*a comma", *options)
    [row] = value["shares"]
    assert row["of"] == "before acl:relcl" + (", behind its head" if options else "")
    assert (row["language"], row["file"]) == ("xx_made", str(file))
    assert (row["expected"], row["total"], row["share"]) == (1, 2, 0.5)
    assert 0 < row["low"] < 0.5 < row["high"] < 1


def test_a_page_has_no_model(small: Path) -> None:
    assert "needs no model" in complaint(2, "typology", "--page", small / "model", small / "dev.conllu")
    assert "--by splits rows of FILEs" in complaint(2, "typology", small / "model", "--by", "place")


QUOTING = """\
1 um _ DET _ _ 2 det
2 caso _ NOUN _ _ 0 root
3 que _ PRON _ _ 6 nsubj
4 é _ AUX _ _ 6 cop
5 " _ PUNCT _ _ 6 punct
6 sistema _ NOUN _ _ 2 acl:relcl
7 de _ ADP _ _ 8 case
8 mérito _ NOUN _ _ 6 nmod
9 " _ PUNCT _ _ 6 punct

"""


def test_a_place_cuts_no_quotation() -> None:
    """The bare constituent gets the closing mark; the one inside of the quotation has no mark of it."""
    [sentence] = read_text(in_columns(QUOTING)).sentences
    quoted = example_of(sentence, sentence.layout.words[2:7], 3)
    inside = example_of(sentence, (7, 8, 9), 5)
    assert (quoted.place, inside.place) == ('que é " sistema de mérito "', "de mérito")


def test_pairs_of_marks_on_the_page(tmp_path: Path) -> None:
    """Several treebanks have the numbers that each has alone, and Wilson's intervals of both."""
    found = marks_beside(read_text(LINES).sentences)
    assert found[PUNCTEMES, "beside root"].total == 3
    pairs = {ANY: 2, SYMMETRIC: 1, ", | ,": 1, "— | .": 1}
    assert found[PUNCTEMES, "beside acl:relcl"] == (2, pairs)
    files = [tmp_path / "one.conllu", tmp_path / "two.conllu"]
    for file in files:
        file.write_text(LINES, encoding="utf-8")
    asked = ("typology", "--page", *files, "--least", 1, "--match", "beside acl:relcl", "--examples", 1)
    rows = answer(*asked)["shares"]
    assert [(row["outcome"], row["language"]) for row in rows] == [
        (outcome, language) for outcome in pairs for language in ("one", "two")
    ]
    for row in rows:
        assert (row["expected"], row["total"]) == (pairs[row["outcome"]], 2)
        assert (row["low"], row["high"]) == share_of(row["expected"], 2, 0.975)[2:]
    assert [row["examples"][0]["place"] for row in rows[-2:]] == ["— who saw ."] * 2
    header, *table = (row.split("\t") for row in printed(*asked, "--format", "tsv").splitlines())
    assert {row[header.index("file")] for row in table} == {str(file) for file in files}
