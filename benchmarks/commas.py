"""Where commas stand in trees, and which kinds of commas models miss, as Markdown tables.

    python benchmarks/commas.py TRAIN.mrg DEV.mrg [--models 1,10c]

The first table is Figure 3 of Shieber & Tao (2003): the percentages of positions in TRAIN, with and without a
comma, at which each number of constituents start, and end.  The second has for the most frequent kinds of
commas their number in DEV, and the recall of each model; the last row has the commas inserted wrongly.  The
kind of a comma is its phrase with the daughters on either side, as ``NP: NP , SBAR``.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from pyropunct.papers.shieber_tao_2003.models import CommaSystem
from pyropunct.papers.shieber_tao_2003.sentences import COMMA, CommaSentence, read_comma_sentences
from pyropunct.text.lines import opened, read_lines
from pyropunct.treebank.constituency import without_empty_elements
from pyropunct.treebank.phrase_trees import PhraseTree, read_phrase_trees

KINDS = 10
"""How many kinds have a row; those behind them share one."""

OTHERS = "all others"

MOST_CONSTITUENTS = 6
"""From this number on, numbers of constituents share a row."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("train")
    parser.add_argument("dev")
    parser.add_argument("--models", default="1,3,8,10,10c")
    arguments = parser.parse_args()
    train, dev = read_comma_sentences(arguments.train), read_comma_sentences(arguments.dev)
    _print_constituents(train)
    kinds = _kinds(arguments.dev)
    names = arguments.models.split(",")
    columns = []
    for name in names:
        restored = list(CommaSystem(train, name).restore(dev))
        found: Counter[str] = Counter()
        for commas, sentence, own in zip(restored, dev, kinds, strict=True):
            found.update(kind for place, kind in own.items() if commas[place])
            found["inserted"] += int((commas & ~sentence.commas).sum())
        columns.append(found)
    _print(names, Counter(kind for own in kinds for kind in own.values()), columns)


def _print_constituents(sentences: Sequence[CommaSentence]) -> None:
    commas = np.concatenate([one.commas[1:-1] for one in sentences])
    starts, ends = (
        np.concatenate([getattr(one, side)[1:-1] for one in sentences]).clip(max=MOST_CONSTITUENTS)
        for side in ("starts", "ends")
    )
    columns = [
        100 * np.bincount(counts[places], minlength=MOST_CONSTITUENTS + 1) / places.sum()
        for counts in (starts, ends)
        for places in (commas, ~commas)
    ]
    print("| constituents | start at a comma | start elsewhere | end at a comma | end elsewhere |")
    print("|---" * (len(columns) + 1) + "|")
    for number, shares in enumerate(zip(*columns, strict=True)):
        title = f"{number} or more" if number == MOST_CONSTITUENTS else number
        print(f"| {title} | {' | '.join(f'{share:.1f}' for share in shares)} |")
    print()


def _print(names: list[str], gold: Counter[str], columns: list[Counter[str]]) -> None:
    frequent = [kind for kind, _ in gold.most_common(KINDS)]
    rare = [kind for kind in gold if kind not in frequent]
    print(f"| kind | commas | {' | '.join(names)} |")
    print("|---" * (len(names) + 2) + "|")
    for title, some in [*((kind, [kind]) for kind in frequent), (OTHERS, rare), ("all", list(gold))]:
        number = sum(gold[kind] for kind in some)
        recalls = [f"{sum(found[kind] for kind in some) / max(number, 1):.2f}" for found in columns]
        print(f"| {title} | {number:,} | {' | '.join(recalls)} |")
    print(f"| inserted where there is none | | {' | '.join(str(found['inserted']) for found in columns)} |")


def _kinds(path: str) -> list[dict[int, str]]:
    """For each sentence the kind of the first comma at each position that has one."""
    with opened(path) as (stream, name):
        bare = (without_empty_elements(tree) for tree in read_phrase_trees(read_lines(stream, name), name))
        return [dict(_kinds_in(tree, 0)) for tree in bare if tree is not None and _words(tree)]


def _words(tree: PhraseTree) -> int:
    """How many leaves are no commas."""
    if tree.word:
        return int(tree.word != COMMA)
    return sum(map(_words, tree.daughters))


def _kinds_in(tree: PhraseTree, start: int) -> Iterator[tuple[int, str]]:
    """The positions of commas in a tree that starts at a position, with their kinds."""
    beside = ["", *(daughter.category for daughter in tree.daughters), ""]
    for number, daughter in enumerate(tree.daughters, start=1):
        if daughter.word == COMMA:
            yield start, f"{tree.category}: {beside[number - 1]} , {beside[number + 1]}"
        yield from _kinds_in(daughter, start)
        start += _words(daughter)


if __name__ == "__main__":
    main()
