"""How well sentences, punctuation and capital letters of running text are restored, as Markdown tables.

    python benchmarks/running.py MODEL TRAIN.conllu DEV.conllu [DEV.conllu ...] [--tagger-epochs 4] [--seed 0]

Joins the sentences of each document without punctuation, as written and lower-cased.  MODEL needs a parser.
The baseline is a BiLSTM-CRF trained on windows of TRAIN, half of them lower-cased; sentences end at its final
marks.  The end of a document does not count.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import torch

from pyropunct import Punctuator, read_treebank
from pyropunct.fitted.evaluation import RestorationScores
from pyropunct.nets.parser import attachment_scores
from pyropunct.nets.reader import count_ends, windows_of
from pyropunct.nets.running_text import ReaderRecipe, case_of
from pyropunct.papers.li_2019.recurrent import RivalRecipe
from pyropunct.papers.li_2019.rival import BiLSTMCRF, Rival, train_rival
from pyropunct.restore.restorer import Restorer
from pyropunct.restore.running import ENDING, in_their_cases
from pyropunct.restore.sentence_stream import CHUNK
from pyropunct.restore.settings import RestoreSettings
from pyropunct.text.marks import START, Surface
from pyropunct.text.raw_sentence import RawSentence, line_of
from pyropunct.treebank.sentence import Sentence, by_document
from pyropunct.treebank.tree import Tree

MARKS = (",", ".", "?", "!", "-", "“", "(")
"""The marks that have a column of their own."""

COLUMNS = (
    "dev",
    "words",
    "system",
    "ends P",
    "R",
    "F1",
    *(f"F1 {mark}" for mark in MARKS),
    "F1 all",
    "AED",
    "case",
)


class Text(NamedTuple):
    """A document as running text: the slots 0..n, and for each word whether a sentence ends behind it."""

    words: tuple[str, ...]
    surface: list[tuple[str, ...]]
    ends: list[bool]


class Found(NamedTuple):
    """What a system makes of a document: the same."""

    words: Sequence[str]
    surface: Surface
    ends: Sequence[bool]


def main() -> None:
    options = _parser().parse_args()
    torch.set_num_threads(1)
    model = Punctuator.load(options.model)
    devs = [(path.stem, list(read_treebank(path))) for path in options.dev]
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}", flush=True)
    for name, dev in devs:
        texts = [joined(part) for part in by_document(dev)]
        for lower in (False, True):
            given = [sentence.tree.forms for sentence in dev]
            restorer = Restorer(model, RestoreSettings(decoder="mbr", running=True, as_written=False))
            cut = [list(restorer.sentences([line_of(_seen(text.words, lower))])) for text in texts]
            print(_row(name, lower, "model", texts, restored(model, cut, options.samples)), flush=True)
            lines = iter([line_of(_seen(words, lower)) for words in given])
            cut = [[next(lines) for _ in range(sum(text.ends))] for text in texts]
            found = restored(model, cut, options.samples)
            print(_row(name, lower, "model, sentences given", texts, found), flush=True)
    if options.tagger_epochs:
        tagger = trained(list(read_treebank(options.train)), devs[0][1], options.tagger_epochs, options.seed)
        for name, dev in devs:
            texts = [joined(part) for part in by_document(dev)]
            for lower in (False, True):
                found = [tagged(tagger, _seen(text.words, lower)) for text in texts]
                print(_row(name, lower, "BiLSTM-CRF", texts, found), flush=True)
    print("\n| dev | words | UAS | LAS | tags |\n|---|---|---|---|---|")
    for name, dev in devs:
        for what, words in seen_by_the_parser(model, dev):
            scores = parsed(model, dev, words)
            print(
                f"| {name} | {what} | {scores.uas:.2f} | {scores.las:.2f} | {scores.upos:.2f} |", flush=True
            )


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    made.add_argument("model", type=Path)
    made.add_argument("train", type=Path)
    made.add_argument("dev", nargs="+", type=Path)
    made.add_argument("--tagger-epochs", type=int, default=4)
    made.add_argument("--samples", type=int, default=RestoreSettings.samples)
    made.add_argument("--seed", type=int, default=0)
    return made


def _seen(words: Sequence[str], lower: bool) -> list[str]:
    return [word.lower() if lower else word for word in words]


def joined(sentences: Sequence[Sentence]) -> Text:
    """A document as running text."""
    return Text(*put_together([(one.tree.forms, one.surface) for one in sentences]))


def put_together(sentences: Sequence[tuple[Sequence[str], Surface]]) -> Found:
    """Punctuated sentences as a running text."""
    words: list[str] = []
    surface: list[tuple[str, ...]] = [(START,)]
    ends: list[bool] = []
    for forms, slots in sentences:
        surface[-1] = (*surface[-1], *(token for token in slots[0] if token != START))
        surface += map(tuple, slots[1:])
        words += forms
        ends += [*[False] * (len(forms) - 1), True]
    return Found(tuple(words), surface, ends)


def restored(model: Punctuator, texts: Sequence[Sequence[RawSentence]], samples: int) -> list[Found]:
    """What the model makes of documents, given their sentences."""
    lines = [line for lines in texts for line in lines]
    restorer = Restorer(model, RestoreSettings(decoder="mbr", samples=samples, as_written=False))
    parts = (lines[start : start + CHUNK] for start in range(0, len(lines), CHUNK))
    found = (one for part in parts for one in restorer.restore(part))
    pairs = ((one.source.words, one.surface) for one in found if isinstance(one.source, RawSentence))
    return [put_together(list(islice(pairs, len(lines)))) for lines in texts]


def trained(train: Sequence[Sentence], dev: Sequence[Sentence], epochs: int, seed: int) -> Rival:
    """A rival trained on windows of documents, half of them lower-cased."""
    chance = random.Random(seed)
    size = ReaderRecipe().window

    def windows(sentences: Sequence[Sentence]) -> list[Sentence]:
        found = []
        for text in map(joined, by_document(sentences)):
            for start, stop in pairwise([*range(0, len(text.words), size), len(text.words)]):
                words = _seen(text.words[start:stop], chance.random() < 0.5)
                slots = ((START,), *text.surface[start + 1 : stop + 1])
                found.append(replace(sentences[0], tree=_chain(words), surface=slots))
        return found

    recipe = RivalRecipe(epochs=epochs, least_steps=1)
    return train_rival(BiLSTMCRF, windows(train), windows(dev), recipe, seed)


def _chain(words: Sequence[str]) -> Tree:
    """A tree whose words alone matter."""
    size = len(words)
    return Tree(tuple(range(size)), ("root", *["dep"] * (size - 1)), ("X",) * size, tuple(words))


def tagged(rival: Rival, words: Sequence[str]) -> Found:
    """A document punctuated by a rival, in the windows that the reader of the model sees."""
    surface: list[Sequence[str]] = [(START,)]
    windows = list(windows_of(words, 0, len(words)))
    for window, slots in zip(windows, rival.restore([window.words for window in windows]), strict=True):
        surface += slots[window.core.start + 1 : window.core.stop + 1]
    return Found(words, surface, [any(set(mark) <= ENDING for mark in slot) for slot in surface[1:]])


def seen_by_the_parser(
    model: Punctuator, dev: Sequence[Sentence]
) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    """The words of the sentences of dev: as written, lower-cased, and with restored capital letters."""
    written = [sentence.tree.forms for sentence in dev]
    lines = [line_of(_seen(words, True)) for words in written]
    assert model.reader is not None
    yield "as written", written
    yield "lower-cased", [line.words for line in lines]
    yield "restored", [line.words for line in in_their_cases(lines, model.reader, "auto", True)]


def parsed(model: Punctuator, dev: Sequence[Sentence], words: Sequence[Sequence[str]]) -> Any:
    """The scores of the parser on the sentences of dev, written in some way."""
    assert model.parser is not None
    gold = [sentence.tree for sentence in dev]
    found = [trees[0].tree for trees in model.parser.parse(words)]
    return attachment_scores(
        [replace(tree, forms=right.forms) for tree, right in zip(found, gold, strict=True)], gold
    )


def _row(name: str, lower: bool, system: str, texts: Sequence[Text], found: Sequence[Found]) -> str:
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
        system,
        *(f"{share:.1f}" for share in (ends.precision, ends.recall, ends.f1)),
        *("" if share is None else f"{share:.3f}" for share in shares),
        f"{scores.average_edit_distance:.4f}",
        f"{100 * right / cased:.2f}",
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
