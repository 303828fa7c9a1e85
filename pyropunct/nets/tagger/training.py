"""Training: from a treebank to a `SlotTagger`."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from pyropunct.nets.parser.parser import BiaffineParser
from pyropunct.nets.pretrained import kept
from pyropunct.nets.tagger.network import SlotNetwork
from pyropunct.nets.tagger.recipes import SlotTaggerRecipe
from pyropunct.nets.tagger.tagger import SlotTagger
from pyropunct.nets.tagger.vocabulary import SlotVocabulary
from pyropunct.nets.training import NetworkCheckpoint, NetworkTraining, Progress, batched, seeded
from pyropunct.treebank.sentence import Sentence


class TaggerScores(NamedTuple):
    """How well a tagger predicts the punctuation of some sentences.

    :ivar slots: how many there are.
    :ivar perplexity: per slot.
    """

    slots: int
    perplexity: float


SlotTaggerProgress = Progress[TaggerScores]
SlotTaggerWatch = Callable[[SlotTaggerProgress], None]


def train_slot_tagger(
    parser: BiaffineParser,
    train: Iterable[Sentence],
    dev: Iterable[Sentence] | None = None,
    recipe: SlotTaggerRecipe | None = None,
    *,
    tokens: Sequence[str] | None = None,
    seed: int = 0,
    checkpoint: NetworkCheckpoint | None = None,
    watch: SlotTaggerWatch | None = None,
) -> SlotTagger:
    """Train a slot tagger on the words and the punctuation of a treebank; its trees are not looked at.

    :param parser: whose states the tagger is to read; it stays as it is, and may have seen the sentences.
    :param train: the sentences to learn from.
    :param dev: sentences whose perplexity chooses the epoch that is kept; without them the last is kept.
    :param recipe: the settings.
    :param tokens: those of the model that the tagger is for: see
        `pyropunct.nets.tagger.labels.collect_labels`.
    :param seed: equal seeds give equal taggers, on the same machine with the same number of threads.
    :param checkpoint: if something is kept there, training goes on from it; it is written after every epoch.
    :param watch: called after every step, and when an epoch is finished.
    :raises ValueError: if there is no sentence in one of the two.
    """
    train, dev = tuple(train), None if dev is None else tuple(dev)
    if not train or dev == ():
        raise ValueError(f"there is no sentence to {'choose an epoch by' if train else 'train a tagger on'}")
    with seeded(seed):
        recipe = SlotTaggerRecipe() if recipe is None else recipe
        reading = replace(parser, pretrained=kept(parser.pretrained))
        training = SlotTaggerTraining(reading, train, dev, recipe, seed, tokens)
        training.run(checkpoint, watch)
    return replace(training.tagger(), parser=parser)


class SlotTaggerTraining(NetworkTraining[SlotNetwork, list[int], TaggerScores]):
    """The training of one slot tagger; a batch is the numbers of some sentences, counted from 0.

    :param parser: whose states are read.
    :param seed: that of torch's random numbers, for the report.
    :param tokens: see `train_slot_tagger`.
    """

    what = "tagger"
    scores_type = TaggerScores

    def __init__(
        self,
        parser: BiaffineParser,
        train: Sequence[Sentence],
        dev: Sequence[Sentence] | None,
        recipe: SlotTaggerRecipe,
        seed: int,
        tokens: Sequence[str] | None = None,
    ) -> None:
        self.parser, self.train, self.dev, self.recipe, self.seed = parser, train, dev, recipe, seed
        self.lengths = torch.tensor([len(sentence.tree) for sentence in train])
        self.vocabulary = SlotVocabulary.collect([sentence.surface for sentence in train], tokens)
        network = SlotNetwork(parser.state_size, len(self.vocabulary.labels.strings) + 1, recipe)
        super().__init__(network, recipe, int(self.lengths.sum()))

    def batches(self) -> list[list[int]]:
        """Sentences of like length together."""
        return batched(self.lengths, self.recipe.batch_words)

    def size(self, batch: list[int]) -> int:
        """How many words there are in a batch."""
        return int(self.lengths[batch].sum())

    def loss(self, batch: list[int]) -> Tensor:
        """See `SlotNetwork.loss`."""
        sentences = [self.train[number] for number in batch]
        states = self.parser.states([sentence.tree.forms for sentence in sentences])
        labels = self.vocabulary.encode([sentence.surface for sentence in sentences])
        return self.network.loss(states, self.lengths[batch], labels)

    def evaluate(self) -> TaggerScores | None:
        """The perplexity of dev."""
        if self.dev is None:
            return None
        tagger = SlotTagger(self.vocabulary, self.recipe, self.averaged, {}, self.parser)
        found = tagger.log_prob(*_words_and_marks(self.dev))
        slots = sum(len(sentence.surface) for sentence in self.dev)
        return TaggerScores(slots, float(np.exp(-float(found.sum()) / slots)))

    def merit(self, scores: TaggerScores) -> float:
        """The geometric mean of the probabilities of slots."""
        return 1 / scores.perplexity

    def fingerprint(self) -> str:
        """A checksum of the parser, the data, the settings and the seed."""
        marks = self.vocabulary.labels.marks
        settings = (self.recipe, self.seed, marks, len(self.train), self.dev is None)
        digest = sha256(repr(settings).encode())
        for name, weight in self.parser.network.state_dict().items():
            digest.update(name.encode() + weight.numpy().tobytes())
        for part in (self.train, self.dev or ()):
            digest.update(repr(_words_and_marks(part)).encode())
        return digest.hexdigest()

    def tagger(self) -> SlotTagger:
        """The tagger of the best epoch."""
        report = {**self.report(), "train_sentences": len(self.train), "seed": self.seed}
        return SlotTagger(self.vocabulary, self.recipe, self.best.eval(), report, self.parser)


def _words_and_marks(
    sentences: Sequence[Sentence],
) -> tuple[list[tuple[str, ...]], list[Sequence[Sequence[str]]]]:
    return [one.tree.forms for one in sentences], [one.surface for one in sentences]
