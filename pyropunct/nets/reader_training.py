"""The training of readers of running text, alone or together with the encoder that they read."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from pyropunct.nets.adapters import (
    AdaptedEncoder,
    AdaptedNetwork,
    AdaptersInTraining,
    adaptable,
    change_of,
    first_layers,
)
from pyropunct.nets.encoder import Encoder
from pyropunct.nets.labels import Labels
from pyropunct.nets.network_training import NetworkTraining, sequences, trained
from pyropunct.nets.pretrained import Pretrained, with_cache, without_cache
from pyropunct.nets.reader import ReaderScores, RunningReader, reader_scores, windows_of
from pyropunct.nets.running_text import (
    NO_CASE,
    Document,
    ReaderAnswers,
    ReaderRecipe,
    ReaderVocabulary,
    build_reader_vocabulary,
    case_of,
    documents,
)
from pyropunct.nets.trainer import AnyCheckpoint, Watch
from pyropunct.nets.word_embedding import begin_with
from pyropunct.treebank.sentence import Sentence

MOST_KEPT = 1_000_000
"""The most words whose features are computed once in training and kept, at 800 bytes or more each."""

ADAPTING, ADAPTING_RATE = ReaderRecipe(epochs=3, batch_words=500, learning_rate=0.002), 1e-3
"""The usual settings of a reader that is trained together with adapters of an encoder, and the usual learning
rate of the adapters."""

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
    layers: int = 0,
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
    :param layers: instead of adapters, tune this many first layers of the encoder, and read only these.
    :param device: for training; the result is on the CPU.
    :raises ValueError: if one of the treebanks has no sentence, or adapters are to be trained but
        ``pretrained`` is not an `pyropunct.nets.encoder.Encoder`.
    """
    chosen_by = None if dev is None and not dev_texts else [*documents(dev or ()), *dev_texts]
    data = sequences("reader", [*documents(train), *texts], chosen_by)
    source = adaptable(pretrained) if encoder_rate else with_cache(without_cache(pretrained))
    adapting = partial(AdaptingReaderTraining, encoder_rate=encoder_rate, layers=layers)
    kind = adapting if encoder_rate else ReaderTraining
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
        """See `reader_scores`."""
        return reader_scores(model, dev)

    def data(self) -> Iterable[object]:
        """The documents, and the pretrained features."""
        yield from (self.train, self.dev, None if self.source is None else self.source.identity())
        if self.first is not None:
            yield from (weight.numpy().tobytes() for weight in self.first.network.state_dict().values())


class AdaptingReaderTraining(ReaderTraining):
    """The training of a reader with adapters of its encoder, or with ``layers`` first layers of it.

    The greatest learning rate of these is ``encoder_rate``.
    """

    network: AdaptedNetwork
    best: AdaptedNetwork
    source: Any

    def __init__(self, *arguments: Any, encoder_rate: float, layers: int) -> None:
        self.encoder_rate, self.layers = encoder_rate, layers
        super().__init__(*arguments)

    def groups(self) -> list[tuple[list[nn.Parameter], float]]:
        """The encoder has its own learning rate."""
        parts = (self.network.reading, self.recipe.learning_rate), (self.network.adapters, self.encoder_rate)
        return [(list(part.parameters()), rate) for part, rate in parts]

    def data(self) -> Iterable[object]:
        """The learning rate and the layers of the encoder, and the data."""
        return [self.encoder_rate, self.layers, *super().data()]

    def untrained(self) -> AdaptedNetwork:
        """The network with initial weights, and the encoder's own change, or a new one without effect."""
        if isinstance(self.source, AdaptedEncoder):
            self.opened, change = self.source.parted()
        else:
            opened = self.source.opened_anew()
            self.opened = first_layers(opened, self.layers) if self.layers else opened
            change = change_of(self.opened, self.layers)
        self.opened.model.requires_grad_(False).to(self.device)
        if self.in_bfloat16:
            self.opened.model.config._attn_implementation = "eager"  # fused attention compiles each new shape
        return AdaptedNetwork(super().untrained(), change.requires_grad_())

    def with_weights(self, network: AdaptedNetwork) -> RunningReader:
        """The reader of a network, with the adapters as they are now."""
        source: Any = AdaptersInTraining(self.opened, network.adapters)
        return replace(self.model, network=network.reading, pretrained=source)

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


def _answers(document: Document, labels: Labels, lower: bool) -> ReaderAnswers:
    """The gold answers for a document; only lower-cased words teach case."""
    cases = (case_of(word) if lower else None for word in document.words)
    return ReaderAnswers(
        torch.tensor(document.ends, dtype=torch.float),
        torch.tensor(document.starts, dtype=torch.float),
        torch.tensor([NO_CASE if case is None else case for case in cases]),
        torch.tensor(labels.encode(labels.strings_of(document.marks))),
    )


def _parts(size: int, window: int) -> list[slice]:
    """The places of windows that cover a document; the first window has a random length."""
    first = int(torch.randint(1, window + 1, ()))
    cuts = sorted({0, *range(min(first, size), size, window), size})
    return [slice(start, stop) for start, stop in pairwise(cuts)]
