"""How many errors are simulated in a treebank: the table of docs/reference/correction.md.

    python benchmarks/correction.py TRAIN.conllu [--errors 1] [--seed 0]

Correctors are compared by ``pyropunct compare correction``.
"""

import argparse
from collections import Counter

from pyropunct import read_treebank
from pyropunct.tasks.correct.learner_errors import ErrorRates, occasions, wrong_surfaces


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    made.add_argument("train")
    made.add_argument("--errors", type=float, default=1.0)
    made.add_argument("--seed", type=int, default=0)
    options = made.parse_args()
    rates, sentences = ErrorRates().times(options.errors), list(read_treebank(options.train))
    words = sum(len(one.tree) for one in sentences)
    errors = Counter(e.kind for one in wrong_surfaces(sentences, rates, options.seed) for e in one.errors)
    unit = ErrorRates(**dict.fromkeys(vars(rates), 0.1))  # the same shares, whatever the rates
    there = dict.fromkeys(vars(rates), 0.0)
    for one in sentences:
        for option in (option for some in occasions(one.tree, one.surface, unit) for option in some):
            there[option.kind] += option.rate / 0.1
    _print_row("error", "rate", "occasions per 1,000 words", "errors per 1,000 words")
    _print_row(*["---"] * 4)
    for kind, rate in vars(rates).items():
        _print_row(kind, f"{rate:g}", *(f"{1000 * count[kind] / words:.2f}" for count in (there, errors)))
    _print_row("all", "", "", f"{1000 * errors.total() / words:.2f}")


def _print_row(*cells: object) -> None:
    print(f"| {' | '.join(map(str, cells))} |")


if __name__ == "__main__":
    main()
