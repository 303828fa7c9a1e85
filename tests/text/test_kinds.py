"""The kinds of tokens and lines whose marks are no punctuation."""

from typing import Any

import pytest

from pyropunct.text.conventions import Conventions
from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN
from pyropunct.text.prose import (
    ADDRESS,
    CODE,
    CODE_LINE,
    EMOTICON,
    FACE,
    KINDS,
    MARKER,
    MARKUP,
    OPERATOR,
    RULER,
    Kind,
)
from pyropunct.text.raw_reader import RawReader
from pyropunct.vocabulary import Vocabulary

MARKS = (",", ".", "?", "!", ":", ";", "-", "--", "—", "(", ")", "“", "”", "/", "'")
READER = RawReader(
    Vocabulary((START, ABBREVIATION_DOT, UNKNOWN, *MARKS), ("",), ("",), ("",), ((),)), Conventions()
)
EXAMPLES = {
    FACE: (":)", ";-)", ":-/", "=o("),
    EMOTICON: (":D", "(-:", "xDD", "<3", "^_^", "☺"),
    OPERATOR: ("=", "==", "|", "->", "&&", "+", "**"),
    ADDRESS: ("http://a.b/c--d?e=f", "me@b.org", "WWW.b.org/c"),
    RULER: ("----", "—————"),
    CODE: ("a_b", "f(x)", "C++", "/usr/bin", "-v", "b.py", "12:30", "$5", "#a"),
    MARKUP: (
        "see [a](https://a.b/c) for more",
        "<p>some words</p>",
        "# a",
        "| a | b |",
        "``` a",
        "f(x, y)",
        "ls -l a",
    ),
    CODE_LINE: (
        'if x == 3 and y: print("a")',
        "for i in range(3):",
        "return table[key] == 3",
        "x = np.zeros(3);",
    ),
    MARKER: (
        "- a",
        "1. a",
        "(iv) a",
        "> > a",
        "[0:10] a",
        "ANN B.: a",
        "Ann: a",
        "(SIGHS) a",
        "speaker 1: a",
    ),
}

NEAR_MISSES = {
    FACE: (":", ":a)", "a:)", "--"),
    EMOTICON: (":", "D:", "x", "3", "^"),
    OPERATOR: (":)", "&", "--", "a=b", ","),
    ADDRESS: ("a:b", "w.b.org", "b/c"),
    RULER: ("--", "---", "-—-—"),
    CODE: ("e.g", "and/or", "well-known", "don’t", "2,500"),
    MARKUP: (
        "what I want < what I get > nothing",
        "#1 in the country",
        "see (a)",
        "we met - ann and i - in rome",
    ),
    CODE_LINE: (
        "call method(arg1, arg2)",
        "the item(s)",
        "if you are hungry: soup",
        "a = b + c",
        "let us go; it is",
    ),
    MARKER: ("-5 a", "1.5 a", "a b", "Note: a", "ann: a", "[a] b"),
}


def each(texts: dict[Kind, tuple[str, ...]]) -> list[Any]:
    return [pytest.param(kind, text, id=text) for kind in KINDS for text in texts[kind]]


@pytest.mark.parametrize(("kind", "example"), each(EXAMPLES))
def test_examples(kind: Kind, example: str) -> None:
    assert kind.has(example)
    if kind in (FACE, OPERATOR, ADDRESS, RULER, CODE):
        assert READER.read(f"see {example} now").words == ("see", example, "now")
    if kind in (MARKUP, CODE_LINE):
        assert READER.read(example).settled
    if kind is MARKER:
        assert READER.read(example).before == example[:-1]


@pytest.mark.parametrize(("kind", "near_miss"), each(NEAR_MISSES))
def test_what_is_nearly_of_a_kind_is_not(kind: Kind, near_miss: str) -> None:
    assert not kind.has(near_miss)
