"""How long restoration from raw words takes: in lists, and for one sentence from Python.

    python benchmarks/restoring.py en DEV.conllu

Prints sentences a second, in lists of 100, for all sentences of DEV, and milliseconds of a call for one
sentence of 7 to 13 words, the median and the least of 100.  Both are processor time, on one thread, when the
model is warm.
"""

import argparse
import random
from pathlib import Path
from statistics import median
from time import process_time

import torch

import pyropunct

TOGETHER, CALLS = 100, 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="the name of a model of the package, or the path of a model")
    parser.add_argument("dev", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    punctuator = pyropunct.load(options.model)
    lines = [" ".join(sentence.tree.forms) for sentence in pyropunct.read_treebank(options.dev)]
    random.Random(0).shuffle(lines)
    parts = [lines[first : first + TOGETHER] for first in range(0, len(lines), TOGETHER)]
    punctuator(parts[0])
    together = sum(seconds(punctuator, part) for part in parts)
    print(f"{len(lines) / together:.0f} sentences a second in lists of {TOGETHER}")
    short = [line for line in lines if 7 <= len(line.split()) <= 13]
    alone = [1000 * seconds(punctuator, line) for line in short[: 2 * CALLS]][CALLS:]
    print(f"{median(alone):.1f} ms for one sentence, at least {min(alone):.1f}")


def seconds(punctuator: pyropunct.Punctuator, text: str | list[str]) -> float:
    """The processor time of a call."""
    start = process_time()
    punctuator(text)
    return process_time() - start


if __name__ == "__main__":
    main()
