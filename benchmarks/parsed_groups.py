"""The UAS of words in groups of sentences, as Markdown tables.

    pyropunct compare parsers TRAIN.conllu DEV.conllu --marks tokens,away --beams 1 --out FOLDER
    python benchmarks/parsed_groups.py FOLDER DEV.conllu [--by genre]

Groups are by number of tokens and share of marks (Table 2 of Ma, Zhang & Zhu 2014), and by genre (Table 6 of
Zhang, Wu, Yang & Li 2013): the first part of the name of a sentence, or the second if the first is always the
same.
"""

import argparse
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pyropunct.papers.experiment import PARTS, loader
from pyropunct.papers.transitions.arc_standard_parser import ArcStandardParser
from pyropunct.papers.transitions.marked_sentences import MarkedSentence, have_language_tags, marked_sentences
from pyropunct.papers.transitions.parser_experiment import HEADS, WORDS, word_counts
from pyropunct.tables import cells_table
from pyropunct.treebank.reading import read_treebank

LONGEST, STEP = 60, 20
"""Longer sentences are left out of the first table; the tokens by which its groups differ."""

FEW, MANY = 15, 30
"""The percentages of marks between its groups."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder")
    parser.add_argument("dev")
    parser.add_argument("--by", choices=("marks", "genre"), help="print this table alone")
    arguments = parser.parse_args()
    dev = read_treebank(arguments.dev)
    sentences = marked_sentences(dev, universal=not have_language_tags(dev))
    counts = {
        place.stem: word_counts(loader(ArcStandardParser.from_parts)(place).parse(sentences), sentences)
        for place in sorted((Path(arguments.folder) / PARTS).iterdir())
    }
    if arguments.by != "genre":
        _print("tokens, marks", list(map(_kind, sentences)), counts)
    if arguments.by != "marks":
        names = [re.split("[-_]", one.identifier) for one in dev]
        place = int(len({name[0] for name in names}) == 1)
        _print("genre", [name[place] for name in names], counts)


def _kind(sentence: MarkedSentence) -> str | None:
    size = len(sentence.forms)
    if size > LONGEST:
        return None
    share, last = 100 * sum(sentence.marks) / size, -(-size // STEP) * STEP
    marks = f"to {FEW} %" if share <= FEW else f"to {MANY} %" if share <= MANY else f"over {MANY} %"
    return f"{last - STEP + 1} to {last}, {marks}"


def _print(title: str, groups: Sequence[str | None], counts: dict[str, NDArray[np.int64]]) -> None:
    places = defaultdict(list)
    for place, group in enumerate(groups):
        if group is not None:
            places[group].append(place)
    rows = []
    for group, own in sorted(places.items()):
        totals = [table[own].sum(0) for table in counts.values()]
        rows.append([group, len(own), *(100 * total[HEADS] / total[WORDS] for total in totals)])
    columns: dict[str, int | Callable[[object], str] | None] = {title: None, "sentences": None}
    print(cells_table(title, columns | dict.fromkeys(counts, 2), rows).markdown())


if __name__ == "__main__":
    main()
