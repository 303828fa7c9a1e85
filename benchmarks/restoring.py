"""How long restoration from raw words takes: in lists, and for one sentence from Python.

    python benchmarks/restoring.py en DEV.conllu [--sustained 20000 --words 8]

Prints sentences a second, in lists of 100, for all sentences of DEV, and milliseconds of a call for one
sentence of 7 to 13 words, the median and the least of 100.  Both are processor time, on one thread, when the
model is warm.  With --sustained, instead restores so many lines of so many words, and prints lines a second
of processor time, and the memory of the process after each fifth.
"""

import argparse
import random
from itertools import islice
from pathlib import Path
from resource import getpagesize
from statistics import median
from time import process_time

import torch

import pyropunct

TOGETHER, CALLS = 100, 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="the name of a model of the package, or the path of a model")
    parser.add_argument("dev", type=Path)
    parser.add_argument("--sustained", type=int)
    parser.add_argument("--words", type=int, default=8)
    options = parser.parse_args()
    torch.set_num_threads(1)
    punctuator = pyropunct.load(options.model)
    lines = [" ".join(sentence.tree.forms) for sentence in pyropunct.read_treebank(options.dev)]
    random.Random(0).shuffle(lines)
    if options.sustained:
        sustained(punctuator, " ".join(lines).split(), options.sustained, options.words)
        return
    parts = [lines[first : first + TOGETHER] for first in range(0, len(lines), TOGETHER)]
    punctuator(parts[0])
    together = sum(seconds(punctuator, part) for part in parts)
    print(f"{len(lines) / together:.0f} sentences a second in lists of {TOGETHER}")
    short = [line for line in lines if 7 <= len(line.split()) <= 13]
    alone = [1000 * seconds(punctuator, line) for line in short[: 2 * CALLS]][CALLS:]
    print(f"{median(alone):.1f} ms for one sentence, at least {min(alone):.1f}")


def sustained(punctuator: pyropunct.Punctuator, words: list[str], number: int, size: int) -> None:
    """Restore so many lines of neighbouring words as a stream."""
    places = random.Random(0)
    lines = (
        " ".join(words[first : first + size]) for first in iter(lambda: places.randrange(len(words)), -1)
    )
    memory, start = list[str](), process_time()
    for done, _ in enumerate(punctuator(islice(lines, number)), 1):
        if done % (number // 5) == 0:
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            memory.append(f"{pages * getpagesize() / 2**20:.0f}")
    print(f"{number / (process_time() - start):.0f} lines of {size} words a second; {', '.join(memory)} MB")


def seconds(punctuator: pyropunct.Punctuator, text: str | list[str]) -> float:
    """The processor time of a call."""
    start = process_time()
    punctuator(text)
    return process_time() - start


if __name__ == "__main__":
    main()
