"""Bad input: one clear line that names file, line and sentence."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from limits import within

from pyropunct.text.lines import TreebankError, read_lines
from pyropunct.treebank.reading import read_text, read_treebank, require_punctuation


def line(
    number: int | str, form: str = "w", head: int | str = 0, relation: str = "dep", upos: str = "X"
) -> str:
    return "\t".join([str(number), form, "_", upos, "_", "_", str(head), relation, "_", "_"])


GOOD = [line(1), line(2, head=1), ""]


def text(*lines: str) -> str:
    return "\n".join(["# sent_id = s1", *GOOD, "# sent_id = s2", *lines, "", ""])


@pytest.mark.parametrize(
    ("lines", "number", "problem"),
    [
        (["word"], 6, "the line has 1 column, not 10 (separate the columns by single tabs)"),
        (["( (S (NP"], 6, "the line has 1 column, not 10 (run pyropunct convert on bracketed trees)"),
        (["1\tw\t_"], 6, "the line has 3 columns, not 10 (separate the columns by single tabs)"),
        (
            [line(1), line(2, head=1) + "\t_"],
            7,
            "the line has 11 columns, not 10 (separate the columns by single tabs)",
        ),
        ([line(1, form="")], 6, "the column FORM is empty (write _ for no value)"),
        ([line(1, form="a  b")], 6, "the column FORM holds two spaces in a row (write one)"),
        ([line(1), line("x", head=1)], 7, "the id 'x' is not of the form 1, 1-2 or 1.1"),
        ([line("2-1")], 6, "the id '2-1' is not of the form 1, 1-2 or 1.1"),
        ([line("_")], 6, "the line has no id (number the words 1, 2, 3, ...)"),
        ([line(1), line(1, head=1)], 7, "the id 1 occurs twice (a blank line ends a sentence)"),
        ([line(1), line(3, head=1)], 7, "the id 3 is out of order (it should start with 2)"),
        ([line(0)], 6, "the id 0 is out of order (it should start with 1)"),
        ([line(1), line("1-2")], 7, "the id 1-2 is out of order (it should start with 2)"),
        ([line("2.1"), line(1)], 6, "the id 2.1 is out of order (it should start with 0)"),
        ([line("1-3"), line(1), line(2, head=1)], 6, "the range 1-3 ends behind the last word, 2"),
        (
            [line("1-2"), line(1), line("2-3"), line(2, head=1), line(3, head=1)],
            8,
            "the id 2-3 is out of order (it should start with 3)",
        ),
        ([line(1), line(2, head="1 ")], 7, "the head '1 ' is not a whole number"),
        ([line(1), line(2, head="one")], 7, "the head 'one' is not a whole number"),
        (
            [line(1), line(2, head="9" * 5000)],
            7,
            f"the head '{'9' * 254} ... {'9' * 108}' is not a whole number",
        ),
        ([line(1), line(2, head="_")], 7, "the word has no head (write 0 for the root)"),
        ([line(1), line(2, head=3)], 7, "the head 3 is not one of the words 1 to 2"),
        ([line(1), line(2, head=-1)], 7, "the head -1 is not one of the words 1 to 2"),
        ([line(1), line(2, head=2)], 7, "word 2 is its own head"),
        ([line(1, head=2), line(2, head=1)], 5, "no word is the root (give one word the head 0)"),
        (
            [line(1), line(2), line(3, head=1)],
            7,
            "the words 1, 2 are all roots (give one word only the head 0)",
        ),
        (
            [line(1), line(2, head=3), line(3, head=4), line(4, head=2)],
            7,
            "the heads run in a circle: 2 -> 3 -> 4 -> 2",
        ),
    ],
)
def test_malformed_sentence(lines: list[str], number: int, problem: str) -> None:
    with pytest.raises(TreebankError) as caught:
        read_text(text(*lines), "some.conllu")
    assert str(caught.value) == f"some.conllu:{number}: sentence 's2': {problem}"
    assert (caught.value.path, caught.value.line, caught.value.sentence) == ("some.conllu", number, "s2")


def test_a_sentence_without_id_is_named_by_its_position() -> None:
    with pytest.raises(TreebankError, match=r"^f:4: sentence '#2': the head 7 is not one"):
        read_text("\n".join([*GOOD, line(1, head=7)]), "f")


@pytest.mark.parametrize("nothing", ["", "\n\n", "\ufeff", "# only a comment\n\n# and another\n"])
def test_empty_file(nothing: str) -> None:
    with pytest.raises(TreebankError) as caught:
        read_text(nothing, "empty.conllu")
    assert str(caught.value) == "empty.conllu: there is no sentence in the file"


def test_all_sentences_omitted() -> None:
    bad = [line(1, form=",", head=0, upos="PUNCT"), line(2, head=1), ""]
    with pytest.raises(TreebankError) as caught:
        read_text("\n".join(["# a comment", *bad, line(1, ".", upos="PUNCT")]), "f")
    problem = "all 2 sentences are omitted; the first: token 2 depends on the punctuation mark , (token 1)"
    assert str(caught.value) == f"f:1: sentence '#1': {problem}"


def test_no_punctuation() -> None:
    treebank = read_text("\n".join(GOOD), "f")
    with pytest.raises(TreebankError) as caught:
        require_punctuation(treebank)
    assert str(caught.value) == "f: there is no punctuation in the treebank (has it been removed?)"
    with_dot_only = read_text(line(1, "etc."), "f")
    with pytest.raises(TreebankError):
        require_punctuation(with_dot_only)
    require_punctuation(read_text("\n".join([line(1), line(2, "!", 1, "punct")])))


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_not_utf8(mark: bytes) -> None:
    with pytest.raises(TreebankError) as caught:
        list(read_lines(BytesIO(mark + b"# a\n1\tcaf\xe9"), "f"))
    problem = f"byte {9 + len(mark)} is 0xe9, which is not UTF-8 (save the file as UTF-8)"
    assert str(caught.value) == f"f:2: {problem}"


def test_utf16_file(tmp_path: Path) -> None:
    path = tmp_path / "wide.conllu"
    path.write_bytes(line(1).encode("utf-16"))
    with pytest.raises(TreebankError, match=r"wide\.conllu:1: byte 0 is 0xff, which is not UTF-8"):
        read_treebank(path)


def test_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(TreebankError) as caught:
        read_treebank(tmp_path / "missing.conllu")
    assert str(caught.value) == f"{tmp_path}/missing.conllu: there is no such file"
    with pytest.raises(TreebankError, match=r": the file cannot be read: Is a directory$"):
        read_treebank(tmp_path)


@pytest.mark.parametrize(
    "kind",
    [
        lambda good: good.rstrip("\n"),
        lambda good: "\ufeff" + good,
        lambda good: good.replace("\n\n", "\n \t \n\n"),
        lambda good: "\n\n" + good + "\n\n# the end\n",
        lambda good: "# a file comment\n\n" + good,
    ],
)
def test_harmless_oddities(kind: Callable[[str], str]) -> None:
    good = text(line(1), line(2, ".", 1, "punct"))
    expected = [sentence.conllu() for sentence in read_text(good)]
    assert [sentence.conllu() for sentence in read_text(kind(good))] == expected


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_stay(tmp_path: Path, end: str) -> None:
    """Also those of sentences with other marks, and of omitted and malformed ones."""
    path, lines = (
        tmp_path / "x.conllu",
        (line(1), line(2, ".", 1, "punct"), "", line(1, ".", upos="PUNCT"), ""),
    )
    written = text(*lines, line(2)).replace("\n", end)
    path.write_bytes(written.encode())
    treebank = read_treebank(path, skip_bad=True)
    assert "".join(item.conllu() for item in treebank.in_order()) == written
    changed = treebank[1].conllu_with_surface([[], []]), treebank[1].conllu([{"A": "b"}])
    expected = "# sent_id = s2\n1\tw\t_\tX\t_\t_\t0\tdep\t_\t_\n\n"
    assert changed[0] == expected.replace("\n", end)
    assert changed[1].count(end) == len(changed[1].splitlines()) == 4


def test_errors_are_short() -> None:
    """However long what they are about is."""
    size = 3000
    ring = [line(1), *(line(word, head=word - 1 if word > 2 else size) for word in range(2, size + 1))]
    roots = [line(word) for word in range(1, size)]
    name = "n" * size
    for lines, problem in [
        (ring, "the heads run in a circle: 2 -> 3000 -> 2999 -> "),
        (roots, "the words 1, 2, 3, "),
        ([line(1), line(2, head=name)], "the head 'nnn"),
        ([line(1), line(name, head=1)], "the id 'nnn"),
    ]:
        with within(20), pytest.raises(TreebankError) as caught:
            read_text(f"# sent_id = {name}\n" + "\n".join(lines))
        assert problem in str(caught.value)
        assert len(str(caught.value)) < 900


@pytest.mark.parametrize(
    "strange",
    ["\u2028", "\u2029", "\x85", "\x0b", "\x1b[31m", "\x1c", "\r", "\x9b", "\u202e", "\u2066", "\udc80"],
)
def test_errors_are_one_line_of_visible_characters(strange: str) -> None:
    rows = [f"1\ta{strange}b\t_\tPUNCT\t_\t_\t2\tpunct\t_\t_", "2\tc\t_\tX\t_\t_\t1\tdep\t_\t_"]
    texts = ["\n".join(rows), rows[1].replace("1", f"1{strange}1"), rows[1].replace("2\tc", f"{strange}\tc")]
    mark = f"1\t!{strange}!\t_\tPUNCT\t_\t_\t0\troot\t_\t_\n2\tgo\t_\tX\t_\t_\t1\tdep\t_\t_"
    for text in [*texts, f"# sent_id = s{strange}t\n{mark}"]:
        with pytest.raises(TreebankError) as caught:
            read_text(text)
        assert str(caught.value).isprintable()
