"""Commands on an input and on one twice as long: after the start, they take at most `MOST` times the time."""

import os
import random
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from row import DONE, Row, row_of
from surroundings import COMMAND

from pyropunct.embedded import embedded_treebank_path
from pyropunct.treebank.reading import read_treebank

MOST = 2.3
FEW, REPEATS = 30, 3
"""Sentences of the input that gives the time of the start, and how often a longer time is measured again."""

BRACKETS = "(S (NP (DT The) (NN cat)) (, ,) (VP (VBZ sleeps) (ADVP (RB now))) (. .))\n"
COMMANDS = {
    "convert BRACKETS": 5_000,
    "evaluate en TREEBANK": 400,
    "underlying en TREEBANK --format conllu": 400,
    "typology en TREEBANK": 400,
    "rules en TREEBANK": 400,
    "rephrase en TREEBANK --delete advmod": 400,
    "sample en TREEBANK --samples 20": 400,
    "parse en TREEBANK": 100,
    "correct en TREEBANK": 100,
    "restore en TREEBANK": 200,
    "restore en TEXT": 100,
    "restore en TEXT --running": 100,
}
"""Commands, with the sentences of the shorter input."""


def attack(tries: int, seed: int) -> Row:
    """Measure the processor time of ``tries`` commands."""
    worst = dict[str, float]()
    row = row_of("", _tries(tries, random.Random(seed), worst))
    slowest = max(worst, key=lambda line: worst[line])
    return row._replace(name=f"doubled inputs, at most {worst[slowest]:.1f} times the time ({slowest})")


def _tries(tries: int, chance: random.Random, worst: dict[str, float]) -> Iterator[tuple[str, str]]:
    sentences = read_treebank(embedded_treebank_path("train"))[:]
    with tempfile.TemporaryDirectory() as place:
        for number in range(tries):
            line, size = list(COMMANDS.items())[number % len(COMMANDS)]
            drawn = chance.choices(sentences, k=2 * size)
            trees, texts = [one.conllu() for one in drawn], [one.text() for one in drawn]
            ratio = 9.0
            for _ in range(REPEATS):
                start, once, twice = (
                    _seconds(line, Path(place), trees[:most], texts[:most]) for most in (FEW, size, 2 * size)
                )
                once, twice = max(once - start, 1e-9) / (size - FEW), (twice - start) / (2 * size - FEW)
                ratio = min(ratio, 2 * twice / once)
                if ratio <= MOST:
                    break
            worst[line] = max(ratio, worst.get(line, 0.0))
            yield line, DONE if ratio <= MOST else f"{ratio:.2f} times the time"


def _seconds(line: str, folder: Path, trees: Sequence[str], texts: Sequence[str]) -> float:
    """The processor time of a command, in seconds."""
    contents = {"TREEBANK": trees, "TEXT": texts, "BRACKETS": [BRACKETS] * len(trees)}
    for name, parts in contents.items():
        (folder / name).write_text("".join(f"{part}\n" for part in parts))
    arguments = [str(folder / word) if word.isupper() else word for word in line.split()]
    process = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{line}: status {process.returncode}")
    return used.ru_utime + used.ru_stime
