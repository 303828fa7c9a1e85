"""Text inside of other files: it is rewritten, and all else stays."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyropunct.errors import InputError
from pyropunct.text.passages import KINDS, Passage

TAGS = re.compile(r"<[^<>\n]*>")

SRT = """\
1
00:00:01,000 --> 00:00:03,000
we found it in the
old house on the hill

2
00:00:03,100 --> 00:00:05,000
<i>it was late</i>

3
00:00:12,000 --> 00:00:14,000
- who are you
- {\\an8}nobody
"""

VTT = """\
WEBVTT

NOTE nobody reads this

00:01.000 --> 00:03.000 align:start
<v Ann>we are <00:02.000>late
"""

MARKDOWN = """\
---
title: a b
---
# a heading

some text that goes over `print(x, y)`
and [our page](http://a.b/c "a page") **and more**

> a quoted
> paragraph

1. item one
   goes on
2. item two

| a | b |
|---|---|
| c | d |

```python
print('hello world')
```

    indented code
"""


def shouted(texts: Sequence[str]) -> list[str]:
    """Each text in brackets, in capitals, with commas between its words."""
    return [f"({', '.join(text.upper().split())})!" if text else text for text in texts]


def lines_of(kind: str, text: str, field: str | None = None) -> list[str]:
    return KINDS[kind](text, shouted, field).split("\n")


def changed(kind: str, text: str, field: str | None = None) -> list[str]:
    """The lines that differ; the others are the same."""
    new, old = lines_of(kind, text, field), text.split("\n")
    assert len(new) == len(old)
    return [line for line, before in zip(new, old, strict=True) if line != before]


def test_cues_of_a_scene_are_one_passage() -> None:
    """A pause and another speaker begin a new one."""
    assert changed("srt", SRT) == [
        "(WE, FOUND, IT, IN, THE,",
        "OLD, HOUSE, ON, THE, HILL,",
        "<i>IT, WAS, LATE)!</i>",
        "- (WHO, ARE, YOU)!",
        "- {\\an8}(NOBODY)!",
    ]


def test_notes_settings_and_tags_of_web_subtitles_stay() -> None:
    assert changed("vtt", VTT) == ["<v Ann>(WE, ARE, <00:02.000>LATE)!"]


def test_paragraphs_and_items_of_markdown() -> None:
    """Headings, tables, code, links and front matter stay; inline code counts as a word."""
    assert changed("md", MARKDOWN) == [
        "(SOME, TEXT, THAT, GOES, OVER, `print(x, y)`,",
        'AND, [OUR, PAGE,](http://a.b/c "a page") **AND, MORE)!**',
        "> (A, QUOTED,",
        "> PARAGRAPH)!",
        "1. (ITEM, ONE,",
        "   GOES, ON)!",
        "2. (ITEM, TWO)!",
    ]


@pytest.mark.parametrize(
    ("kind", "text", "new"),
    [
        ("csv", 'id,text\n1,"a, b"\n2,c\n', 'id,text\n1,"(A,, B)!"\n2,(C)!\n'),
        ("tsv", "text\tid\na b\t1\n", "text\tid\n(A, B)!\t1\n"),
        ("csv", 'text\n"a\nb"\n', 'text\n"(A, B)!"\n'),
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
    ],
)
def test_fields(kind: str, text: str, new: str) -> None:
    assert KINDS[kind](text, shouted, "text") == new


@pytest.mark.parametrize(
    ("kind", "text", "problem"),
    [
        ("csv", "a,b\n1,2\n", r"there is no column 'text': name one by --field \(a, b\)"),
        ("jsonl", '{"a": 1}\n', r"there is no text 'text': name one by --field \(a\)"),
        ("jsonl", '{"text": "a"}\nno\n', "line 2 is no JSON: .*"),
        ("jsonl", "[1]\n", "line 1 is no JSON object"),
        ("jsonl", '{"text": "a\\ud800"}\n', "line 1 has half of a character in its text"),
    ],
)
def test_fields_that_are_not_there(kind: str, text: str, problem: str) -> None:
    with pytest.raises(InputError, match=f"^{problem}$"):
        KINDS[kind](text, shouted, "text")


words = st.from_regex(r"(<i>)?[ab]1?(<b>b)?[,“]?(</i>)?", fullmatch=True)
lines_with_tags = st.lists(st.lists(words, min_size=1, max_size=4).map(" ".join), min_size=1, max_size=4)


@given(lines_with_tags)
def test_without_new_marks_nothing_changes(lines: list[str]) -> None:
    passage = Passage.of(lines, TAGS)
    assert passage.rewritten(passage.plain) == lines


@given(lines_with_tags)
def test_tags_and_lines_are_kept_with_new_marks(lines: list[str]) -> None:
    passage = Passage.of(lines, TAGS)
    new = passage.rewritten(re.sub(r"(\w+)", r"(\1),", passage.plain))
    assert [re.sub(r"[(),“]", "", line) for line in new] == [re.sub("[,“]", "", line) for line in lines]


def test_other_words_are_refused() -> None:
    """If a rewriting loses a letter, the lines stay."""
    assert Passage.of(["a b", "c"], TAGS).rewritten("a b") == ["a b", "c"]
