"""Rivals: recurrent networks that predict labels of slots from words, and their training.

One of them, a BiLSTM-CRF, corrects the punctuation of its input (Li, Wang & Eisner 2019, section 6.2).
"""

from abc import ABC
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import ceil
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from pyropunct.fitted.evaluation import Evaluation, slot_distance
from pyropunct.nets.network_training import NetworkTraining, sequences, trained
from pyropunct.nets.networks import TrainedWordNetwork
from pyropunct.nets.pretrained import Pretrained, with_cache
from pyropunct.nets.trainer import Perplexity, Watch
from pyropunct.nets.word_batches import by_length
from pyropunct.papers.chain import LabelDistribution, LinearChain
from pyropunct.papers.li_2019.recurrent import (
    KINDS,
    AttentionNetwork,
    CRFNetwork,
    RivalNetwork,
    RivalRecipe,
    RivalVocabulary,
    SlotBatch,
    WordVectors,
)
from pyropunct.text.marks import Surface
from pyropunct.treebank.sentence import Sentence

BATCH_SLOTS = 4000
"""The most slots, padding included, that are processed together outside training."""


@dataclass(frozen=True)
class Rival(TrainedWordNetwork[RivalVocabulary, RivalRecipe, RivalNetwork], ABC):
    """Labels every slot of a sentence with its whole string, given the words alone.

    A string without a label has the probability of the label for unknown strings times the probability of its
    spelling, so that all strings add up to 1::

        p(x | words) = p(labels of x | words) * product of q(x_i | no label) over the unknown x_i

    :cvar name: its name in tables.
    """

    name: ClassVar[str]

    @torch.no_grad()
    def log_prob(self, sentences: Sequence[Sentence]) -> Tensor:
        """(sentences,) log p(x | words) in natural logarithms, over all slots; START is given."""
        slots = self.vocabulary.slots
        total = torch.zeros(len(sentences), dtype=torch.double)
        for numbers, distribution in self._predict([sentence.tree.forms for sentence in sentences]):
            labels = slots.encode([sentences[number].surface for number in numbers]).to(self.device)
            total[numbers] = distribution.log_prob(labels).cpu().double()
        strings = (slots.labels.strings_of(sentence.surface) for sentence in sentences)
        return total + torch.tensor(list(map(slots.log_spelling, strings)), dtype=torch.double)

    def evaluate(self, sentences: Sequence[Sentence]) -> Evaluation:
        """The perplexity of the punctuation of sentences, given their words."""
        return Evaluation.of(sentences, self.log_prob(sentences))

    @torch.no_grad()
    def restore(self, sentences: Sequence[Sequence[str]]) -> list[Surface]:
        """The slots 0..n of each sentence with strings that have a label and consist of known marks.

        Each string has the least expected edit distance under its marginal. No words: ValueError.
        """
        labels, restored = self.vocabulary.slots.labels, dict[int, Surface]()
        printable = torch.tensor(labels.printable, device=self.device)
        for numbers, distribution in self._predict(sentences):
            marginals = distribution.among(printable).marginals()
            choice = (marginals @ self._distances.to(marginals)).argmin(-1)
            for number, row in zip(numbers, printable[choice].tolist(), strict=True):
                restored[number] = labels.surface(row[: len(sentences[number]) + 1])
        return [restored[number] for number in range(len(sentences))]

    @cached_property
    def _distances(self) -> Tensor:
        """(printable, printable) edit distances of the strings that can be restored."""
        labels = self.vocabulary.slots.labels
        strings = [labels.strings[number] for number in labels.printable]
        rows = [[float(slot_distance(string, other)) for other in strings] for string in strings]
        return torch.tensor(rows)

    @torch.no_grad()
    def _predict(self, sentences: Sequence[Sequence[str]]) -> Iterator[tuple[list[int], LabelDistribution]]:
        """Batches of sentences of similar length: their numbers, and the distribution of their labels."""
        for number, words in enumerate(sentences, 1):
            if not words:
                raise ValueError(f"sentence {number}: there is no word in it")
        for numbers in by_length([len(words) + 1 for words in sentences], BATCH_SLOTS):
            yield numbers, self.network(self.encode([sentences[number] for number in numbers]))


