"""Measure a model of many languages on their dev parts, and models of single languages beside it.

    python benchmarks/languages.py multi de=de-dev.conllu fr=fr-dev.conllu ... [--alone FOLDER] [--most 150]

FOLDER holds models ``de.safetensors`` and so on, fitted with --parser to one language each.  Prints, for each
language, the perplexity given trees, F1 of all marks and of commas from words alone, and the edits that these
need by those of a period behind each sentence and nothing else; then the means of the languages that the
model has learned from, and of the others (*).
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean

import torch
from caution import edits_of_periods, scores_from_words

from pyropunct import Punctuator, Sentence, read_treebank
from pyropunct.files import model_there

COLUMNS = ("perplexity", "F1", "F1 of ,", "edits")
NAMES = ("", "*")
"""What follows the name of a language: nothing if the model has learned from it, a star if not."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("dev", nargs="+")
    parser.add_argument("--alone", type=Path)
    parser.add_argument("--most", type=int, default=150)
    options = parser.parse_args()
    torch.set_num_threads(1)
    model = Punctuator.load(options.model)
    print("| language |", " | ".join(COLUMNS), "|")
    print("|---|" + "---|" * len(COLUMNS))
    found: dict[str, list[list[float]]] = {name: [] for name in NAMES}
    for given in options.dev:
        code, _, path = given.partition("=")
        treebank, name = read_treebank(path), NAMES[code not in model.languages]
        found[name].append(measured(model.of(code), treebank.of_language(code)[: options.most]))
        print(row(code, name, found[name][-1]), flush=True)
        if options.alone is not None and model_there(options.alone / code).exists():
            alone = Punctuator.load(options.alone / code)
            print(row(code, ", alone", measured(alone, treebank[: options.most])), flush=True)
    for name, rows in found.items():
        if len(rows) > 1:
            print(row(f"mean of {len(rows)}", name, list(map(mean, zip(*rows, strict=True)))))


def row(code: str, name: str, numbers: Sequence[float]) -> str:
    """A line of the table."""
    return f"| {code}{name} | {' | '.join(f'{number:.3f}' for number in numbers)} |"


def measured(model: Punctuator, sentences: Sequence[Sentence]) -> list[float]:
    """The numbers of a line."""
    perplexity = model.evaluate(sentences).perplexity
    assert perplexity is not None
    return [perplexity, *scores(model, sentences)]


def scores(model: Punctuator, sentences: Sequence[Sentence]) -> Iterator[float]:
    """F1 of all marks and of commas from words alone, and edits by those of periods."""
    (restored,) = scores_from_words(model, sentences, [model.conventions.caution], seed=0)
    commas = restored.of_marks().get(",")
    yield from (restored.overall().f1 or 0.0, 0.0 if commas is None else commas.f1 or 0.0)
    yield restored.edits / edits_of_periods(sentences)


if __name__ == "__main__":
    main()
