"""Sentences read from streams: raw text or CoNLL-U, one at a time."""

import io
import os

import pytest

from pyropunct.embedded import embedded_treebank_path
from pyropunct.restore.items import CHUNK, BadLine, Item, chunks, read_items
from pyropunct.text.conventions import Conventions
from pyropunct.text.lines import LONGEST_LINE, ByteLines, TreebankError
from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN
from pyropunct.text.raw_reader import RawReader
from pyropunct.text.raw_sentence import RawSentence
from pyropunct.treebank.preparing import Omission
from pyropunct.treebank.reading import read_text
from pyropunct.treebank.sentence import Sentence
from pyropunct.vocabulary import Vocabulary

VOCABULARY = Vocabulary((START, ABBREVIATION_DOT, UNKNOWN, "."), ("",), ("",), ("",), ((),))
READER = RawReader(VOCABULARY, Conventions())
CONLLU = (
    "# a comment\n1\tGo\t_\tVERB\t_\t_\t0\troot\t_\t_\n2\t.\t_\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n"
    "1\t!\t_\tPUNCT\t_\t_\t0\troot\t_\t_\n\n\n"
    "# only a comment\n\n"
    "1\tStay\t_\tVERB\t_\t_\t0\troot\t_\t_\n"
)


def items(data: str | bytes, kind: str = "auto", name: str = "x") -> list[Item]:
    data = data.encode() if isinstance(data, str) else data
    return list(read_items(io.BytesIO(data), name, kind, READER))


def test_raw_text() -> None:
    found = items("Go .\n\n  \nStay")
    assert all(isinstance(item, RawSentence) for item in found)
    lines = [(item.line, item.words) for item in found if isinstance(item, RawSentence)]
    assert lines == [(1, ("Go",)), (2, ()), (3, ()), (4, ("Stay",))]


def test_conllu_is_what_a_treebank_has() -> None:
    data = embedded_treebank_path("dev").read_bytes()
    found = items(data)
    assert tuple(found) == read_text(data.decode(), "x").sentences


def test_conllu_omissions_and_positions() -> None:
    first, second, third = items(CONLLU)
    assert isinstance(first, Sentence)
    assert first.surface == ((START,), (".",))
    assert second == Omission("#2", 5, "it has no word")
    assert isinstance(third, Sentence)
    assert (third.identifier, third.layout.block.first_line) == ("#3", 10)


@pytest.mark.parametrize(
    ("data", "kind", "name", "conllu"),
    [
        (CONLLU, "auto", "x", True),
        ("# 1\n\n\n# 2\n" + CONLLU, "auto", "x", True),
        ("1-2\tdel\t_\t_\t_\t_\t_\t_\t_\t_\n", "conllu", "x", None),
        ("# a comment\nGo .\n", "auto", "x", False),
        ("1\tGo home\n", "auto", "x", False),
        ("# 1\n", "auto", "x", False),
        ("#\n" * 1200 + CONLLU, "auto", "x", False),
        (CONLLU, "text", "x.conllu", False),
        ("Go .\n", "auto", "x.conllu", None),
        ("Go .\n", "conllu", "x", None),
    ],
)
def test_kinds(data: str, kind: str, name: str, conllu: bool | None) -> None:
    """None: what is no CoNLL-U although it should be is an error."""
    if conllu is None:
        with pytest.raises(TreebankError):
            items(data, kind, name)
    else:
        assert any(isinstance(item, Sentence) for item in items(data, kind, name)) is conllu


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"1\ta\t\0", "x:1: the line holds a zero byte"),
        (CONLLU.encode() + b"2\tx\n", "x:11: sentence '#3': the line has 2 columns, not 10"),
        (CONLLU.encode() + b"\n1\t\xff\n", "x:12: byte "),
    ],
)
def test_bad_input(data: bytes, problem: str) -> None:
    with pytest.raises(TreebankError) as caught:
        items(data)
    assert str(caught.value).startswith(problem)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"\xffb\n", "x:2: byte 2 is 0xff, which is not UTF-8"),
        ("Grüß\n".encode("latin-1"), "x:2: byte 4 is 0xfc, which is not UTF-8"),
        (b"\x7fELF\x00\x00\n", "x:2: the line holds a zero byte"),
        (b"b" * (LONGEST_LINE + 1) + b"\n", "x:2: the line is longer than a megabyte"),
        (b"b" * (3 * LONGEST_LINE) + b"\xff\n", "x:2: the line is longer than a megabyte"),
    ],
)
def test_bad_lines_are_passed_through(line: bytes, problem: str) -> None:
    """However long one is, and lines behind it are read."""
    first, *bad, last = items(b"a\n" + line + b"c\n")
    assert (first, last) == (READER.read("a", 1), READER.read("c", 3))
    pieces = [one for one in bad if isinstance(one, BadLine)]
    assert b"".join(one.text.encode(errors="surrogateescape") for one in pieces) == line
    assert str(pieces[0].problem).startswith(problem)
    assert not any(one.problem for one in pieces[1:])


def test_ends_of_lines_are_remembered() -> None:
    found = items(" a b \r\n\r\n\tc.\r")
    ends = [(one.text, one.before, one.behind, one.end) for one in found if isinstance(one, RawSentence)]
    assert ends == [(" a b ", " ", " ", "\r\n"), ("", "", "", "\r\n"), ("\tc.\r", "\t", "\r", "\n")]


def test_chunks_are_what_is_at_hand() -> None:
    """Nobody waits for the result of a line until the next one comes."""
    reading, writing = os.pipe()
    with open(reading, "rb") as stream, open(writing, "wb", buffering=0) as pipe:
        lines = ByteLines(stream)
        groups = chunks(read_items(lines, "x", "text", READER), lines)
        pipe.write(b"a\nb\n")
        assert [one.text for one in next(groups) if isinstance(one, RawSentence)] == ["a", "b"]
        pipe.write(b"c\n")
        assert [one.text for one in next(groups) if isinstance(one, RawSentence)] == ["c"]
        pipe.write(b"d\n" * (CHUNK + 1))
        assert len(next(groups)) == CHUNK


def test_reading_is_lazy() -> None:
    """The first sentence is there when it was written; of the second, not all is."""
    for text in ("Go .\nStay", CONLLU.split("\n\n", maxsplit=1)[0] + "\n\n1\tStay\t_\t"):
        stream = io.BytesIO(text.encode())
        assert next(read_items(stream, "x", "auto", READER)) is not None
