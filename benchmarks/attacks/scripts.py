"""Random lines of several scripts: `multi` keeps words and white space, and tells of unknown languages.

It needs its encoder: see docs/guide/encoders.md.
"""

import random
import warnings
from collections.abc import Iterator
from pathlib import Path

from material import INPUTS, random_line
from row import DONE, Try
from unchanged import problem

import pyropunct
from pyropunct.restore.stretches import text_in_languages

WORDS: list[str] = INPUTS["scripts"]["words"].split()


def attack(tries: int, chance: random.Random, folder: Path) -> Iterator[Try]:
    """Restore a text of one to three lines, some with marks."""
    model = pyropunct.load("multi", samples=5, trees=1)
    warnings.simplefilter("always")
    told = set[str]()
    for _ in range(tries):
        text = "\n".join(_line(chance) for _ in range(chance.randint(1, 3)))
        with warnings.catch_warnings(record=True) as caught:
            restored = model(text)
        told.update(str(warning.message) for warning in caught)
        unknown = {code for code, _ in text_in_languages(text, model.languages, False)} - {*model.languages}
        untold = [code for code in unknown if not any(f"language {code}:" in one for one in told)]
        wrong = problem(text, restored, kept=True) or (f"nothing tells of {untold}" if untold else DONE)
        yield f"{text!r} is {restored!r}", wrong


def _line(chance: random.Random) -> str:
    """A line of words from one script or from all."""
    first = chance.randrange(len(WORDS))
    words = WORDS[first : first + 6] if chance.random() < 0.5 else WORDS
    return random_line(chance, words, INPUTS["scripts"]["marks"].split())
