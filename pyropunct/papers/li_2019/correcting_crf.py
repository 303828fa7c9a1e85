"""A BiLSTM-CRF that corrects the punctuation of its input (Li, Wang & Eisner 2019, section 6.2)."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from pyropunct.nets.trainer import Watch
from pyropunct.papers.li_2019.chain import LinearChain
from pyropunct.papers.li_2019.recurrent import (
    KINDS,
    CRFNetwork,
    RivalRecipe,
    RivalVocabulary,
    SlotBatch,
    WordVectors,
)
from pyropunct.papers.li_2019.rival import Rival, train_rival
from pyropunct.text.marks import Surface
from pyropunct.treebank.sentence import Sentence

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
