"""Training: from the documents of a treebank to a `RunningReader`."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from pyropunct.nets.pretrained import Pretrained, bare, kept
from pyropunct.nets.reader.case import case_of
from pyropunct.nets.reader.encoding import NO_CASE, Document, build_reader_vocabulary, cases_of, documents
from pyropunct.nets.reader.network import Answers
from pyropunct.nets.reader.reader import LIKELY, RunningReader, windows_of
from pyropunct.nets.reader.recipes import ReaderRecipe
from pyropunct.nets.reader.scores import ReaderScores, count
from pyropunct.nets.training import NetworkCheckpoint, NetworkTraining, Watch, sequences, trained
from pyropunct.treebank.sentence import Sentence


def train_reader(
    train: Iterable[Sentence],
    dev: Iterable[Sentence] | None = None,
    recipe: ReaderRecipe | None = None,
    *,
    pretrained: Pretrained | None = None,
    seed: int = 0,
    checkpoint: NetworkCheckpoint | None = None,
    watch: Watch | None = None,
) -> RunningReader:
    """Train a reader of running text on the documents of a treebank, whose sentences are put together.

    Comments with ``# newdoc`` tell where documents start; a treebank without them is one document.

    :param train: the sentences to learn from, in their order.
    :param dev: sentences on which the epoch that is kept is chosen; without them the last epoch is kept.
    :param recipe: the settings.
    :param pretrained: gives features of words that the reader reads as well; they are computed once.
    :param seed: equal seeds give equal readers, on the same machine with the same number of threads.
    :param checkpoint: if something is kept there, training goes on from it; it is written after every epoch.
    :param watch: called after every step, and when an epoch is finished.
    :raises ValueError: if there is no sentence in one of the two.
    """
    train, dev = sequences("reader", train, dev)
    texts, dev_texts = documents(train), None if dev is None else documents(dev)
    recipe, source = ReaderRecipe() if recipe is None else recipe, bare(pretrained)
    reader = trained(lambda: ReaderTraining(texts, dev_texts, recipe, seed, source), seed, checkpoint, watch)
    return replace(reader, pretrained=source)


class Window(NamedTuple):
    """Neighbouring words of a document.

    :ivar document: the number of the document, counted from 0.
    :ivar part: the place of the words.
    :ivar lower: whether they lose their capital letters.
    """

    document: int
    part: slice
    lower: bool


class ReaderTraining(NetworkTraining[RunningReader]):
    """The training of one reader.

    In every epoch the documents are cut into windows at other places, and other windows lose their capital
    letters.  The cases of words are learned in these alone.

    :param pretrained: gives features of the words.
    :ivar windows: those of the current epoch; batches are lists of their numbers.
    """

    what = "reader"
    unit = "documents"

    def __init__(
        self,
        train: Sequence[Document],
        dev: Sequence[Document] | None,
        recipe: ReaderRecipe,
        seed: int,
        pretrained: Pretrained | None = None,
    ) -> None:
        self.windows: list[Window] = []
        self._source = pretrained
        self._features: dict[tuple[int, bool], Tensor] = {}
        self._lowered = [tuple(map(str.lower, document.words)) for document in train]
        self._ends = [torch.tensor(document.ends, dtype=torch.float) for document in train]
        self._starts = [torch.tensor(document.starts, dtype=torch.float) for document in train]
        self._cases = [cases_of(document.words) for document in train]
        vocabulary = build_reader_vocabulary(train, recipe.form_count)
        model = RunningReader.untrained(vocabulary, recipe, kept(pretrained))  # what it keeps is of dev
        super().__init__(model, train, dev, [len(document.words) for document in train], seed)

    def batches(self) -> list[list[int]]:
        """New windows, those of like length together."""
        cuts = [
            (number, part)
            for number, document in enumerate(self.train)
            for part in _parts(len(document.words), self.recipe.window)
        ]
        lower = (torch.rand(len(cuts)) < self.recipe.lower_cased).tolist()
        self.windows = [Window(*cut, lowered) for cut, lowered in zip(cuts, lower, strict=True)]
        self.lengths = torch.tensor([part.stop - part.start for _, part in cuts])
        return super().batches()

    def loss(self, batch: list[int]) -> Tensor:
        """See `RunningNetwork.loss`."""
        windows, vocabulary = [self.windows[number] for number in batch], self.model.vocabulary
        words = vocabulary.encode([self._words(number, lower)[part] for number, part, lower in windows])
        if self._source is not None:
            features = [
                self._features_of(self._source, number, lower)[part] for number, part, lower in windows
            ]
            words = words._replace(features=pad_sequence(features, batch_first=True).float())
        cases = [
            self._cases[number][part] if lower else torch.full_like(self._cases[number][part], NO_CASE)
            for number, part, lower in windows
        ]
        answers = Answers(
            pad_sequence([self._ends[number][part] for number, part, _ in windows], batch_first=True),
            pad_sequence([self._starts[number][part] for number, part, _ in windows], batch_first=True),
            pad_sequence(cases, batch_first=True, padding_value=NO_CASE),
        )
        return self.model.network.loss(words, answers)

    def _words(self, document: int, lower: bool) -> tuple[str, ...]:
        words: tuple[str, ...] = self._lowered[document] if lower else self.train[document].words
        return words

    def _features_of(self, pretrained: Pretrained, document: int, lower: bool) -> Tensor:
        """(words, size) the features of a document, which is read in windows, as it is in use."""
        if (document, lower) not in self._features:
            words = self._words(document, lower)
            windows = list(windows_of(words, 0, len(words)))
            rows = pretrained.features([window.words for window in windows])
            parts = [row[window.core] for row, window in zip(rows, windows, strict=True)]
            self._features[document, lower] = torch.cat(parts).half()
        return self._features[document, lower]

    def scores(self, model: RunningReader, dev: Sequence[Document]) -> ReaderScores:
        """See `evaluate`."""
        return evaluate(model, dev)

    def data(self) -> Iterable[object]:
        """The documents, and the pretrained features."""
        return self.train, self.dev, None if self._source is None else self._source.identity()


def evaluate(reader: RunningReader, texts: Sequence[Document]) -> ReaderScores:
    """The scores of a reader on documents as they are written, and lower-cased."""
    gold = [document.ends for document in texts]
    as_written = [(reader.read(document.words).ends > LIKELY).tolist() for document in texts]
    lowered, right, cased = [], 0, 0
    for document in texts:
        words = [word.lower() for word in document.words]
        ends, cases = reader.read(words)
        lowered.append((ends > LIKELY).tolist())
        written = reader.in_cases(words, cases, [True, *lowered[-1][:-1]])
        pairs = [pair for pair in zip(written, document.words, strict=True) if case_of(pair[1]) is not None]
        cased += len(pairs)
        right += sum(word == correct for word, correct in pairs)
    case = 100 * right / cased if cased else 100.0
    return ReaderScores(sum(map(len, gold)), count(as_written, gold).f1, count(lowered, gold).f1, case)


def _parts(size: int, window: int) -> list[slice]:
    """The places of windows that cover a document; the first window has a random length."""
    first = int(torch.randint(1, window + 1, ()))
    cuts = sorted({0, *range(min(first, size), size, window), size})
    return [slice(start, stop) for start, stop in pairwise(cuts)]
