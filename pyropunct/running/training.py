"""Training: from the documents of a treebank to a `RunningReader`."""

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from pyropunct.networks.training import Epoch, NetworkCheckpoint, NetworkTraining, Progress, batched, seeded
from pyropunct.running.case import case_of
from pyropunct.running.encoding import NO_CASE, Document, build_reader_vocabulary, cases_of, documents
from pyropunct.running.network import Answers, RunningNetwork
from pyropunct.running.reader import LIKELY, RunningReader
from pyropunct.running.recipes import ReaderRecipe
from pyropunct.running.scores import ReaderScores, count
from pyropunct.treebank.sentence import Sentence

ReaderEpoch = Epoch[ReaderScores]
ReaderProgress = Progress[ReaderScores]
ReaderWatch = Callable[[ReaderProgress], None]


def train_reader(
    train: Iterable[Sentence],
    dev: Iterable[Sentence] | None = None,
    recipe: ReaderRecipe | None = None,
    *,
    seed: int = 0,
    checkpoint: NetworkCheckpoint | None = None,
    watch: ReaderWatch | None = None,
) -> RunningReader:
    """Train a reader of running text on the documents of a treebank, whose sentences are put together.

    Where documents start, comments with ``# newdoc`` say; a treebank without them is one document.

    :param train: the sentences to learn from, in their order.
    :param dev: sentences on which the epoch that is kept is chosen; without them the last epoch is kept.
    :param recipe: the settings.
    :param seed: equal seeds give equal readers, on the same machine with the same number of threads.
    :param checkpoint: if something is kept there, training goes on from it; it is written after every epoch.
    :param watch: called after every step, and when an epoch is finished.
    :raises ValueError: if there is no sentence in one of the two.
    """
    texts, dev_texts = documents(train), None if dev is None else documents(dev)
    if not texts or dev_texts == []:
        raise ValueError(f"there is no sentence to {'choose an epoch by' if texts else 'train a reader on'}")
    with seeded(seed):
        training = ReaderTraining(texts, dev_texts, ReaderRecipe() if recipe is None else recipe, seed)
        training.run(checkpoint, watch)
    return training.reader()


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
    """

    what = "reader"
    scores_type = ReaderScores

    def __init__(
        self, train: Sequence[Document], dev: Sequence[Document] | None, recipe: ReaderRecipe, seed: int
    ) -> None:
        self.train, self.dev, self.recipe, self.seed = train, dev, recipe, seed
        self.vocabulary = build_reader_vocabulary(train, recipe.form_count)
        self._lowered = [tuple(map(str.lower, document.words)) for document in train]
        self._ends = [torch.tensor(document.ends, dtype=torch.float) for document in train]
        self._starts = [torch.tensor(document.starts, dtype=torch.float) for document in train]
        self._cases = [cases_of(document.words) for document in train]
        words = sum(len(document.words) for document in train)
        super().__init__(RunningNetwork(self.vocabulary, recipe), recipe, words)

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
        words = [
            (self._lowered[number] if lower else self.train[number].words)[part]
            for number, part, lower in batch
        ]
        cases = [
            self._cases[number][part] if lower else torch.full_like(self._cases[number][part], NO_CASE)
            for number, part, lower in batch
        ]
        answers = Answers(
            pad_sequence([self._ends[number][part] for number, part, _ in batch], batch_first=True),
            pad_sequence([self._starts[number][part] for number, part, _ in batch], batch_first=True),
            pad_sequence(cases, batch_first=True, padding_value=NO_CASE),
        )
        return self.network.loss(self.vocabulary.encode(words), answers)

    def evaluate(self) -> ReaderScores | None:
        """The scores on dev, as it is written and lower-cased."""
        if self.dev is None:
            return None
        return evaluate(RunningReader(self.vocabulary, self.recipe, self.averaged, {}), self.dev)

    def merit(self, scores: ReaderScores) -> float:
        """The sum of all shares."""
        return scores.f1 + scores.lower_f1 + scores.case

    def fingerprint(self) -> str:
        """A checksum of the data, the settings and the seed."""
        settings = (self.recipe, self.seed, self.train, self.dev)
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
