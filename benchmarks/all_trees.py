"""How long sums over all trees take, and how much probability pruning leaves out.

    python benchmarks/all_trees.py MODEL PARSER DEV.conllu

MODEL was fitted with ``--attach local``; PARSER is a model with a parser, such as ``en``.  Prints what
docs/guide/all-trees.md quotes: items a word, the mean and least share of p(T | words) that is kept, and the
median milliseconds of processor time, on one thread, to find the possible trees, to score them, and of log
p(x | words) with its gradient.
"""

import argparse
from itertools import pairwise
from statistics import mean, median
from time import process_time

import torch

import pyropunct
from pyropunct.inference.inside import posterior_pairs
from pyropunct.inference.pyro.collapse import collapse_trees, tree_problem
from pyropunct.nets.parser import BiaffineParser
from pyropunct.train.all_trees import Pruning, possible_trees

PRUNINGS = (Pruning(1e-2, 1e-3, 0.1), Pruning(), Pruning(1e-4, 1e-5, 0.01))
LENGTHS, AROUND, MOST = (10, 20, 40, 60), 3, 30
"""Lengths in words, how much those of sentences may differ from them, and the most sentences of each."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("parser")
    parser.add_argument("dev")
    options = parser.parse_args()
    torch.set_num_threads(1)
    model, words_parser = pyropunct.load(options.model), pyropunct.load(options.parser).parser
    assert isinstance(words_parser, BiaffineParser)
    dev = list(pyropunct.read_treebank(options.dev))
    measured(model, words_parser, dev[:3], Pruning())  # compiles
    print("| words | pruning | items a word | kept, mean | kept, least | trees, ms | scores, ms | sum, ms |")
    print("|---|---|---|---|---|---|---|---|")
    for length in LENGTHS:
        some = [one for one in dev if abs(len(one.tree) - length) <= AROUND][:MOST]
        for pruning in PRUNINGS:
            items, kept, *times = zip(*measured(model, words_parser, some, pruning), strict=True)
            told = " | ".join(f"{1000 * median(one):.1f}" for one in times)
            shown = f"{pruning.arc:g}, {pruning.item:g}, {pruning.relation:g}"
            print(f"| {length} | {shown} | {mean(items):.1f} | {mean(kept):.3f} | {min(kept):.3f} | {told} |")


def measured(
    model: pyropunct.Punctuator,
    parser: BiaffineParser,
    sentences: list[pyropunct.Sentence],
    pruning: Pruning,
) -> list[tuple[float, ...]]:
    """Items a word, the share that is kept, and seconds, of each sentence."""
    story, rows = collapse_trees(model.story), []
    for sentence in sentences:
        times = [process_time()]
        with torch.no_grad():
            found = possible_trees(parser, model.vocabulary, [sentence.tree.forms], pruning)
            times.append(process_time())
            surface = model.vocabulary.encode_surface(sentence.surface, sentence.tree)
            problem = tree_problem(story, found.trees, surface)
        times.append(process_time())
        posterior_pairs(problem)
        times.append(process_time())
        seconds = (after - before for before, after in pairwise(times))
        rows.append((found.trees.forest.num_nodes / len(sentence.tree), float(found.covered), *seconds))
    return rows


if __name__ == "__main__":
    main()
