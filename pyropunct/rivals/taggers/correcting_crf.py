"""BiLSTM-CRF that reads the punctuation of its input: the tagger made for correction.

Source: Li, Wang & Eisner (2019, section 6.2).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from pyropunct.nets.tagger.labels import Labels, Spelling
from pyropunct.rivals.taggers.chain import LinearChain
from pyropunct.rivals.taggers.crf import BiLSTMCRF
from pyropunct.rivals.taggers.recipes import RivalRecipe
from pyropunct.rivals.taggers.rival import SlotBatch, run_layers
from pyropunct.rivals.taggers.training import RivalEpoch, RivalTraining, untrained
from pyropunct.rivals.taggers.words import KINDS, WordVocabulary
from pyropunct.treebank.marks import Surface
from pyropunct.treebank.sentence import Sentence

STRING_SIZE = 64
"""The length of the vector of a slot string."""

MARKS_READ = 3
"""How many marks of a string have vectors of their own, beside that of the whole string."""


class PunctuatedWords(tuple[str, ...]):
    """The n words of a sentence, with its punctuation.

    :ivar surface: the punctuation tokens of the slots 0..n.
    """

    surface: Surface

    def __new__(cls, words: Sequence[str], surface: Surface) -> "PunctuatedWords":
        """The words, with the punctuation of their sentence.

        :raises ValueError: if there are not n + 1 slots.
        """
        if len(surface) != len(words) + 1:
            raise ValueError(f"{len(words)} words have {len(words) + 1} slots, not {len(surface)}")
        made = super().__new__(cls, words)
        made.surface = surface
        return made


class PunctuatedWordVocabulary(WordVocabulary):
    """Numbers for the attributes of words, and for the slot strings after them.

    :ivar labels: numbers the strings and marks.
    """

    labels: Labels

    @classmethod
    def of(cls, words: WordVocabulary, labels: Labels) -> "PunctuatedWordVocabulary":
        """The words of another vocabulary."""
        made = cls(words.attributes)
        object.__setattr__(made, "labels", labels)
        return made

    def encode(self, words: Sequence[str]) -> Tensor:
        """(n + 2, 10) the numbers of `WordVocabulary.encode`, and four for the slot string after each word.

        Slot 0 follows BEGIN; there is no slot after END.  The numbers of a string are its label and its first
        three marks, all counted from 1; 0 stands for none.

        :param words: `PunctuatedWords`.
        """
        assert isinstance(words, PunctuatedWords)
        strings = self.labels.strings_of(words.surface)
        rows = [
            [label + 1, *(self.labels.mark_number[mark] + 1 for mark in string[:MARKS_READ])]
            for label, string in zip(self.labels.encode(strings), strings, strict=True)
        ]
        filled = torch.zeros(len(words) + 2, 1 + MARKS_READ, dtype=torch.long)
        for row, values in enumerate(rows):
            filled[row, : len(values)] = torch.tensor(values)
        return torch.cat([super().encode(words), filled], -1)


class CorrectingCRF(BiLSTMCRF):
    """A `BiLSTMCRF` whose LSTM reads, at step i, the vectors of word i and of the string in slot i.

    The vector of a string is the sum of the vectors of the whole string and of its first `MARKS_READ` marks.
    Sentences are given as `PunctuatedWords`.
    """

    kind = "correcting-crf"
    name = "BiLSTM-CRF, reading punctuation"

    def __init__(
        self, words: WordVocabulary, labels: Labels, spelling: Spelling, recipe: RivalRecipe
    ) -> None:
        wider = replace(recipe, word_size=recipe.word_size + STRING_SIZE)
        super().__init__(words, labels, spelling, wider)
        self.recipe = recipe
        self.words = PunctuatedWordVocabulary.of(words, labels)
        self.vectors = type(self.vectors)(
            len(words.attributes), recipe.word_size, recipe.dropout, recipe.word_dropout
        )
        self.strings = nn.Embedding(len(labels.strings) + 2, STRING_SIZE, padding_idx=0)
        self.marks = nn.Embedding(len(labels.marks) + 1, STRING_SIZE, padding_idx=0)

    def forward(self, batch: SlotBatch) -> LinearChain:
        """The distribution of the labels of the slots."""
        known = len(KINDS)
        words, string, marks = (
            batch.words[..., :known],
            batch.words[..., known],
            batch.words[..., known + 1 :],
        )
        read = torch.cat([self.vectors(words), self.strings(string) + self.marks(marks).sum(-2)], -1)
        states = self.dropout(run_layers(self.layers, read, batch.slots + 1))
        beside: Tensor = torch.cat([states[:, :-1], states[:, 1:]], -1)
        slots = self.dropout(self.slot_state(beside).tanh())
        return LinearChain(self.scores(slots), self.transitions, batch.present)

    def correct(self, sentences: Sequence[Sequence[str]], wrong: Sequence[Surface]) -> list[Surface]:
        """Correct the punctuation of some sentences.

        A string without a label is left unchanged, and so are abbreviation dots.

        :param sentences: the words of each.
        :param wrong: their punctuation.
        """
        words = [PunctuatedWords(*both) for both in zip(sentences, wrong, strict=True)]
        return [self._kept(found, surface) for found, surface in zip(self.restore(words), wrong, strict=True)]

    def _kept(self, found: Surface, wrong: Surface) -> Surface:
        known = self.labels.encode(self.labels.strings_of(wrong))
        return [
            given if label == self.labels.unknown else new
            for new, given, label in zip(found, wrong, known, strict=True)
        ]


def train_correcting_crf(
    train: Sequence[tuple[Sentence, Surface]],
    dev: Sequence[tuple[Sentence, Surface]],
    recipe: RivalRecipe | None = None,
    seed: int = 0,
    watch: Callable[[RivalEpoch], None] | None = None,
) -> CorrectingCRF:
    """Train the tagger: see `pyropunct.rivals.taggers.training.train_rival`.

    :param train: right sentences, each with its wrong punctuation.
    :param dev: sentences of the same form, on which training is stopped.
    :param recipe: sizes and settings; by default ``RivalRecipe()``.
    :param seed: equal seeds give equal taggers, on the same machine with the same number of threads.
    :param watch: called after every epoch.
    """
    recipe = RivalRecipe() if recipe is None else recipe
    examples = [_example(*pair) for pair in train]
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        training = RivalTraining(untrained(CorrectingCRF, examples, recipe), examples)
        tagger = training.run([_example(*pair) for pair in dev], watch)
    assert isinstance(tagger, CorrectingCRF)
    return tagger


def _example(sentence: Sentence, wrong: Surface) -> Sentence:
    """A right sentence whose words carry the wrong punctuation."""
    return replace(sentence, tree=replace(sentence.tree, forms=PunctuatedWords(sentence.tree.forms, wrong)))
