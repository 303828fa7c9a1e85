"""How natural three kinds of rephrased sentences are: Table 6 of Li, Wang & Eisner (2019), as Markdown.

    PYTHONPATH=tutorials python benchmarks/rephrasing.py MODEL TRAIN.conllu [--sentences N] [--seed SEED]

Rephrases TRAIN.conllu, the treebank of MODEL, in each way of `pyropunct.tasks.rephrase.rephrasing`, trains a
trigram model with add-0.001 smoothing on the result, and measures its perplexity on the original sentences:
of all trigrams, and of those with a mark.  All models have the same vocabulary.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from trigrams import TrigramModel, perplexity, with_punctuation

from pyropunct import Punctuator, Sentence, read_treebank
from pyropunct.significance import permutation_test
from pyropunct.tasks import BASE, FULL, HALF
from pyropunct.tasks.rephrase.rephrasing import (
    Rephraser,
    learn_surface_order,
    learn_underlying_order,
    permuted,
)
from pyropunct.treebank.conllu_block import FORM

Scores = dict[str, list[np.ndarray]]
"""For each variant the log-probabilities of the trigrams of each original sentence."""


def main() -> None:
    options = _parser().parse_args()
    torch.set_num_threads(options.threads)
    begin = time.process_time()
    model = Punctuator.load(options.model)
    sentences = list(read_treebank(options.train))[: options.sentences]
    rephrased = _rephrased(model, sentences, options.seed, options.show)
    marks = [with_punctuation(_marks(sentence)) for sentence in sentences]
    scores = _scores(sentences, rephrased)
    _print_table(options.train.stem, scores, marks)
    seconds = time.process_time() - begin
    print(f"\n{len(sentences)} sentences, {seconds:.0f} seconds of processor time, seed {options.seed}")


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    made.add_argument("model", metavar="MODEL", type=Path)
    made.add_argument("train", metavar="TRAIN", type=Path)
    made.add_argument("--sentences", type=int, help="only so many sentences")
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--show", type=int, default=0, help="print so many rephrased sentences")
    made.add_argument("--threads", type=int, default=1)
    return made


def _rephrased(
    model: Punctuator, sentences: Sequence[Sentence], seed: int, show: int
) -> dict[str, list[Sentence]]:
    """All sentences, rephrased in each of the ways.  Capital letters stay where they are, as in the paper."""
    rephraser = Rephraser(model, recapitalise=False, regenerate=True)
    trees = list(rephraser.underlying(sentences))
    surface, underlying = learn_surface_order(sentences), learn_underlying_order(trees)
    found = {}
    for variant, order in ((BASE, surface), (HALF, surface), (FULL, underlying)):
        generator = np.random.default_rng(seed)
        found[variant] = list(permuted(variant, order, rephraser, trees, generator))
    for number in range(show):
        print(f"    {sentences[number].text()}")
        for variant, some in found.items():
            print(f"    {variant}: {some[number].text()}")
    return found


def _tokens(sentence: Sentence) -> list[str]:
    return [token.columns[FORM] for token in sentence.layout.block.tokens]


def _marks(sentence: Sentence) -> list[bool]:
    words = set(sentence.layout.words)
    return [token not in words for token in range(1, len(sentence.layout.block.tokens) + 1)]


def _scores(sentences: Sequence[Sentence], rephrased: dict[str, list[Sentence]]) -> Scores:
    originals = [_tokens(sentence) for sentence in sentences]
    versions = {variant: [_tokens(one) for one in some] for variant, some in rephrased.items()}
    everything = [originals, *versions.values()]
    vocabulary = {token for version in everything for sentence in version for token in sentence}
    models = {variant: TrigramModel(version, vocabulary) for variant, version in versions.items()}
    return {
        variant: [model.log_probabilities(sentence) for sentence in originals]
        for variant, model in models.items()
    }


def _print_table(treebank: str, scores: Scores, marks: Sequence[np.ndarray]) -> None:
    every = [np.ones_like(one) for one in marks]
    print("| treebank | trigrams | number | base | half | full | p, half and base | p, full and half |")
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    for name, chosen in (("with punctuation", marks), ("all", every)):
        parts = {
            variant: [one[where] for one, where in zip(some, chosen, strict=True)]
            for variant, some in scores.items()
        }
        sums = {variant: [one.sum() for one in some] for variant, some in parts.items()}
        joined = {variant: np.concatenate(some) for variant, some in parts.items()}
        cells = [f"{perplexity(joined[variant]):.1f}" for variant in (BASE, HALF, FULL)]
        tests = [permutation_test(sums[one], sums[other]) for one, other in ((HALF, BASE), (FULL, HALF))]
        cells += [f"{value:.4f}" for value in tests]
        print(f"| {treebank} | {name} | {len(joined[BASE]):,} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
