"""Text inside of subtitles and Markdown.

What is around the text stays as it is.  A *passage* is text that is rewritten as a whole, such as the cues of
a scene or a paragraph.  Its rewriting is aligned with it by letters and digits: marks are inserted or taken
out, letters change their case, and tags, line breaks and white space stay.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple


def flaw(text: str, reserved: str = "") -> str | None:
    """Why a text is not rewritten: it has half of a character (a lone surrogate) or a reserved one."""
    found = re.search(f"[\ud800-\udfff{reserved}]", text)
    if found is None:
        return None
    if found.group() in reserved:
        return f"has the control character U+{ord(found.group()):04X} in its text (take it out)"
    return "has half of a character in its text"


class TextWithLine(NamedTuple):
    """A text in a file, and the line, from 1, in which it begins."""

    text: str
    line: int


Rewrite = Callable[[Sequence[TextWithLine]], Sequence[str]]
"""Rewrites texts; letters and digits stay, but for their case."""

Reject = Callable[[int, str], None]
"""Takes the line, from 1, of a text that stays as it is, and what is wrong with it."""


def spliced(text: str, changes: Iterable[tuple[int, int, str]]) -> str:
    """A text with parts replaced: the start, the end and the new text of each, from left to right."""
    parts, at = list[str](), 0
    for start, end, new in changes:
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


UNALIGNED = "the new text differs from this one in more than marks and case"
"""The reason why a passage stays as it was."""

PAUSE = 4.0
"""Seconds without a cue after which a new passage begins."""

_TIME = r"(?:(\d+):)?(\d\d):(\d\d)[,.](\d{3})"
_CUE = re.compile(rf"^\s*{_TIME}\s*-->\s*{_TIME}")

MOST_DIGITS = 9
"""The most digits of the hours of a cue."""

_SPEAKER = re.compile(r"^\s*(?:[-–—]+\s*|>>+\s*|[\[(♪♫#])")
"""How a line of a cue begins that is of another speaker, a sound or a song."""

_VOICE = re.compile(r"^\s*<v(?:\.[^\s<>]*)?\s+([^<>]*)>")
"""How a line of a cue names who speaks."""

_CUE_TAGS = re.compile(r"<[^<>\n]*>|\{\\[^{}\n]*\}|^[^\S\n]*(?:[-–—]+|>>+)[^\S\n]*", re.MULTILINE)
_MARKDOWN_TAGS = re.compile(
    r"^[ \t>]*(?:[-*+]|\d{1,9}[.)]|#{1,6})?[ \t]+(?:\[[ xX]\][ \t]+)?"  # the beginning of an item
    r"|!?\[(?=[^\[\]\n]*\]\()|\]\([^()\s]*(?:\s\"[^\"\n]*\")?\)"  # a link
    r"|\*{1,3}(?!\s)|(?<!\s)\*{1,3}|~~|(?<![^\W_])_{1,3}|_{1,3}(?![^\W_])|</?[A-Za-z][^<>\n]*>|\\$",
    re.MULTILINE,
)
PARTED = "\x1e"
"""Separates the strings of a passage that come from several places of a file."""

_SPACES = re.compile(rf"\n|{PARTED}\s*+(?![,.;:!?…]++(?:\s|\Z))")
"""Reads as one space: the end of a line or of a string, unless the next string is a mark such as a comma."""

_ADDRESS_OR_TICKS = re.compile(r"<https?://[^<>\s]+>|`+")

STANDS_FOR_CODE = "this"
"""A word that stands for code within a sentence."""


class _Replaced(NamedTuple):
    """A part of a text, and what is read in its place: nothing, a space, or a word."""

    start: int
    end: int
    plain: str


class _Piece(NamedTuple):
    """A part of a text, and at most one character that is read in its place."""

    text: str
    plain: str


class Passage:
    """Lines that are rewritten together.

    :param code: the places of code in the text.
    :ivar plain: its words in one line, without tags; a word stands for code.
    """

    def __init__(self, text: str, tags: re.Pattern[str], code: Iterable[tuple[int, int]] = ()) -> None:
        found = [_Replaced(*match.span(), "") for match in tags.finditer(text)]
        found += [_Replaced(match.start(), match.end(), " ") for match in _SPACES.finditer(text)]
        found += [_Replaced(start, end, STANDS_FOR_CODE) for start, end in code]
        self._text, self._replaced, at = text, list[_Replaced](), 0
        for part in sorted(found, key=lambda part: (part.start, not part.plain, -part.end)):
            if at <= part.start < part.end:  # not inside of another
                self._replaced.append(part)
                at = part.end
        ends = [0, *(part.end for part in self._replaced)]
        starts = [*(part.start for part in self._replaced), len(text)]
        words = [*(part.plain for part in self._replaced), ""]
        parts = zip(ends, starts, words, strict=True)
        self.plain = "".join(text[end:start] + word for end, start, word in parts).strip()

    def rewritten(self, new: str) -> str | None:
        """The text with the marks of a rewriting; None if more than marks and case differ."""
        if new == self.plain:
            return self._text
        out, gap, at = list[str](), list[_Piece](), 0
        letters = (place for place, letter in enumerate(new) if letter.isalnum())
        for piece in self._pieces():
            if not piece.plain.isalnum():
                gap.append(piece)
                continue
            place = next(letters, None)
            if place is None or new[place].casefold() != piece.plain.casefold():
                return None
            mended = _mended(gap, new[at:place], not at, False)
            if mended is None or (mended and not piece.text):  # the latter is within code
                return None
            out += [mended, new[place] if piece.text == piece.plain else piece.text]
            gap, at = [], place + 1
        mended = _mended(gap, new[at:], not at, True)
        return None if mended is None or next(letters, None) is not None else "".join([*out, mended])

    def _pieces(self) -> Iterator[_Piece]:
        at = 0
        for start, end, plain in (*self._replaced, _Replaced(len(self._text), len(self._text), "")):
            yield from map(_Piece, self._text[at:start], self._text[at:start])
            yield _Piece(self._text[start:end], plain[:1])
            yield from (_Piece("", letter) for letter in plain[1:])
            at = end


def _mended(gap: Sequence[_Piece], new: str, is_first: bool, is_last: bool) -> str | None:
    """The text between two words with the marks of ``new``; None if other characters would be lost.

    White space does not change.  Beside tags, marks that follow a word stand before the tags, and marks that
    precede a word stand behind them.
    """
    if new == "".join(piece.plain for piece in gap):
        return "".join(piece.text for piece in gap)
    places, end, lacking = dict[int, int](), len(new), set[str]()
    spaced = "".join(" " if letter.isspace() else letter for letter in new)
    filled = [number for number, piece in enumerate(gap) if piece.plain.strip()]
    first = 0 if not is_first else min(filled, default=len(gap))
    last = len(gap) - 1 if not is_last else max(filled, default=-1)
    for number in range(last, first - 1, -1):  # without white space at the ends of the passage, as in `plain`
        sought = " " if gap[number].plain.isspace() else gap[number].plain
        if sought and sought not in lacking:
            place = spaced.rfind(sought, 0, end)
            if place < 0:
                lacking.add(sought)  # nor is it further left, so that the search is linear
            else:
                places[number] = end = place
    old = [piece.text for piece in gap]
    lost = [number for number, piece in enumerate(gap) if piece.plain.strip() and number not in places]
    if not all(_is_mark(gap[number].plain) for number in lost):
        return None
    for number in lost:
        old[number] = ""
    if lost and any(gap[number].plain.isspace() for number in places):
        for number, piece in enumerate(gap):
            if piece.text == " " and number not in places:
                old[number] = ""
    put = [""] * (len(gap) + 1)
    for left, right in pairwise([-1, *sorted(places), len(gap)]):
        marks = new[places.get(left, -1) + 1 : places.get(right, len(new))]
        behind_space = left >= 0 and gap[left].plain.isspace()
        marks = marks.lstrip() if behind_space else marks
        marks = marks.rstrip() if right < len(gap) and gap[right].plain.isspace() else marks
        opens = is_first if left < 0 else behind_space or (right == len(gap) and not is_last)
        put[right if opens else left + 1] += marks
    return "".join(mark + text for mark, text in zip(put, [*old, ""], strict=True))


def _is_mark(character: str) -> bool:
    return character == "`" or unicodedata.category(character).startswith("P")


def _rewritten(
    lines: list[str],
    places: Iterable[Sequence[int]],
    rewrite: Rewrite,
    reject: Reject,
    tags: re.Pattern[str],
    code: Callable[[str], Iterable[tuple[int, int]]] = lambda text: (),
) -> str:
    """A text whose passages are rewritten; `places` has the numbers of the lines of each."""
    passages = list[tuple[Sequence[int], Passage]]()
    for place in places:
        text = "\n".join(lines[number] for number in place)
        passage = Passage(text, tags, code(text))
        if any(map(str.isalnum, passage.plain)):
            passages.append((place, passage))
    news = rewrite([TextWithLine(passage.plain, place[0] + 1) for place, passage in passages])
    for (place, passage), new in zip(passages, news, strict=True):
        rewritten = passage.rewritten(new)
        if rewritten is None:
            reject(place[0] + 1, UNALIGNED)
            continue
        for number, line in zip(place, rewritten.split("\n"), strict=True):
            lines[number] = line
    return "\n".join(lines)


def rewrite_subtitles(text: str, rewrite: Rewrite, reject: Reject, *fields: str) -> str:
    """SubRip or WebVTT with rewritten cues; numbers, times, notes and tags stay.

    The cues of a passage are joined: a sentence may go on in the next one.
    """
    lines = text.split("\n")
    return _rewritten(lines, list(_scenes(lines, reject)), rewrite, reject, _CUE_TAGS)


def _scenes(lines: Sequence[str], reject: Reject) -> Iterator[list[int]]:
    """The numbers of the lines of each passage."""
    scene, in_cue, ended, speaker = list[int](), False, 0.0, ""
    for number, line in enumerate(lines):
        if times := _CUE.match(line):
            hours = max(len(times.group(part) or "") for part in (1, 5))
            in_cue = hours <= MOST_DIGITS
            if not in_cue:
                reject(number + 1, f"a time has {hours:,} digits")
                continue
            begins, ends = (_seconds(times.groups()[part : part + 4]) for part in (0, 4))
            if begins - ended > PAUSE and scene:
                yield scene
                scene = []
            ended = ends
        elif not line.strip():
            in_cue = False
        elif in_cue:
            before, voice = speaker, _VOICE.match(line)
            speaker = voice[1].strip() if voice else before
            if (speaker != before or _SPEAKER.match(line)) and scene:
                yield scene
                scene = []
            scene.append(number)
    if scene:
        yield scene


def _seconds(time: Sequence[str | None]) -> float:
    hours, minutes, seconds, thousandths = (int(part or 0) for part in time)
    return 3600 * hours + 60 * minutes + seconds + thousandths / 1000


def rewrite_markdown(text: str, rewrite: Rewrite, reject: Reject, *fields: str) -> str:
    """Markdown with rewritten paragraphs and items; headings, code, tables, front matter and markup stay."""
    lines = text.split("\n")
    return _rewritten(lines, list(_paragraphs(lines)), rewrite, reject, _MARKDOWN_TAGS, _code_in)


def _code_in(text: str) -> Iterator[tuple[int, int]]:
    """The places of code between equal runs of backticks, and of addresses, in linear time."""
    found = list(_ADDRESS_OR_TICKS.finditer(text))
    nearest, partners = dict[str, int](), list[int | None]()
    for number in range(len(found) - 1, -1, -1):
        ticks = found[number].group()
        partners.append(None if ticks[0] == "<" else nearest.get(ticks))
        nearest[ticks] = number
    number = 0
    while number < len(found):
        start, end = found[number].span()
        partner = partners[-1 - number]
        if found[number].group()[0] == "<":
            yield start, end
        elif partner is not None and text[start - 1 : start] != "\\":
            yield start, found[partner].end()
            number = partner
        number += 1


def _paragraphs(lines: Sequence[str]) -> Iterator[range]:
    """The numbers of the lines of each paragraph."""
    from markdown_it import MarkdownIt  # which few files need

    start = 0
    if lines[0] in ("---", "+++") and lines[0] in lines[1:]:
        start = lines.index(lines[0], 1) + 1
    before, parser = "", MarkdownIt("commonmark").enable("table").disable("inline")
    text = "\n".join(lines[start:]).replace("\r", " ")  # which would end a line
    for token in parser.parse(text):
        if before == "paragraph_open" and token.type == "inline" and token.map is not None:
            yield range(token.map[0] + start, token.map[1] + start)
        before = token.type
