"""Shards: one after the other they are the text, and each knows where it begins."""

import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyropunct.cli import shards
from pyropunct.cli.shards import Job, Shard, cut, make, text_of
from pyropunct.text.lines import LONGEST_LINE, ByteLines, Start, TextPart, TreebankError, lines_or_errors
from pyropunct.treebank.preparing import Omission
from pyropunct.treebank.reading import sentences_or_errors
from pyropunct.treebank.sentence import Sentence

WORD = b"1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n"
LINES = (
    WORD,
    WORD,
    b"\n",
    b"\n",
    b" \r\n",
    "\u00a0\n".encode(),
    b"# sent_id = a\n",
    b"# comment\xff\n",
    b"1\tno columns\n",
    b"\xff\n",
    b"\0\n",
    b"1\t!\t!\tPUNCT\t_\t_\t0\troot\t_\t_\n",
)
"""Lines of sentences, of one without words, and of some that cannot be read."""


def pieces(file: Path, found: tuple[Shard, ...]) -> list[bytes]:
    """The text of each shard, read in small pieces."""
    texts = []
    for shard in found:
        with text_of(shard) as stream:
            texts.append(b"".join(ByteLines(stream)))
    return texts


@pytest.mark.parametrize(
    ("most", "whole", "sizes"), [(2, False, [2, 2, 1]), (1, True, [3, 2]), (9, True, [5])]
)
def test_raw_text(tmp_path: Path, most: int, whole: bool, sizes: list[int]) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"a\nb \n \r\nc\nd")
    found = cut(str(file), "auto", most, whole)
    assert found.kind == "text"
    assert [shard.sentences for shard in found.shards] == sizes
    assert b"".join(pieces(file, found.shards)) == file.read_bytes()
    assert [shard.start.line for shard in found.shards] == [1 + sum(sizes[:n]) for n in range(len(sizes))]


@pytest.mark.parametrize("before", [b"", b"\n"])
def test_conllu_plus_stays_whole(tmp_path: Path, before: bytes) -> None:
    """Its first line says what the columns of all sentences are."""
    file = tmp_path / "a.conllup"
    named = b"# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC\n"
    for first, sizes in ((b"", [1, 1, 1]), (named, [3])):
        file.write_bytes(before + first + (WORD + b"\n") * 3)
        assert [shard.sentences for shard in cut(str(file), "auto", 1).shards] == sizes


def test_long_lines_stay_whole_and_end_a_shard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "LARGEST", 3_000_000)
    file = tmp_path / "a.txt"
    file.write_bytes(b"a\n" + b"b" * 3_000_000 + b"\nc\n")
    first, second = cut(str(file), "text", 100).shards
    assert (first.sentences, second.sentences, second.start) == (2, 1, Start(3, 3_000_003, 2))


def test_no_shard_ends_inside_a_line_that_is_read_in_pieces(tmp_path: Path) -> None:
    """Behind the first piece, or before the second, which is a line end alone."""
    long = b"#" * LONGEST_LINE + b"\n"
    text, conllu = tmp_path / "a.txt", tmp_path / "a.conllu"
    text.write_bytes(b"a\n" + long + b"c\n")
    conllu.write_bytes(WORD + long + WORD + b"\n" + WORD)
    assert [shard.size for shard in cut(str(text), "text", 1).shards] == [2, len(long), 2]
    sizes = [shard.size for shard in cut(str(conllu), "conllu", 1).shards]
    assert sizes == [2 * len(WORD) + len(long) + 1, len(WORD)]


def described(item: Sentence | Omission | TreebankError) -> tuple[object, ...]:
    if isinstance(item, TreebankError):
        return (str(item),)
    line = item.line if isinstance(item, Omission) else item.layout.block.first_line
    return (item.identifier, line, item.conllu())


def read(stream: io.BufferedIOBase, start: Start) -> list[tuple[object, ...]]:
    lines = lines_or_errors(ByteLines(stream), "x", start)  # type: ignore[arg-type]
    return [described(item) for item in sentences_or_errors(lines, "x", start)]


