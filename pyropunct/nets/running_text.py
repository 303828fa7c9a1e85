"""Running text of a treebank (words, sentence ends, marks, cases), and the network that predicts it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from pyropunct.nets.labels import SlotString, SlotVocabulary, slot_strings
from pyropunct.nets.trainer import Layers
from pyropunct.nets.word_batches import WordBatch, WordTypes, known_characters, known_forms
from pyropunct.nets.word_embedding import (
    BidirectionalStack,
    NetworkRecipe,
    SentenceDropout,
    WordNetwork,
    mirror,
)
from pyropunct.text.marks import Surface
from pyropunct.treebank.sentence import Sentence, by_document
from pyropunct.untrusted import types

LOWER, CAPITAL, UPPER, OTHER = range(4)
"""The cases of words by their capitals: none; the first letter; all of several letters; others ("iPhone")."""

CASES = 4

NO_CASE = -1
"""The case of a word without letters in two cases."""


@lru_cache(100_000)
def case_of(word: str) -> int | None:
    """The case of a word, None for words without case."""
    letters = [character for character in word if character.lower() != character.upper()]
    if not letters:
        return None
    capitals = [character.isupper() or character.istitle() for character in letters]
    if not any(capitals):
        return LOWER
    if capitals[0] and not any(capitals[1:]):
        return CAPITAL
    return UPPER if all(capitals) else OTHER


def in_case(word: str, case: int) -> str:
    """A lower-cased word in one of the first three cases; unchanged if that cannot be undone (German "ß")."""
    written = word
    if case == UPPER:
        written = word.upper()
    elif case == CAPITAL:
        cased = (place for place, letter in enumerate(word) if letter.lower() != letter.upper())
        first = next(cased, len(word))
        written = word[:first] + word[first : first + 1].title() + word[first + 1 :]
        if written[:2] in ("O'", "O’") and len(written) > 4:  # as in O'Brien
            written = written[:2] + written[2].title() + written[3:]
    return written if written.lower() == word else word


class Document(NamedTuple):
    """Running text: its words as written, and whether a sentence ends behind each.

    :ivar marks: behind each word; opening marks of a sentence are left out.
    """

    words: tuple[str, ...]
    ends: tuple[bool, ...]
    marks: tuple[SlotString, ...]

    @property
    def starts(self) -> tuple[bool, ...]:
        """For each word whether a sentence starts with it."""
        return (True, *self.ends[:-1])


def documents(sentences: Iterable[Sentence]) -> list[Document]:
    """The documents of a treebank; without comments that start documents, it is one document."""
    return [
        document_of([(sentence.tree.forms, sentence.surface) for sentence in part])
        for part in by_document(sentences)
    ]


def document_of(sentences: Iterable[tuple[Sequence[str], Surface]]) -> Document:
    """Sentences, each its words and its surface, as running text."""
    words, ends, marks = list[str](), list[bool](), list[SlotString]()
    for of_sentence, surface in sentences:
        words += of_sentence
        ends += [False] * (len(of_sentence) - 1) + [True]
        marks += slot_strings(surface[1:])
    return Document(tuple(words), tuple(ends), tuple(marks))


@dataclass(frozen=True)
class ReaderVocabulary(WordTypes):
    """The words, characters and slot strings of a treebank; ``others`` are words such as "iPhone"."""

    others: tuple[str, ...]
    slots: SlotVocabulary

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """See `WordTypes.from_json`."""
        others = types("the list of others", plain["others"])
        known = WordTypes.from_json(plain)
        return cls(known.forms, known.characters, others, SlotVocabulary.from_json(plain["slots"]))

    def with_types_of(self, first: "ReaderVocabulary") -> "ReaderVocabulary":
        """The words and characters of both, those of ``first`` first; the slot strings of ``first``."""

        def both(name: str) -> tuple[str, ...]:
            return tuple(dict.fromkeys((*getattr(first, name), *getattr(self, name))))

        return replace(first, forms=both("forms"), characters=both("characters"), others=both("others"))

    @cached_property
    def other_by_lower(self) -> Mapping[str, str]:
        """Each of `others` by its lower-cased form."""
        return {word.lower(): word for word in reversed(self.others)}


def build_reader_vocabulary(train: Sequence[Document], form_count: int) -> ReaderVocabulary:
    """The types of a treebank; words seen less than ``form_count`` times are unknown."""
    words = [word for document in train for word in document.words]
    others = Counter(word for word in words if case_of(word) == OTHER)
    return ReaderVocabulary(
        known_forms(words, form_count),
        known_characters([*words, *map(str.lower, words)]),
        tuple(word for word, _ in sorted(others.items(), key=lambda item: (-item[1], item[0]))),
        SlotVocabulary.collect([document.marks for document in train]),
    )


@dataclass(frozen=True)
class ReaderRecipe(NetworkRecipe):
    """All settings of a reader of running text, apart from the data and the seed.

    :ivar layers: layers of LSTMs; 0 for words that an encoder reads in context, see `NextWord`.
    :ivar window: the words of a window in training.
    :ivar lower_cased: the share of the windows that are lower-cased.
    :ivar case_weight: the weight of case in the training loss.
    """

    epochs: int = 10
    least_steps: int = 400
    batch_words: int = 1000
    learning_rate: float = 0.004
    averaging: float = 0.99
    form_count: int = 3
    form_size: int = 48
    character_size: int = 24
    spelling_size: int = 64
    lstm_size: int = 96
    dropout: float = 0.25
    layers: Layers = 2
    window: int = 100
    lower_cased: float = 0.5
    case_weight: float = 0.5


class ReaderAnswers(NamedTuple):
    """The gold answers for a batch of windows; each (windows, longest).

    :ivar cases: `NO_CASE` where no case is learned and in the padding.
    :ivar marks: numbers of the strings behind the words.
    """

    ends: Tensor
    starts: Tensor
    cases: Tensor
    marks: Tensor


class NextWord(nn.Module):
    """A map of each word and the next one, in place of LSTMs, for words that an encoder reads in context.

    LSTMs between an encoder that is tuned and the answers make its learning slow: after the same million
    words, F1 of ends and commas in lower-cased podcasts is 37 with them and 63 without.
    """

    def __init__(self, _: int, size: int, hidden: int) -> None:
        super().__init__()
        self.both = nn.Linear(2 * size, 2 * hidden)

    def forward(self, words: Tensor, _: Tensor, dropout: SentenceDropout) -> Tensor:
        """(windows, words, size) to (windows, words, 2 hidden)."""
        following = functional.pad(words[:, 1:], (0, 0, 0, 1))
        return functional.relu(self.both(dropout(torch.cat([words, following], -1))))


class RunningNetwork(WordNetwork):
    """Scores for each word: whether a sentence ends behind it, which marks follow, and its case.

    With h_i the state of the LSTMs (or of `NextWord`) at word i, s_i = 1 if a sentence starts with it, and
    e_i = 1 if one ends behind it,

        p(e_i = 1) = sigmoid(u' h_i + a)        p(case of i | s_i) = softmax(V h_i + b + s_i c)
                                                p(marks behind i | e_i) = softmax(W h_i + d + e_i f)

    so that cases and marks depend on the sentences that were decided on.
    """

    def __init__(self, vocabulary: ReaderVocabulary, recipe: ReaderRecipe, pretrained: int = 0) -> None:
        super().__init__(vocabulary, recipe, pretrained)
        self.recipe = recipe
        layers = BidirectionalStack if recipe.layers else NextWord
        self.layers = layers(recipe.layers, self.word_size, recipe.lstm_size)
        self.ends = nn.Linear(2 * recipe.lstm_size, 1)
        self.cases = nn.Linear(2 * recipe.lstm_size, CASES)
        self.at_start = nn.Parameter(torch.zeros(CASES))
        labels = len(vocabulary.slots.labels.strings) + 1
        self.marks = nn.Linear(2 * recipe.lstm_size, labels)
        self.at_end = nn.Parameter(torch.zeros(labels))
        self.float()

    def forward(self, batch: WordBatch) -> tuple[Tensor, Tensor, Tensor]:
        """Logits (windows, longest): ends, and inside sentences (..., 4) cases and (..., labels) marks."""
        words = self.dropout(self.layers(self.embed(batch), mirror(batch), self.dropout))
        return self.ends(words)[..., 0], self.cases(words), self.marks(words)

    def loss(self, batch: WordBatch, answers: ReaderAnswers) -> Tensor:
        """The negative log-probability per word of the gold ends, marks and (weighted) cases."""
        ends, cases, marks = self(batch)
        word, cased = batch.words > 0, answers.cases != NO_CASE
        end_loss = functional.binary_cross_entropy_with_logits(ends[word], answers.ends[word])
        cases = cases[cased] + answers.starts[cased][:, None] * self.at_start
        case_loss = functional.cross_entropy(cases, answers.cases[cased], reduction="sum") / word.sum()
        marks = marks[word] + answers.ends[word][:, None] * self.at_end
        mark_loss = functional.cross_entropy(marks, answers.marks[word])
        return end_loss + mark_loss + self.recipe.case_weight * case_loss
