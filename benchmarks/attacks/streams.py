"""Streams of live text: in any pieces, ended early, or without an end of a sentence."""

import random
from collections.abc import Iterator
from itertools import chain, repeat

import torch
from load import resident
from row import DONE, REFUSED, Row, row_of
from unchanged import problem, random_line

import pyropunct

TALK = (
    "so i met john in london yesterday he thinks the weather is awful what do you think well i do not know "
)
WORDS = [f"{word} " for word in (TALK * 10).split()]
SIZES = [0, 0, 1, 1, 1, 3, 20, 100_000]
"""The lengths of pieces."""

SEPARATORS = ["\n", "\n\n", " ", ""]
UNSPACED = ["我们等了一个小时，", "เราต้องรอหนึ่งชั่วโมง", "a,", "(a", "so—"]
ENDLESS, FIRST, MORE = 50_000, 5_000, 50
"""Words without an end; memory is measured after the first ones, and may then grow by so many MB."""


def attack(tries: int, seed: int) -> Row:
    """Cut ``tries`` texts for the model `en` into pieces, or end a stream, after one stream without ends."""
    torch.set_num_threads(1)
    model = pyropunct.load("en", samples=50)
    told, found = _endless(model)
    row = row_of("streams", chain([(told, found)], _tries(model, tries, random.Random(seed))))
    return row._replace(name=f"streams: {told}")


def _endless(model: pyropunct.Punctuator) -> tuple[str, str]:
    """The memory for words after which the reader finds no end."""
    first = written = 0
    for sentence in model.stream(repeat("river ", ENDLESS), ends=1.0, ahead=100, samples=5, trees=1):
        written += len(sentence.split())
        if written >= FIRST and not first:
            first = resident()
    last = resident()
    told = f"{first} MB after {FIRST:,} words without an end, {last} MB after {ENDLESS:,}"
    return told, DONE if written == ENDLESS and last - first <= MORE else f"{written} words"


def _tries(model: pyropunct.Punctuator, tries: int, chance: random.Random) -> Iterator[tuple[str, str]]:
    whole = list(model.stream(iter(WORDS)))
    kinds = [_cut, _cut, _closed, _failing]
    for _ in range(tries):
        yield chance.choice(kinds)(model, whole, chance)
    yield "after all", DONE if list(model.stream(iter(WORDS))) == whole else "other sentences"


def _cut(model: pyropunct.Punctuator, _: list[str], chance: random.Random) -> tuple[str, str]:
    """A text in pieces gives the sentences of the same text in one piece, and loses nothing."""
    parts = [random_line(chance) + chance.choice(SEPARATORS) for _ in range(chance.randint(0, 6))]
    parts.insert(chance.randint(0, len(parts)), chance.choice(UNSPACED) * chance.choice([0, 0, 5, 300]))
    text, pieces, start = "".join(parts), list[str](), 0
    while start < len(text):
        size = chance.choice(SIZES)
        pieces.append(text[start : start + size])
        start += size
    expected, found = (list(model.stream(some, case="keep")) for some in ([text], pieces))
    wrong = problem(text, "".join(found), kept=True)
    return f"{text!r}", "other sentences" if found != expected else wrong or DONE


def _closed(model: pyropunct.Punctuator, whole: list[str], chance: random.Random) -> tuple[str, str]:
    stream, most = model.stream(iter(WORDS)), chance.randint(0, len(whole))
    got = [next(stream) for _ in range(most)]
    stream.close()  # type: ignore[attr-defined]  # it is a generator
    return f"closed after {most}", DONE if got == whole[:most] else "other sentences"


def _failing(model: pyropunct.Punctuator, _: list[str], chance: random.Random) -> tuple[str, str]:
    most = chance.randint(0, len(WORDS))

    def words() -> Iterator[str]:
        yield from WORDS[:most]
        raise ConnectionError

    try:
        list(model.stream(words()))
    except ConnectionError:
        return f"failing after {most}", REFUSED
    return f"failing after {most}", "no error"
