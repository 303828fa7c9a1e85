"""Text inside of other files: it is rewritten, and all else stays."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyropunct.cli.enclosed import KINDS
from pyropunct.text.passages import UNALIGNED, TextWithLine

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

00:03.000 --> 00:04.000
<v.loud Ann>again

00:04.000 --> 00:05.000
<v Ben>no
we are not
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


def shouted(texts: Sequence[TextWithLine]) -> list[str]:
    """Each text in brackets, in capitals, with commas between its words."""
    return [f"({', '.join(one.text.upper().split())})!" if one.text else "" for one in texts]


def same(texts: Sequence[TextWithLine]) -> list[str]:
    return [one.text for one in texts]


def dashed(texts: Sequence[TextWithLine]) -> list[str]:
    """Marks that the files do not have: around and behind each word, and dashes between words."""
    return [re.sub(r"\s+(?=\S)", r" ‐\g<0>", re.sub(r"\S+", r"«\g<0>…»", one.text)) for one in texts]


def never(line: int, problem: str) -> None:
    raise AssertionError(f"{line}: {problem}")


def changed(kind: str, text: str) -> list[str]:
    """The lines that differ; the others are the same."""
    new, old = KINDS[kind](text, shouted, never).split("\n"), text.split("\n")
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
    """Another voice begins a new passage."""
    assert changed("vtt", VTT) == [
        "<v Ann>(WE, ARE, <00:02.000>LATE,",
        "<v.loud Ann>AGAIN)!",
        "<v Ben>(NO,",
        "WE, ARE, NOT)!",
    ]


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
    ("text", "marks", "new"),
    [
        ("- [ ] buy milk", "Buy milk.", "- [ ] Buy milk."),
        ("(*mine*) it is", "(mine), it is", "(*mine*), it is"),
        ("5 * 3 * 2 is it", "5 * 3 * 2, is it", "5 * 3 * 2, is it"),
        ("a  \nb", "a,   b", "a,  \nb"),
        ("a\nb", "a — b", "a —\nb"),
        ("[link](u), and `x` so", "link, and This, so", "[link](u), and `x`, so"),
        ("see *a b* now", "see “a b” now", "see *“a b”* now"),
        ("_a_, b - c", "a b c", "_a_ b c"),
    ],
)
def test_marks_find_their_place_in_markdown(text: str, marks: str, new: str) -> None:
    assert KINDS["md"](text, lambda texts: [marks], never) == new


@pytest.mark.parametrize(
    ("kind", "text", "new"),
    [
        ("md", "a `x y` b", "a th. is b"),
        ("md", "a ☺ b", "a b"),
        ("srt", "00:01.000 --> 00:02.000\na b", "a c"),
        ("json", '{"text": "a b"}', "a b c"),
    ],
)
def test_a_rewriting_that_changes_words_is_refused(kind: str, text: str, new: str) -> None:
    refused = list[tuple[int, str]]()
    assert KINDS[kind](text, lambda texts: [new], lambda *one: refused.append(one)) == text
    assert refused == [(1 + text.count("\n"), UNALIGNED)]


def test_tags_of_subtitles_are_not_doubled() -> None:
    time = "00:00:01,000 --> 00:00:03,000\n"
    new = KINDS["srt"](time + "<i>late</i> <i>it</i>\nwas", lambda texts: ["Late, it — was."], never)
    assert new == time + "<i>Late,</i> <i>it —</i>\nwas."


MARKUP = r"""
    a b1 dog ß İx don't 5 , . ! ( ) " - * ** _ ` `` ``` ~~ # > | [ ]( ](u) ![ <i> </i> <b {\an8} \ --- ===
    1. 2) - [x] <https://a.b> : 00:01.000 --> - >> ♪ ☺ &amp; <!-- -->
"""
markup = st.sampled_from([*MARKUP.split(), "\r", "\0"])
TIME = "\n00:01.000 --> 00:02.000\n"
gaps = st.sampled_from(["", "", " ", " ", "  ", "\t", "\n", "  \n", "\n\n", "\n    ", TIME])
files = st.lists(st.tuples(markup, gaps).map("".join), max_size=30).map("".join)


@given(st.sampled_from(["md", "srt", "vtt"]), files)
def test_marks_are_only_inserted(kind: str, text: str) -> None:
    """Without the new marks, the file is what it was; an equal rewriting changes nothing."""
    assert KINDS[kind](text, same, never) == text
    new = KINDS[kind](text, dashed, never)
    assert re.sub(r"«|…»(?: ‐)?", "", new) == text
    assert new.count("\n") == text.count("\n")


@pytest.mark.parametrize(("hours", "told"), [("0" * 9, []), ("0" * 5000, [(1, "a time has 5,000 digits")])])
def test_times_of_any_length(hours: str, told: list[tuple[int, str]]) -> None:
    found = list[tuple[int, str]]()
    text = f"{hours}:00:01,000 --> 00:00:02,000\na"
    new = KINDS["srt"](text, shouted, lambda *problem: found.append(problem))
    assert (new, found) == (text if told else text[:-1] + "(A)!", told)
