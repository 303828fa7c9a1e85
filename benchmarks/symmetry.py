"""What the posterior regulariser does: unbalanced punctemes and matched marks for several weights xi.

Usage::

    python benchmarks/symmetry.py TRAIN.conllu DEV.conllu [--weights 0,1,10] [--direction right] [--seed 0]

For each xi the script fits a model and prints, on DEV: perplexity per slot, E[c(T')] per sentence under the
posterior, and the share of underlying quotation marks and brackets whose partner is on the other side of
the same constituent in the best T'.
"""

from collections.abc import Iterable
from dataclasses import replace

from trials import begin, parser

from pyropunct import Punctuator, Recipe, Sentence, fit
from pyropunct.models.symmetry import CLOSING, FACING, STRICT_CLOSERS

MARKS = set(FACING) | STRICT_CLOSERS


def matched(left: Iterable[str], right: Iterable[str]) -> tuple[int, int]:
    """How many quotation marks and brackets of a pair face their partners, and how many there are."""
    openers = [token for token in left if token in MARKS]
    closers = [token for token in reversed(list(right)) if token in MARKS]
    facing = sum(CLOSING.get(closer) == opener for opener, closer in zip(openers, closers, strict=False))
    return 2 * facing, len(openers) + len(closers)


def share_matched(model: Punctuator, sentences: list[Sentence]) -> tuple[float, int]:
    """The share of matched marks in the best T' of all sentences, and the number of marks."""
    together = total = 0
    for trees in model.underlying(sentences):
        for left, right in trees[0]:
            facing, marks = matched(left, right)
            together, total = together + facing, total + marks
    return together / max(1, total), total


def main() -> None:
    """Run the benchmark from the command line."""
    command = parser(__doc__, "right")
    command.add_argument("--weights", default="0,1,10")
    options = command.parse_args()
    train, dev = begin(options)
    print("| xi | perplexity | E[c] per sentence | matched | marks in the best T' |\n|---|---|---|---|---|")
    for weight in (float(one) for one in options.weights.split(",")):
        recipe = replace(Recipe(), symmetry_weight=weight, epochs=options.epochs)
        model = fit(train, dev, recipe, direction=options.direction, seed=options.seed)
        share, marks = share_matched(model, dev)
        expected = float(model.unmatched(dev).mean())
        perplexity = model.evaluate(dev).perplexity
        print(f"| {weight:g} | {perplexity:.4f} | {expected:.4f} | {share:.1%} | {marks} |", flush=True)


if __name__ == "__main__":
    main()
