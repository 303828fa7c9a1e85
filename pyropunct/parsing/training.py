"""Training: from a treebank to a `BiaffineParser`."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from hashlib import sha256

import torch
from torch import Tensor

from pyropunct.networks.pretrained import Kept, Pretrained, kept
from pyropunct.networks.training import Epoch, NetworkCheckpoint, NetworkTraining, Progress, batched, seeded
from pyropunct.parsing.biaffine import BiaffineNetwork
from pyropunct.parsing.encoding import build_parser_vocabulary
from pyropunct.parsing.parser import BiaffineParser
from pyropunct.parsing.recipes import ParserRecipe
from pyropunct.parsing.scores import AttachmentScores, attachment_scores
from pyropunct.treebank.sentence import Sentence

ParserEpoch = Epoch[AttachmentScores]
ParserProgress = Progress[AttachmentScores]
ParserWatch = Callable[[ParserProgress], None]


def train_parser(
    train: Iterable[Sentence],
    dev: Iterable[Sentence] | None = None,
    recipe: ParserRecipe | None = None,
    *,
    pretrained: Pretrained | None = None,
    seed: int = 0,
    checkpoint: NetworkCheckpoint | None = None,
    watch: ParserWatch | None = None,
) -> BiaffineParser:
    """Train a tagger and parser of unpunctuated words on the unpunctuated trees of a treebank.

    :param train: the sentences to learn from; their punctuation is not looked at.
    :param dev: sentences whose LAS chooses the epoch that is kept; without them the last epoch is kept.
    :param recipe: the settings.
    :param pretrained: gives features of words that the parser reads besides.  They are computed once, and
        forgotten after the training unless it is a `pyropunct.networks.pretrained.Kept`.
    :param seed: equal seeds give equal parsers, on the same machine with the same number of threads.
    :param checkpoint: if something is kept there, training goes on from it; it is written after every epoch.
    :param watch: called after every step, and when an epoch is finished.
    :raises ValueError: if there is no sentence in one of the two.
    """
    train, dev = tuple(train), None if dev is None else tuple(dev)
    if not train or dev == ():
        raise ValueError(f"there is no sentence to {'choose an epoch by' if train else 'train a parser on'}")
    with seeded(seed):
        recipe = ParserRecipe() if recipe is None else recipe
        training = ParserTraining(train, dev, recipe, seed, kept(pretrained))
        training.run(checkpoint, watch)
    return replace(training.parser(), pretrained=pretrained)


class ParserTraining(NetworkTraining[BiaffineNetwork, list[int], AttachmentScores]):
    """The training of one parser; a batch is the numbers of some sentences, counted from 0.

    :param seed: that of torch's random numbers, for the report.
    :param pretrained: gives features of the words.
    """

    what = "parser"
    scores_type = AttachmentScores

    def __init__(
        self,
        train: Sequence[Sentence],
        dev: Sequence[Sentence] | None,
        recipe: ParserRecipe,
        seed: int,
        pretrained: Kept | None = None,
    ) -> None:
        self.train, self.dev, self.recipe, self.seed = train, dev, recipe, seed
        self.pretrained = pretrained
        self.lengths = torch.tensor([len(sentence.tree) for sentence in train])
        self.vocabulary = build_parser_vocabulary(train, recipe.form_count)
        size = 0 if pretrained is None else pretrained.size
        super().__init__(BiaffineNetwork(self.vocabulary, recipe, size), recipe, int(self.lengths.sum()))

    def batches(self) -> list[list[int]]:
        """Sentences of like length together."""
        return batched(self.lengths, self.recipe.batch_words)

    def size(self, batch: list[int]) -> int:
        """How many words there are in a batch."""
        return int(self.lengths[batch].sum())

    def loss(self, batch: list[int]) -> Tensor:
        """See `BiaffineNetwork.loss`."""
        sentences = [self.train[number] for number in batch]
        words = self.vocabulary.encode([sentence.tree.forms for sentence in sentences], self.pretrained)
        return self.network.loss(words, self.vocabulary.answers(sentences))

    def evaluate(self) -> AttachmentScores | None:
        """The scores of the best trees on dev."""
        if self.dev is None:
            return None
        trees = [sentence.tree for sentence in self.dev]
        parser = BiaffineParser(self.vocabulary, self.recipe, self.averaged, {}, self.pretrained)
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
        return BiaffineParser(self.vocabulary, self.recipe, self.best.eval(), report, self.pretrained)
