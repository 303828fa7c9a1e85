"""How often proposals of heads are right, by their rule and by the fault of the old head.

    python benchmarks/planted_heads.py MODEL FILE.conllu... [--share 0.05] [--seed 0]

Prints a Markdown table.  A share of the marks gets a wrong head: the root, the word before, or any word.  A
proposal is right if it is the head that the treebank had.  `pyropunct.tasks.explain.proposals.PRECISION` has
these numbers.
"""

import argparse
import random
from collections import Counter

from pyropunct.cli.loading import TreebankUse
from pyropunct.tasks.explain.guidelines import guided_heads
from pyropunct.tasks.explain.proposals import doubtful, probability
from pyropunct.tasks.explain.reattaching import reattached
from pyropunct.treebank.sentence import Sentence

FEW = 5
"""Rows of fewer proposals are left out."""


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    made.add_argument("model", metavar="MODEL")
    made.add_argument("files", metavar="FILE", nargs="+")
    made.add_argument("--share", type=float, default=0.05, help="of marks that get a wrong head")
    made.add_argument("--seed", type=int, default=0)
    options = made.parse_args()
    all_of, right = Counter[tuple[str, str, float]](), Counter[tuple[str, str, float]]()
    for file in options.files:
        model, treebank = TreebankUse(threads=1).load_for(options.model, file)
        generator = random.Random(options.seed)
        for sentence, (best,) in zip(treebank, model.underlying(list(treebank)), strict=True):
            changed = reattached(sentence, planted(sentence, options.share, generator))
            for mark, (head, rule), matter in doubtful(changed, guided_heads(changed, best)):
                row = rule.value, matter.value, probability(changed, mark, rule, matter)
                all_of[row] += 1
                right[row] += head == sentence.layout.head(mark)
    print("| rule | the head | proposals | right | stated |\n|---|---|---|---|---|")
    for (name, matter, stated), count in all_of.most_common():
        if count >= FEW:
            share = right[name, matter, stated] / count
            print(f"| {name} | {matter} | {count} | {share:.2f} | {stated:.2f} |")


def planted(sentence: Sentence, share: float, generator: random.Random) -> dict[int, int]:
    """Heads for some of the marks."""
    layout = sentence.layout
    root, heads = layout.words[sentence.tree.heads.index(0)], {}
    for slot, marks in enumerate(layout.marks):
        for mark in marks:
            if generator.random() < share:
                before = layout.words[max(slot - 1, 0)]
                heads[mark] = generator.choice([root, before, generator.choice(layout.words)])
    return heads


if __name__ == "__main__":
    main()
