"""What benchmarks that fit one treebank several times have in common."""

import argparse

import torch

from pyropunct import Recipe, Sentence, read_treebank


def parser(usage: str, direction: str) -> argparse.ArgumentParser:
    """A command line of a documented benchmark: training and dev treebanks, and the settings of a fit."""
    made = argparse.ArgumentParser(description=usage.splitlines()[0])
    made.add_argument("train")
    made.add_argument("dev")
    made.add_argument("--direction", default=direction)
    made.add_argument("--epochs", type=int, default=Recipe().epochs)
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--every", metavar="N", type=int, default=1, help="train on every N-th sentence alone")
    made.add_argument("--threads", type=int, default=torch.get_num_threads())
    return made


def begin(options: argparse.Namespace) -> tuple[list[Sentence], list[Sentence]]:
    """Read the treebanks, of one or more files with commas between; use as many threads as wanted."""
    torch.set_num_threads(options.threads)
    train, dev = (
        [sentence for file in files.split(",") for sentence in read_treebank(file)]
        for files in (options.train, options.dev)
    )
    return train[:: options.every], dev
