"""Trains the recurrent rivals in several sizes; their default recipe comes from this table.

    python benchmarks/baselines.py TRAIN.conllu DEV.conllu [--kinds crf,attention] [--seed 0] [--threads 1]

Trains every recipe of `GRID` for each kind.  Prints dev perplexity per slot and, for both decoders, the
average edit distance (AED) on dev; for the trivial system AED alone.
"""

import argparse
import sys
from dataclasses import replace
from typing import Any

import torch

from pyropunct import Sentence, read_treebank
from pyropunct.fitted.evaluation import average_edit_distance
from pyropunct.nets.trainer import Progress
from pyropunct.papers.li_2019.recurrent import RivalRecipe
from pyropunct.papers.li_2019.restorers import ended_in, final_mark
from pyropunct.papers.li_2019.rival import BiGRUAttention, BiLSTMCRF, Rival, train_rival
from pyropunct.restore.decoders import DECODERS

KINDS: dict[str, type[Rival]] = {"crf": BiLSTMCRF, "attention": BiGRUAttention}

GRID: tuple[dict[str, Any], ...] = (
    {},
    {"dropout": 0.4},
    {"dropout": 0.6},
    {"word_size": 128, "hidden_size": 128},
    {"layers": 2},
)
"""What is changed in the default recipe."""

SETTINGS = ("system", "word vectors", "states", "layers", "dropout")
RESULTS = ("epochs", "minutes", "perplexity", *(f"AED, {decoder}" for decoder in DECODERS))


def main() -> None:
    options = _parser().parse_args()
    torch.set_num_threads(options.threads)
    train, dev = list(read_treebank(options.train)), list(read_treebank(options.dev))
    _print_row(*SETTINGS, *RESULTS)
    _print_row(*["---"] * len(SETTINGS + RESULTS))
    trivial = ended_in(final_mark(train), [sentence.tree.forms for sentence in dev])
    aed = average_edit_distance(trivial, [sentence.surface for sentence in dev])
    _print_row("trivial", *[""] * 7, *[f"{aed:.4f}"] * len(DECODERS))
    for kind in options.kinds.split(","):
        for changes in GRID:
            recipe = replace(RivalRecipe(), **changes)
            _print_rival(train_rival(KINDS[kind], train, dev, recipe, options.seed, _show), dev)


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    made.add_argument("train")
    made.add_argument("dev")
    made.add_argument("--kinds", default=",".join(KINDS))
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--threads", type=int, default=torch.get_num_threads())
    return made


def _show(progress: Progress) -> None:
    if progress.finished and progress.last is not None and progress.last.scores is not None:
        perplexity = progress.last.scores["perplexity"]
        print(f"epoch {progress.epoch}: perplexity {perplexity:.4f}", end="\r", file=sys.stderr, flush=True)


def _print_rival(rival: Rival, dev: list[Sentence]) -> None:
    recipe, epochs = rival.recipe, rival.report["epochs"]
    _print_row(
        rival.name,
        recipe.word_size,
        recipe.hidden_size,
        recipe.layers,
        recipe.dropout,
        f"{rival.report['chosen']} of {len(epochs)}",
        f"{epochs[-1]['seconds'] / 60:.1f}",
        f"{rival.evaluate(dev).perplexity:.4f}",
        *(f"{_aed(rival, dev, decoder=decoder):.4f}" for decoder in DECODERS),
    )


def _aed(system: Rival, dev: list[Sentence], **options: Any) -> float:
    restored = system.restore([sentence.tree.forms for sentence in dev], **options)
    return average_edit_distance(restored, [sentence.surface for sentence in dev])


def _print_row(*cells: object) -> None:
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


if __name__ == "__main__":
    main()
