"""How well sentences, punctuation and capital letters of running text are restored, as Markdown tables.

    python benchmarks/running.py MODEL DEV.conllu [DEV.conllu ...]

Joins the sentences of each document without punctuation, as written and lower-cased; their ends are found by
the reader, or given.  MODEL needs a parser.  The end of a document does not count.
"""

import argparse
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import torch

from pyropunct import Punctuator, read_treebank
from pyropunct.fitted.evaluation import RestorationScores
from pyropunct.nets.reader import count_ends
from pyropunct.nets.running_text import case_of
from pyropunct.restore.items import CHUNK
from pyropunct.restore.restorer import Restorer
from pyropunct.restore.settings import RestoreSettings
from pyropunct.text.marks import START, Surface
from pyropunct.text.raw_sentence import RawSentence, line_of
from pyropunct.treebank.sentence import by_document

MARKS = (",", ".", "?", "!", "-", "“", "(")
"""The marks that have a column of their own."""

COLUMNS = (
    "dev",
    "words",
    "ends",
    "F1 of ends",
    *(f"`{mark}`" for mark in MARKS),
    "all marks",
    "case",
)


class Text(NamedTuple):
    """A document as running text: the slots 0..n, and for each word whether a sentence ends behind it."""

    words: tuple[str, ...]
    surface: list[tuple[str, ...]]
    ends: list[bool]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("dev", nargs="+", type=Path)
    parser.add_argument("--samples", type=int, default=RestoreSettings.samples)
    options = parser.parse_args()
    torch.set_num_threads(1)
    model = Punctuator.load(options.model)
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}", flush=True)
    for path in options.dev:
        dev = list(read_treebank(path))
        texts = [put_together([(one.tree.forms, one.surface) for one in part]) for part in by_document(dev)]
        for lower in (False, True):
            restorer = Restorer(model, RestoreSettings(decoder="mbr", running=True, as_written=False))
            cut = [list(restorer.sentences([line_of(_seen(text.words, lower))])) for text in texts]
            print(_row(path.stem, lower, "found", texts, restored(model, cut, options.samples)), flush=True)
            lines = iter([line_of(_seen(sentence.tree.forms, lower)) for sentence in dev])
            cut = [[next(lines) for _ in range(sum(text.ends))] for text in texts]
            print(_row(path.stem, lower, "given", texts, restored(model, cut, options.samples)), flush=True)


def _seen(words: Sequence[str], lower: bool) -> list[str]:
    return [word.lower() if lower else word for word in words]


def put_together(sentences: Sequence[tuple[Sequence[str], Surface]]) -> Text:
    """Punctuated sentences as a running text."""
    words: list[str] = []
    surface: list[tuple[str, ...]] = [(START,)]
    ends: list[bool] = []
    for forms, slots in sentences:
        surface[-1] = (*surface[-1], *(token for token in slots[0] if token != START))
        surface += map(tuple, slots[1:])
        words += forms
        ends += [*[False] * (len(forms) - 1), True]
    return Text(tuple(words), surface, ends)


def restored(model: Punctuator, texts: Sequence[Sequence[RawSentence]], samples: int) -> list[Text]:
    """What the model makes of documents, given their sentences."""
    lines = [line for lines in texts for line in lines]
    restorer = Restorer(model, RestoreSettings(decoder="mbr", samples=samples, as_written=False))
    parts = (lines[start : start + CHUNK] for start in range(0, len(lines), CHUNK))
    found = (one for part in parts for one in restorer.restore(part))
    pairs = ((one.source.words, one.surface) for one in found if isinstance(one.source, RawSentence))
    return [put_together(list(islice(pairs, len(lines)))) for lines in texts]


def _row(name: str, lower: bool, ends_are: str, texts: Sequence[Text], found: Sequence[Text]) -> str:
    scores, ends = RestorationScores(), count_ends([one.ends for one in found], [text.ends for text in texts])
    right = cased = 0
    for text, one in zip(texts, found, strict=True):
        scores.add(one.surface, text.surface)
        pairs = [pair for pair in zip(text.words, one.words, strict=True) if case_of(pair[0]) is not None]
        cased += len(pairs)
        right += sum(word == other for word, other in pairs)
    marks = [scores.of_marks().get(mark) for mark in MARKS]
    shares = [None if mark is None else mark.f1 for mark in (*marks, scores.overall())]
    cells = [
        name,
        "lower-cased" if lower else "as written",
        ends_are,
        "" if ends_are == "given" else f"{ends.f1:.1f}",
        *("" if share is None else f"{share:.3f}" for share in shares),
        f"{100 * right / cased:.2f}",
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