@given(st.lists(st.sampled_from(LINES), max_size=40).map(b"".join), st.integers(1, 4), st.booleans())
def test_sentences_are_those_of_the_whole_file(
    tmp_path_factory: pytest.TempPathFactory, text: bytes, most: int, bom: bool
) -> None:
    """Identifiers, line numbers and errors too."""
    file = tmp_path_factory.getbasetemp() / "a.conllu"
    file.write_bytes(b"\xef\xbb\xbf" * bom + text)
    found = cut(str(file), "auto", most).shards
    assert all(shard.sentences == most for shard in found[:-1])
    items = []
    for shard in found:
        with text_of(shard) as stream:
            own = read(stream, shard.start)  # type: ignore[arg-type]
        assert len(own) == shard.sentences
        items += own
    assert items == read(io.BytesIO(file.read_bytes()), Start())  # type: ignore[arg-type]


def test_shards_of_a_compressed_file_begin_where_their_text_does(tmp_path: Path) -> None:
    file = tmp_path / "a.txt.gz"
    file.write_bytes(gzip.compress(b"a\nbc\nd\n"))
    assert pieces(file, cut(str(file), "auto", 1).shards) == [b"a\n", b"bc\n", b"d\n"]


def test_the_sum_is_that_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"a\nb\n")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"a\nb\n"))
    (tmp_path / "c.txt").write_bytes(b"a\nc\n")
    sums = [cut(str(tmp_path / name), "auto", 1).checksum for name in ("a.txt", "b.txt.gz", "c.txt")]
    assert sums[0] == sums[1] != sums[2]


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    """A job that writes lines in capital letters, but rejects those with digits and cannot stand an x."""

    def shout(part: TextPart, out: io.TextIOBase, reject: object) -> None:
        for number, line in enumerate(ByteLines(part.stream), part.start.line):
            if b"x" in line:
                raise ValueError("there is\nan x")
            if line[:1].isdigit():
                reject(TreebankError(part.name, "a digit", number))  # type: ignore[operator]
            else:
                out.write(line.decode().upper())

    monkeypatch.setattr(shards, "_loaded", lambda job: shout)
    (tmp_path / "out").mkdir()
    return Job("", "", "", (), 1, str(tmp_path / "out"), ".txt")


def test_a_shard_is_made(job: Job, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"a\n1\nb\n2\nx\n")
    one, two, three = cut(str(file), "text", 2).shards
    assert make(job, one._replace(number=1, name="a")) is None
    assert make(job, two._replace(number=2, name="a")) is None
    assert make(job, three._replace(number=3)) == "ValueError: there is an x"
    written = {path.name: path.read_text() for path in (tmp_path / "out").iterdir()}
    assert written == {
        "00000001-a.txt": "A\n",
        "00000001-a.rejects.tsv": f"{file}\t2\ta digit\n",
        "00000002-a.txt": "B\n",
        "00000002-a.rejects.tsv": f"{file}\t4\ta digit\n",
    }


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("later", [b"a\n1\nB\n2\n", b"a\n1\n2\nb\n", b"a\n1\nb\n"])
def test_a_file_that_has_changed(later: bytes, compressed: bool, job: Job, tmp_path: Path) -> None:
    """The shard whose text has changed fails, and those before it do not."""
    file, write = tmp_path / ("a.txt.gz" if compressed else "a.txt"), gzip.compress if compressed else bytes
    file.write_bytes(write(b"a\n1\nb\n2\n"))
    one, two = cut(str(file), "text", 2).shards
    file.write_bytes(write(later))
    assert make(job, one._replace(number=1, name="a")) is None
    problem = make(job, two._replace(number=2, name="a"))
    assert problem == f"{file}: has changed since this run began: it would be cut elsewhere"
    assert not list((tmp_path / "out").glob("00000002*"))
