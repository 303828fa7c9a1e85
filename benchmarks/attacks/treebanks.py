"""Mutated CoNLL-U files: the reader accepts and writes them again, or refuses them in one line."""

import random
import signal
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from material import INPUTS, hard_blocks, mutated
from row import Try, tried

from pyropunct.text.lines import read_lines
from pyropunct.text.marks import ABBREVIATION_DOT, START
from pyropunct.treebank.reading import read_text
from pyropunct.treebank.sentence import Sentence

SECONDS = 10
"""The time after which a try counts as hanging."""


def attack(tries: int, chance: random.Random, folder: Path) -> Iterator[Try]:
    """Mutate a file, read it, and write what was read."""
    signal.signal(signal.SIGALRM, _stop)
    blocks = hard_blocks()
    for _ in range(tries):
        data = mutated(chance, blocks)
        signal.alarm(SECONDS)
        found = tried(_read_and_write, data, chance)
        signal.alarm(0)
        yield repr(data), found


def _stop(*_: object) -> None:
    raise TimeoutError(f"not done in {SECONDS} seconds")


def _read_and_write(data: bytes, chance: random.Random) -> None:
    for sentence in read_text("\n".join(read_lines(BytesIO(data), "mutated.conllu")), "mutated.conllu"):
        _write_again(sentence, chance)


def _write_again(sentence: Sentence, chance: random.Random) -> None:
    (same,) = read_text(sentence.conllu())
    assert (same.tree, same.surface) == (sentence.tree, sentence.surface), "unchanged, it is read otherwise"
    surface = [slot[:1] if slot[:1] in ((START,), (ABBREVIATION_DOT,)) else () for slot in sentence.surface]
    surface = [(*kept, *chance.choice(INPUTS["treebanks"]["new_marks"])) for kept in surface]
    (other,) = read_text(sentence.conllu_with_surface(surface))
    assert other.tree.forms == sentence.tree.forms, "with other marks it has other words"
    assert isinstance(sentence.text(surface), str)
