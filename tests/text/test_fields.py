"""Tables and lines of JSON: one field is rewritten, and all else stays."""

import csv
import io
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyropunct.cli.enclosed import KINDS
from pyropunct.errors import InputError
from pyropunct.text.passages import TextWithLine


def shouted(texts: Sequence[TextWithLine]) -> list[str]:
    return [f"({', '.join(one.text.upper().split())})!" if one.text != "same" else one.text for one in texts]


def never(line: int, problem: str) -> None:
    raise AssertionError(f"{line}: {problem}")


@pytest.mark.parametrize(
    ("kind", "text", "new"),
    [
        ("csv", 'id,text\n"1","a, b"\n2,c\n"3","same"', 'id,text\n"1","(A,, B)!"\n2,(C)!\n"3","same"'),
        ("csv", 'text\n"a\nb"\n"",1\n', 'text\n"(A, B)!"\n"",1\n'),
        ("csv", 'id;text\n1;a b\n"2";"a ""b"""\n', 'id;text\n1;(A, B)!\n"2";"(A, ""B"")!"\n'),
        ("csv", 'n,text\n5" pipe,a b\n', 'n,text\n5" pipe,"(A, B)!"\n'),
        ("csv", 'id;text\n1;5" a\n', 'id;text\n1;(5", A)!\n'),
        ("csv", "sep=|\nid|a,text|text\n1|,|a b\n", "sep=|\nid|a,text|text\n1|,|(A, B)!\n"),
        ("csv", '"a, b, c";text\n1;a b\n', '"a, b, c";text\n1;(A, B)!\n'),
        ("tsv", "text\tid\na b\t1\n", "text\tid\n(A, B)!\t1\n"),
        ("tsv", 'id\ttext\n"1\t"a b\n2\tc"\n3', 'id\ttext\n"1\t("A, B)!\n2\t(C")!\n3'),
        ("jsonl", '{"id": 1, "text": "ä b"}\n\n{"id": 2}\n', '{"id": 1, "text": "(Ä, B)!"}\n\n{"id": 2}\n'),
        (
            "jsonl",
            '{"x":1e400, "text" :"ä b", "text":"a b" ,"y":1.50}',
            '{"x":1e400, "text" :"ä b", "text":"(A, B)!" ,"y":1.50}',
        ),
        (
            "jsonl",
            '{"text": "\\u00e4 b", "e": {"text": "a"}}\n',
            '{"text": "(\\u00c4, B)!", "e": {"text": "a"}}\n',
        ),
        ("jsonl", '{"id": "\u2028", "text": "ä b"}\n', '{"id": "\u2028", "text": "(Ä, B)!"}\n'),
        ("jsonl", f'{{"n": {"1" * 5000}, "text": "a"}}', f'{{"n": {"1" * 5000}, "text": "(A)!"}}'),
    ],
)
def test_fields(kind: str, text: str, new: str) -> None:
    assert KINDS[kind](text, shouted, never, "text") == new


@pytest.mark.parametrize(
    ("kind", "text", "new"),
    [
        ("csv", "a,b,c\nx y,z,x y\n", 'a,b,c\n"(X, Y)!",z,"(X, Y)!"\n'),
        (
            "jsonl",
            '{"a": "x y", "b": "z", "c": "z"}\n{"c": "z"}',
            '{"a": "(X, Y)!", "b": "z", "c": "(Z)!"}\n{"c": "(Z)!"}',
        ),
    ],
)
def test_several_fields(kind: str, text: str, new: str) -> None:
    assert KINDS[kind](text, shouted, never, "c", "a") == new


@pytest.mark.parametrize(
    ("kind", "text", "problem"),
    [
        ("csv", "a,b\n1,2\n", r"there is no column 'text': name one by --field \(a, b\)"),
        ("csv", 'text,b\n\n"a,b\n1,2\n', "line 3: a cell begins with a quote that nothing closes"),
        ("csv", 'text,b\n"a" b,2\n', r"line 2: a cell goes on behind its closing quote \(double quotes.*"),
        ("csv", 'text,b\n"a\n"b,2\n', r"line 3: a cell goes on behind its closing quote \(double quotes.*"),
        ("jsonl", '{"a": 1}\n', r"there is no text 'text': name one by --field \(a\)"),
    ],
)
def test_fields_that_are_not_there(kind: str, text: str, problem: str) -> None:
    with pytest.raises(InputError, match=f"^{problem}$"):
        KINDS[kind](text, shouted, never, "text")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("no", "is no JSON: Expecting value: line 1 column 1 (char 0)"),
        ("[1]", "is no JSON object"),
        ('{"text": "a\\ud800"}', "has half of a character in its text"),
        ('{"a":' + "[" * 100_000, "is JSON that is nested too deeply"),
    ],
)
def test_bad_lines_of_json_stay(line: str, problem: str) -> None:
    """The others are rewritten."""
    told = list[tuple[int, str]]()
    text = f'{{"text": "a"}}\n{line}\n{{"text": "b"}}'
    new = KINDS["jsonl"](text, shouted, lambda *one: told.append(one), "text")
    assert new == f'{{"text": "(A)!"}}\n{line}\n{{"text": "(B)!"}}'
    assert told == [(2, problem)]


cells = st.text(alphabet="a\",;\n\t '", max_size=6)


@given(st.lists(st.tuples(cells, cells), max_size=4), st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
def test_tables_are_read_as_csv_reads_them(rows: list[tuple[str, str]], quoting: int) -> None:
    """An equal rewriting keeps every byte; another one changes one column."""
    out = io.StringIO()
    csv.writer(out, quoting=quoting, lineterminator="\n").writerows([("text", "n"), *rows])
    text = out.getvalue()
    assert KINDS["csv"](text, lambda found: [one.text for one in found], never, "text") == text
    new = KINDS["csv"](text, lambda found: [one.text + "," for one in found], never, "text")
    assert [*csv.reader(io.StringIO(new))] == [["text", "n"], *([text and text + ",", n] for text, n in rows)]


def test_a_row_with_more_cells_than_names_stays() -> None:
    """Its text may go on behind a comma; empty cells at its end are no more than that."""
    told = list[tuple[int, str]]()
    text = "text,id\nso, we went,1\na b,2,\n"
    found = KINDS["csv"](text, shouted, lambda *problem: told.append(problem), "text")
    assert found == 'text,id\nso, we went,1\n"(A, B)!",2,\n'
    assert told == [(2, "has more cells than there are names of columns, 2")]
