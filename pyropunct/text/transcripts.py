"""Text inside of JSON, such as the transcripts of recognisers of speech; all else stays as written.

The strings of one place, such as the segments of a talk, are running text: a sentence may go on in the next
one, unless somebody else speaks.  Where words or segments have times, the silence between them is text too:
see `PAUSE`.
"""

import json
import math
import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, NamedTuple

from pyropunct.errors import InputError
from pyropunct.text.marks import LONGEST_PAUSE, PAUSE
from pyropunct.text.passages import Found, Passage, Reject, Rewrite, flaw

RECOGNISED = (
    "segments.text",
    "segments.words.word",
    "words.word",
    "word_segments.word",
    "result.word",
    "alternatives.text",
    "alternatives.result.word",
    "text",
)
"""Where the files of Whisper, Vosk and programs around them have text; all that a list holds is searched."""

_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"')
PARTED = "\x1e"
"""What parts the strings of a passage; a space follows, unless strings bring their own, as Whisper's do."""


class _Text(NamedTuple):
    """A string, by its number in the file; who speaks, and from when to when, if that is said."""

    number: int
    speaker: str | None
    times: tuple[float, float] | None


def rewrite_json(text: str, rewrite: Rewrite, reject: Reject, field: str | None = None) -> str:
    """JSON, one value or several, with strings rewritten.

    :param field: the names on the way to the strings, with dots between them; by default all `RECOGNISED`.
    :raises InputError: if it is no JSON, or has no string there.
    """
    places = [match.span() for match in _STRING.finditer(text)]
    strings = [json.loads(text[start:end], strict=False) for start, end in places]
    values = _values(_STRING.sub(_Numbers(), text), strings)
    breaks = [match.start() for match in re.finditer("\n", text)]
    passages = list[tuple[list[int], re.Pattern[str], Passage]]()
    for path in RECOGNISED if field is None else (field,):
        texts = [text for value in values for text in _at(value, path.split("."), strings)]
        for _, group in groupby(texts, key=lambda text: text.speaker):
            part = list(group)
            numbers = [text.number for text in part]
            flaws = ((number, flaw(strings[number], PARTED + PAUSE)) for number in numbers)
            number, problem = next(filter(itemgetter(1), flaws), (0, None))
            if problem is not None:
                reject(bisect(breaks, places[number][0]) + 1, problem)
                continue
            own = all(strings[number][:1].isspace() for number in numbers[1:])
            space = "" if own else " "
            gaps = [*(PARTED + pause + space for pause in _pauses(part)), ""]
            pieces = (strings[number] + behind for number, behind in zip(numbers, gaps, strict=True))
            passage = Passage("".join(pieces), re.compile(PARTED))
            gap = re.compile(f"{PARTED}{PAUSE}*{space}")
            if any(map(str.isalnum, passage.plain)):
                passages.append((numbers, gap, passage))
    if not passages:
        names = ", ".join(RECOGNISED) if field is None else field
        raise InputError(f"there is no text at {names}: name its place by --field, as in segments.text")
    found = dict[str, Found]()  # copies of a text are read once, with all pauses that one of them has
    for numbers, _, passage in passages:
        one = Found(passage.plain, bisect(breaks, places[numbers[0]][0]) + 1)
        key = one.text.replace(PAUSE, "")
        found[key] = max(found.get(key, one), one, key=lambda one: one.text.count(PAUSE))
    rewritten = zip(found, rewrite([*found.values()]), strict=True)
    news, anew = {key: new.replace(PAUSE, "") for key, new in rewritten}, dict[int, str]()
    for numbers, gap, passage in passages:
        new = passage.rewritten(news[passage.plain.replace(PAUSE, "")])
        anew |= zip(numbers, gap.split(new), strict=True)
    out, at = list[str](), 0
    for number, new in sorted(anew.items()):
        if new != strings[number]:
            start, end = places[number]
            out += [text[at:start], json.dumps(new, ensure_ascii=text.isascii())]
            at = end
    return "".join([*out, text[at:]])


def _pauses(texts: Sequence[_Text]) -> list[str]:
    """The silence between neighbours; empty where their times are not known, or no two are apart."""
    silences = [
        max(0.0, following.times[0] - text.times[1]) if text.times and following.times else None
        for text, following in pairwise(texts)
    ]
    apart = any(silences)
    return [
        "" if silence is None or not apart else PAUSE * (1 + round(10 * min(silence, LONGEST_PAUSE)))
        for silence in silences
    ]


class _Numbers:
    """Puts the number of a string in its place."""

    def __init__(self) -> None:
        self._next = -1

    def __call__(self, match: re.Match[str]) -> str:
        self._next += 1
        return f'"{self._next}"'


def _values(numbered: str, strings: list[str]) -> list[Any]:
    """The values of JSON whose strings are numbers, with the names of objects in full."""

    def named(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {strings[int(name)]: value for name, value in pairs}

    decoder = json.JSONDecoder(object_pairs_hook=named, parse_int=float)
    found, at = list[Any](), 0
    try:
        while rest := re.compile(r"[\s,]*").match(numbered, at):
            if rest.end() == len(numbered):
                return found
            value, at = decoder.raw_decode(numbered, rest.end())
            found.append(value)
    except RecursionError:
        raise InputError("is JSON that is nested too deeply") from None
    except ValueError as error:
        raise InputError(f"is no JSON: {error}") from None
    return found


def _at(
    value: Any,
    path: list[str],
    strings: list[str],
    speaker: str | None = None,
    times: tuple[float, float] | None = None,
) -> Iterator[_Text]:
    """The strings at the end of a path."""
    if isinstance(value, list):
        for item in value:
            if not isinstance(item, list):
                yield from _at(item, path, strings, speaker, times)
    elif isinstance(value, dict) and path:
        own = value.get("speaker")
        speaker = strings[int(own)] if isinstance(own, str) else speaker
        told: Any = value.get("start"), value.get("end")
        if all(isinstance(time, float) and math.isfinite(time) for time in told):
            times = told
        yield from _at(value.get(path[0]), path[1:], strings, speaker, times)
    elif isinstance(value, str) and not path:
        yield _Text(int(value), speaker, times)
