"""Lines of raw text as words and marks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from limits import within

from pyropunct.text import raw_reader
from pyropunct.text.conventions import Capitals, Conventions, SpacingStatistics
from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN
from pyropunct.text.raw_reader import RawReader
from pyropunct.vocabulary import Vocabulary

DOT = ABBREVIATION_DOT
MARKS = (
    "!", "!!!", "(", ")", ",", "-", "--", ".", "...", "/", ":", ";", "?", "?!", "¿", "—", "‘", "’", "“", "”",
    "，", "。",
)  # fmt: skip
WORDS = ("", "&", "%", ":)", "/", "yahoo!", "mr")
VOCABULARY = Vocabulary((START, DOT, UNKNOWN, *MARKS), ("",), ("",), WORDS, ((),))
READER = RawReader(VOCABULARY, Conventions(abbreviations=frozenset(["mr", "etc"])))


def read(text: str) -> tuple[tuple[str, ...], Mapping[int, Sequence[str]]]:
    """The words of a line, and the marks of the slots that have some."""
    found = READER.read(text)
    assert len(found.surface) == len(found.words) + 1
    assert found.surface[0][0] == START
    marks = {slot: [token for token in tokens if token != START] for slot, tokens in enumerate(found.surface)}
    return found.words, {slot: tokens for slot, tokens in marks.items() if tokens}


@pytest.mark.parametrize(
    ("text", "words", "marks"),
    [
        ("", (), {}),
        ("hello", ("hello",), {}),
        ("Hello , Ann !", ("Hello", "Ann"), {1: [","], 2: ["!"]}),
        ("Hello, Ann!", ("Hello", "Ann"), {1: [","], 2: ["!"]}),
        # spaces of all kinds
        ("  a \t b\u00a0c\u2009d\u3000e\u200bf\ufeff ", tuple("abcdef"), {}),
        # the longest mark
        ("a... b!!! c?! d!?", ("a", "b", "c", "d"), {1: ["..."], 2: ["!!!"], 3: ["?!"], 4: ["!", "?"]}),
        ("... a ?!?! b", ("a", "b"), {0: ["..."], 1: ["?!", "?!"]}),
        # marks before and after
        ("(an) [b] ¿c?", ("an", "[b]", "c"), {0: ["("], 1: [")"], 2: ["¿"], 3: ["?"]}),
        ("(a (b)).", ("a", "b"), {0: ["("], 1: ["("], 2: [")", ")", "."]}),
        # brackets of words
        ("f(x) (s)he (f(x)) ha:)", ("f(x)", "(s)he", "f(x)", "ha"), {2: ["("], 3: [")"], 4: [":", ")"]}),
        ("(see f(g(a, b), c)).", ("see", "f(g(a", "b)", "c)"), {0: ["("], 2: [","], 3: [","], 4: [")", "."]}),
        ("g(a, b c", ("g(a", "b", "c"), {1: [","]}),
        # numbers
        ("3.14 1,000, 7.", ("3.14", "1,000", "7"), {2: [","], 3: ["."]}),
        # hyphens and dashes
        ("well-known pre- -5 - x", ("well-known", "pre-", "-5", "x"), {3: ["-"]}),
        ("a--b c— —d 1990—1995", ("a", "b", "c", "d", "1990—1995"), {1: ["--"], 3: ["—", "—"]}),
        # slashes and addresses
        ("x/y / http://a.b/, w.a.org.", ("x/y", "/", "http://a.b/", "w.a.org"), {3: [","], 4: ["."]}),
        ("(see http://a—b.c/d--e)", ("see", "http://a—b.c/d--e"), {0: ["("], 2: [")"]}),
        # known words of punctuation
        ("R & D 5% :) yahoo! Yahoo!", ("R", "&", "D", "5%", ":)", "yahoo!", "Yahoo!"), {}),
        # unknown marks
        ("a ‽ b† ** c", ("a", "b†", "**", "c"), {1: ["‽"]}),
        # operators, faces, rulers, and dashes between numbers
        ("3 < 5 == a | b -> c", ("3", "<", "5", "==", "a", "|", "b", "->", "c"), {}),
        ("a ;-) b :-/ c --- d ---- e", ("a", ";-)", "b", ":-/", "c", "d", "----", "e"), {5: ["--", "-"]}),
        ("1841 - 1902 a - 5", ("1841", "-", "1902", "a", "5"), {4: ["-"]}),
        # inches
        ("6' 2\", tall", ("6'", '2"', "tall"), {2: [","]}),
        ('"2" "x 2"', ("2", "x", "2"), {0: ["“"], 1: ["”", "“"], 3: ["”"]}),
        # scripts without spaces
        ("你好，我 在。 3，0", ("你好", "我", "在", "3，0"), {1: ["，"], 3: ["。"]}),
        ("我昨天去了北京，看到他", ("我", "昨天", "去", "了", "北京", "看到他"), {5: ["，"]}),
        ("東京に行きました。", ("東京", "に", "行き", "まし", "た"), {5: ["。"]}),
    ],
)  # fmt: skip
def test_marks(text: str, words: tuple[str, ...], marks: Mapping[int, Sequence[str]]) -> None:
    assert read(text) == (words, marks)


def test_a_long_text_without_spaces_is_cut_too() -> None:
    text = "我昨天去了北京" * 1000
    words, _ = read(text)
    assert "".join(words) == text
    assert len(words) > 4000


@pytest.mark.parametrize(
    ("text", "words", "marks"),
    [
        ("Mr. A. Hayes", ("Mr", "A", "Hayes"), {1: [DOT], 2: [DOT]}),
        ("in the U.S. or a.m.", ("in", "the", "U.S", "or", "a.m"), {3: [DOT], 5: [DOT]}),
        ("a Ph.D., etc.", ("a", "Ph.D", "etc"), {2: [DOT, ","], 3: [DOT]}),
        ("(etc.) vs.; x", ("etc", "vs", "x"), {0: ["("], 1: [DOT, ")"], 2: [DOT, ";"]}),
        ("He came. She left.", ("He", "came", "She", "left"), {2: ["."], 4: ["."]}),
        ("etc... etc .", ("etc", "etc"), {1: ["..."], 2: ["."]}),
    ],
)
def test_abbreviations(text: str, words: tuple[str, ...], marks: Mapping[int, Sequence[str]]) -> None:
    assert read(text) == (words, marks)


@pytest.mark.parametrize(
    ("text", "words", "marks"),
    [
        ('"a" he said', ("a", "he", "said"), {0: ["“"], 1: ["”"]}),
        ('" a b " c', ("a", "b", "c"), {0: ["“"], 2: ["”"]}),
        ('a "b."', ("a", "b"), {1: ["“"], 2: [".", "”"]}),
        ("``a''", ("a",), {0: ["“"], 1: ["”"]}),
        ('a " b', ("a", "b"), {1: ['"']}),
        ("“a”", ("a",), {0: ["“"], 1: ["”"]}),
        ("the dogs' don’t dogs’", ("the", "dogs'", "don’t", "dogs’"), {}),
        ("‘a’ don’t ‘b c’.", ("a", "don’t", "b", "c"), {0: ["‘"], 1: ["’"], 2: ["‘"], 4: ["’", "."]}),
    ],
)
def test_quotation_marks(text: str, words: tuple[str, ...], marks: Mapping[int, Sequence[str]]) -> None:
    assert read(text) == (words, marks)


@pytest.mark.parametrize(
    ("text", "words", "marks"),
    [
        ("我在（家），他呢？！", ("我在", "家", "他呢"), {1: ["("], 2: [")", "，"], 3: ["?!"]}),
        ("他 说 ： 好 。", ("他", "说", "好"), {2: [":"], 3: ["。"]}),
        ("a［b］", ("a［b］",), {}),
    ],
)
def test_marks_of_full_width(text: str, words: tuple[str, ...], marks: Mapping[int, Sequence[str]]) -> None:
    """They are the model's narrow ones where it knows these alone, as treebanks of Chinese may have them."""
    assert read(text) == (words, marks)


