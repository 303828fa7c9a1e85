"""Readers of running text: find sentence ends, marks and case in words without punctuation.

Example::

    from pyropunct import read_treebank
    from pyropunct.nets.reader import train_reader

    reader = train_reader(read_treebank("train.conllu"), read_treebank("dev.conllu"))
    print(reader.sentences("she left he stayed in paris".split()))
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from pyropunct.nets.adapters import AdaptedEncoder, AdaptedNetwork, Adapters, AdaptersInTraining, adaptable
from pyropunct.nets.encoder import Encoder
from pyropunct.nets.labels import Labels, Probabilities
from pyropunct.nets.networks import NetworkTraining, TrainedWordNetwork, sequences, trained
from pyropunct.nets.running_text import (
    CASES,
    NO_CASE,
    OTHER,
    Document,
    ReaderAnswers,
    ReaderRecipe,
    ReaderVocabulary,
    RunningNetwork,
    build_reader_vocabulary,
    case_of,
    documents,
    in_case,
)
from pyropunct.nets.trainer import AnyCheckpoint, Watch
from pyropunct.nets.word_embedding import Pretrained, begin_with, with_cache, without_cache
from pyropunct.treebank.sentence import Sentence

CORE, MARGIN = 128, 32
"""The words in the core of a window, whose reading it gives, and the words that it sees on either side."""

LIKELY = 0.3
"""The probability above which a sentence ends; it is below 1/2, as missed ends cost more."""

MOST_KEPT = 1_000_000
"""The most words whose features are computed once in training and kept, at 800 bytes or more each."""

WINDOWS_AT_ONCE = 32
"""Windows that the network reads together."""

ADAPTING, ADAPTING_RATE = ReaderRecipe(epochs=3, batch_words=500, learning_rate=0.002), 1e-3
"""The settings of a reader that is trained together with adapters of an encoder, and the learning rate of
these, as a rule."""


class Reading(NamedTuple):
    """The reading of n words of running text.

    :ivar ends: (n,) the probability that a sentence ends behind each word.
    :ivar cases: (n, 4) logits of the cases of words inside sentences: see `RunningNetwork`.
    :ivar marks: (n, labels) logits of the marks behind words inside sentences.
    """

    ends: Tensor
    cases: Tensor
    marks: Tensor


class TextWindow(NamedTuple):
    """Neighbouring words of a text that the network reads, and the core of them whose reading is kept."""

    words: Sequence[str]
    core: slice


@dataclass(frozen=True)
class RunningReader(TrainedWordNetwork[ReaderVocabulary, ReaderRecipe, RunningNetwork]):
    """Finds sentences, marks and cases in running text; trained by `pyropunct.nets.reader.train_reader`."""

    what = "a reader of running text"
    kinds = (ReaderVocabulary, ReaderRecipe, RunningNetwork)

    def read(self, words: Sequence[str]) -> Reading:
        """Read the words of running text in windows; time and memory are linear in their number."""
        return self.read_all([words])[0]

    def read_all(self, texts: Sequence[Sequence[str]]) -> list[Reading]:
        """Read several texts, those of similar lengths together, which is faster than one by one."""
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        by_length = [texts[place] for place in order]
        windows = [window for words in by_length for window in windows_of(words, 0, len(words))]
        groups = (windows[n : n + WINDOWS_AT_ONCE] for n in range(0, len(windows), WINDOWS_AT_ONCE))
        shapes = (0,), (0, CASES), (0, len(self.network.at_end))
        nothing = Reading(*(torch.zeros(shape, dtype=torch.float) for shape in shapes))
        parts = [self.read_windows(group) for group in groups] or [nothing]
        sizes = [len(words) for words in by_length]
        columns = (torch.cat(column).split(sizes) for column in zip(*parts, strict=True))
        found = dict(zip(order, (Reading(*rows) for rows in zip(*columns, strict=True)), strict=True))
        return [found[place] for place in range(len(texts))]

    @torch.inference_mode()
    def read_windows(self, windows: Sequence[TextWindow]) -> Reading:
        """Read the words in the cores of one or more windows together."""
        columns = self.network(self.encode([window.words for window in windows]))
        rows = [(row, window.core) for row, window in enumerate(windows)]
        ends, cases, marks = (torch.cat([column[place] for place in rows]).cpu() for column in columns)
        return Reading(ends.sigmoid(), cases, marks)

    def sentences(self, words: Sequence[str]) -> list[list[str]]:
        """The sentences of running text."""
        sentences: list[list[str]] = [[]]
        for word, end in zip(words, self.read(words).ends.tolist(), strict=True):
            sentences[-1].append(word)
            if end > LIKELY:
                sentences.append([])
        return [sentence for sentence in sentences if sentence]

    @torch.inference_mode()
    def mark_probabilities(self, marks: Tensor, ends: Sequence[bool]) -> Probabilities:
        """(n, labels) probabilities of the strings behind n words, given `Reading.marks` and the ends."""
        logits = marks + torch.tensor(ends, dtype=marks.dtype)[:, None] * self.network.at_end.cpu()
        return logits.double().softmax(-1).numpy()

    def in_cases(self, words: Sequence[str], cases: Tensor, starts: Sequence[bool]) -> list[str]:
        """Lower-cased words in their most probable cases, from `Reading.cases` and sentence starts."""
        with torch.inference_mode():
            at_start = torch.tensor(starts, dtype=cases.dtype)[:, None] * self.network.at_start.cpu()
            logits = cases + at_start
            best, second = logits.argmax(-1).tolist(), logits[:, :OTHER].argmax(-1).tolist()
        others = self.vocabulary.other_by_lower
        return [
            others[word.lower()] if case == OTHER and word.lower() in others else in_case(word, simple)
            for word, case, simple in zip(words, best, second, strict=True)
        ]


def windows_of(
    words: Sequence[str], start: int, stop: int, core: int = CORE, ahead: int = MARGIN
) -> Iterator[TextWindow]:
    """Windows whose cores together are the words ``start`` to ``stop`` - 1 of a text.

    :param core: the most words of a core, and ``ahead``, those that are seen behind it.
    """
    for first in range(start, stop, core):
        seen, last = max(0, first - MARGIN), min(stop, first + core)
        yield TextWindow(words[seen : last + ahead], slice(first - seen, last - seen))


class ReaderScores(NamedTuple):
    """Scores of a reader, in percent.

    :ivar f1: of sentence ends inside documents, in words as written.
    :ivar lower_f1: the same in lower-cased words.
    :ivar case: accuracy of case in lower-cased words, of those that have case.
    :ivar lower_marks: F1 of the strings of marks behind lower-cased words.
    """

    words: int
    f1: float
    lower_f1: float
    case: float
    lower_marks: float

    @property
    def merit(self) -> float:
        """The sum of the four percentages, by which the best epoch is chosen."""
        return self.f1 + self.lower_f1 + self.case + self.lower_marks


class Counts(NamedTuple):
    """Counts in the treebank (gold), in the answers (found), and in both (right)."""

    gold: int
    found: int
    right: int

    @property
    def precision(self) -> float:
        """In percent, 100 if nothing was found."""
        return 100 * self.right / self.found if self.found else 100.0

    @property
    def recall(self) -> float:
        """In percent, 100 if there is nothing to find."""
        return 100 * self.right / self.gold if self.gold else 100.0

    @property
    def f1(self) -> float:
        """The harmonic mean of both, 100 if there is nothing and nothing was found."""
        both = self.gold + self.found
        return 200 * self.right / both if both else 100.0


def count_ends(found: Sequence[Sequence[bool]], gold: Sequence[Sequence[bool]]) -> Counts:
    """Count sentence ends inside documents, found and gold; the end of a document does not count."""
    inside = ([end for ends in documents for end in ends[:-1]] for documents in (found, gold))
    return count_labels(*inside)


def count_labels(found: Sequence[int], gold: Sequence[int]) -> Counts:
    """Count the labels behind words; label 0, such as the empty string of marks, does not count."""
    right = sum(one == other > 0 for one, other in zip(found, gold, strict=True))
    return Counts(sum(map(bool, gold)), sum(map(bool, found)), right)


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
    device: torch.device | str = "cpu",
    checkpoint: AnyCheckpoint | None = None,
    watch: Watch | None = None,
) -> RunningReader:
    """Train a reader of running text on the documents of a treebank.

    Comments ``# newdoc`` start documents; a treebank without them is one.  Texts are further documents.

    :param first: start from the words and weights of this reader.
    :param pretrained: features of words that the reader reads as well; they are computed once, but for large
        texts.
    :param encoder_rate: the greatest learning rate of adapters of the encoder, see `pyropunct.nets.adapters`,
        which are trained together with the reader; 0 trains none.  Existing adapters are copied first.
    :param device: for training; the result is on the CPU.
    :raises ValueError: if one of the treebanks has no sentence, or adapters are to be trained but
        ``pretrained`` is not an `pyropunct.nets.encoder.Encoder`.
    """
    chosen_by = None if dev is None and not dev_texts else [*documents(dev or ()), *dev_texts]
    data = sequences("reader", [*documents(train), *texts], chosen_by)
    source = adaptable(pretrained) if encoder_rate else with_cache(without_cache(pretrained))
    kind = partial(AdaptingReaderTraining, encoder_rate=encoder_rate) if encoder_rate else ReaderTraining
    make = partial(kind, first, *data, recipe or ReaderRecipe(), seed, source, device)
    reader = trained(make, seed, checkpoint, watch)
    return reader if encoder_rate else replace(reader, pretrained=without_cache(pretrained))


class ReaderTraining(NetworkTraining[RunningReader]):
    """The training of one reader.

    Each epoch cuts the documents into new windows, whose numbers make batches.  It lower-cases a new share of
    the windows; only these teach the cases of words.
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
        """The network with initial weights, or those of the first reader."""
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
        padded = (pad_sequence(list(rows), True, padding).to(self.device) for rows, padding in columns)
        return self.model.network.loss(words.to(self.device), ReaderAnswers(*padded))

    def features_of(self, windows: Sequence[Cut], sentences: Sequence[Sequence[str]]) -> Tensor:
        """(windows, longest, size) the pretrained features of the words (``sentences``) of windows."""
        if sum(map(self.length, self.train)) > MOST_KEPT:
            return self.source.source.features(sentences)
        features = [self._features_of(number, lower)[part] for number, part, lower in windows]
        return pad_sequence(features, batch_first=True).float()

    def _features_of(self, document: int, lower: bool) -> Tensor:
        """(words, size) the features of a document, read in windows as in use."""
        if (document, lower) not in self._features:
            words = self._words[document][lower]
            windows = list(windows_of(words, 0, len(words)))
            rows = self.source.source.features([window.words for window in windows])  # it keeps those of dev
            parts = [row[window.core] for row, window in zip(rows, windows, strict=True)]
            self._features[document, lower] = torch.cat(parts).half()
        return self._features[document, lower]

    def scores(self, model: RunningReader, dev: Sequence[Document]) -> ReaderScores:
        """See `evaluate`."""
        return reader_scores(model, dev)

    def data(self) -> Iterable[object]:
        """The documents, and the pretrained features."""
        yield from (self.train, self.dev, None if self.source is None else self.source.identity())
        if self.first is not None:
            yield from (weight.numpy().tobytes() for weight in self.first.network.state_dict().values())


