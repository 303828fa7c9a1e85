"""How far the learned edits of English are Nunberg's rules, as a Markdown table.

    python benchmarks/rules_of_english.py TRAIN.conllu DEV.conllu [--recipes rules,rules,default]

Fits a model for each recipe, the second one of a name with seed 1, and so on.  "Confident" edits have a
probability above 0.75; the table counts those that are Nunberg's.  MRR is the mean reciprocal rank of his
rules: of all, of those that the paper determines, of those where some outcome has a probability above 0.5,
and of edits that have, if their marks are expected to meet five times.
"""

from collections import Counter

from trials import begin, parser

from pyropunct import RECIPES, fit
from pyropunct.tasks.explain.learned_rules import learned_rules

LEAST = 5
GROUPS = ("all", "determined", "decided", "edited, frequent")


def main() -> None:
    made = parser(__doc__, "right")
    made.add_argument("--recipes", default="rules,rules,default")
    options = made.parse_args()
    train, dev = begin(options)
    of_edits = ["confident", f"expected {LEAST} times"]
    header = ["recipe, seed", "perplexity", *of_edits, *(f"MRR, {one}" for one in GROUPS)]
    print(f"| {' | '.join(header)} |\n|---{'|--:' * (len(header) - 1)}|", flush=True)
    seeds = Counter[str]()
    for name in options.recipes.split(","):
        seed = options.seed + seeds[name]
        seeds[name] += 1
        model = fit(train, dev, RECIPES[name], direction=options.direction, seed=seed)
        rules = learned_rules(model, train, least=LEAST)
        found = (rules.precision[group] for group in ("all", "frequent"))
        precision = [f"{one.listed} of {one.edits}" for one in found]
        ranks = [rules.recall[group].mean_reciprocal_rank for group in GROUPS]
        cells = [f"{name}, {seed}", f"{model.evaluate(dev).perplexity:.4f}", *precision]
        cells += ["–" if rank is None else f"{rank:.3f}" for rank in ranks]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
