"""The base class of taggers, which predict a label for each slot of a sentence from its words."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence, pad_sequence

from pyropunct.fitted.evaluation import Evaluation
from pyropunct.fitted.model_file import write_model_file
from pyropunct.nets.pretrained import Pretrained
from pyropunct.nets.tagger.labels import Labels, SlotString, Spelling
from pyropunct.restore.edit_distance import slot_distance
from pyropunct.rivals.taggers.chain import LabelDistribution
from pyropunct.rivals.taggers.recipes import RivalRecipe
from pyropunct.rivals.taggers.words import WordVectors, WordVocabulary, batch_words
from pyropunct.treebank.marks import Surface
from pyropunct.treebank.sentence import Sentence

BATCH_SLOTS = 4000
"""The most slots, padding included, that are processed together outside training."""

PRETRAINED = "pretrained "
"""What the names of tensors begin with that are no weights of the tagger."""

Decoder = Literal["marginal", "viterbi"]
DECODERS: tuple[Decoder, ...] = get_args(Decoder)


class SlotBatch(NamedTuple):
    """Some sentences as tensors.

    :ivar words: (B, longest n + 2, 6) attributes of the words.
    :ivar slots: (B,) the number of slots n + 1 of each sentence, on the CPU.
    :ivar present: (B, longest n + 1) whether a slot is real and not padding.
    :ivar features: (B, longest n + 2, size) pretrained features of the words, if the tagger reads such; 0
        where there is no word.
    """

    words: Tensor
    slots: Tensor
    present: Tensor
    features: Tensor | None = None


def batch_slots(encoded: Sequence[Tensor], device: torch.device, features: Tensor | None = None) -> SlotBatch:
    """A batch of sentences that `WordVocabulary.encode` has encoded.

    :param features: (B, longest n, size) their pretrained features.
    """
    slots = torch.tensor([len(words) - 1 for words in encoded])
    present = torch.arange(int(slots.max())) < slots[:, None]
    if features is not None:
        features = functional.pad(features, (0, 0, 1, 1)).to(device)  # words before the first, after the last
    return SlotBatch(batch_words(encoded).to(device), slots, present.to(device), features)


class Rival(nn.Module):
    """Labels every slot of a sentence with its whole string, given the words alone.

    A subclass defines `forward`, from a `SlotBatch` to the distribution of its labels.  A string without a
    label of its own has the label for unknown strings, times the probability of its spelling.  So the
    probabilities of all strings add up to 1::

        p(x | words) = p(labels of x | words) * product of q(x_i | no label) over the unknown x_i

    :param words: the words that it knows.
    :param labels: the labels that it knows.
    :param spelling: q, the distribution of strings without a label.
    :param recipe: the sizes of its layers.
    :param pretrained: gives features of words that it reads besides.
    """

    kind: ClassVar[str]
    name: ClassVar[str]

    def __init__(
        self,
        words: WordVocabulary,
        labels: Labels,
        spelling: Spelling,
        recipe: RivalRecipe,
        pretrained: Pretrained | None = None,
    ) -> None:
        super().__init__()
        self.pretrained = pretrained
        self.words, self.labels, self.spelling, self.recipe = words, labels, spelling, recipe
        self.report: Mapping[str, Any] = {}
        self.vectors = WordVectors(
            len(words.attributes),
            recipe.word_size,
            recipe.dropout,
            recipe.word_dropout,
            0 if pretrained is None else pretrained.size,
        )
        self.dropout = nn.Dropout(recipe.dropout)

    def forward(self, batch: SlotBatch) -> LabelDistribution:
        """The distribution of the labels of the slots."""
        raise NotImplementedError

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.vectors.vectors.weight.device

    def features(self, sentences: Sequence[Sequence[str]]) -> Tensor | None:
        """(sentences, longest, size) the pretrained features of words, None if it reads none."""
        return None if self.pretrained is None else self.pretrained.features(sentences)

    @torch.no_grad()
    def log_prob(self, sentences: Sequence[Sentence]) -> Tensor:
        """(sentences,) log p(x | words) in natural logarithms, over all slots; START is given."""
        total = torch.zeros(len(sentences), dtype=torch.double)
        strings = [self.labels.strings_of(sentence.surface) for sentence in sentences]
        for numbers, distribution in self._predict([sentence.tree.forms for sentence in sentences]):
            labels = pad_sequence(
                [torch.tensor(self.labels.encode(strings[number])) for number in numbers], batch_first=True
            )
            found = distribution.log_prob(labels.to(self.device))
            total[numbers] = found.cpu().double()
        return total + torch.tensor([self._spell(slots) for slots in strings], dtype=torch.double)

    def _spell(self, strings: Sequence[SlotString]) -> float:
        """The sum of log q over the strings that have no label."""
        known = self.labels.encode(strings)
        return math.fsum(
            self.spelling.log_prob(string)
            for string, label in zip(strings, known, strict=True)
            if label == self.labels.unknown
        )

    def evaluate(self, sentences: Sequence[Sentence]) -> Evaluation:
        """How well the tagger predicts the punctuation of some sentences, given their words."""
        return Evaluation.of(sentences, self.log_prob(sentences))

    @torch.no_grad()
    def restore(self, sentences: Sequence[Sequence[str]], decoder: Decoder = "marginal") -> list[Surface]:
        """Punctuate raw words with strings that have a label and consist of known marks.

        :param decoder: "marginal" for the string with the least expected edit distance in each slot, under
            the slot's marginal distribution; "viterbi" for the most probable labels of all slots together.
        :returns: for each sentence of n words the tokens of the slots 0..n.
        :raises ValueError: if a sentence has no word, or there is no such decoder.
        """
        if decoder not in DECODERS:
            raise ValueError(f"no decoder is called {decoder!r}: take {' or '.join(DECODERS)}")
        found: dict[int, Surface] = {}
        printable = torch.tensor(self.labels.printable, device=self.device)
        for numbers, distribution in self._predict(sentences):
            choice = _decode(distribution.among(printable), decoder, self._distances)
            for number, labels in zip(numbers, printable[choice].tolist(), strict=True):
                found[number] = self.labels.surface(labels[: len(sentences[number]) + 1])
        return [found[number] for number in range(len(sentences))]

    @cached_property
    def _distances(self) -> Tensor:
        """(printable, printable) edit distances of the strings that can be restored."""
        strings = [self.labels.strings[number] for number in self.labels.printable]
        rows = [[slot_distance(one, other) for other in strings] for one in strings]
        return torch.tensor(rows, dtype=self.vectors.vectors.weight.dtype)

    @torch.no_grad()
    def _predict(self, sentences: Sequence[Sequence[str]]) -> Iterator[tuple[list[int], LabelDistribution]]:
        """Batches of sentences of similar length: their numbers, and the distribution of their labels."""
        for number, words in enumerate(sentences, 1):
            if not words:
                raise ValueError(f"sentence {number}: there is no word in it")
        self.eval()
        for numbers in _similar_lengths([len(words) + 1 for words in sentences]):
            encoded = [self.words.encode(sentences[number]) for number in numbers]
            features = self.features([sentences[number] for number in numbers])
            yield numbers, self(batch_slots(encoded, self.device, features))

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """The tagger as plain JSON types and tensors, for `pyropunct.rivals.taggers.kinds.from_parts`."""
        plain: dict[str, Any] = {
            "vocabulary": {"words": self.words.to_json(), "labels": self.labels.to_json()},
            "recipe": {"tagger": self.kind, **self.recipe.to_json()},
            "report": dict(self.report),
        }
        tensors = {name: value.detach().cpu() for name, value in self.state_dict().items()}
        if self.pretrained is not None:
            plain["pretrained"], others = self.pretrained.to_parts()
            tensors |= {f"{PRETRAINED}{name}": tensor for name, tensor in others.items()}
        return plain, tensors

    def save(self, folder: str | Path) -> None:
        """Write the tagger to a new folder, whole or not at all.

        :raises ModelFileError: if the folder exists and is not a model, or cannot be written.
        """
        write_model_file(Path(folder), *self.to_parts())


def _decode(distribution: LabelDistribution, decoder: Decoder, distances: Tensor) -> Tensor:
    """(B, T) labels: the most probable, or those with the least expected distance, slot by slot."""
    if decoder == "viterbi":
        return distribution.best()
    marginals = distribution.marginals()
    return (marginals @ distances.to(marginals)).argmin(-1)


def _similar_lengths(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The numbers of all sentences, in batches of similar length of at most `BATCH_SLOTS` slots."""
    batch: list[int] = []
    for number in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and lengths[number] * (len(batch) + 1) > BATCH_SLOTS:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def run_layers(layers: nn.RNNBase, vectors: Tensor, lengths: Tensor) -> Tensor:
    """(B, T, states) the states of recurrent layers over padded sequences, zero in the padding.

    :param vectors: (B, T, size) the inputs.
    :param lengths: (B,) the length of each sequence.
    """
    packed: PackedSequence = pack_padded_sequence(vectors, lengths, batch_first=True, enforce_sorted=False)
    return pad_packed_sequence(layers(packed)[0], batch_first=True)[0]
