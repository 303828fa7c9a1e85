"""Sustained load: one process restores short lines, and the memory that it uses does not grow."""

import ctypes
import gc
import random
from pathlib import Path

import torch
from row import DONE, Row, row_of

import pyropunct
from pyropunct.embedded import embedded_treebank_path
from pyropunct.treebank.reading import read_treebank

FIRST, MORE = 1_000, 100
"""After so many lines memory is measured first; at the end it may be greater by so many MB."""


def attack(tries: int, seed: int) -> Row:
    """Restore so many lines of words in random choice, in calls of 1 to 100 lines."""
    torch.set_num_threads(1)
    chance, model = random.Random(seed), pyropunct.load("en", samples=100)
    words = [list(one.tree.forms[:12]) for one in read_treebank(embedded_treebank_path("train"))]
    done, first = 0, 0
    while done < tries:
        some = [
            " ".join(chance.choice(words)[: chance.randint(1, 12)]) for _ in range(chance.randint(1, 100))
        ]
        done += len(model(some))
        if not first and done >= FIRST:
            first = resident()
    grown = resident() - first if first else 0
    told = f"{first} MB after {FIRST:,} lines, {first + grown} MB after {done:,}"
    row = row_of("lines in one process", [(told, DONE if grown <= MORE else "grown")])
    return row._replace(name=f"lines in one process: {told}", tries=done)


def resident() -> int:
    """The memory that this process uses, in MB; what glibc keeps for later is given back before."""
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) >> 10
