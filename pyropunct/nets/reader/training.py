"""Training: from the documents of a treebank to a `RunningReader`."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from pyropunct.nets.labels import Labels
from pyropunct.nets.layers import begin_with
from pyropunct.nets.pretrained import Pretrained, bare, kept
from pyropunct.nets.reader.case import case_of
from pyropunct.nets.reader.encoding import (
    NO_CASE,
    Document,
    ReaderVocabulary,
    build_reader_vocabulary,
    documents,
)
from pyropunct.nets.reader.reader import LIKELY, Answers, RunningReader, windows_of
from pyropunct.nets.reader.scores import ReaderScores, count, count_marks
from pyropunct.nets.recipes import ReaderRecipe
from pyropunct.nets.training import AnyCheckpoint, NetworkTraining, Watch, sequences, trained
from pyropunct.nets.tuning import Tuning, tunable
from pyropunct.treebank.sentence import Sentence

TUNED, TUNED_RATE = ReaderRecipe(epochs=3, batch_words=500, learning_rate=0.002), 1e-4
"""The settings of a reader that is trained together with an encoder, and the encoder's learning rate, as a
rule."""

Cut = tuple[int, slice, bool]
"""A window: the number of its document, counted from 0, the place of its words, and whether they lose their
capital letters."""


def train_reader(
    train: Iterable[Sentence],
    dev: Iterable[Sentence] | None = None,
    recipe: ReaderRecipe | None = None,
    *,
    texts: Sequence[Document] = (),
    dev_texts: Sequence[Document] = (),
    first: RunningReader | None = None,
    pretrained: Pretrained | None = None,
    encoder_rate: float = 0.0,
    seed: int = 0,
    checkpoint: AnyCheckpoint | None = None,
    watch: Watch | None = None,
) -> RunningReader:
    """Train a reader of running text on the documents of a treebank, whose sentences are put together.

    Comments with ``# newdoc`` tell where documents start; a treebank without them is one document.

    :param train: the sentences to learn from, in their order.
    :param dev: sentences on which the epoch that is kept is chosen; without them the last epoch is kept.
    :param texts: documents to learn from besides.
    :param dev_texts: documents that choose the epoch besides.
    :param first: a reader with whose words and weights the training begins.
    :param recipe: the settings.
    :param pretrained: gives features of words that the reader reads as well; they are computed once.
    :param encoder_rate: the greatest learning rate of the weights of an encoder, which is then trained
        together with the reader, and is part of it; 0 leaves ``pretrained`` as it is.
    :param seed: equal seeds give equal readers, on the same machine with the same number of threads.
    :param checkpoint: if something is kept there, training goes on from it; it is written after every epoch.
    :param watch: called after every step, and when an epoch is finished.
    :raises ValueError: if there is no sentence in one of the two, or ``pretrained`` is not an
        `pyropunct.nets.encoder.Encoder` although it is to be trained further.
    """
    chosen_by = None if dev is None and not dev_texts else [*documents(dev or ()), *dev_texts]
    data = sequences("reader", [*documents(train), *texts], chosen_by)
    source = tunable(pretrained) if encoder_rate else kept(bare(pretrained))
    kind = partial(TuningTraining, encoder_rate=encoder_rate) if encoder_rate else ReaderTraining
    make = partial(kind, first, *data, recipe or ReaderRecipe(), seed, source)
    reader = trained(make, seed, checkpoint, watch)
    return reader if encoder_rate else replace(reader, pretrained=bare(pretrained))


class ReaderTraining(NetworkTraining[RunningReader]):
    """The training of one reader.

    In every epoch the documents are cut into windows at other places, and other windows lose their capital
    letters.  The cases of words are learned in these alone.

    :param first: see `train_reader`.
    :ivar windows: those of the current epoch; batches are lists of their numbers.
    """

    kind = RunningReader
    what = "reader"
    unit = "documents"

    def __init__(self, first: RunningReader | None, *arguments: Any) -> None:
        self.first = first
        super().__init__(*arguments)
        self.windows: list[Cut] = []
        self._features: dict[tuple[int, bool], Tensor] = {}
        self._words = [(document.words, tuple(map(str.lower, document.words))) for document in self.train]
        labels = self.model.vocabulary.slots.labels
        self._answers = [
            [_answers(document, labels, lower) for lower in (False, True)] for document in self.train
        ]

    def vocabulary(self) -> ReaderVocabulary:
        """The types of words and characters."""
        found = build_reader_vocabulary(self.train, self.recipe.form_count)
        return found if self.first is None else found.with_types_of(self.first.vocabulary)

    def untrained(self) -> nn.Module:
        """The network with its first weights, or those of the first reader."""
        if self.first is not None:
            known = self.first.network, self.first.vocabulary
            begin_with(self.model.network, self.model.vocabulary, *known)
        return super().untrained()

    def length(self, document: Document) -> int:
        """The number of words."""
        return len(document.words)

    def batches(self) -> list[list[int]]:
        """New windows, those of like length together."""
        cuts = [
            (number, part)
            for number, document in enumerate(self.train)
            for part in _parts(len(document.words), self.recipe.window)
        ]
        lower = (torch.rand(len(cuts)) < self.recipe.lower_cased).tolist()
        self.windows = [(*cut, lowered) for cut, lowered in zip(cuts, lower, strict=True)]
        self.lengths = torch.tensor([part.stop - part.start for _, part in cuts])
        return super().batches()

    def loss(self, batch: list[int]) -> Tensor:
        """See `RunningNetwork.loss`."""
        windows, vocabulary = [self.windows[number] for number in batch], self.model.vocabulary
        sentences = [self._words[number][lower][part] for number, part, lower in windows]
        words = vocabulary.encode(sentences)
        if self.source is not None:
            words = words._replace(features=self.features_of(windows, sentences))
        parts = ([row[part] for row in self._answers[number][lower]] for number, part, lower in windows)
        columns = zip(zip(*parts, strict=True), (0, 0, NO_CASE, 0), strict=True)
        answers = (pad_sequence(list(rows), True, padding) for rows, padding in columns)
        return self.model.network.loss(words, Answers(*answers))

    def features_of(self, windows: Sequence[Cut], sentences: Sequence[Sequence[str]]) -> Tensor:
        """(windows, longest, size) the pretrained features of the words of windows.

        :param sentences: their words.
        """
        features = [self._features_of(number, lower)[part] for number, part, lower in windows]
        return pad_sequence(features, batch_first=True).float()

    def _features_of(self, document: int, lower: bool) -> Tensor:
        """(words, size) the features of a document, which is read in windows, as it is in use."""
        if (document, lower) not in self._features:
            words = self._words[document][lower]
            windows = list(windows_of(words, 0, len(words)))
            rows = self.source.source.features([window.words for window in windows])  # it keeps those of dev
            parts = [row[window.core] for row, window in zip(rows, windows, strict=True)]
            self._features[document, lower] = torch.cat(parts).half()
        return self._features[document, lower]

    def scores(self, model: RunningReader, dev: Sequence[Document]) -> ReaderScores:
        """See `evaluate`."""
        return evaluate(model, dev)

    def data(self) -> Iterable[object]:
        """The documents, and the pretrained features."""
        yield from (self.train, self.dev, None if self.source is None else self.source.identity())
        if self.first is not None:
            yield from (weight.numpy().tobytes() for weight in self.first.network.state_dict().values())


class TuningTraining(Tuning[RunningReader], ReaderTraining):
    """The training of a reader together with a copy of the encoder that it reads."""

    def features_of(self, windows: Sequence[Cut], sentences: Sequence[Sequence[str]]) -> Tensor:
        """See `ReaderTraining.features_of`: gradients go on into the encoder."""
        return self.features(sentences)


def _answers(document: Document, labels: Labels, lower: bool) -> Answers:
    """The right answers for a document; cases are learned in lower-cased words alone."""
    cases = (case_of(word) if lower else None for word in document.words)
    return Answers(
        torch.tensor(document.ends, dtype=torch.float),
        torch.tensor(document.starts, dtype=torch.float),
        torch.tensor([NO_CASE if case is None else case for case in cases]),
        torch.tensor(labels.encode(labels.strings_of(document.marks))),
    )


def evaluate(reader: RunningReader, texts: Sequence[Document]) -> ReaderScores:
    """The scores of a reader on documents as they are written, and lower-cased."""
    gold = [document.ends for document in texts]
    as_written = [(reader.read(document.words).ends > LIKELY).tolist() for document in texts]
    lowered, marks, right, cased = [], list[int](), 0, 0
    labels = reader.vocabulary.slots.labels
    for document in texts:
        words = [word.lower() for word in document.words]
        ends, cases, of_marks = reader.read(words)
        lowered.append((ends > LIKELY).tolist())
        marks += reader.mark_probabilities(of_marks, lowered[-1]).argmax(1).tolist()
        written = reader.in_cases(words, cases, [True, *lowered[-1][:-1]])
        pairs = [pair for pair in zip(written, document.words, strict=True) if case_of(pair[1]) is not None]
        cased += len(pairs)
        right += sum(word == correct for word, correct in pairs)
    case = 100 * right / cased if cased else 100.0
    f1, lower_f1 = count(as_written, gold).f1, count(lowered, gold).f1
    gold_marks = labels.encode(string for document in texts for string in labels.strings_of(document.marks))
    return ReaderScores(len(marks), f1, lower_f1, case, count_marks(marks, gold_marks).f1)


def _parts(size: int, window: int) -> list[slice]:
    """The places of windows that cover a document; the first window has a random length."""
    first = int(torch.randint(1, window + 1, ()))
    cuts = sorted({0, *range(min(first, size), size, window), size})
    return [slice(start, stop) for start, stop in pairwise(cuts)]
