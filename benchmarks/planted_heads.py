"""How many planted wrong heads of marks `pyropunct underlying --format report` finds, and how early.

    python benchmarks/planted_heads.py MODEL FILE.conllu [--planted 200] [--seed 0]

Gives random marks of FILE random heads.  Prints how many of the first lines of the report are planted, and
its average precision: the mean over planted marks of the precision down to their line, 0 for missing ones.
All other heads count as right.
"""

import argparse
import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import torch

from pyropunct.punctuator import Punctuator
from pyropunct.tasks.explain.reattaching import doubts, reattached
from pyropunct.treebank.reading import read_treebank
from pyropunct.treebank.sentence import Sentence

FIRST = (10, 50, 100, 200, 400)
"""Numbers of lines at the top of the report."""


def main() -> None:
    options = _parser().parse_args()
    torch.set_num_threads(options.threads)
    model, sentences = Punctuator.load(options.model), list(read_treebank(options.file))
    planted, changed = plant(sentences, options.planted, random.Random(options.seed))
    report = doubts(model, changed)
    hits = [(doubt.sentence.layout.block.first_line, doubt.mark) in planted for doubt in report]
    marks = sum(len(slot) for sentence in sentences for slot in sentence.layout.marks)
    print(
        f"{marks:,} marks, {len(planted)} planted heads ({len(planted) / marks:.1%}), {len(report):,} lines"
    )
    print(f"planted in the report: {sum(hits)}")
    for first in FIRST:
        print(f"planted in the first {first}: {sum(hits[:first])}")
    print(f"average precision: {average_precision(hits, len(planted)):.3f}")


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    made.add_argument("model", metavar="MODEL", type=Path)
    made.add_argument("file", metavar="FILE", type=Path)
    made.add_argument("--planted", type=int, default=200, help="wrong heads")
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--threads", type=int, default=1)
    return made


def plant(
    sentences: Sequence[Sentence], number: int, generator: random.Random
) -> tuple[set[tuple[int, int]], list[Sentence]]:
    """Give some marks another head; each is named by the first line of its sentence, and its token id."""
    places = [
        (place, mark)
        for place, sentence in enumerate(sentences)
        for slot in sentence.layout.marks
        for mark in slot
        if len(sentence.tree) > 1
    ]
    wrong: defaultdict[int, dict[int, int]] = defaultdict(dict)
    for place, mark in generator.sample(places, number):
        layout = sentences[place].layout
        right = layout.block.tokens[mark - 1].head
        wrong[place][mark] = generator.choice([word for word in layout.words if word != right])
    changed = [reattached(sentence, wrong.get(place, {})) for place, sentence in enumerate(sentences)]
    planted = {
        (sentences[place].layout.block.first_line, mark) for place, some in wrong.items() for mark in some
    }
    return planted, changed


def average_precision(hits: Sequence[bool], planted: int) -> float:
    """The mean, over what was planted, of the precision down to its line."""
    found, total = 0, 0.0
    for line, hit in enumerate(hits, 1):
        found += hit
        total += found / line if hit else 0.0
    return total / planted


if __name__ == "__main__":
    main()
