"""Text inside of JSON, such as the transcripts of recognisers of speech; all else stays as written.

The strings of one place, such as the segments of a talk, are running text: a sentence may go on in the next
one, unless somebody else speaks.  Where words or segments have times, the text to be rewritten tells the
silence between them by `PAUSE`, which the strings of the file never contain.
"""

import json
import math
import re
import warnings
from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import itemgetter
from statistics import median
from typing import Any, NamedTuple

from pyropunct.errors import InputError
from pyropunct.text.marks import LONGEST_PAUSE, PAUSE
from pyropunct.text.passages import PARTED, UNALIGNED, Passage, Reject, Rewrite, TextWithLine, flaw, spliced

SHAPES = {
    "Whisper": ("segments.text", "segments.words.word", "words.word", "word_segments.word", "text"),
    "whisper.cpp": ("transcription.text", "transcription.tokens.text"),
    "Vosk": ("result.word", "alternatives.text", "alternatives.result.word", "text"),
    "Kaldi": ("words.w",),
    "AssemblyAI": ("text", "words.text", "utterances.text", "utterances.words.text"),
    "AWS": ("results.transcripts.transcript", "results.items.alternatives.content"),
    "Azure": (
        "combinedRecognizedPhrases.display",
        "recognizedPhrases.nBest.display",
        "recognizedPhrases.nBest.words.word",
        "recognizedPhrases.nBest.displayWords.displayText",
        "DisplayText",
        "NBest.Display",
        "NBest.Words.Word",
    ),
    "Deepgram": (
        "results.channels.alternatives.transcript",
        "results.channels.alternatives.words.word",
        "results.channels.alternatives.words.punctuated_word",
    ),
    "Google": ("results.alternatives.transcript", "results.alternatives.words.word"),
    "Speechmatics": ("results.alternatives.content",),
}
"""Where recognisers have text: names on the way to it, with dots between them; lists need no name."""

_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"')
_JOINED = "\x1d"
"""Separates the strings of a passage that are pieces of one word, and reads as nothing."""

_SEPARATOR = re.compile(rf"{PARTED}\s*|{_JOINED}")
_SIGNAL = re.compile(r"\s*(?:\[_[^\]]*\]|<\|.*\|>)?\s*")
"""A string without words: white space, or a recogniser's own token, such as the beginning of a text."""


_APART = frozenset({"alternatives", "nBest", "NBest", "channels"})
"""Names of lists whose items are restored by themselves: alternatives, the likeliest first, and channels."""

_SPEAKERS = ("speaker", "speaker_label", "speakerLabel", "speakerTag")
"""Names of speakers, who are strings or numbers; Google's number 0 is nobody."""

_TIMES = (
    ("start", "end"),
    ("start_time", "end_time"),
    ("startTime", "endTime"),
    ("startOffset", "endOffset"),
    ("from", "to"),
    ("start", "duration"),
    ("s", "e"),
    ("offset", "duration"),
    ("offsetInTicks", "durationInTicks"),
    ("Offset", "Duration"),
)
"""Names of the time at which a string begins, and of its end or length."""

_UNITS = (1.0, 1e3, 1e7)
"""How many units of time a second has: seconds, milliseconds, or ticks of 100 nanoseconds."""

WORD_LENGTHS = 0.02, 5.0
"""The least and the greatest median length of a word in seconds."""


MOST_SEEN = 10
"""How many places of strings an error names."""


class _Text(NamedTuple):
    """A string, by its number in the file, with its speaker and its beginning and end, if known.

    :ivar alternative: which of several alternatives holds it; 0 for the first.
    :ivar joined: it is a further piece of the word before it.
    """

    number: int = 0
    speaker: str | None = None
    times: tuple[float, float] | None = None
    alternative: int = 0
    joined: bool = False


