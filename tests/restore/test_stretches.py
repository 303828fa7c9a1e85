"""A text in parts of one language each, as commands read it."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyropunct.restore.stretches import in_languages, text_in_languages
from pyropunct.text import languages
from pyropunct.text.lines import ByteLines, Start, TextPart

KNOWN = ("de", "fr", "ru")
GERMAN = "Wir mussten eine Stunde warten, bevor der Zug endlich abfuhr."
FRENCH = "nous avons dû attendre une heure avant le départ du train"
RUSSIAN = "нам пришлось ждать целый час, пока поезд наконец не ушёл"
JAPANESE = "電車がやっと出るまで一時間も待たなければならなかった。"
TEXT = f"{GERMAN}\n\nHm.\n{FRENCH}\r\n{FRENCH}\n  \n{RUSSIAN}  \n\t\n{' '.join([GERMAN] * 40)}"
"""The last line has no end, and is longer than what is looked at."""


class Pipe(io.BytesIO):
    """Gives a few bytes at a time."""

    def __init__(self, content: bytes, size: int) -> None:
        super().__init__(content)
        self._size = size

    def read1(self, size: int | None = -1) -> bytes:
        return super().read1(self._size)


def stretches(text: str, size: int, running: bool) -> list[tuple[str, Start, str]]:
    part = TextPart(Pipe(text.encode(), size), "text.txt", "auto")
    found = in_languages(part, KNOWN, running)
    return [(code, one.start, b"".join(ByteLines(one.stream)).decode()) for code, one in found]


@pytest.mark.parametrize("running", [False, True])
def test_it_does_not_matter_how_a_pipe_delivers(running: bool) -> None:
    assert len(TEXT) > languages.HEAD
    whole = stretches(TEXT, 1 << 16, running)
    assert "".join(text for *_, text in whole) == TEXT
    assert [(code, text) for code, _, text in whole] == text_in_languages(TEXT, KNOWN, running)
    assert [code for code, *_ in whole] == ["de", "fr", "ru", "de"]
    for size in (1, 7, 100):
        assert stretches(TEXT, size, running) == whole
    for (_, start, _), before in zip(whole[1:], whole, strict=False):
        assert start.line == before[1].line + before[2].count("\n")
        assert start.offset == before[1].offset + len(before[2].encode())


FRAGMENTS = ["\n", "\n\n", "\r\n", " ", "\t", " \n", "Ja.", "OK", "12", "\ufeff", "\ud7ff", "…", "id\t2\t"]
FRAGMENTS += [GERMAN, FRENCH, RUSSIAN, "我们等了一个小时", "musieliśmy czekać godzinę ", "हमें इंतज़ार करना पड़ा "]
texts = st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join)


@given(texts, st.sampled_from([1, 2, 10, 100, 1000]), st.booleans())
def test_pieces_of_any_text(text: str, size: int, running: bool) -> None:
    found = [(code, lines) for code, _, lines in stretches(text, size, running)]
    assert found == text_in_languages(text, KNOWN, running)


def test_a_treebank_has_one_language_and_an_empty_text_too() -> None:
    rows = (f"{number}\t{word}\t_\tX\t_\t_\t0\troot\t_\t_\n" for number, word in enumerate(FRENCH.split(), 1))
    treebank = "".join(rows) + "\n"
    assert stretches(treebank, 9, False) == [("fr", Start(), treebank)]
    assert [(start, text) for _, start, text in stretches("", 9, False)] == [(Start(), "")]


LINES = [
    "OK",
    GERMAN,
    "",
    "Ja.",
    "Oui.",
    FRENCH,
    "Hm.",
    RUSSIAN,
    "12",
    "Да.",
    JAPANESE,
]
"""A line without letters, or a very short one, is in the language of the line before."""


def test_each_line_has_a_language() -> None:
    text = "\n".join(LINES)
    found = text_in_languages(text, ["de", "fr", "ru"])
    assert "".join(lines for _, lines in found) == text
    assert [(code, lines.count("\n") or 1) for code, lines in found][-3:] == [
        ("fr", 2),
        ("ru", 3),
        ("ja", 1),
    ]
    assert found[-4][0] == "de"
    running = "\n".join([GERMAN, "Oui.", " ", FRENCH])
    paragraphs = text_in_languages(running, ["de", "fr"], True)
    assert [code for code, _ in paragraphs] == ["de", "fr"]
    assert text_in_languages("", ["de"]) == [("de", "")]
