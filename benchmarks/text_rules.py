"""Whether rules and relations learned from text alone are those learned from a treebank's trees.

    python benchmarks/text_rules.py TRAIN.conllu DEV.conllu [--sentences 4000] [--epochs 5] [--seed 0]

The same sentences are fitted with ``--recipe rules`` three times: with the trees of the treebank, with
these and another seed, and with the trees that the model "en" finds for the words, its best and a draw
as ``pyropunct adapt`` takes them. The second fit shows what is chance. Prints the parser's scores; for
each fit the agreement with Nunberg's rules, and the perplexity on DEV with its trees in the treebank;
and how far the second and third fits are from the first: expected counts of edits, probabilities of
edits, and punctemes of each relation, first the numbers with the treebank's trees.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from trials import begin, parser

import pyropunct
from pyropunct import RECIPES, Sentence, fit
from pyropunct.nets.parser import attachment_scores
from pyropunct.tasks.explain.learned_rules import learned_rules
from pyropunct.tasks.explain.relations import RelationPunctemes, relation_punctemes
from pyropunct.tasks.explain.rule_pairs import LearnedPair, LearnedRules
from pyropunct.train.texts import TextSentence, with_parses

TREES, LEAST = 2, 5


class FitResults(NamedTuple):
    """What a fit has found; relations are those of `LEAST` constituents or more."""

    rules: LearnedRules
    relations: Mapping[str, RelationPunctemes]
    perplexity: float


def variation(one: Mapping[object, float], other: Mapping[object, float]) -> float:
    """Total variation: half of the sum of |p - q|."""
    return sum(abs(one.get(key, 0) - other.get(key, 0)) for key in one.keys() | other.keys()) / 2


def shares(relation: RelationPunctemes) -> dict[object, float]:
    return {pair.text: pair.share for pair in relation.pairs}


def chances(pair: LearnedPair) -> dict[object, float]:
    """The outcomes of a pair of tokens."""
    return {outcome.after: outcome.probability for outcome in pair.outcomes}


def compare(name: str, gold: FitResults, other: FitResults, scale: float) -> None:
    """Print how far a fit is from that of the gold trees; its counts are to be multiplied by ``scale``."""
    pairs = {pair.before: pair for pair in other.rules.pairs}
    both = [(pair, pairs[pair.before]) for pair in gold.rules.pairs if pair.before in pairs]
    counts = np.array(
        [
            (mine.count, theirs.count * scale)
            for one, two in both
            for mine, theirs in zip(one.edits, two.edits, strict=True)
            if max(mine.count, theirs.count * scale) >= 1
        ]
    )
    frequent = [(one, two) for one, two in both if min(one.count, two.count * scale) >= LEAST]
    far = [variation(chances(one), chances(two)) for one, two in frequent]
    mean = np.average(far, weights=[one.count for one, _ in frequent])
    correlation, in_logs = (np.corrcoef(values.T)[0, 1] for values in (counts, np.log1p(counts)))
    print(f"\n{name}: {len(counts)} edits expected once,", end=" ")
    print(f"counts correlate {correlation:.3f}, logs {in_logs:.3f};")
    print(f"{len(frequent)} pairs expected {LEAST} times, total variation of their edits {mean:.3f}")
    rows = [(one, other.relations[name]) for name, one in gold.relations.items() if name in other.relations]
    far = [variation(shares(one), shares(two)) for one, two in rows]
    mean = np.average(far, weights=[one.count for one, _ in rows])
    marked = np.array([(one.nonempty * one.count, two.nonempty * two.count * scale) for one, two in rows])
    print(f"{len(rows)} relations, total variation of their punctemes {mean:.3f}; ", end="")
    print(f"counts of constituents with marks correlate {np.corrcoef(marked.T)[0, 1]:.3f}")


def main() -> None:
    command = parser(__doc__, "right")
    command.add_argument("--sentences", type=int, default=4000)
    options = command.parse_args()
    train, dev = begin(options)
    gold = train[:: max(1, len(train) // options.sentences)][: options.sentences]
    text = [TextSentence(sentence.tree.forms, sentence.surface, 0) for sentence in gold]
    parses = with_parses([text], pyropunct.load("en").parser, TREES)
    print(len(gold), attachment_scores([trees[0].tree for trees in parses], [one.tree for one in gold]))
    parsed = [sentence for trees in parses for sentence in trees]
    recipe = RECIPES["rules"].changed(epochs=options.epochs)

    def found(name: str, sentences: list[Sentence], seed: int) -> FitResults:
        model = fit(sentences, dev, recipe, direction=options.direction, seed=seed)
        rules = learned_rules(model, sentences, least=LEAST)
        of_relations = relation_punctemes(model, sentences, least=20)
        perplexity = model.evaluate(dev).perplexity
        frequent, all_rules = rules.precision["frequent"], rules.recall["all"].mean_reciprocal_rank
        print(f"{name}: perplexity {perplexity:.4f}, confident {frequent}, rank {all_rules:.3f}", flush=True)
        return FitResults(rules, {one.name: one for one in of_relations}, perplexity)

    of_gold = found("gold trees", gold, options.seed)
    again = found("gold trees, another seed", gold, options.seed + 1)
    of_text = found("text alone", parsed, options.seed)
    compare("gold trees, another seed", of_gold, again, 1)
    compare("text alone", of_gold, of_text, 1 / TREES)


if __name__ == "__main__":
    main()