def rewrite_json(text: str, rewrite: Rewrite, reject: Reject, *fields: str) -> str:
    """JSON, one value or several, with strings rewritten.

    :param fields: paths of strings, as names with dots between them; by default all of `SHAPES`.
    :raises InputError: if it is no JSON, or has no string there.
    """
    places = [match.span() for match in _STRING.finditer(text)]
    strings = [json.loads(text[start:end], strict=False) for start, end in places]
    values = _values(_STRING.sub(_Numbers(), text), strings)
    breaks = [match.start() for match in re.finditer("\n", text)]
    lines = [bisect(breaks, start) + 1 for start, _ in places]
    passages = list[tuple[list[int], Passage]]()
    wholes = dict[str, list[str]]()  # a text without speakers, and its parts by speakers
    found = dict[str, TextWithLine]()  # copies of a text are read once, with all pauses that one of them has
    for path in dict.fromkeys(fields or chain(*SHAPES.values())):
        texts = [text for value in values for text in _at(value, path.split("."), strings, _Text())]
        plains = list[tuple[bool, str]]()  # whether the speaker is known, and the text
        for part in _parts(_in_seconds(texts, strings, path), strings):
            numbers = [text.number for text in part]
            flaws = ((number, flaw(strings[number], PARTED + _JOINED + PAUSE)) for number in numbers)
            number, problem = next(filter(itemgetter(1), flaws), (0, None))
            if problem is not None:
                reject(lines[number], problem)
                continue
            pieces = ((_JOINED if text.joined else PARTED) + strings[text.number] for text in part)
            passage = Passage("".join(pieces)[1:], _SEPARATOR)
            if any(map(str.isalnum, passage.plain)):
                passages.append((numbers, passage))
                heard = TextWithLine(_heard(part, strings, passage.plain), lines[numbers[0]])
                plains.append((part[0].speaker is not None, passage.plain))
                known = found.get(passage.plain, heard)
                found[passage.plain] = max(known, heard, key=lambda one: one.text.count(PAUSE))
        # Google repeats all words with their speakers.
        for said in ([plain for _, plain in plains], [plain for is_known, plain in plains if is_known]):
            if len(said) > 1:
                wholes[" ".join(said)] = said
    if not passages:
        place = f"text at {', '.join(fields)}" if fields else "known place of text"
        raise InputError(f"there is no {place}: {_seen(values)}")
    news, anew = _new_texts(found, wholes, rewrite), dict[int, str]()
    for numbers, passage in passages:
        new = passage.rewritten(news[passage.plain].replace(PAUSE, ""))
        if new is None:
            reject(found[passage.plain].line, UNALIGNED)
        else:
            anew |= zip(numbers, re.split(f"[{PARTED}{_JOINED}]", new), strict=True)
    changes = (
        (*places[number], json.dumps(new, ensure_ascii=text.isascii()))
        for number, new in sorted(anew.items())
        if new != strings[number]
    )
    return spliced(text, changes)


def _new_texts(
    found: Mapping[str, TextWithLine], wholes: Mapping[str, Sequence[str]], rewrite: Rewrite
) -> dict[str, str]:
    """The new text of each passage, by the old one; a whole is joined from its rewritten parts."""
    asked = {plain: heard for plain, heard in found.items() if plain not in wholes}
    news = dict(zip(asked, rewrite([*asked.values()]), strict=True))
    for whole in sorted(wholes, key=len):  # whose parts are shorter
        news[whole] = " ".join(news[plain] for plain in wholes[whole])
    return news


def _seen(values: list[Any]) -> str:
    """Lists the paths of strings in JSON, for an error."""
    seen, left = dict[str, None](), [("", value) for value in values]
    while left and len(seen) < MOST_SEEN:
        path, value = left.pop()
        if isinstance(value, list):
            left += [(path, item) for item in reversed(value)]
        elif isinstance(value, dict):
            left += [(f"{path}.{name}", item) for name, item in reversed(value.items())]
        elif isinstance(value, str) and path:
            seen[path[1:]] = None
    return f"choose by --field from {', '.join(seen)}" if seen else "it has no named strings"