class BiLSTMCRF(Rival):
    """The BiLSTM-CRF: see `CRFNetwork`."""

    name = "BiLSTM-CRF"
    what = f"a {name}"
    kinds = (RivalVocabulary, RivalRecipe, CRFNetwork)


class BiGRUAttention(Rival):
    """The BiGRU with attention: see `AttentionNetwork`."""

    name = "BiGRU with attention"
    what = f"a {name}"
    kinds = (RivalVocabulary, RivalRecipe, AttentionNetwork)


def train_rival(
    rival: type[Rival],
    train: Iterable[Sentence],
    dev: Iterable[Sentence],
    recipe: RivalRecipe | None = None,
    seed: int = 0,
    watch: Watch | None = None,
    *,
    device: str = "cpu",
    pretrained: Pretrained | None = None,
) -> Rival:
    """Train a rival; keep its weights from the epoch with the highest likelihood of dev. Trees are ignored.

    :param device: where the rival is trained, as torch names it; the returned rival is on the CPU.
    :param pretrained: gives features of words that it reads as well; they are computed once.
    :raises ValueError: if one of the two treebanks is empty.
    """
    data = sequences(rival.name, train, dev)
    make = partial(RivalTraining, rival, *data, recipe or RivalRecipe(), seed, with_cache(pretrained), device)
    return replace(trained(make, seed, None, watch), pretrained=pretrained)


class RivalTraining(NetworkTraining[Rival]):
    """The training of a rival of one class."""

    def __init__(self, rival: type[Rival], *arguments: Any) -> None:
        self.kind, self.what = rival, rival.name
        super().__init__(*arguments)
        size = len(self.train)
        self.planned, self.patience = self.recipe.planned_epochs(size), self.recipe.planned_patience(size)
        self._planned_steps = ceil(size / self.recipe.batch_size) * self.planned

    def vocabulary(self) -> RivalVocabulary:
        """The attributes of words, and the slot strings."""
        vocabulary: RivalVocabulary = self.kind.kinds[0].collect(self.train)
        return vocabulary

    def length(self, sentence: Sentence) -> int:
        """The number of slots."""
        return len(sentence.surface)

    def batches(self) -> list[list[int]]:
        """Equally many sentences of similar length, in random order."""
        order = torch.randperm(len(self.train)).tolist()
        order.sort(key=lambda number: int(self.lengths[number]))
        size = self.recipe.batch_size
        starts = (torch.randperm(ceil(len(order) / size)) * size).tolist()
        return [order[start : start + size] for start in starts]

    def rate(self, done: int) -> float:
        """The factor of the learning rate: it falls linearly from 1 to 0."""
        return 1 - self.steps / self._planned_steps

    def loss(self, batch: list[int]) -> Tensor:
        """- log p of the labels per slot."""
        sentences = [self.train[number] for number in batch]
        encoded = self.model.encode([sentence.tree.forms for sentence in sentences])
        labels = self.model.vocabulary.slots.encode([sentence.surface for sentence in sentences])
        log_prob: Tensor = self.network(encoded).log_prob(labels.to(self.device))
        return -log_prob.sum() / encoded.slots.sum()

    def scores(self, model: Rival, dev: Sequence[Sentence]) -> Perplexity:
        """The perplexity."""
        return Perplexity.of(model.log_prob(dev), [sentence.surface for sentence in dev])


STRING_SIZE = 64
"""The length of the vector of a slot string."""

MARKS_READ = 3
"""The number of marks of a string whose vectors are added to the vector of the whole string."""


NO_MARKS = (0,) * MARKS_READ


class PunctuatedWords(tuple[str, ...]):
    """The n words of a sentence, with the punctuation tokens of its slots 0..n."""

    surface: Surface

    def __new__(cls, words: Sequence[str], surface: Surface) -> "PunctuatedWords":
        """The words with a surface. Raises ValueError if there are not n + 1 slots."""
        if len(surface) != len(words) + 1:
            raise ValueError(f"{len(words)} words have {len(words) + 1} slots, not {len(surface)}")
        punctuated = super().__new__(cls, words)
        punctuated.surface = surface
        return punctuated