LONG = 10_000


@pytest.mark.parametrize(
    ("text", "words", "marks"),
    [
        ("Introduction" + "." * LONG + "12", 1, 0),
        ("Introduction" + "." * LONG, 1, LONG // 3 + 1),
        ("." * LONG + "1", 1, 0),
        ("," * LONG, 0, LONG),
        ("," * LONG + "¶", 0, 1),
        ("(" * LONG + "a" + ")" * LONG, 1, 2 * LONG),
        ("a--" * LONG, LONG, LONG),
        ("，" * LONG + "a", 1, LONG),
        ("‘" * LONG, 0, LONG),
        ("‘a" * LONG + "’b", 1, 1),
        ("‘a’ " * LONG, LONG, 2 * LONG),
        ("’" * LONG + "a" + "’" * LONG, 1, 0),
        ("a.b" * LONG, 1, 0),
        ("l'" * LONG + "a", 1, 0),
        ("a " * LONG, LONG, 0),
        (" " * LONG + "\u200b" * LONG, 0, 0),
    ],
    ids=range(16),
)
def test_reading_takes_linear_time(text: str, words: int, marks: int) -> None:
    clitics = Conventions(SpacingStatistics({}, frozenset(["'s"]), frozenset(["l'"])))
    with within(5):
        found = RawReader(VOCABULARY, clitics).read(text)
    assert (len(found.words), sum(map(len, found.surface)) - 1) == (words, marks)


def test_no_mark_is_lost_where_two_overlap() -> None:
    reader = RawReader(
        Vocabulary((START, DOT, UNKNOWN, "?", "?!", "!!"), ("",), ("",), ("",), ((),)), Conventions()
    )
    assert reader.read("a?!!").surface[1] == ("?", "!!")


def test_a_line_is_remembered() -> None:
    found = READER.read(" (a) ", 17)
    assert (found.line, found.text) == (17, " (a) ")


def test_a_model_without_marks() -> None:
    """What is nothing but punctuation is a mark all the same."""
    reader = RawReader(Vocabulary((START, DOT, UNKNOWN), ("",), ("",), ("",), ((),)), Conventions())
    found = reader.read("a, b . c")
    assert (found.words, found.surface) == (("a,", "b", "c"), ((START,), (), (".",), ()))


def test_words_are_read_as_before_whatever_else_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raw_reader, "REMEMBERED", 2)
    reader, lines = RawReader(VOCABULARY, READER.conventions), ["Hello, Ann!", "mr. Ann!", "Hello, mr. Bo..."]
    assert [reader.read(line) for line in lines * 2] == [READER.read(line) for line in lines * 2]


