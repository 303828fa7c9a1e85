"""Commands on an input and on one twice as long: after the start, they take at most `MOST` times the time."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from material import INPUTS, sentences
from processes import filled, measured
from row import DONE, Try

MOST = 2.3
FEW, REPEATS = 30, 3
"""Sentences of the input that gives the time of the start, and how often a longer time is measured again."""

BRACKETS = INPUTS["commands"]["brackets"][0]


def attack(tries: int, chance: random.Random, folder: Path) -> Iterator[Try]:
    """Measure the processor time of a command."""
    commands = list(INPUTS["doubled"].items())
    for number in range(tries):
        line, size = commands[number % len(commands)]
        drawn = chance.choices(sentences("train"), k=2 * size)
        trees, texts = [one.conllu() for one in drawn], [one.text() for one in drawn]
        ratio = 9.0
        for _ in range(REPEATS):
            start, once, twice = (
                _seconds(line, folder, trees[:most], texts[:most]) for most in (FEW, size, 2 * size)
            )
            once, twice = max(once - start, 1e-9) / (size - FEW), (twice - start) / (2 * size - FEW)
            ratio = min(ratio, 2 * twice / once)
            if ratio <= MOST:
                break
        told = f"{ratio:.1f} times the time of {line}"
        yield line, f"{DONE}: {told}" if ratio <= MOST else told


def _seconds(line: str, folder: Path, trees: Sequence[str], texts: Sequence[str]) -> float:
    """The processor time of a command, in seconds."""
    contents = {"TREEBANK": trees, "TEXT": texts, "BRACKETS": [BRACKETS] * len(trees)}
    for name, parts in contents.items():
        (folder / name).write_text("".join(f"{part}\n" for part in parts))
    status, used = measured(filled(line, {name: folder / name for name in contents}))
    if status:
        raise RuntimeError(f"{line}: status {status}")
    return used.ru_utime + used.ru_stime
