"""What raw text must not lose: a check of restored lines, and random lines to restore."""

import random
from collections.abc import Iterator

from pyropunct.text.prose import is_mark

WIDTHLESS = "\u200b\ufeff"
"""White space that Python does not take for such."""

SPACES = [*[" "] * 12, "  ", "\t", "\u3000", "\u00a0", "\u200b", " \t "]
WORDS = r"""
    however the meeting which lasted three hours ended without a vote Ärzte niño İstanbul straße 好 第3
    你好，我们。 Mrs. Jones Sen. Rep. Corp. etc. Jan. Ave. No. no. man. p. a.m. U.S. e.g. Dr. (b) I
    well-known don't it's dogs' O'Neil rock'n'roll and/or AT&T 5 1841 3.5 1,000 12% $5 6' 2" ½
    https://a.org/b?c=d user@example.com www.example.com java_home /usr/lib/x.py C:\x -la --all y[0]; foo();
    x=3 f(x) ls grep #tag @home :D ;-) :) <3 = == < > | -> + * ** • ☺
"""
MARKS = """, . ? ! ; : ... " ' “ ” ‘ ’ « » ( ) [ ] { } - -- – — … ¿ ¡ ， 。 ‽ ''"""
MARKERS = ["", "", "", "", "- ", "1. ", "2) ", "(a) ", "* ", "## ", "> ", "-- "]


def random_line(chance: random.Random) -> str:
    """Words, marks beside and between them, and white space of all kinds."""
    words, marks = WORDS.split(), MARKS.split()
    parts = [chance.choice(["", "", "", " ", "\t"]), chance.choice(MARKERS)]
    for _ in range(chance.randint(1, 12)):
        word = chance.choice(words)
        front, back = (chance.choice(marks) if chance.random() < 0.1 else "" for _ in range(2))
        parts += [front, word, back, chance.choice(SPACES)]
        if chance.random() < 0.1:
            parts += [chance.choice(marks), chance.choice(SPACES)]
    return "".join(parts[: len(parts) - chance.randint(0, 1)])


def problem(line: str, restored: str, *, kept: bool) -> str | None:
    """What restoration has lost or changed, apart from capital letters; None if nothing.

    All but white space and marks must stay in order, and so must white space and, if ``kept``, marks.
    """
    before, after = list(_taken_apart(line)), list(_taken_apart(restored))
    if [character for _, character in before] != [character for _, character in after]:
        return "words"
    for number, ((gap, _), (now, _)) in enumerate(zip(before, after, strict=True)):
        inside = 0 < number < len(before) - 1
        has_marks = any(map(is_mark, gap))
        if inside and (not gap or (len(gap) == 1 and gap in "-'’.,:")) and now != gap:
            return f"together: {gap!r} is {now!r}"
        if (kept or not has_marks) and not _is_within(gap, now):
            return f"between words: {gap!r} is {now!r}"
        if inside and _spaces(gap) and not _spaces(now):
            return f"apart: {gap!r} is {now!r}"
        if not has_marks and _spaces(now) != _spaces(gap) and not any(map(is_mark, now)):
            return f"white space: {gap!r} is {now!r}"
    return None


def _taken_apart(line: str) -> Iterator[tuple[str, str]]:
    """Each character that must stay, with the marks and the white space in front of it; at last none."""
    gap = ""
    for character in line.lower():
        if character.isspace() or character in WIDTHLESS or is_mark(character):
            gap += character
        else:
            yield gap, character
            gap = ""
    yield gap, ""


def _spaces(gap: str) -> str:
    return "".join(character for character in gap if not is_mark(character))


def _is_within(part: str, whole: str) -> bool:
    """Whether a text is the other one with characters left out."""
    rest = iter(whole)
    return all(character in rest for character in part)
