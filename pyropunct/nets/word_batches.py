"""Words as networks read them: numbers of words and characters, in batches, perhaps with marks between."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
import torch
from torch import Tensor

from pyropunct.nets.pretrained import Pretrained
from pyropunct.text.marks import Surface, marks_of
from pyropunct.untrusted import types

PADDING, UNKNOWN = "", "\N{REPLACEMENT CHARACTER}"
"""The padding, number 0, and the type that stands for all types that are too rare in training."""

LONGEST = 20
"""The most characters that are read of a word: of a longer word the first ten and the last ten."""

CHARACTER_COUNT = 3

MARK = "\t"
"""How a mark of punctuation begins that is read beside words, which have no tabs."""


Words = TypeVar("Words", bound=Sequence[str])
Read = TypeVar("Read")


class WordBatch(NamedTuple):
    """Encoded sentences.

    :ivar words: (sentences, longest) indices into the different words of the batch; 0 is padding.
    :ivar lengths: (sentences,) the number of words of each.
    :ivar forms: (different words,) the number of each lower-cased word.
    :ivar spellings: (different words, longest word) the numbers of their characters.
    :ivar features: (sentences, longest, size) pretrained features, if the network reads any.
    :ivar places: (sentences, most) if marks are read too, the place of each word in its sentence, from 1;
        0 is padding.
    """

    words: Tensor
    lengths: Tensor
    forms: Tensor
    spellings: Tensor
    features: Tensor | None = None
    places: Tensor | None = None

    def to(self, device: torch.device | str) -> "WordBatch":
        """The same on a device."""
        return WordBatch(*(None if tensor is None else tensor.to(device) for tensor in self))  # type: ignore[arg-type]

    @property
    def unmarked(self) -> Tensor:
        """(sentences, most) positive for words that are not marks, 0 for padding."""
        return self.words if self.places is None else self.places

    def of_words(self, states: Tensor) -> Tensor:
        """(sentences, most, features) the states of words that are not marks."""
        if self.places is None:
            return states
        row = torch.arange(len(states), device=states.device)[:, None]
        return states[row, (self.places - 1).clamp(min=0)]


@dataclass(frozen=True)
class WordTypes:
    """Numbers of lower-cased words and of characters; both begin with `PADDING` and `UNKNOWN`."""

    forms: tuple[str, ...]
    characters: tuple[str, ...]

    first: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "forms": (PADDING, UNKNOWN),
        "characters": (PADDING, UNKNOWN),
    }
    """The types with which a list begins, by the name of the list."""

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """The vocabulary of a plain dictionary; raises `ValueError` if a list is missing or damaged."""
        names = [field.name for field in fields(cls)]
        return cls(
            **{name: types(f"the list of {name}", plain[name], cls.first.get(name, ())) for name in names}
        )

    def encode(self, sentences: Sequence[Sequence[str]], pretrained: Pretrained | None = None) -> WordBatch:
        """Encode sentences, with features if ``pretrained`` is given."""
        different = dict.fromkeys(word for sentence in sentences for word in sentence)
        row = {word: number for number, word in enumerate(different, start=1)}
        marked = any(map(is_mark_token, different))
        written = [[word.removeprefix(MARK) for word in sentence] for sentence in sentences]
        return WordBatch(
            words=padded([[row[word] for word in sentence] for sentence in sentences]),
            lengths=torch.tensor([len(sentence) for sentence in sentences]),
            forms=torch.tensor([0, *(self._form_numbers.get(word.lower(), 1) for word in row)]),
            spellings=padded([[0], *map(self._spell, row)]),
            features=None if pretrained is None else pretrained.features(written),
            places=padded([list(_places(sentence)) for sentence in sentences]) if marked else None,
        )

    def _spell(self, word: str) -> list[int]:
        if len(word) > LONGEST:
            word = word[: LONGEST // 2] + word[-LONGEST // 2 :]
        return [self._character_numbers.get(character, 1) for character in word]

    @cached_property
    def _form_numbers(self) -> dict[str, int]:
        return numbers_of(self.forms)

    @cached_property
    def _character_numbers(self) -> dict[str, int]:
        return numbers_of(self.characters)


def is_mark_token(word: str) -> bool:
    """Whether a word of a sentence `with_marks` is a mark."""
    return word.startswith(MARK)


def with_marks(words: Sequence[str], surface: Surface) -> tuple[str, ...]:
    """The words of a sentence and its marks between them, for networks that read both."""
    slots = [[MARK + mark.removeprefix(MARK) for mark in marks_of(slot)] for slot in surface]
    behind = zip(words, slots[1:], strict=True)
    return (*slots[0], *(token for word, slot in behind for token in (word, *slot)))


def _places(sentence: Sequence[str]) -> Iterator[int]:
    return (place for place, word in enumerate(sentence, start=1) if not is_mark_token(word))


def known_forms(forms: Iterable[str], least: int) -> tuple[str, ...]:
    """The `WordTypes.forms` of training words; those with fewer than ``least`` occurrences are `UNKNOWN`."""
    return (PADDING, UNKNOWN, *frequent((form.lower() for form in forms if form != UNKNOWN), least))


def known_characters(forms: Iterable[str]) -> tuple[str, ...]:
    """The `WordTypes.characters` of training words."""
    characters = "".join(forms).replace(UNKNOWN, "")  # texts may contain it: it is unknown there too
    return (PADDING, UNKNOWN, *frequent(characters, CHARACTER_COUNT))


def numbers_of(types: Sequence[str]) -> dict[str, int]:
    """The number of each type."""
    return {name: number for number, name in enumerate(types)}


def by_length(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Batches of sentence numbers of like length; ``most`` bounds the padded size of a batch."""
    batch: list[int] = []
    for number in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[number] > most:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def in_batches(
    sentences: Sequence[Words], most: int, read: Callable[[list[Words]], Iterable[Read]]
) -> list[Read]:
    """Apply ``read`` to batches of like length (see `by_length`); returns the results in order."""
    done: dict[int, Read] = {}
    for numbers in by_length([len(words) for words in sentences], most):
        done.update(zip(numbers, read([sentences[number] for number in numbers]), strict=True))
    return [done[number] for number in range(len(sentences))]


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """Rows of numbers as a matrix, padded with 0."""
    table = np.zeros((len(rows), max(map(len, rows))), np.int64)
    for line, row in zip(table, rows, strict=True):
        line[: len(row)] = row
    return torch.from_numpy(table)


def frequent(seen: Iterable[str], least: int) -> tuple[str, ...]:
    """The types with at least ``least`` occurrences, by frequency and then alphabetically."""
    counts = Counter(seen)
    known = (name for name in counts if counts[name] >= least)
    return tuple(sorted(known, key=lambda name: (-counts[name], name)))
