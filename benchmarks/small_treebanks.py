"""Whether the rules that a small treebank teaches agree with what is expected in its sentences.

    python benchmarks/small_treebanks.py TRAIN.conllu DEV.conllu [--sentences 900] [--recipe rules]
        [--epochs N] [--direction right] [--seeds 0 1 2]

Takes sentences from all over TRAIN; 0 for all. Prints for each seed how many probabilities of edits of pairs
that are expected five times or more differ by over 0.25 from their expected shares, and of how many such
pairs; the total variation of probabilities and shares, mean by count; the perplexity on DEV, that of last
slots alone, and that of last slots for the unigram model; and the epoch that DEV chose.
"""

import argparse
import math
from collections.abc import Sequence

import torch

from pyropunct import Punctuator, Sentence, fit, read_treebank
from pyropunct.fitted.recipes import named_recipe
from pyropunct.tasks.explain.learned_rules import COUNTED, LearnedRules, learned_rules


def main() -> None:
    made = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    made.add_argument("train")
    made.add_argument("dev")
    made.add_argument("--sentences", type=int, default=900)
    made.add_argument("--recipe", default="rules")
    made.add_argument("--epochs", type=int)
    made.add_argument("--direction", default="right")
    made.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    options = made.parse_args()
    torch.set_num_threads(1)
    train, dev = (list(read_treebank(path)) for path in (options.train, options.dev))
    if 0 < options.sentences < len(train):
        train = train[:: len(train) // options.sentences][: options.sentences]
    recipe = named_recipe(options.recipe, **({} if options.epochs is None else {"epochs": options.epochs}))
    for seed in options.seeds:
        model = fit(train, dev, recipe, direction=options.direction, seed=seed)
        print(f"seed {seed}:", described(model, train, dev), flush=True)


def described(model: Punctuator, train: Sequence[Sentence], dev: Sequence[Sentence]) -> str:
    """The numbers of a model."""
    rules = learned_rules(model, train, nunberg=False)
    frequent = sum((pair.count or 0.0) >= COUNTED for pair in rules.pairs)
    own, unigram, *_ = model.evaluation_sums(dev, []).evaluation()
    assert unigram is not None
    return (
        f"{rules.disagreeing} edits of {frequent} pairs disagree, total variation {variation(rules):.3f}; "
        f"perplexity {own.all.perplexity:.4f}, last slots {own.last.perplexity:.4f} (unigram "
        f"{unigram.last.perplexity:.4f}); epoch {model.report['chosen']} of {len(model.report['epochs'])}"
    )


def variation(rules: LearnedRules) -> float:
    """The total variation of probabilities and shares of pairs expected `COUNTED` times, mean by count."""
    pairs = [pair for pair in rules.pairs if (pair.count or 0.0) >= COUNTED]
    moved = (
        abs(outcome.probability * (pair.count or 0.0) - (outcome.count or 0.0))
        for pair in pairs
        for outcome in pair.outcomes
    )
    return math.fsum(moved) / 2 / max(1.0, math.fsum(pair.count or 0.0 for pair in pairs))


if __name__ == "__main__":
    main()
