"""What the posterior regulariser does to brackets and quotation marks, for several weights xi.

    python benchmarks/symmetry.py TRAIN.conllu DEV.conllu [--weights 0,1,10] [--direction right] [--seed 0]

The first line says what the trees of DEV allow: how many pairs of brackets and quotation marks its sentences
show, how many of them enclose a whole constituent, and how many marks have no partner in their sentence.
Then the script fits a model for each xi and prints, on DEV: perplexity per slot; the constituents that bear
such a mark in the best T'; those in whose pair one has no partner on the other side; and the expected number
of these.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from trials import begin, parser

from pyropunct import Recipe, Sentence, fit
from pyropunct.models.symmetry import CLOSERS, PAIRED


def allowed(sentences: Iterable[Sentence]) -> Counter[str]:
    """Pairs of marks, pairs that enclose a constituent, and marks without a partner."""
    counts: Counter[str] = Counter()
    for sentence in sentences:
        spans, opened = set(sentence.tree.spans), list[tuple[str, int]]()
        marks = [
            (mark, slot) for slot, some in enumerate(sentence.surface) for mark in some if mark in PAIRED
        ]
        for mark, slot in marks:
            partners = [place for place, (opener, _) in enumerate(opened) if mark in CLOSERS[opener]]
            if partners:
                counts["pairs"] += 1
                counts["constituents"] += (opened[partners[-1]][1] + 1, slot) in spans
                del opened[partners[-1] :]
            elif mark in CLOSERS:
                opened.append((mark, slot))
        counts["alone"] += len(marks)
    counts["alone"] -= 2 * counts["pairs"]
    return counts


def main() -> None:
    command = parser(__doc__, "right")
    command.add_argument("--weights", default="0,1,10")
    options = command.parse_args()
    train, dev = begin(options)
    can = allowed(dev)
    print("{pairs} pairs, {constituents} of whole constituents; {alone} marks alone\n".format_map(can))
    print("| xi | perplexity | bear a mark | unmatched | expected |\n|---|---|---|---|---|")
    for weight in (float(one) for one in options.weights.split(",")):
        recipe = replace(Recipe(), symmetry_weight=weight, epochs=options.epochs)
        model = fit(train, dev, recipe, direction=options.direction, seed=options.seed)
        bearing, unmatched, expected = model.balance(dev)
        perplexity = model.evaluate(dev).perplexity
        print(f"| {weight:g} | {perplexity:.4f} | {bearing} | {unmatched} | {expected:.1f} |", flush=True)


if __name__ == "__main__":
    main()
