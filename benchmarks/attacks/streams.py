"""Streams of live text, in any pieces or ended early: the sentences of the whole text."""

import random
from collections.abc import Iterator
from pathlib import Path

from material import INPUTS, random_line
from row import DONE, REFUSED, Try
from unchanged import problem

import pyropunct

LISTS = INPUTS["streams"]
WORDS = [f"{word} " for word in (LISTS["talk"] * 10).split()]


def attack(tries: int, chance: random.Random, folder: Path) -> Iterator[Try]:
    """Cut a text for the model `en` into pieces, or end a stream."""
    model = pyropunct.load("en", samples=50)
    whole = list(model.stream(iter(WORDS)))
    for _ in range(tries):
        yield chance.choice([_cut, _cut, _closed, _failing])(model, whole, chance)
    yield "after all", DONE if list(model.stream(iter(WORDS))) == whole else "other sentences"


def _cut(model: pyropunct.Punctuator, _: list[str], chance: random.Random) -> Try:
    """A text in pieces gives the sentences of the same text in one piece, and loses nothing."""
    parts = [random_line(chance) + chance.choice(LISTS["separators"]) for _ in range(chance.randint(0, 6))]
    parts.insert(
        chance.randint(0, len(parts)), chance.choice(LISTS["unspaced"]) * chance.choice([0, 0, 5, 300])
    )
    text, pieces, start = "".join(parts), list[str](), 0
    while start < len(text):
        size = chance.choice(LISTS["sizes"])
        pieces.append(text[start : start + size])
        start += size
    expected, found = (list(model.stream(some, case="keep")) for some in ([text], pieces))
    wrong = problem(text, "".join(found), kept=True)
    return f"{text!r}", "other sentences" if found != expected else wrong or DONE


def _closed(model: pyropunct.Punctuator, whole: list[str], chance: random.Random) -> Try:
    stream, most = model.stream(iter(WORDS)), chance.randint(0, len(whole))
    got = [next(stream) for _ in range(most)]
    stream.close()  # type: ignore[attr-defined]  # it is a generator
    return f"closed after {most}", DONE if got == whole[:most] else "other sentences"


def _failing(model: pyropunct.Punctuator, _: list[str], chance: random.Random) -> Try:
    most = chance.randint(0, len(WORDS))

    def words() -> Iterator[str]:
        yield from WORDS[:most]
        raise ConnectionError

    try:
        list(model.stream(words()))
    except ConnectionError:
        return f"failing after {most}", REFUSED
    return f"failing after {most}", "no error"
