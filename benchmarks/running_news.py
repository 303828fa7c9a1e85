"""How well a reader finds ends and commas in lower-cased running text of several languages.

    python benchmarks/running_news.py MODEL de=news-de.txt fr=news-fr.txt ...

A line of a file is a document.  Each threshold is the best of its language, so that the numbers compare
readers, and say nothing about thresholds.  The end of a document does not count.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from texts import running
from torch import Tensor

from pyropunct import Punctuator
from pyropunct.cli.fit import language_and_file
from pyropunct.nets.reader import RunningReader
from pyropunct.nets.running_text import Document

COMMAS = frozenset(",;:–—-،؛")
"""The marks that count as commas inside sentences."""

THRESHOLDS = np.arange(0.1, 0.8, 0.05).tolist()


def best_f1(shares: Tensor, gold: Tensor) -> tuple[float, Tensor]:
    """F1 in percent with the best threshold of (n,) probabilities, and (n,) where they are above it."""

    def f1(found: Tensor) -> float:
        return 200 * int((found & gold).sum()) / max(1, int(found.sum() + gold.sum()))

    found = max((shares > least for least in THRESHOLDS), key=f1)
    return f1(found), found


def scores(reader: RunningReader, texts: Sequence[Document]) -> tuple[float, float]:
    """F1 of sentence ends and of commas inside sentences."""
    labels = reader.vocabulary.slots.labels
    is_comma = torch.tensor([not COMMAS.isdisjoint("".join(string)) for string in labels.strings])
    readings = reader.read_all([[word.lower() for word in text.words] for text in texts])
    ends = torch.cat([reading.ends[:-1] for reading in readings])
    marks = torch.cat([reading.marks[:-1].softmax(-1) for reading in readings])
    gold_ends = torch.tensor([end for text in texts for end in text.ends[:-1]])
    gold_commas = torch.tensor(
        [not COMMAS.isdisjoint("".join(mark)) for text in texts for mark in text.marks[:-1]]
    )
    of_ends, found = best_f1(ends, gold_ends)
    of_commas, _ = best_f1(marks[:, :-1][:, is_comma].sum(1) * ~found, gold_commas & ~gold_ends)
    return of_ends, of_commas


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("files", nargs="+", metavar="CODE=FILE")
    options = parser.parse_args()
    torch.set_num_threads(1)
    model = Punctuator.load(options.model)
    assert model.reader is not None
    rows = []
    print("| language | F1 of ends | of commas |\n|---|---|---|")
    for given in options.files:
        code, file = language_and_file(given) or (given, given)
        texts = running(model.of(code) if code in model.languages else model, Path(file))
        rows.append(scores(model.reader, texts))
        print("| {} | {:.1f} | {:.1f} |".format(code, *rows[-1]), flush=True)
    print("| mean | {:.1f} | {:.1f} |".format(*np.mean(rows, 0)))


if __name__ == "__main__":
    main()