def _parts(texts: Sequence[_Text], strings: Sequence[str]) -> Iterator[list[_Text]]:
    """The texts of one speaker and one alternative, as they follow each other, without those of no text.

    A lone mark belongs to the word before it.  Where strings begin with spaces, one without goes on a word.
    """
    alternatives = dict[int, list[_Text]]()
    for text in texts:
        if not _SIGNAL.fullmatch(string := strings[text.number]):
            before = alternatives.setdefault(text.alternative, [])
            is_word = not before or any(map(str.isalnum, string))
            before.append(text if is_word else text._replace(speaker=before[-1].speaker))
    for alternative in alternatives.values():
        for _, part in groupby(alternative, key=lambda text: text.speaker):
            first, *others = part
            spaced = strings[first.number][:1] == " "
            yield [
                first,
                *(text._replace(joined=spaced and " " not in strings[text.number]) for text in others),
            ]


def _in_seconds(texts: Sequence[_Text], strings: Sequence[str], path: str) -> list[_Text]:
    """The texts with their times in seconds; without times, and a warning, if their unit is unknown."""
    words = Counter[tuple[float, float]]()
    for text in texts:
        if text.times is not None:
            words[text.times] += len(strings[text.number].split())
    if not words:
        return list(texts)
    lengths = [(end - start) / max(1, count) for (start, end), count in words.items()]
    length, (least, most) = median([*filter(None, lengths)] or [0.0]), WORD_LENGTHS
    unit = next((unit for unit in _UNITS if least <= length / unit <= most), None)
    if unit is None:
        warnings.warn(f"the unit of the times at {path} is unknown: silence is ignored", stacklevel=3)
        return [text._replace(times=None) for text in texts]
    times = (text.times and (text.times[0] / unit, text.times[1] / unit) for text in texts)
    return [text._replace(times=seconds) for text, seconds in zip(texts, times, strict=True)]


def _heard(texts: Sequence[_Text], strings: Sequence[str], plain: str) -> str:
    """A text with the silence between its words, if some are apart; marks take no time."""
    silences, ended = list[float | None](), None
    for text in texts:
        silences.append(None)
        if any(map(str.isalnum, strings[text.number])):
            if text.times is not None and ended is not None and not text.joined:
                silences[-1] = max(0.0, text.times[0] - ended)
            ended = text.times and text.times[1]
    if not any(silences):
        return plain
    parts, at = list[str](), 0
    for text, silence in zip(texts, silences, strict=True):
        string = strings[text.number].strip().replace("\n", " ")
        end = plain.index(string, at) + len(string)
        pause = "" if silence is None else PAUSE * (1 + round(10 * min(silence, LONGEST_PAUSE)))
        parts += [pause, plain[at:end]]
        at = end
    return "".join(parts)


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


def _at(value: Any, path: list[str], strings: list[str], text: _Text) -> Iterator[_Text]:
    """The strings at the end of a path; of alternatives of one word, the first."""
    if isinstance(value, list):
        for item in value:
            if not isinstance(item, list):
                yield from _at(item, path, strings, text)
    elif isinstance(value, dict) and path:
        for speaker in map(value.get, _SPEAKERS):
            if isinstance(speaker, str | float) and (speaker or speaker is not value.get("speakerTag")):
                name = strings[int(speaker)] if isinstance(speaker, str) else str(speaker)
                text = text._replace(speaker=name)
        text = text._replace(times=_times(value, strings) or text.times)
        below = value.get(path[0])
        if path[0] in _APART and isinstance(below, list):
            is_word = path[0] == "alternatives" and text.times is not None
            for other in () if is_word else below[1:]:
                yield from _at(other, path[1:], strings, text._replace(alternative=id(other)))
            below = below[:1]
        yield from _at(below, path[1:], strings, text)
    elif isinstance(value, str) and not path:
        yield text._replace(number=int(value))


def _times(value: dict[str, Any], strings: Sequence[str]) -> tuple[float, float] | None:
    """When an object begins and ends, if it says so by numbers, or by strings such as "1.5" and "1.5s"."""
    value = value["offsets"] if isinstance(value.get("offsets"), dict) else value  # as whisper.cpp does
    for names in _TIMES:
        times = (value.get(name) for name in names)
        told = [strings[int(time)].removesuffix("s") if isinstance(time, str) else time for time in times]
        try:
            start, end = (float(time) if isinstance(time, float | str) else math.nan for time in told)
        except ValueError:
            continue
        if math.isfinite(start) and math.isfinite(end):
            return start, start + end if "uration" in names[1] else end
    return None
