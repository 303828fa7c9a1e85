"""Random transcripts with times: marks are inserted into their strings, and everything else stays.

One transcript of `BY_MODEL` is restored by the English model of the package; the others get random marks.
"""

import json
import random
import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from material import INPUTS
from row import REFUSED, Try, tried
from unchanged import problem

import pyropunct
from pyropunct.text.passages import Reject, Rewrite, TextWithLine
from pyropunct.text.transcripts import rewrite_json

BY_MODEL = 20
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')

LISTS = INPUTS["transcripts"]


def attack(tries: int, chance: random.Random, folder: Path) -> Iterator[Try]:
    """Restore a transcript."""

    def by_chance(texts: Sequence[TextWithLine]) -> list[str]:
        return [re.sub(r"\S+", lambda word: _marked(word[0], chance), each.text) for each in texts]

    def by_model(texts: Sequence[TextWithLine]) -> list[str]:
        return [punctuate(each.text, running=True) for each in texts]

    def reject(line: int, problem: str) -> None:
        raise AssertionError(f"{line}: {problem}")

    warnings.filterwarnings("ignore", "the unit of the times")
    punctuate = pyropunct.load("en")
    for number in range(tries):
        field = chance.choice(LISTS["places"].split())
        text, restore = _transcript(field, chance), by_chance if number % BY_MODEL else by_model
        found = tried(_rewritten, text, restore, reject, field)
        yield f"{field} {text}", "the text is refused" if found == REFUSED else found


def _rewritten(old: str, restore: Rewrite, reject: Reject, field: str) -> str | None:
    """What has changed apart from inserted marks and case."""
    new = rewrite_json(old, restore, reject, field)
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
    begin, end = chance.choice(LISTS["times"])
    unit, space = chance.choice(LISTS["units"]), chance.choice(["", " "])
    told = chance.choice([float, int, str, "{}s".format])
    time = 0.0

    def strings() -> Iterator[dict[str, object]]:
        nonlocal time
        for _ in range(chance.randint(1, 8)):
            is_mark = time > 0 and chance.random() < 0.2
            forms, count = (
                (LISTS["marks"].split(), 1)
                if is_mark
                else (LISTS["words"].split(), chance.choice([1, 1, 1, 3]))
            )
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