ENGLISH = RawReader(
    replace(VOCABULARY, forms=("", "of", "tv")),
    Conventions(
        abbreviations=frozenset(["co", "dr", "e.g", "gov", "inc", "jr", "ltd", "mr"]),
        capitals=Capitals(
            {"al": (0, 6), "rep": (0, 6), "no": (2, 50), "man": (1, 36), "etc": (0, 14), "jan": (7, 7)}, {}
        ),
    ),
)


@pytest.mark.parametrize(
    ("text", "dots"),
    [
        ("mrs. Hill of Corp. Hill", [1, 4]),  # of the language's list alone
        ("on Jan. 5 and jan.", [2, 5]),
        ("No. 5, no. 6 no. I see a man. He", [1, 3]),  # ordinary words, before digits
        ("Rep. Hill saw Rep. Hill etc. of", [4, 6]),  # with a capital letter inside, or never words
        ("Is it? No. it is no. it", [3, 6]),  # before a small letter
        ("is it? no. it is a man. he", []),
        ("Hill et al. (2010) saw al. (2010)", [3]),
    ],
)
def test_abbreviations_of_the_language(text: str, dots: Sequence[int]) -> None:
    found = ENGLISH.read(text)
    assert [slot for slot, tokens in enumerate(found.surface) if DOT in tokens] == dots
    assert RawReader(VOCABULARY, Conventions()).read("mrs. Hill").surface[1] == (".",)


@pytest.mark.parametrize(
    "marker", ["1. ", "  - ", "2) ", "(a) ", "*\t", "• ", "## ", "> > ", "iv) ", "– 12. ", "-- "]
)
def test_list_markers_belong_to_the_white_space(marker: str) -> None:
    found = READER.read(marker + "an item")
    assert (found.before, found.words, found.surface) == (marker, ("an", "item"), ((START,), (), ()))
    assert READER.read(marker).before == ""


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("see http://a.b user@b.org java_home main.py /usr/bin -la f(x)", [2, 3, 4, 5, 6, 7, 8]),
        ("ls of tv a = b c", [1, 4, 5, 6]),
        ("call method(arg1, x, arg2) of x", [2, 3, 4]),
        ("a rope 5 ft. mr. u.s. well-known l'eau", [4]),
    ],
)
def test_words_whose_case_says_something(text: str, fixed: Sequence[int]) -> None:
    assert sorted(ENGLISH.read(text).fixed) == fixed


@pytest.mark.parametrize(
    ("token", "word"),
    [("((a(b", "a(b"), ("(a(b", "a(b"), ("a)b))", "a)b"), ("(a(b)", "a(b)"), ("(a)b)", "(a)b")],
)
def test_brackets_of_a_word_stay_with_it(token: str, word: str) -> None:
    """A bracket belongs to a word that has its partner."""
    assert READER.read(f"{token} c").words == (word, "c")


def test_no_mark_is_put_beside_symbols() -> None:
    assert READER.read("a = b 5 % 🙂 c").closed == [1, 2, 5, 6]
