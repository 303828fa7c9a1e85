"""Text inside of other files: subtitles, Markdown, tables and lines of JSON.

What is around the text stays as it is.  A *passage* is text that is rewritten as a whole, such as the cues of
a scene or a paragraph.  A rewriting keeps letters and digits, so line breaks and tags find their place again
by counting these.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pyropunct.errors import InputError

Rewrite = Callable[[Sequence[str]], Sequence[str]]
"""Rewrites texts; letters and digits stay, but for their case."""

PAUSE = 4.0
"""Seconds without a cue after which a new passage begins."""

_TIME = r"(?:(\d+):)?(\d\d):(\d\d)[,.](\d{3})"
_CUE = re.compile(rf"^\s*{_TIME}\s*-->\s*{_TIME}")

_SPEAKER = re.compile(r"^\s*(?:[-–—]+\s*|>>+\s*|[\[(♪♫#])")
"""How a line of a cue begins that is of another speaker, a sound or a song."""

_CUE_TAGS = re.compile(r"<[^<>\n]*>|\{\\[^{}\n]*\}|^\s*(?:[-–—]+|>>+)\s*", re.MULTILINE)
_MARKDOWN_TAGS = re.compile(
    r"^[ \t>]*(?:[-*+]|\d{1,9}[.)]|#{1,6})?[ \t]+|!?\[(?=[^\[\]\n]*\]\()|\]\([^()\s]*(?:\s\"[^\"\n]*\")?\)"
    r"|\*{1,3}|~~|(?<![^\W_])_{1,3}|_{1,3}(?![^\W_])|</?[A-Za-z][^<>\n]*>|\\$",
    re.MULTILINE,
)
_INLINE_CODE = re.compile(r"(`+)[^`\n](?:.*?[^`])?\1(?!`)|<https?://[^<>\s]+>")

STANDS_FOR_CODE = "this"
"""A word that stands for code within a sentence."""


class _Tag(NamedTuple):
    """Text that is put back behind so many letters and digits: at the end of a word, in it, or before one."""

    text: str
    behind: int
    place: str


@dataclass(frozen=True)
class Passage:
    """Lines that are rewritten together.

    :ivar plain: their words in one line, without tags.
    """

    lines: tuple[str, ...]
    plain: str
    tags: tuple[_Tag, ...]
    code: tuple[tuple[int, str], ...] = ()

    @classmethod
    def of(
        cls, lines: Sequence[str], tags: re.Pattern[str], code: re.Pattern[str] | None = None
    ) -> "Passage":
        """A passage of lines with tags, and with pieces of code that count as words."""
        whole, plain, found, pieces, at = "\n".join(lines), "", list[_Tag](), list[tuple[int, str]](), 0
        marked = [(one.start(), one.end(), False) for one in tags.finditer(whole)]
        marked += [(place, place + 1, False) for place, letter in enumerate(whole) if letter == "\n"]
        if code is not None:
            marked += [(*one.span(), True) for one in code.finditer(whole)]
        for start, end, is_code in sorted(marked, key=lambda one: (one[0], not one[2], -one[1])):
            if start < at:  # inside of another
                continue
            plain, at, text = plain + whole[at:start], end, whole[start:end]
            if is_code:
                pieces.append((_size(plain), text))
                plain += STANDS_FOR_CODE
            elif text == "\n":
                found.append(_Tag(text, _size(plain), "break"))
                plain += " "
            else:
                joined = bool(plain) and not plain[-1].isspace()
                goes_on = joined and whole[end : end + 1].isalnum()
                where = "in" if goes_on else "end" if joined else "start"
                found.append(_Tag(text, _size(plain), where))
        return cls(tuple(lines), plain + whole[at:], tuple(found), tuple(pieces))

    def rewritten(self, new: str) -> list[str]:
        """Its lines with the words of a rewriting; the old ones if other letters or digits came out."""
        letters = [place for place, letter in enumerate(new) if letter.isalnum()]
        if len(letters) != _size(self.plain):
            return list(self.lines)
        pieces = list(new)
        for behind, code in self.code:
            first, last = letters[behind], letters[behind + len(STANDS_FOR_CODE) - 1]
            pieces[first : last + 1] = [code, *[""] * (last - first)]
        put = [""] * (len(new) + 1)
        for text, behind, where in self.tags:
            before = letters[behind - 1] + 1 if behind else 0
            after = letters[behind] if behind < len(letters) else len(new)
            gaps = [place for place in range(before, after) if new[place].isspace()]
            if where == "break" and gaps:
                pieces[gaps[0]] = ""
            if where == "start":
                place = gaps[-1] + 1 if gaps else after if behind else 0
            elif gaps and where != "in":
                place = gaps[0]
            else:
                place = after
            put[place] += text
        return "".join(tag + piece for tag, piece in zip(put, [*pieces, ""], strict=True)).split("\n")


def _size(text: str) -> int:
    return sum(letter.isalnum() for letter in text)


# Kinds of files


def rewrite_subtitles(text: str, rewrite: Rewrite, field: str | None = None) -> str:
    """SubRip or WebVTT with rewritten cues; numbers, times, notes and tags stay.

    The cues of a passage are joined: a sentence may go on in the next one.
    """
    lines = text.split("\n")
    return _rewritten(lines, list(_scenes(lines)), rewrite, _CUE_TAGS)


def _rewritten(
    lines: list[str],
    places: Sequence[Sequence[int]],
    rewrite: Rewrite,
    tags: re.Pattern[str],
    code: re.Pattern[str] | None = None,
) -> str:
    """A text whose passages are rewritten; `places` has the numbers of the lines of each."""
    passages = [Passage.of([lines[number] for number in place], tags, code) for place in places]
    news = rewrite([one.plain.strip() for one in passages])
    for place, passage, new in zip(places, passages, news, strict=True):
        for number, line in zip(place, passage.rewritten(new), strict=True):
            lines[number] = line
    return "\n".join(lines)


def _scenes(lines: Sequence[str]) -> Iterator[list[int]]:
    """The numbers of the lines of each passage."""
    scene, in_cue, ended = list[int](), False, 0.0
    for number, line in enumerate(lines):
        if times := _CUE.match(line):
            begins, ends = (_seconds(times.groups()[part : part + 4]) for part in (0, 4))
            if begins - ended > PAUSE and scene:
                yield scene
                scene = []
            in_cue, ended = True, ends
        elif not line.strip():
            in_cue = False
        elif in_cue:
            if _SPEAKER.match(line) and scene:
                yield scene
                scene = []
            scene.append(number)
    if scene:
        yield scene


def _seconds(time: Sequence[str | None]) -> float:
    hours, minutes, seconds, thousandths = (int(part or 0) for part in time)
    return 3600 * hours + 60 * minutes + seconds + thousandths / 1000


def rewrite_markdown(text: str, rewrite: Rewrite, field: str | None = None) -> str:
    """Markdown with rewritten paragraphs and items; headings, code, tables, front matter and markup stay."""
    lines = text.split("\n")
    return _rewritten(lines, list(_paragraphs(lines)), rewrite, _MARKDOWN_TAGS, _INLINE_CODE)


def _paragraphs(lines: Sequence[str]) -> Iterator[range]:
    """The numbers of the lines of each paragraph."""
    from markdown_it import MarkdownIt  # which few files need

    start = 0
    if lines[0] in ("---", "+++") and lines[0] in lines[1:]:
        start = lines.index(lines[0], 1) + 1
    before = ""
    for token in MarkdownIt("commonmark").enable("table").parse("\n".join(lines[start:])):
        if before == "paragraph_open" and token.type == "inline" and token.map is not None:
            yield range(token.map[0] + start, token.map[1] + start)
        before = token.type


def rewrite_table(text: str, rewrite: Rewrite, field: str | None = None) -> str:
    """A table in CSV, or with tabs, with one column rewritten; raises InputError if there is none such."""
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=delimiter))
    except csv.Error as error:
        raise InputError(f"it is no table: {error}") from error
    names = rows[0] if rows else []
    if field not in names:
        raise _no_field("column", field, names)
    column = names.index(field)
    cells = [row for row in rows[1:] if len(row) > column]
    for row, new in zip(cells, rewrite([row[column] for row in cells]), strict=True):
        row[column] = new
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return out.getvalue()


def _no_field(what: str, field: str | None, names: Iterable[str]) -> InputError:
    known = ", ".join(names)
    if field is None:
        return InputError(f"say which {what} holds the text, by --field ({known})")
    return InputError(f"there is no {what} {field!r}: name one by --field ({known})")


def rewrite_json_lines(text: str, rewrite: Rewrite, field: str | None = None) -> str:
    """Lines of JSON objects with one text rewritten; all else stays as it was written.

    Raises InputError for a line that is none.
    """
    lines, names, places = text.split("\n"), dict[str, None](), list[tuple[int, slice]]()
    for number, line in enumerate(lines):
        if line.strip():
            try:
                plain = json.loads(line)
            except ValueError as error:
                raise InputError(f"line {number + 1} is no JSON: {error}") from error
            if not isinstance(plain, dict):
                raise InputError(f"line {number + 1} is no JSON object")
            names |= dict.fromkeys(plain)
            if isinstance(found := plain.get(field), str):
                if any("\ud800" <= letter <= "\udfff" for letter in found):
                    raise InputError(f"line {number + 1} has half of a character in its text")
                places.append((number, _place_of_value(line, field)))
    if not places:
        raise _no_field("text", field, names)
    old = [json.loads(lines[number][place]) for number, place in places]
    for (number, place), before, new in zip(places, old, rewrite(old), strict=True):
        line = lines[number]
        if new != before:
            quoted = json.dumps(new, ensure_ascii=line.isascii())
            lines[number] = line[: place.start] + quoted + line[place.stop :]
    return "\n".join(lines)


def _place_of_value(line: str, field: str | None) -> slice:
    """Where the value of a key stands in a JSON object; that of the last one if several have this name."""
    found, decoder = slice(0), json.JSONDecoder()
    at = _behind_gap(line, line.index("{") + 1)
    while line[at] != "}":
        name, at = decoder.raw_decode(line, at)
        start = _behind_gap(line, at)
        _, at = decoder.raw_decode(line, start)
        found = slice(start, at) if name == field else found
        at = _behind_gap(line, at)
    return found


def _behind_gap(line: str, at: int) -> int:
    """The place behind white space, a comma or a colon."""
    gap = re.compile(r"[\s,:]*").match(line, at)
    assert gap is not None
    return gap.end()


KINDS = {
    "srt": rewrite_subtitles,
    "vtt": rewrite_subtitles,
    "md": rewrite_markdown,
    "csv": rewrite_table,
    "tsv": rewrite_table,
    "jsonl": rewrite_json_lines,
}
"""How files are rewritten, by the ends of their names."""

RUNNING = frozenset({"srt", "vtt", "md"})
"""The kinds whose passages are running text."""
