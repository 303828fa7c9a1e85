"""Whether the beginning of a clause absorbs a comma, counted on the page, as a Markdown table by language.

    python benchmarks/clause_openers.py NAME=TRAIN.conllu[,DEV.conllu] ... [--examples 2]

*Openers* are conjunctions (cc) and subordinators (mark) in front of their clause's other words.  Counted are
constituents directly behind an opener, or in the middle of a clause, that have a comma behind them.  The row
says how often they have one in front of them, too.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from pyropunct import read_treebank
from pyropunct.tasks.explain.tallies import Share, share_of
from pyropunct.text.marks import COMMAS
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import base

ADJUNCTS = frozenset({"advcl", "advmod", "obl", "nmod", "parataxis", "discourse", "vocative", "dep"})
"""Relations of constituents that commas set off; in releases before 2.0, nmod is obl."""

OPENERS = {"cc": "conjunction", "mark": "subordinator"}
MIDDLE = "in the middle"
LEVEL = 0.95
FEWEST = 5
"""Shares of fewer constituents are not shown."""


class Place(NamedTuple):
    """A constituent with a comma behind it.

    :ivar kind: the opener in front of it, or `MIDDLE`.
    :ivar kept: whether a comma stands in front of it.
    :ivar first, last: its words, counted from 1.
    """

    kind: str
    kept: bool
    first: int
    last: int


def places(sentence: Sentence) -> Iterator[Place]:
    """The counted constituents of a sentence."""
    tree, surface = sentence.tree, sentence.surface
    for word, (first, last) in enumerate(tree.spans, start=1):
        head, relation = tree.heads[word - 1], base(tree.relations[word - 1])
        if relation not in ADJUNCTS or not 1 < first <= last < head or COMMAS.isdisjoint(surface[last]):
            continue
        clause = tree.spans[head - 1][0]
        before = base(tree.relations[first - 2])
        opens = before in OPENERS and tree.heads[first - 2] == head
        if opens or clause < first - 1:
            kind = OPENERS[before] if opens else MIDDLE
            yield Place(kind, not COMMAS.isdisjoint(surface[first - 1]), first, last)


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    made.add_argument("treebanks", metavar="NAME=FILE[,FILE]", nargs="+")
    made.add_argument(
        "--examples", type=int, default=0, help="of each kind, with and without a comma in front"
    )
    options = made.parse_args()
    kinds = [*OPENERS.values(), MIDDLE]
    print(f"| {' | '.join(['a comma in front too', *(f'behind a {one}' for one in kinds[:2]), MIDDLE])} |")
    print("|---|--:|--:|--:|")
    for treebank in options.treebanks:
        name, _, files = treebank.partition("=")
        counts, shown = Counter[tuple[str, bool]](), list[str]()
        for file in files.split(","):
            for sentence in read_treebank(file):
                for place in places(sentence):
                    counts[place.kind, place.kept] += 1
                    if place.kind != MIDDLE and counts[place.kind, place.kept] <= options.examples:
                        where = f"{name} {place.kind}, {place.kept}: {sentence.identifier}"
                        shown.append(f"{where}: {_text(sentence, place)}")
        cells = [_cell(counts[kind, True], counts[kind, True] + counts[kind, False]) for kind in kinds]
        print(f"| {name} | {' | '.join(cells)} |", *shown, sep="\n", flush=True)


def _cell(kept: int, total: int) -> str:
    if total < FEWEST:
        return "" if not total else f"({kept} of {total})"
    share: Share = share_of(kept, total, LEVEL)
    return f"{100 * share.value:.0f} ({100 * share.low:.0f}–{100 * share.high:.0f}) of {total}"


def _text(sentence: Sentence, place: Place) -> str:
    words = list(sentence.tree.forms)
    for slot, marks in enumerate(sentence.surface[1:]):
        words[slot] += "".join(mark for mark in marks if not mark.startswith("\t"))
    return " ".join(words[max(0, place.first - 5) : place.last + 4])


if __name__ == "__main__":
    main()
