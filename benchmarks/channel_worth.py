"""What the channel is worth: the perplexity without and with it, for models that explain more or less.

    python benchmarks/channel_worth.py TRAIN.conllu DEV.conllu [--only "default"] [--every 6] [--seeds 3]

Each row changes the default recipe, and is a mean over seeds, for which the first difference has its standard
deviation.  A sentence is *impossible* for a system that needs a slip to write it.  The last columns compare
the systems on the sentences that both can write without a slip: nats a sentence, and p of a paired
permutation of sentences, whose log probabilities are means over seeds.
"""

from collections.abc import Sequence
from dataclasses import replace
from statistics import mean, stdev
from typing import Any, NamedTuple
from unittest.mock import patch

import torch
from torch import Tensor
from trials import begin, parser

from pyropunct import Recipe, Sentence, fit
from pyropunct.fitted.recipes import PAPER_FAMILIES, PLAIN, RECIPES
from pyropunct.significance import permutation_test
from pyropunct.text.marks import Surface
from pyropunct.treebank.functions import DELIMITING
from pyropunct.treebank.tree import Tree
from pyropunct.vocabulary import Vocabulary, build_vocabulary

NO_SLIP = {"slip_mean": -20.0, "slip_scale": 0.01}
BOTH = "delimiting marks on both sides"

SETTINGS: dict[str, Recipe] = {
    "default": Recipe(**PLAIN),
    "flanking pairs": Recipe(**PLAIN, flanking=True),
    BOTH: Recipe(**PLAIN),
    "no slip, e^-20": Recipe(**PLAIN, **NO_SLIP),
    "no slip, e^-100": Recipe(**PLAIN, **{**NO_SLIP, "slip_mean": -100.0}),
    "no slip, flanking pairs": Recipe(**PLAIN, **NO_SLIP, flanking=True),
    "the same, the paper's families": Recipe(**PLAIN, **NO_SLIP, flanking=True, families=PAPER_FAMILIES),
    "the same, symmetry alone": Recipe(**PLAIN, **NO_SLIP, flanking=True, families=PAPER_FAMILIES[:1]),
    "the paper's recipe": RECIPES["paper"],
}
"""The recipe of each row; `BOTH` changes the vocabulary too."""

SEPARATED = ("conj", "cc", "list", "root")
"""Relations whose constituents may have a delimiting mark on one side."""


class System(NamedTuple):
    """What one seed has found: the perplexity, and (sentences,) log p(x | T) without a slip."""

    perplexity: float
    log_probs: Tensor


def main() -> None:
    made = parser(__doc__, "right")
    made.add_argument("--only", default=";".join([*SETTINGS][:-1]), help="rows, separated by semicolons")
    made.add_argument("--seeds", type=int, default=3)
    options = made.parse_args()
    train, dev = begin(options)
    print(
        f"{len(train):,} sentences, {options.seeds} seeds\n\n"
        "| | attach only | full | difference | impossible | nats a sentence | p |\n" + "|---" * 7 + "|",
        flush=True,
    )
    for name in options.only.split(";"):
        vocabulary = delimited if name == BOTH else build_vocabulary
        with patch("pyropunct.train.fitting.build_vocabulary", vocabulary):
            alone, full = (
                [system(train, dev, recipe, options.direction, seed) for seed in range(options.seeds)]
                for recipe in (replace(SETTINGS[name], channel="identity"), SETTINGS[name])
            )
        print(row(name, alone, full), flush=True)


def system(train: list[Sentence], dev: list[Sentence], recipe: Recipe, direction: str, seed: int) -> System:
    """Fit a model, and measure it with slips and without."""
    model = fit(train, dev, recipe, direction=direction, seed=seed)
    perplexity = model.evaluate(dev).perplexity
    channel: Any = model.story.channel
    channel.slip_logit = torch.tensor(-torch.inf)
    without = model.log_prob_of_marks([one.tree for one in dev], [one.surface for one in dev])
    return System(perplexity, without)


def row(name: str, alone: Sequence[System], full: Sequence[System]) -> str:
    """A row of the table, from the systems of all seeds."""
    differences = [one.perplexity - other.perplexity for one, other in zip(alone, full, strict=True)]
    spread = f" ± {stdev(differences):.4f}" if len(differences) > 1 else ""
    found = [torch.stack([one.log_probs for one in systems]).mean(0) for systems in (alone, full)]
    possible = [one.isfinite() for one in found]
    both = possible[0] & possible[1]
    first, second = (one[both].numpy() for one in found)
    cells = [
        f"{mean(one.perplexity for one in alone):.4f}",
        f"{mean(one.perplexity for one in full):.4f}",
        f"{mean(differences):.4f}{spread}",
        " / ".join(str(int((~one).sum())) for one in possible),
        f"{(second - first).mean():.4f}",
        f"{permutation_test(second, first):.2g}",
    ]
    return f"| {' | '.join([name, *cells])} |"


def delimited(examples: Sequence[tuple[Tree, Surface]], **options: Any) -> Vocabulary:
    """A vocabulary whose relations, but for `SEPARATED`, have delimiting marks on both sides or none."""
    vocabulary = build_vocabulary(examples, **options)
    delimiting = {number for number, function in enumerate(vocabulary.functions) if function == DELIMITING}
    pairs = tuple(
        tuple(
            (left, right)
            for left, right in of_relation
            if relation in SEPARATED or delimiting.intersection(left) == delimiting.intersection(right)
        )
        for relation, of_relation in zip(vocabulary.relations, vocabulary.pairs, strict=True)
    )
    return replace(vocabulary, pairs=pairs)


if __name__ == "__main__":
    main()
