"""Streams of live text that end early: a reader goes away, or the source fails; later streams are right."""

import random
from collections.abc import Iterator

import torch
from row import DONE, REFUSED, Row, row_of

import pyropunct

TALK = (
    "so i met john in london yesterday he thinks the weather is awful what do you think well i do not know "
)


def attack(tries: int, seed: int) -> Row:
    """End a stream of the model `en` somewhere, ``tries`` times."""
    return row_of("streams that end early", _tries(tries, random.Random(seed)))


def _tries(tries: int, chance: random.Random) -> Iterator[tuple[str, str]]:
    torch.set_num_threads(1)
    model = pyropunct.load("en", samples=50)
    words = [f"{word} " for word in (TALK * 10).split()]
    whole = list(model.stream(iter(words)))

    def failing(most: int) -> Iterator[str]:
        yield from words[:most]
        raise ConnectionError

    for _ in range(tries):
        if chance.random() < 0.5:
            stream, most = model.stream(iter(words)), chance.randint(0, len(whole))
            got = [next(stream) for _ in range(most)]
            stream.close()
            yield f"closed after {most}", DONE if got == whole[:most] else "other sentences"
        else:
            most = chance.randint(0, len(words))
            try:
                list(model.stream(failing(most)))
                yield f"failing after {most}", "no error"
            except ConnectionError:
                yield f"failing after {most}", REFUSED
    yield "after all", DONE if list(model.stream(iter(words))) == whole else "other sentences"
