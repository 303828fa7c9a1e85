"""How far the learned edits of English are Nunberg's rules, as a Markdown table.

    python benchmarks/rules_of_english.py TRAIN.conllu,... DEV.conllu,... [--recipes rules,rules,default]
                                          [--every 2]

Fits a model for each recipe, the second one of a name with seed 1, and so on.  "Confident" edits have a
probability above 0.75; the table counts those that are Nunberg's.  MRR is the mean reciprocal rank of his
outcomes, of all rules and of those whose pair is expected so many times in training, with their number.
*Not first* lists those expected five times whose most probable outcome is another one: both marks stay, or as
shown.
The last columns are probabilities: that ``” .`` becomes ``. ”``, and that a comma stays at the beginning of a
clause.
"""

from collections import Counter
from collections.abc import Iterable

from trials import begin, parser

from pyropunct import RECIPES, fit
from pyropunct.tasks.explain.learned_rules import learned_rules
from pyropunct.tasks.explain.rule_pairs import LearnedPair, recall
from pyropunct.text.marks import CLAUSE, display

COUNTS = (0.5, 5, 25)
"""The expected counts from which pairs are summed up."""

LISTED = 5
"""The expected count from which outcomes that are not first are listed."""


def main() -> None:
    made = parser(__doc__, "right")
    made.add_argument("--recipes", default="rules,rules,default")
    options = made.parse_args()
    train, dev = begin(options)
    of_counts = [f"MRR, from {count:g}" for count in COUNTS]
    header = ["recipe, seed", "perplexity", "confident", f"from {LISTED} times", "MRR, all", *of_counts]
    header += ["not first", "`” .` → `. ”`", "`⟨ ,` → `,`"]
    print(f"| {' | '.join(header)} |\n|---{'|--:' * (len(header) - 1)}|", flush=True)
    seeds = Counter[str]()
    for name in options.recipes.split(","):
        seed = options.seed + seeds[name]
        seeds[name] += 1
        model = fit(train, dev, RECIPES[name], direction=options.direction, seed=seed)
        rules = learned_rules(model, train, least=LISTED)
        found = (rules.precision[group] for group in ("all", "frequent"))
        expected = [[pair for pair in rules.ruled if (pair.count or 0) >= count] for count in (0, *COUNTS)]
        of_pair = {pair.before: pair for pair in rules.pairs}
        cells = [f"{name}, {seed}", f"{model.evaluate(dev).perplexity:.4f}"]
        cells += [f"{one.listed} of {one.edits}" for one in found]
        cells += [f"{recall(pairs).mean_reciprocal_rank:.3f} ({len(pairs)})" for pairs in expected]
        cells += [", ".join(misses(pair for pair in rules.ruled if (pair.count or 0) >= LISTED))]
        cells += [f"{probability(of_pair[('”', '.')], ('.', '”')):.3f}"]
        cells += [f"{probability(of_pair[(CLAUSE, ',')], (CLAUSE, ',')):.3f}"]
        print(f"| {' | '.join(cells)} |", flush=True)


def misses(pairs: Iterable[LearnedPair]) -> Iterable[str]:
    """Pairs whose most probable outcome is not Nunberg's, with this outcome."""
    for pair in pairs:
        best = max(pair.outcomes, key=lambda outcome: outcome.probability)
        if pair.rule is not None and best.after != pair.rule.after:
            before, after = (" ".join(map(display, tokens)) for tokens in (pair.before, best.after))
            yield f"`{before}`{'' if after == before else f' → `{after}`'} ({pair.count:.0f})"


def probability(pair: LearnedPair, after: tuple[str, ...]) -> float:
    """The probability of an outcome of a pair."""
    return next(outcome.probability for outcome in pair.outcomes if outcome.after == after)


if __name__ == "__main__":
    main()
