"""Training: from a treebank to a `BiaffineParser`."""

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import replace
from hashlib import sha256

import torch
from torch import Tensor, nn

from pyropunct.models.learned import filled
from pyropunct.nets.encoder import Encoder, Opened
from pyropunct.nets.parser.biaffine import BiaffineNetwork
from pyropunct.nets.parser.encoding import build_parser_vocabulary
from pyropunct.nets.parser.parser import BiaffineParser
from pyropunct.nets.parser.recipes import ParserRecipe
from pyropunct.nets.parser.scores import AttachmentScores, attachment_scores
from pyropunct.nets.pretrained import Pretrained, bare, kept
from pyropunct.nets.training import Epoch, NetworkCheckpoint, NetworkTraining, Progress, batched, seeded
from pyropunct.nets.tuned import TunedEncoder
from pyropunct.nets.words import WordBatch
from pyropunct.treebank.sentence import Sentence

ENCODER_RATE = 3e-5
"""The greatest learning rate of an encoder's weights, as a rule."""

ParserEpoch = Epoch[AttachmentScores]
ParserProgress = Progress[AttachmentScores]
ParserWatch = Callable[[ParserProgress], None]


def train_parser(
    train: Iterable[Sentence],
    dev: Iterable[Sentence] | None = None,
    recipe: ParserRecipe | None = None,
    *,
    pretrained: Pretrained | None = None,
    encoder_rate: float = 0.0,
    seed: int = 0,
    device: torch.device | str = "cpu",
    checkpoint: NetworkCheckpoint | None = None,
    watch: ParserWatch | None = None,
) -> BiaffineParser:
    """Train a tagger and parser of unpunctuated words on the unpunctuated trees of a treebank.

    :param train: the sentences to learn from; their punctuation is not looked at.
    :param dev: sentences whose LAS chooses the epoch that is kept; without them the last epoch is kept.
    :param recipe: the settings.
    :param pretrained: gives features of words that the parser reads besides.  They are computed once, and
        forgotten after the training unless it is a `pyropunct.nets.pretrained.Kept`.
    :param encoder_rate: the greatest learning rate of the weights of an encoder, which is then trained
        together with the parser, and is part of it; 0 leaves ``pretrained`` as it is.
    :param seed: equal seeds give equal parsers, on the same machine with the same number of threads.
    :param device: where it is trained; the parser itself is on the CPU.
    :param checkpoint: if something is kept there, training goes on from it; it is written after every epoch.
    :param watch: called after every step, and when an epoch is finished.
    :raises ValueError: if there is no sentence in one of the two, or something else than an
        `pyropunct.nets.encoder.Encoder` is to be trained further.
    """
    train, dev = tuple(train), None if dev is None else tuple(dev)
    if not train or dev == ():
        raise ValueError(f"there is no sentence to {'choose an epoch by' if train else 'train a parser on'}")
    with seeded(seed):
        recipe = ParserRecipe() if recipe is None else recipe
        if encoder_rate:
            source = bare(pretrained)
            if not isinstance(source, Encoder):
                raise ValueError("there is no encoder that could be trained further")
            tuning = TuningTraining(train, dev, recipe, seed, source, encoder_rate, device)
            tuning.run(checkpoint, watch)
            return tuning.parser()
        training = ParserTraining(train, dev, recipe, seed, kept(pretrained), device)
        training.run(checkpoint, watch)
    return replace(training.parser(), pretrained=pretrained)


