"""What could take the channel's place: dev perplexity with and without the channel, for several settings.

    python benchmarks/channel_worth.py TRAIN.conllu DEV.conllu [--only "no slip;flanking pairs"] [--every 3]

Each setting takes away something that explains surface strings without the channel, and prints a row of a
Markdown table: the perplexity of attach only, of the full model, and their difference.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from unittest.mock import patch

from trials import begin, parser

from pyropunct import Recipe, fit
from pyropunct.fitted.recipes import PAPER_FAMILIES, RECIPES
from pyropunct.inference.forest import forest_of
from pyropunct.models.channel.composed import Slip
from pyropunct.text.marks import Surface
from pyropunct.treebank.orthography import DELIMITING
from pyropunct.treebank.tree import Tree
from pyropunct.vocabulary import Vocabulary, build_vocabulary

NO_SLIP = partial(Slip, prior_mean=-20.0, prior_scale=0.01)
"""A slip that costs 20 nats: without any, sentences that nothing else explains would have probability 0."""

PAPER, SLIP, PAIRS = "the paper's families", "no slip", "flanking pairs"
BOTH = "delimiting marks on both sides"
SETTINGS: dict[str, tuple[str, ...]] = {
    "default": (),
    SLIP: (SLIP,),
    PAIRS: (PAIRS,),
    PAPER: (PAPER,),
    BOTH: (BOTH,),
    "no slip, flanking pairs": (SLIP, PAIRS),
    "all three": (SLIP, PAIRS, PAPER),
}
"""The parts of the model that each row lacks."""

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
        recipe = RECIPES[options.recipe]
        if options.epochs != Recipe().epochs:
            recipe = recipe.changed(epochs=options.epochs)
        if PAPER in SETTINGS[name]:
            recipe = replace(recipe, families=PAPER_FAMILIES)
        found = []
        for channel in ("identity", recipe.channel):
            with without(SETTINGS[name]):
                one = replace(recipe, channel=channel)
                model = fit(train, dev, one, direction=options.direction, seed=options.seed)
                found.append(model.evaluate(dev).perplexity)
        print(f"| {name} | {found[0]:.4f} | {found[1]:.4f} | {found[0] - found[1]:.4f} |", flush=True)


@contextmanager
def without(setting: Sequence[str]) -> Iterator[None]:
    """Stories are made without a slip, or with smaller sets W_d."""
    slip = NO_SLIP if SLIP in setting else Slip
    vocabulary = flanking if PAIRS in setting else delimited if BOTH in setting else build_vocabulary
    with (
        patch("pyropunct.fitted.stories.Slip", slip),
        patch("pyropunct.train.fitting.build_vocabulary", vocabulary),
    ):
        yield


def delimited(examples: Sequence[tuple[Tree, Surface]]) -> Vocabulary:
    """A vocabulary whose relations, but for `SEPARATED`, have delimiting marks on both sides or none."""
    vocabulary = build_vocabulary(examples)
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


def flanking(examples: Sequence[tuple[Tree, Surface]]) -> Vocabulary:
    """A vocabulary with the sets W_d of the paper: what flanks a constituent, both sides at once."""
    vocabulary = build_vocabulary(examples)
    strings = [
        tuple(number for number in vocabulary.encode_string(marks) if number > 0)  # without the start
        for _, surface in examples
        for marks in surface
    ]
    forest = forest_of([tree.heads for tree, _ in examples])
    relations = [vocabulary.relation_number(relation) for tree, _ in examples for relation in tree.relations]
    pairs = [{((), ())} for _ in vocabulary.relations]
    for relation, left, right in zip(
        relations, forest.left_slot.tolist(), forest.right_slot.tolist(), strict=True
    ):
        pairs[relation].add((strings[left], strings[right]))
    return replace(vocabulary, pairs=tuple(tuple(sorted(some)) for some in pairs))


if __name__ == "__main__":
    main()
