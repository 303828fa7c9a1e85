"""What each feature family of the attach model brings: dev perplexity without it, or with one more.

python benchmarks/families.py TRAIN.conllu DEV.conllu [--direction left] [--epochs 5] [--seed 0]
"""

from dataclasses import replace

from trials import begin, parser

from pyropunct import Recipe, fit
from pyropunct.fitted.recipes import DEFAULT_FAMILIES, PAPER_FAMILIES
from pyropunct.models.attach.features import FAMILIES


def main() -> None:
    options = parser(__doc__, "left").parse_args()
    train, dev = begin(options)
    trials = {"default": DEFAULT_FAMILIES, "the paper's families": PAPER_FAMILIES}
    trials |= {f"with {name}": (*DEFAULT_FAMILIES, name) for name in FAMILIES if name not in DEFAULT_FAMILIES}
    trials |= {
        f"without {name}": tuple(one for one in DEFAULT_FAMILIES if one != name)
        for name in DEFAULT_FAMILIES[1:]
    }
    print("| features | weights | perplexity |\n|---|---|---|")
    for name, families in trials.items():
        recipe = replace(Recipe(), families=families, epochs=options.epochs)
        model = fit(train, dev, recipe, direction=options.direction, seed=options.seed)
        print(f"| {name} | {model.report['weights']:,} | {model.evaluate(dev).perplexity:.4f} |", flush=True)


if __name__ == "__main__":
    main()
