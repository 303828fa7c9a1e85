"""Training: from a treebank to a `BiaffineParser`."""

from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from pyropunct.nets.encoder import Encoder, Opened, TunedEncoder
from pyropunct.nets.parser.biaffine import BiaffineNetwork
from pyropunct.nets.parser.encoding import ParserVocabulary, build_parser_vocabulary
from pyropunct.nets.parser.parser import BiaffineParser
from pyropunct.nets.parser.protocol import AttachmentScores, attachment_scores
from pyropunct.nets.pretrained import Pretrained, bare, kept
from pyropunct.nets.recipes import ParserRecipe
from pyropunct.nets.training import NetworkCheckpoint, NetworkTraining, Watch, sequences, trained
from pyropunct.nets.words import WordBatch, with_marks
from pyropunct.treebank.sentence import Sentence

ENCODER_RATE = 3e-5
"""The greatest learning rate of an encoder's weights, as a rule."""


def train_parser(
    train: Iterable[Sentence],
    dev: Iterable[Sentence] | None = None,
    recipe: ParserRecipe | None = None,
    *,
    pretrained: Pretrained | None = None,
    encoder_rate: float = 0.0,
    marks: bool = False,
    seed: int = 0,
    device: torch.device | str = "cpu",
    checkpoint: NetworkCheckpoint | None = None,
    watch: Watch | None = None,
) -> BiaffineParser:
    """Train a tagger and parser on the unpunctuated trees of a treebank.

    :param train: the sentences to learn from.
    :param dev: sentences whose LAS chooses the epoch that is kept; without them the last epoch is kept.
    :param recipe: the settings.
    :param pretrained: gives features of words that the parser reads as well.  They are computed once, and
        forgotten after the training unless it is a `pyropunct.nets.pretrained.Kept`.
    :param encoder_rate: the greatest learning rate of the weights of an encoder, which is then trained
        together with the parser, and is part of it; 0 leaves ``pretrained`` as it is.
    :param marks: let the parser read words `pyropunct.nets.words.with_marks`; by default it reads the words
        alone.  Its trees are of the words.
    :param seed: equal seeds give equal parsers, on the same machine with the same number of threads.
    :param device: where it is trained; the parser itself is on the CPU.
    :param checkpoint: if something is kept there, training goes on from it; it is written after every epoch.
    :param watch: called after every step, and when an epoch is finished.
    :raises ValueError: if there is no sentence in one of the two, or ``pretrained`` is not an
        `pyropunct.nets.encoder.Encoder` although it is to be trained further.
    """
    data = sequences("parser", train, dev)
    source = bare(pretrained) if encoder_rate else kept(pretrained)
    if encoder_rate and not isinstance(source, Encoder):
        raise ValueError("there is no encoder that could be trained further")
    kind = partial(TuningTraining, encoder_rate=encoder_rate) if encoder_rate else ParserTraining
    make = partial(kind, *data, recipe or ParserRecipe(), seed, source, device, marks=marks)
    parser = trained(make, seed, checkpoint, watch)
    return parser if encoder_rate else replace(parser, pretrained=pretrained)


class ParserTraining(NetworkTraining[BiaffineParser]):
    """The training of one parser.

    :param marks: see `train_parser`.
    """

    kind = BiaffineParser
    what = "parser"

    def __init__(self, *arguments: Any, marks: bool = False) -> None:
        self.marks = marks
        super().__init__(*arguments)

    def vocabulary(self) -> ParserVocabulary:
        """The types of words, tags and relations."""
        return build_parser_vocabulary(self.train, map(self.read, self.train), self.recipe.form_count)

    def read(self, sentence: Sentence) -> tuple[str, ...]:
        """A sentence as the parser reads it."""
        forms = sentence.tree.forms
        return with_marks(forms, sentence.surface) if self.marks else forms

    def encoded(self, sentences: Sequence[Sequence[str]]) -> WordBatch:
        """Sentences as the network in training reads them."""
        return self.model.encode(sentences)

    def loss(self, batch: list[int]) -> Tensor:
        """See `BiaffineNetwork.loss`."""
        sentences = [self.train[number] for number in batch]
        words = self.encoded(list(map(self.read, sentences)))
        return self.model.network.loss(words, self.model.vocabulary.answers(sentences).to(self.device))

    def scores(self, model: BiaffineParser, dev: Sequence[Sentence]) -> AttachmentScores:
        """The scores of the best trees."""
        trees = [sentence.tree for sentence in dev]
        parses = model.parse(list(map(self.read, dev)))
        return attachment_scores([best.tree for best, *_ in parses], trees)

    def data(self) -> Iterable[object]:
        """The pretrained features and the trees."""
        if self.source is not None:
            yield self.source.identity()
        for sentence in [*self.train, *(self.dev or ())]:
            yield sentence.tree
            if self.marks:
                yield sentence.surface


class TunedNetwork(nn.Module):
    """The network of a parser, and the encoder whose states it reads, which is trained with it.

    :param parser: that network.
    :param encoder: gives the states.
    """

    def __init__(self, parser: BiaffineNetwork, encoder: nn.Module) -> None:
        super().__init__()
        self.parser, self.encoder = parser, encoder


class TuningTraining(ParserTraining):
    """The training of a parser together with a copy of the encoder that it reads.

    :param encoder_rate: the greatest learning rate of the encoder's weights.
    """

    network: TunedNetwork
    best: TunedNetwork
    source: Encoder

    def __init__(self, *arguments: Any, encoder_rate: float, marks: bool = False) -> None:
        self.encoder_rate = encoder_rate
        super().__init__(*arguments, marks=marks)

    def untrained(self) -> TunedNetwork:
        """The network with its first weights, and a copy of the encoder."""
        opened = self.source.open()
        TunedEncoder.of(opened, self.source.place)  # an encoder that cannot be kept is refused now
        return TunedNetwork(self.model.network, deepcopy(opened.model))

    def groups(self) -> list[tuple[list[nn.Parameter], float]]:
        """The encoder's weights have their own learning rate."""
        parts = (self.network.parser, self.recipe.learning_rate), (self.network.encoder, self.encoder_rate)
        return [(list(part.parameters()), rate) for part, rate in parts]

    def _encoder_of(self, network: TunedNetwork) -> Opened:
        """The encoder with the weights that it has in a network."""
        return replace(self.source.open(), model=network.encoder)

    def with_weights(self, network: TunedNetwork) -> BiaffineParser:
        """The parser of a network, with the encoder as it is now."""
        encoder = TunedEncoder({"size": self.source.size}, {}, self._encoder_of(network))
        return replace(self.model, network=network.parser, pretrained=encoder)

    def encoded(self, sentences: Sequence[Sequence[str]]) -> WordBatch:
        """Sentences as the network in training reads them: gradients go on into the encoder."""
        batch = self.model.vocabulary.encode(sentences).to(self.device)
        return batch._replace(features=self._encoder_of(self.network).features(sentences))

    def result(self) -> BiaffineParser:
        """The parser and the encoder of the best epoch."""
        parser = super().result()
        return replace(parser, pretrained=TunedEncoder.of(self._encoder_of(self.best), self.source.place))

    def data(self) -> Iterable[object]:
        """The encoder, its learning rate and the trees."""
        return [self.encoder_rate, *super().data()]
