"""Random transcripts with times: marks are inserted into their strings, and everything else stays.

One transcript of `BY_MODEL` is restored by the English model of the package; the others get random marks.
"""

import json
import random
import re
import warnings
from collections.abc import Iterator, Sequence

from row import DONE, Row, row_of
from unchanged import problem

import pyropunct
from pyropunct.errors import InputError
from pyropunct.text.passages import TextWithLine
from pyropunct.text.transcripts import rewrite_json

BY_MODEL = 20
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')

WORDS = r"so we went home however don't 'tis well-known 3.5 straße İt niño U.S. 第3 a\b " + 'say"so'
MARKS = ", . - -- – — ... … ? ! « » ( ) ' “ ” ; :"
PLACES = "segments.text words.word words.text result.word segments.words.word alternatives.result.word"
PLACES += " results.alternatives.content nBest.words.word text"
TIMES = [
    "start end",
    "start_time end_time",
    "startTime endTime",
    "start duration",
    "offsetInTicks durationInTicks",
]
UNITS = [1, 1, 1, 1e3, 1e7, 16e3]


def attack(tries: int, seed: int) -> Row:
    """Restore so many transcripts."""
    warnings.filterwarnings("ignore", "the unit of the times")
    return row_of("transcripts with times", _tries(tries, random.Random(seed)))


def _tries(tries: int, chance: random.Random) -> Iterator[tuple[str, str]]:
    def by_chance(texts: Sequence[TextWithLine]) -> list[str]:
        return [re.sub(r"\S+", lambda word: _marked(word[0], chance), each.text) for each in texts]

    def by_model(texts: Sequence[TextWithLine]) -> list[str]:
        return [punctuate(each.text, running=True) for each in texts]

    def reject(line: int, problem: str) -> None:
        raise InputError(f"{line}: {problem}")

    punctuate = pyropunct.load("en")
    for number in range(tries):
        field = chance.choice(PLACES.split())
        text = _transcript(field, chance)
        try:
            new = rewrite_json(text, by_chance if number % BY_MODEL else by_model, reject, field)
            found = _problem(text, new)
        except Exception as error:
            found = repr(error)
        yield f"{field} {text}", found or DONE


def _problem(old: str, new: str) -> str | None:
    """What has changed apart from inserted marks and case."""
    if STRING.sub("", old) != STRING.sub("", new):
        return f"outside of strings: {new}"
    pairs = zip(STRING.findall(old), STRING.findall(new), strict=True)
    problems = (problem(json.loads(before), json.loads(after), kept=True) for before, after in pairs)
    return next((f"{one}: {new}" for one in problems if one), None)


def _marked(word: str, chance: random.Random) -> str:
    """A word with random marks around it, and maybe another first letter."""
    front, behind = (
        chance.choice(["", "", mark]) for mark in ("(", chance.choice([",", ".", "?!", " –", " …)"]))
    )
    return front + (word.capitalize() if word.isascii() else word) + behind


def _transcript(field: str, chance: random.Random) -> str:
    """JSON with strings at a path, most of which have times."""
    *lists, name = field.split(".")
    begin, end = chance.choice(TIMES).split()
    unit, space = chance.choice(UNITS), chance.choice(["", " "])
    told = chance.choice([float, int, str, "{}s".format])
    time = 0.0

    def strings() -> Iterator[dict[str, object]]:
        nonlocal time
        for _ in range(chance.randint(1, 8)):
            is_mark = time > 0 and chance.random() < 0.2
            forms, count = (MARKS.split(), 1) if is_mark else (WORDS.split(), chance.choice([1, 1, 1, 3]))
            text = (
                space
                + " ".join(chance.choice(forms) for _ in range(count))
                + chance.choice(["", "", "", " ", "\n"])
            )
            entry: dict[str, object] = {"id": 1, name: text if chance.random() < 0.97 or not time else ""}
            time += chance.choice([0, 0, 0.1, 0.5, 2])
            length = 0.3 * count
            if chance.random() < 0.9:
                entry |= {
                    begin: told(time * unit),
                    end: told((length if "uration" in end else time + length) * unit),
                }
            if chance.random() < 0.1:
                entry["speaker"] = chance.choice("AB")
            time += length
            yield entry

    def below(lists: Sequence[str]) -> object:
        if not lists:
            return list(strings())
        items = [below(lists[1:]) for _ in range(chance.randint(1, 3))]
        return {lists[0]: [item for each in items for item in (each if isinstance(each, list) else [each])]}

    return json.dumps(below(lists), ensure_ascii=chance.random() < 0.5, indent=chance.choice([None, 1]))