class ParserTraining(NetworkTraining[nn.Module, list[int], AttachmentScores]):
    """The training of one parser; a batch is the numbers of some sentences, counted from 0.

    :param seed: that of torch's random numbers, for the report.
    :param pretrained: gives features of the words.
    :param device: where the network is trained.
    """

    what = "parser"
    scores_type = AttachmentScores

    def __init__(
        self,
        train: Sequence[Sentence],
        dev: Sequence[Sentence] | None,
        recipe: ParserRecipe,
        seed: int,
        pretrained: Pretrained | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        self.train, self.dev, self.recipe, self.seed = train, dev, recipe, seed
        self.pretrained, self.device = pretrained, device
        self.lengths = torch.tensor([len(sentence.tree) for sentence in train])
        self.vocabulary = build_parser_vocabulary(train, recipe.form_count)
        super().__init__(self.untrained().to(device), recipe, int(self.lengths.sum()))

    def untrained(self) -> nn.Module:
        """The network with its first weights."""
        size = 0 if self.pretrained is None else self.pretrained.size
        return BiaffineNetwork(self.vocabulary, self.recipe, size)

    def parser_of(self, network: nn.Module) -> tuple[BiaffineNetwork, Pretrained | None]:
        """The part of the network that parses, and what gives it features of words."""
        assert isinstance(network, BiaffineNetwork)
        return network, self.pretrained

    def encoded(self, sentences: Sequence[Sequence[str]]) -> WordBatch:
        """Sentences as the network in training reads them."""
        return self.vocabulary.encode(sentences, self.pretrained).to(self.device)

    def batches(self) -> list[list[int]]:
        """Sentences of like length together."""
        return batched(self.lengths, self.recipe.batch_words)

    def size(self, batch: list[int]) -> int:
        """How many words there are in a batch."""
        return int(self.lengths[batch].sum())

    def loss(self, batch: list[int]) -> Tensor:
        """See `BiaffineNetwork.loss`."""
        sentences = [self.train[number] for number in batch]
        network, _ = self.parser_of(self.network)
        words = self.encoded([sentence.tree.forms for sentence in sentences])
        return network.loss(words, self.vocabulary.answers(sentences).to(self.device))

    def evaluate(self) -> AttachmentScores | None:
        """The scores of the best trees on dev."""
        if self.dev is None:
            return None
        trees = [sentence.tree for sentence in self.dev]
        network, pretrained = self.parser_of(self.averaged)
        parser = BiaffineParser(self.vocabulary, self.recipe, network, {}, pretrained)
        found = parser.parse([tree.forms for tree in trees])
        return attachment_scores([best[0].tree for best in found], trees)

    def merit(self, scores: AttachmentScores) -> float:
        """The LAS."""
        return scores.las

    def fingerprint(self) -> str:
        """A checksum of the data, the settings and the seed."""
        digest = sha256(repr((self.recipe, self.seed, len(self.train), self.dev is None)).encode())
        if self.pretrained is not None:
            digest.update(repr(self.pretrained.identity()).encode())
        for part in (self.train, self.dev or ()):
            for sentence in part:
                digest.update(repr(sentence.tree).encode())
        return digest.hexdigest()

    def parser(self) -> BiaffineParser:
        """The parser of the best epoch."""
        report = {**self.report(), "train_sentences": len(self.train), "seed": self.seed}
        network, _ = self.parser_of(self.best.eval())
        weights = {name: weight.cpu() for name, weight in network.state_dict().items()}
        pretrained = self.kept_source()
        size = 0 if pretrained is None else pretrained.size
        found = filled(lambda: BiaffineNetwork(self.vocabulary, self.recipe, size), weights)
        return BiaffineParser(self.vocabulary, self.recipe, found.eval(), report, pretrained)

    def kept_source(self) -> Pretrained | None:
        """What gives features of words to the parser of the best epoch."""
        return self.pretrained


class TunedNetwork(nn.Module):
    """The network of a parser, and the encoder whose states it reads, which is trained with it.

    :param parser: that network.
    :param encoder: gives the states.
    """

    def __init__(self, parser: BiaffineNetwork, encoder: nn.Module) -> None:
        super().__init__()
        self.parser, self.encoder = parser, encoder


class TuningTraining(ParserTraining):
    """The training of a parser together with an encoder.

    :param encoder: the encoder, which itself stays as it is.
    :param encoder_rate: the greatest learning rate of its weights.
    """

    def __init__(
        self,
        train: Sequence[Sentence],
        dev: Sequence[Sentence] | None,
        recipe: ParserRecipe,
        seed: int,
        encoder: Encoder,
        encoder_rate: float,
        device: torch.device | str = "cpu",
    ) -> None:
        self._opened, self._place, self._encoder_rate = encoder.open(), encoder.place, encoder_rate
        TunedEncoder.of(self._opened, self._place)  # what cannot be kept is refused before the training
        super().__init__(train, dev, recipe, seed, encoder, device)

    def untrained(self) -> TunedNetwork:
        """The network with its first weights, and a copy of the encoder."""
        network = BiaffineNetwork(self.vocabulary, self.recipe, self._opened.size)
        return TunedNetwork(network, deepcopy(self._opened.model))

    def groups(self) -> list[tuple[list[nn.Parameter], float]]:
        """The encoder's weights have a learning rate of their own."""
        parser, encoder = self._parts(self.network)
        rates = self.recipe.learning_rate, self._encoder_rate
        return [(list(part.parameters()), rate) for part, rate in zip((parser, encoder), rates, strict=True)]

    def _parts(self, network: nn.Module) -> tuple[BiaffineNetwork, nn.Module]:
        assert isinstance(network, TunedNetwork)
        return network.parser, network.encoder

    def _of(self, network: nn.Module) -> Opened:
        """The encoder with the weights that it has in a network."""
        return replace(self._opened, model=self._parts(network)[1])

    def parser_of(self, network: nn.Module) -> tuple[BiaffineNetwork, Pretrained]:
        """The part of the network that parses, and the encoder as it is now."""
        parser, _ = self._parts(network)
        return parser, TunedEncoder({"size": self._opened.size}, {}, self._of(network))

    def encoded(self, sentences: Sequence[Sequence[str]]) -> WordBatch:
        """Sentences as the network in training reads them: gradients go on into the encoder."""
        batch = self.vocabulary.encode(sentences).to(self.device)
        return batch._replace(features=self._of(self.network).features(sentences))

    def kept_source(self) -> Pretrained:
        """The encoder of the best epoch."""
        return TunedEncoder.of(self._of(self.best.eval()), self._place)

    def fingerprint(self) -> str:
        """That of a parser with a frozen encoder, and the encoder's learning rate."""
        return f"{super().fingerprint()} {self._encoder_rate!r}"