class AdaptingReaderTraining(ReaderTraining):
    """The training of a reader with adapters of its encoder, at most at the rate ``encoder_rate``."""

    network: AdaptedNetwork
    best: AdaptedNetwork
    source: Encoder | AdaptedEncoder

    def __init__(self, *arguments: Any, encoder_rate: float) -> None:
        self.encoder_rate = encoder_rate
        super().__init__(*arguments)

    def untrained(self) -> AdaptedNetwork:
        """The network with initial weights, with the encoder's adapters or new ones without effect."""
        if isinstance(self.source, AdaptedEncoder):
            self.opened, adapters = self.source.parted()
        else:
            self.opened = self.source.opened_anew()
            adapters = Adapters(self.opened.model)
        self.opened.model.requires_grad_(False).to(self.device)
        return AdaptedNetwork(super().untrained(), adapters)

    def groups(self) -> list[tuple[list[nn.Parameter], float]]:
        """The adapters have their own learning rate."""
        parts = (self.network.reading, self.recipe.learning_rate), (self.network.adapters, self.encoder_rate)
        return [(list(part.parameters()), rate) for part, rate in parts]

    def with_weights(self, network: AdaptedNetwork) -> RunningReader:
        """The reader of a network, with the adapters as they are now."""
        source: Any = AdaptersInTraining(self.opened, network.adapters)
        reading: Any = network.reading
        return replace(self.model, network=reading, pretrained=source)

    def features_of(self, windows: Sequence[Cut], sentences: Sequence[Sequence[str]]) -> Tensor:
        """See `ReaderTraining.features_of`; gradients flow into the adapters."""
        with self.network.adapters.attached(self.opened.model):
            return self.opened.features(sentences)

    def result(self) -> RunningReader:
        """The reader and the adapters of the best epoch."""
        state = self.best.adapters.cpu().state_dict()
        adapters = {name: weight.clone() for name, weight in state.items()}
        encoder = self.source.encoder if isinstance(self.source, AdaptedEncoder) else self.source
        source = AdaptedEncoder(Encoder.from_parts(encoder.to_parts()[0]), adapters)
        return replace(super().result(), pretrained=source)

    def data(self) -> Iterable[object]:
        """The encoder, the learning rate of the adapters and the data."""
        return [self.encoder_rate, *super().data()]


def _answers(document: Document, labels: Labels, lower: bool) -> ReaderAnswers:
    """The gold answers for a document; only lower-cased words teach case."""
    cases = (case_of(word) if lower else None for word in document.words)
    return ReaderAnswers(
        torch.tensor(document.ends, dtype=torch.float),
        torch.tensor(document.starts, dtype=torch.float),
        torch.tensor([NO_CASE if case is None else case for case in cases]),
        torch.tensor(labels.encode(labels.strings_of(document.marks))),
    )


def reader_scores(reader: RunningReader, texts: Sequence[Document]) -> ReaderScores:
    """The scores of a reader on documents as written, and lower-cased."""
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
    f1, lower_f1 = count_ends(as_written, gold).f1, count_ends(lowered, gold).f1
    gold_marks = labels.encode(string for document in texts for string in labels.strings_of(document.marks))
    return ReaderScores(len(marks), f1, lower_f1, case, count_labels(marks, gold_marks).f1)


def _parts(size: int, window: int) -> list[slice]:
    """The places of windows that cover a document; the first window has a random length."""
    first = int(torch.randint(1, window + 1, ()))
    cuts = sorted({0, *range(min(first, size), size, window), size})
    return [slice(start, stop) for start, stop in pairwise(cuts)]
