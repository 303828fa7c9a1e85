"""Training: from the documents of a treebank to a `RunningReader`."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from pyropunct.nets.pretrained import Pretrained, bare, kept
from pyropunct.nets.reader.case import case_of
from pyropunct.nets.reader.encoding import NO_CASE, Document, build_reader_vocabulary, cases_of, documents
from pyropunct.nets.reader.network import Answers, RunningNetwork
from pyropunct.nets.reader.reader import LIKELY, RunningReader, windows_of
from pyropunct.nets.reader.recipes import ReaderRecipe
from pyropunct.nets.reader.scores import ReaderScores, count
from pyropunct.nets.training import Epoch, NetworkCheckpoint, NetworkTraining, Progress, batched, seeded
from pyropunct.treebank.sentence import Sentence

ReaderEpoch = Epoch[ReaderScores]
ReaderProgress = Progress[ReaderScores]
ReaderWatch = Callable[[ReaderProgress], None]


def train_reader(
    train: Iterable[Sentence],
    dev: Iterable[Sentence] | None = None,
    recipe: ReaderRecipe | None = None,
    *,
    pretrained: Pretrained | None = None,
    seed: int = 0,
    checkpoint: NetworkCheckpoint | None = None,
    watch: ReaderWatch | None = None,
) -> RunningReader:
    """Train a reader of running text on the documents of a treebank, whose sentences are put together.

    Where documents start, comments with ``# newdoc`` say; a treebank without them is one document.

    :param train: the sentences to learn from, in their order.
    :param dev: sentences on which the epoch that is kept is chosen; without them the last epoch is kept.
    :param recipe: the settings.
    :param pretrained: gives features of words that the reader reads besides; they are computed once.
    :param seed: equal seeds give equal readers, on the same machine with the same number of threads.
    :param checkpoint: if something is kept there, training goes on from it; it is written after every epoch.
    :param watch: called after every step, and when an epoch is finished.
    :raises ValueError: if there is no sentence in one of the two.
    """
    texts, dev_texts = documents(train), None if dev is None else documents(dev)
    if not texts or dev_texts == []:
        raise ValueError(f"there is no sentence to {'choose an epoch by' if texts else 'train a reader on'}")
    with seeded(seed):
        recipe = ReaderRecipe() if recipe is None else recipe
        training = ReaderTraining(texts, dev_texts, recipe, seed, bare(pretrained))
        training.run(checkpoint, watch)
    return replace(training.reader(), pretrained=bare(pretrained))


class Window(NamedTuple):
    """Some neighbouring words of a document.

    :ivar document: its number, counted from 0.
    :ivar part: which words.
    :ivar lower: whether they lose their capital letters.
    """

    document: int
    part: slice
    lower: bool


class ReaderTraining(NetworkTraining[RunningNetwork, list[Window], ReaderScores]):
    """The training of one reader.

    In every epoch the documents are cut into windows at other places, and others lose their capital letters.
    The cases of words are learned in these alone.

    :param seed: that of torch's random numbers, for the report.
    :param pretrained: gives features of the words.
    """

    what = "reader"
    scores_type = ReaderScores

    def __init__(
        self,
        train: Sequence[Document],
        dev: Sequence[Document] | None,
        recipe: ReaderRecipe,
        seed: int,
        pretrained: Pretrained | None = None,
    ) -> None:
        self.train, self.dev, self.recipe, self.seed = train, dev, recipe, seed
        self.pretrained = pretrained
        self._of_dev = kept(pretrained)
        self._features: dict[tuple[int, bool], Tensor] = {}
        self.vocabulary = build_reader_vocabulary(train, recipe.form_count)
        self._lowered = [tuple(map(str.lower, document.words)) for document in train]
        self._ends = [torch.tensor(document.ends, dtype=torch.float) for document in train]
        self._starts = [torch.tensor(document.starts, dtype=torch.float) for document in train]
        self._cases = [cases_of(document.words) for document in train]
        words = sum(len(document.words) for document in train)
        size = 0 if pretrained is None else pretrained.size
        super().__init__(RunningNetwork(self.vocabulary, recipe, size), recipe, words)

    def batches(self) -> list[list[Window]]:
        """Windows of like length together."""
        cuts = [
            (number, part)
            for number, document in enumerate(self.train)
            for part in _parts(len(document.words), self.recipe.window)
        ]
        lower = (torch.rand(len(cuts)) < self.recipe.lower_cased).tolist()
        windows = [Window(*cut, lowered) for cut, lowered in zip(cuts, lower, strict=True)]
        lengths = torch.tensor([_length(window) for window in windows])
        return [
            [windows[number] for number in numbers] for numbers in batched(lengths, self.recipe.batch_words)
        ]

    def size(self, batch: list[Window]) -> int:
        """How many words there are in a batch."""
        return sum(map(_length, batch))

    def loss(self, batch: list[Window]) -> Tensor:
        """See `RunningNetwork.loss`."""
        words = self.vocabulary.encode([self._words(number, lower)[part] for number, part, lower in batch])
        if self.pretrained is not None:
            features = [
                self._features_of(self.pretrained, number, lower)[part] for number, part, lower in batch
            ]
            words = words._replace(features=pad_sequence(features, batch_first=True).float())
        cases = [
            self._cases[number][part] if lower else torch.full_like(self._cases[number][part], NO_CASE)
            for number, part, lower in batch
        ]
        answers = Answers(
            pad_sequence([self._ends[number][part] for number, part, _ in batch], batch_first=True),
            pad_sequence([self._starts[number][part] for number, part, _ in batch], batch_first=True),
            pad_sequence(cases, batch_first=True, padding_value=NO_CASE),
        )
        return self.network.loss(words, answers)

    def _words(self, document: int, lower: bool) -> tuple[str, ...]:
        return self._lowered[document] if lower else self.train[document].words

    def _features_of(self, pretrained: Pretrained, document: int, lower: bool) -> Tensor:
        """(words, size) the features of a document, which is read in windows, as it is in use."""
        if (document, lower) not in self._features:
            words = self._words(document, lower)
            windows = list(windows_of(words, 0, len(words)))
            found = pretrained.features([window.words for window in windows])
            parts = [row[window.core] for row, window in zip(found, windows, strict=True)]
            self._features[document, lower] = torch.cat(parts).half()
        return self._features[document, lower]

    def evaluate(self) -> ReaderScores | None:
        """The scores on dev, as it is written and lower-cased."""
        if self.dev is None:
            return None
        reader = RunningReader(self.vocabulary, self.recipe, self.averaged, {}, self._of_dev)
        return evaluate(reader, self.dev)

    def merit(self, scores: ReaderScores) -> float:
        """The sum of all shares."""
        return scores.f1 + scores.lower_f1 + scores.case

    def fingerprint(self) -> str:
        """A checksum of the data, the settings and the seed."""
        identity = () if self.pretrained is None else (self.pretrained.identity(),)
        settings = (self.recipe, self.seed, self.train, self.dev, *identity)
        return sha256(repr(settings).encode()).hexdigest()

    def reader(self) -> RunningReader:
        """The reader of the best epoch."""
        report = {**self.report(), "train_documents": len(self.train), "seed": self.seed}
        return RunningReader(self.vocabulary, self.recipe, self.best.eval(), report)


def evaluate(reader: RunningReader, some: Sequence[Document]) -> ReaderScores:
    """How well a reader reads some documents: where it finds sentence ends, and what case."""
    gold = [document.ends for document in some]
    whole = [(reader.read(document.words).ends > LIKELY).tolist() for document in some]
    lowered = [[word.lower() for word in document.words] for document in some]
    found, right, cased = [], 0, 0
    for document, words in zip(some, lowered, strict=True):
        ends, cases = reader.read(words)
        found.append((ends > LIKELY).tolist())
        written = reader.in_cases(words, cases, [True, *found[-1][:-1]])
        pairs = [pair for pair in zip(written, document.words, strict=True) if case_of(pair[1]) is not None]
        cased += len(pairs)
        right += sum(one == other for one, other in pairs)
    case = 100 * right / cased if cased else 100.0
    return ReaderScores(sum(map(len, gold)), count(whole, gold).f1, count(found, gold).f1, case)


def _parts(size: int, window: int) -> list[slice]:
    """Words cut into windows, of which the first has a random length."""
    first = int(torch.randint(1, window + 1, ()))
    cuts = sorted({0, *range(min(first, size), size, window), size})
    return [slice(start, stop) for start, stop in pairwise(cuts)]


def _length(window: Window) -> int:
    return window.part.stop - window.part.start