class PunctuatedVocabulary(RivalVocabulary):
    """Numbers for the attributes of words, and for the slot strings after them."""

    def encode_words(self, words: Sequence[str]) -> Tensor:
        """(n + 2, 10) the numbers of each word of `PunctuatedWords`, and of its label and first three marks.

        Slot 0 follows BEGIN; END has no slot. 0 stands for a missing label or mark.
        """
        assert isinstance(words, PunctuatedWords)
        labels = self.slots.labels
        strings = labels.strings_of(words.surface)
        marks = [[labels.mark_number[mark] + 1 for mark in string] for string in strings]
        pairs = zip(labels.encode(strings), marks, strict=True)
        rows = [[label + 1, *(*read, *NO_MARKS)[:MARKS_READ]] for label, read in pairs]
        numbers = torch.tensor([*rows, [0, *NO_MARKS]])  # the last row is of END
        return torch.cat([super().encode_words(words), numbers], -1)


class CorrectingNetwork(CRFNetwork):
    """A `CRFNetwork` whose LSTM reads vectors of word i and slot i: those of the string and `MARKS_READ`
    marks.
    """

    def __init__(self, vocabulary: RivalVocabulary, recipe: RivalRecipe, pretrained: int = 0) -> None:
        super().__init__(vocabulary, replace(recipe, word_size=recipe.word_size + STRING_SIZE), pretrained)
        self.vectors = WordVectors(vocabulary, recipe, pretrained)
        self.strings = nn.Embedding(self.labels + 1, STRING_SIZE, padding_idx=0)
        self.marks = nn.Embedding(len(vocabulary.slots.labels.marks) + 1, STRING_SIZE, padding_idx=0)

    def forward(self, batch: SlotBatch) -> LinearChain:
        """The distribution of the labels of the slots."""
        words, string, marks = batch.words.split([len(KINDS), 1, MARKS_READ], -1)
        strings = self.strings(string[..., 0]) + self.marks(marks).sum(-2)
        return self.chain(torch.cat([self.vectors(words, batch.features), strings], -1), batch)


class CorrectingCRF(Rival):
    """A BiLSTM-CRF that corrects `PunctuatedWords`: see `CorrectingNetwork`."""

    name = "BiLSTM-CRF, reading punctuation"
    what = f"a {name}"
    kinds = (PunctuatedVocabulary, RivalRecipe, CorrectingNetwork)

    def correct(self, sentences: Sequence[Sequence[str]], wrong: Sequence[Surface]) -> list[Surface]:
        """Correct the punctuation of words; strings without a label and abbreviation dots are unchanged."""
        words = [PunctuatedWords(*both) for both in zip(sentences, wrong, strict=True)]
        return [self._kept(*both) for both in zip(self.restore(words), wrong, strict=True)]

    def _kept(self, restored: Surface, wrong: Surface) -> Surface:
        labels = self.vocabulary.slots.labels
        known = labels.encode(labels.strings_of(wrong))
        return [
            given if label == labels.unknown else new
            for new, given, label in zip(restored, wrong, known, strict=True)
        ]


def train_correcting_crf(
    train: Sequence[tuple[Sentence, Surface]],
    dev: Sequence[tuple[Sentence, Surface]],
    recipe: RivalRecipe | None = None,
    seed: int = 0,
    watch: Watch | None = None,
) -> CorrectingCRF:
    """Train it on right sentences with wrong punctuation, as `pyropunct.papers.li_2019.rival.train_rival`."""
    right = [_example(*pair) for pair in train], [_example(*pair) for pair in dev]
    rival = train_rival(CorrectingCRF, *right, recipe, seed, watch)
    assert isinstance(rival, CorrectingCRF)
    return rival


def _example(sentence: Sentence, wrong: Surface) -> Sentence:
    """A right sentence whose words carry the wrong punctuation."""
    return replace(sentence, tree=replace(sentence.tree, forms=PunctuatedWords(sentence.tree.forms, wrong)))
