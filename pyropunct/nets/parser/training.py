"""Training: from a treebank to a `BiaffineParser`."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from pyropunct.nets.parser.encoding import ParserVocabulary, build_parser_vocabulary
from pyropunct.nets.parser.parser import BiaffineParser
from pyropunct.nets.parser.protocol import AttachmentScores, attachment_scores
from pyropunct.nets.pretrained import Pretrained, kept
from pyropunct.nets.recipes import ParserRecipe
from pyropunct.nets.training import AnyCheckpoint, NetworkTraining, Watch, sequences, trained
from pyropunct.nets.tuning import Tuning, tunable
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
    checkpoint: AnyCheckpoint | None = None,
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
    source = tunable(pretrained) if encoder_rate else kept(pretrained)
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


class TuningTraining(Tuning[BiaffineParser], ParserTraining):
    """The training of a parser together with a copy of the encoder that it reads."""

    def encoded(self, sentences: Sequence[Sequence[str]]) -> WordBatch:
        """Sentences as the network in training reads them."""
        batch = self.model.vocabulary.encode(sentences).to(self.device)
        return batch._replace(features=self.features(sentences))
