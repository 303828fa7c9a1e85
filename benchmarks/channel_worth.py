"""What could take the channel's place: dev perplexity with and without the channel, for several settings.

    python benchmarks/channel_worth.py TRAIN.conllu DEV.conllu [--only "no slip;flanking pairs"] [--every 3]

Each setting takes away something that explains surface strings without the channel, and prints a row of a
Markdown table: the perplexity of attach only, of the full model, and their difference.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from trials import begin, parser

from pyropunct import Recipe, fit
from pyropunct.fitted.recipes import PAPER_FAMILIES, PLAIN, RECIPES
from pyropunct.text.marks import Surface
from pyropunct.treebank.orthography import DELIMITING
from pyropunct.treebank.tree import Tree
from pyropunct.vocabulary import Vocabulary, build_vocabulary

PAPER, SLIP, PAIRS = "the paper's families", "no slip", "flanking pairs"
BOTH = "delimiting marks on both sides"
CHANGES: dict[str, dict[str, Any]] = {
    SLIP: {"slip_mean": RECIPES["paper"].slip_mean, "slip_scale": RECIPES["paper"].slip_scale},
    PAIRS: {"flanking": True},
    PAPER: {"families": PAPER_FAMILIES},
    BOTH: {},
}
"""The parts of the model that a row lacks, as settings of the recipe; `BOTH` is one of the vocabulary."""

SETTINGS: dict[str, tuple[str, ...]] = {
    "default": (),
    **{name: (name,) for name in CHANGES},
    "no slip, flanking pairs": (SLIP, PAIRS),
    "all three": (SLIP, PAIRS, PAPER),
}
"""The parts that each row lacks."""

SEPARATED = ("conj", "cc", "list", "root")
"""Relations whose constituents may have a delimiting mark on one side."""


def main() -> None:
    made = parser(__doc__, "left")
    made.add_argument("--only", default=";".join(SETTINGS), help="settings, separated by semicolons")
    made.add_argument("--every", metavar="N", type=int, default=1, help="train on every N-th sentence alone")
    made.add_argument("--recipe", default="default", choices=RECIPES)
    options = made.parse_args()
    train, dev = begin(options)
    train = train[:: options.every]
    print(f"{len(train):,} sentences\n\n| | attach only | full | difference |\n|---|---|---|---|", flush=True)
    for name in options.only.split(";"):
        recipe = RECIPES[options.recipe].changed(**PLAIN)
        if options.epochs != Recipe().epochs:
            recipe = recipe.changed(epochs=options.epochs)
        changes = {key: value for one in SETTINGS[name] for key, value in CHANGES[one].items()}
        vocabulary = delimited if BOTH in SETTINGS[name] else build_vocabulary
        found = []
        for channel in ("identity", recipe.channel):
            one = replace(recipe, channel=channel, **changes)
            with patch("pyropunct.train.fitting.build_vocabulary", vocabulary):
                model = fit(train, dev, one, direction=options.direction, seed=options.seed)
            found.append(model.evaluate(dev).perplexity)
        label = name if options.recipe == "default" else f"recipe {options.recipe}"
        print(f"| {label} | {found[0]:.4f} | {found[1]:.4f} | {found[0] - found[1]:.4f} |", flush=True)


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
