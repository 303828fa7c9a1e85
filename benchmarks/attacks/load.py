"""Sustained load: one process restores many lines and an endless stream, and its memory does not grow."""

import ctypes
import gc
import random
from collections.abc import Iterable, Iterator
from itertools import accumulate, repeat
from pathlib import Path

from material import sentences
from row import DONE, Try

import pyropunct

ENDLESS = 50_000
"""Words of a stream in which the reader finds no end."""


def attack(tries: int, chance: random.Random, folder: Path) -> Iterator[Try]:
    """Restore so many lines of words in random choice, in calls of 1 to 100 lines; then the stream."""
    model = pyropunct.load("en", samples=100)
    words = [one.tree.forms[:12] for one in sentences("train")]

    def restored_lines() -> Iterator[int]:
        done = 0
        while done < tries:
            some = [chance.choice(words)[: chance.randint(1, 12)] for _ in range(chance.randint(1, 100))]
            done += len(model([" ".join(forms) for forms in some]))
            yield done

    yield "lines", grown(restored_lines(), "lines", first=1_000, more=100)
    stream = model.stream(repeat("river ", ENDLESS), ends=1.0, ahead=100, samples=5, trees=1)
    sizes = (len(sentence.split()) for sentence in stream)
    yield "stream", grown(accumulate(sizes), "words without an end", first=5_000, more=50, last=ENDLESS)


def grown(counts: Iterable[int], units: str, first: int, more: int, last: int | None = None) -> str:
    """The memory after the ``first`` units and after all; it may grow by ``more`` MB.

    :param counts: how many units are done so far, while they are done.
    :param last: how many units there are in all.
    """
    early = count = 0
    for count in counts:
        if not early and count >= first:
            early = resident()
    late = resident()
    told = f"{early or late} MB after {first:,} {units}, {late} MB after {count:,}"
    kept = late - (early or late) <= more and count == (last or count)
    return f"{DONE}: {told}" if kept else told


def resident() -> int:
    """The memory that this process uses, in MB; what glibc keeps for later is given back before."""
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) >> 10
