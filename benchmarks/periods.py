"""How often a period belongs to another constituent than the sentence, in the best underlying trees.

    python benchmarks/periods.py MODEL FILE.conllu [--relation advcl]

Prints a row of the tables in docs/guide/rephrasing.md and docs/experiments/index.md: the sentences; those
that come back when all punctuation is made anew from T'; those that end in a period alone, and of these,
those with a period in the punctemes of a constituent below the root; the constituents that ``rephrase --move
RELATION:first`` moves, and those that take a period along.
"""

import argparse
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import torch

from pyropunct import Punctuator, read_treebank
from pyropunct.tasks.rephrase.rephrasing import Rephraser
from pyropunct.tasks.rephrase.underlying_tree import Puncteme, UnderlyingTree
from pyropunct.tasks.settings import FIRST

PERIOD = "."


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    made.add_argument("model", type=Path)
    made.add_argument("file", type=Path)
    made.add_argument("--relation", default="advcl")
    options = made.parse_args()
    torch.set_num_threads(1)
    rephraser = Rephraser(Punctuator.load(options.model), regenerate=True)
    counts: Counter[str] = Counter()
    for tree in rephraser.underlying(list(read_treebank(options.file))):
        counts.update(_of_sentence(tree, rephraser))
        counts.update(_of_moves(tree, options.relation))
    names = ("sentences", "come back", "end in a period", "another has one", "moved", "take a period along")
    print("| " + " | ".join(names) + " |")
    print("|---" * len(names) + "|")
    print("| " + " | ".join(f"{counts[name]:,}" for name in names) + " |")


def _of_sentence(tree: UnderlyingTree, rephraser: Rephraser) -> Counter[str]:
    sentence = tree.sentence
    found = Counter({"sentences": 1, "come back": int(rephraser.best(tree).surface == sentence.surface)})
    if sentence.surface[-1] == (PERIOD,):
        others = [pair for pair, head in zip(tree.punctemes, sentence.tree.heads, strict=True) if head]
        found["end in a period"] = 1
        found["another has one"] = int(_have_a_period(others))
    return found


def _of_moves(tree: UnderlyingTree, relation: str) -> Counter[str]:
    """The constituents of a relation that can be moved to the front, and those with a period inside."""
    found: Counter[str] = Counter()
    whole = tree.sentence.tree
    for word in tree.with_relation(relation):
        if whole.heads[word - 1] and tree.moved([word], FIRST).words != tree.words:
            first, last = whole.spans[word - 1]
            found["moved"] += 1
            found["take a period along"] += _have_a_period(tree.punctemes[first - 1 : last])
    return found


def _have_a_period(punctemes: Iterable[tuple[Puncteme, Puncteme]]) -> bool:
    return any(PERIOD in left + right for left, right in punctemes)


if __name__ == "__main__":
    main()
