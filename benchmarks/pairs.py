"""Whether restored commas come in pairs, as a Markdown table.

    python benchmarks/pairs.py MODEL DEV.conllu [DEV.conllu ...] [--most 700]

The marks of the first sentences are restored anew from their words.  Counted are constituents inside a
sentence that have a comma on both sides in the treebank, and how many of them got both commas, or one.  A
comma there may belong to another constituent, so that some with one comma are right.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import pyropunct
from pyropunct import Sentence, read_treebank
from pyropunct.fitted.evaluation import RestorationScores
from pyropunct.restore.restorer import Restorer
from pyropunct.restore.settings import RestoreSettings
from pyropunct.text.marks import Surface
from pyropunct.treebank.tree import Tree, spans

COMMA = ","
MARKS = COMMA, "?"
"""The marks that have a column of their own."""


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    made.add_argument("model")
    made.add_argument("dev", nargs="+", type=Path)
    made.add_argument("--most", type=int, default=700)
    options = made.parse_args()
    restorer = Restorer(pyropunct.load(options.model), RestoreSettings(parse=True, keep=False))
    print(
        "| dev | model | sentences | F1 | F1 of `,` | F1 of `?` | pairs | both | one |\n" + "|---" * 9 + "|"
    )
    for path in options.dev:
        dev = list(islice(read_treebank(path), options.most))
        print(_row(path.stem, options.model, dev, restorer), flush=True)


def _row(name: str, model: str, dev: Sequence[Sentence], restorer: Restorer) -> str:
    scores, pairs = RestorationScores(), Counter[int]()
    for sentence, restored in zip(dev, restorer.restore(dev), strict=True):
        scores.add(restored.surface, sentence.surface)
        gold, found = _commas(sentence.surface), _commas(restored.surface)
        pairs.update(found[a] + found[b] for a, b in set(_sides(sentence.tree)) if gold[a] and gold[b])
    of_marks, total = scores.of_marks(), pairs.total()
    numbers = [scores.overall().f1, *(of_marks[mark].f1 if mark in of_marks else None for mark in MARKS)]
    shares = ["–" if one is None else f"{one:.3f}" for one in numbers]
    shares += [str(total), *(f"{pairs[number] / total:.2f}" for number in (2, 1))]
    return f"| {name} | {model} | {len(dev):,} | {' | '.join(shares)} |"


def _commas(surface: Surface) -> list[bool]:
    return [COMMA in slot for slot in surface]


def _sides(tree: Tree) -> Iterator[tuple[int, int]]:
    """The slots on both sides of each constituent, but for those that begin or end the sentence."""
    edges = ((first, last) for first, last, _ in spans(tree.heads))
    return ((first - 1, last) for first, last in edges if first > 1 and last < len(tree.heads))


if __name__ == "__main__":
    main()
