"""What each feature family of the attach model brings: dev perplexity without it.

Usage::

    python benchmarks/families.py TRAIN.conllu DEV.conllu [--direction left] [--epochs 6] [--seed 0]
"""

import argparse
from dataclasses import replace

import torch

from pyropunct import Recipe, fit, read_treebank
from pyropunct.recipes import PAPER_FAMILIES


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("train")
    parser.add_argument("dev")
    parser.add_argument("--direction", default="left")
    parser.add_argument("--epochs", type=int, default=Recipe().epochs)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    train, dev = (list(read_treebank(path)) for path in (options.train, options.dev))
    everything = Recipe().families
    trials = {"all families": everything, "the paper's families": PAPER_FAMILIES}
    trials |= {f"without {name}": tuple(one for one in everything if one != name) for name in everything[1:]}
    print("| features | weights | perplexity |\n|---|---|---|")
    for name, families in trials.items():
        recipe = replace(Recipe(), families=families, epochs=options.epochs)
        model = fit(train, dev, recipe, direction=options.direction, seed=options.seed)
        print(f"| {name} | {model.report['weights']:,} | {model.evaluate(dev).perplexity:.4f} |", flush=True)


if __name__ == "__main__":
    main()
