"""Measure a model of many languages on their dev parts, and models of single languages beside it.

    python benchmarks/languages.py multi de=de-dev.conllu fr=fr-dev.conllu ... [--alone FOLDER] [--most 150]

FOLDER holds models ``de.safetensors`` and so on, fitted with --parser to one language each.  Prints, for each
language, the perplexity given trees, and with trees and with words alone the average edit distance per slot,
F1 of all marks, and F1 of commas.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from pyropunct import Punctuator, Sentence, read_treebank
from pyropunct.files import model_there
from pyropunct.fitted.evaluation import RestorationScores
from pyropunct.nets.parser import WeightedTree
from pyropunct.restore.deciding import decide
from pyropunct.restore.parses import weighted_trees

COLUMNS = (
    "perplexity",
    *(f"{score}, {given}" for given in ("trees", "words") for score in ("AED", "F1", "F1 ,")),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("dev", nargs="+")
    parser.add_argument("--alone", type=Path)
    parser.add_argument("--most", type=int, default=150)
    options = parser.parse_args()
    torch.set_num_threads(1)
    model = Punctuator.load(options.model)
    print("| language | model |", " | ".join(COLUMNS), "|")
    print("|---|---|" + "---|" * len(COLUMNS))
    for given in options.dev:
        code, _, path = given.partition("=")
        treebank = read_treebank(path)
        name = "multi" if code in model.languages else "multi, not seen"
        print(row(code, name, model.of(code), treebank.of_language(code)[: options.most]), flush=True)
        if options.alone is not None and model_there(options.alone / code).exists():
            alone = Punctuator.load(options.alone / code)
            print(row(code, "alone", alone, treebank[: options.most]), flush=True)


def row(code: str, name: str, model: Punctuator, sentences: Sequence[Sentence]) -> str:
    """A line of the table."""
    perplexity = model.evaluate(sentences).perplexity
    numbers = " | ".join(f"{number:.3f}" for number in scores(model, sentences))
    return f"| {code} | {name} | {perplexity:.4f} | {numbers} |"


def scores(model: Punctuator, sentences: Sequence[Sentence]) -> Iterator[float]:
    """Average edit distance, F1 and F1 of commas, with trees and with words alone."""
    given = [[WeightedTree(sentence.tree, 1.0, given=True)] for sentence in sentences]
    for parses in (given, weighted_trees(model, [sentence.tree.forms for sentence in sentences])):
        found = RestorationScores()
        for decision, sentence in zip(decide(model, parses, seed=0), sentences, strict=True):
            found.add(decision.surface, sentence.surface)
        commas = found.of_marks().get(",")
        yield from (found.average_edit_distance, found.overall().f1, 0.0 if commas is None else commas.f1)


if __name__ == "__main__":
    main()
