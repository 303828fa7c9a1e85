"""Eight threads share one model: each call has the same result as in a single thread."""

import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from material import sentences
from row import Try, compared, tried

import pyropunct
from pyropunct.treebank.sentence import Sentence

THREADS = 8


def attack(tries: int, chance: random.Random, folder: Path) -> Iterator[Try]:
    """Make all calls one by one, then in threads, by a model that has done nothing yet."""
    some = sentences("test")
    drawn = [call(chance, chance.sample(some, 2)) for _ in range(tries)]
    alone = [_result(one, pyropunct.load("en")) for _, one in drawn]
    shared = pyropunct.load("en")
    with ThreadPoolExecutor(THREADS) as pool:
        together = list(pool.map(lambda each: _result(each[1], shared), drawn))
    for (told, _), wanted, found in zip(drawn, alone, together, strict=True):
        yield told, compared(found, wanted)


def call(chance: random.Random, some: list[Sentence]) -> tuple[str, Callable[[pyropunct.Punctuator], Any]]:
    """A call of some method about some sentences, and its name."""
    seed, words = chance.randrange(2**31), [list(one.tree.forms) for one in some]
    texts = [" ".join(forms) for forms in words]
    known = [None] * (len(words[0]) + 1)
    calls: dict[str, Callable[[pyropunct.Punctuator], Any]] = {
        "lines": lambda model: model(texts, samples=50, seed=seed),
        "an iterator": lambda model: list(model(iter(texts), samples=50, seed=seed)),
        "running text": lambda model: model(" ".join(texts), running=True, samples=50, seed=seed),
        "details": lambda model: model.details(texts, samples=50, seed=seed),
        "stream": lambda model: list(model.stream(iter(" ".join(texts)), samples=50, seed=seed)),
        "restore": lambda model: model.restore(words, samples=50, trees=2, seed=seed),
        "restore trees": lambda model: model.restore([one.tree for one in some], samples=50, seed=seed),
        "posterior": lambda model: vars(model.posterior(words[0], known, samples=50, trees=2, seed=seed)),
        "underlying": lambda model: list(model.underlying(some)),
        "evaluate": lambda model: model.evaluate(some),
    }
    name = chance.choice(sorted(calls))
    return f"{name}, seed {seed}: {texts}", calls[name]


def _result(one: Callable[[pyropunct.Punctuator], Any], model: pyropunct.Punctuator) -> str:
    """What a call returns or raises, as a text."""
    return tried(lambda: repr(one(model)))
