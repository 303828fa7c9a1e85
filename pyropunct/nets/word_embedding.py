"""Words as networks read them: as numbers, with pretrained features, and the first layers of a network."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol, Self, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from pyropunct.files import types
from pyropunct.nets.trainer import AveragedRecipe
from pyropunct.text.marks import Surface, marks_of

PADDING, UNKNOWN = "", "\N{REPLACEMENT CHARACTER}"
"""The padding, number 0, and the type that stands for all types that are too rare in training."""

LONGEST = 20
"""The most characters that are read of a word: of a longer word the first ten and the last ten."""

CHARACTER_COUNT = 3

MARK = "\t"
"""How a mark of punctuation begins that is read beside words, which have no tabs."""

WINDOW = 5
"""Characters that a filter of the spelling sees at a time."""

PRETRAINED_SIZE = 256
"""Features that a network makes of the pretrained features of a word."""

ENCODED_TOGETHER = 100
"""The most sentences whose features are asked for together."""


Words = TypeVar("Words", bound=Sequence[str])
Read = TypeVar("Read")


@dataclass(frozen=True)
class NetworkRecipe(AveragedRecipe):
    """How a network over words is trained, and how it sees them.

    :ivar form_count: lower-cased words with fewer occurrences are known only by their spelling.
    :ivar form_size: features of a word as a whole.
    :ivar character_size: features of a character.
    :ivar spelling_size: features of a word from its characters.
    :ivar lstm_size: features of a word in context, in each direction.
    :ivar word_dropout: the share of words in training that are shown only by their spelling.
    """

    form_count: int = 2
    form_size: int = 100
    character_size: int = 32
    spelling_size: int = 128
    lstm_size: int = 200
    word_dropout: float = 0.2


class Pretrained(Protocol):
    """A frozen source of features of words, such as `pyropunct.nets.encoder.Encoder`."""

    @property
    def size(self) -> int:
        """Features of a word."""

    def features(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """(sentences, longest, size) features padded with 0, in half precision."""

    def identity(self) -> dict[str, Any]:
        """In plain JSON types, what must be equal in training and use of a network that reads it."""

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """What a model file keeps of it, as plain JSON types and tensors."""


class SentenceCache:
    """A tensor for each of the most recently used sentences, ``most_words`` words in all."""

    def __init__(self, most_words: float) -> None:
        self.most_words = most_words
        self.rows: dict[tuple[str, ...], Tensor] = {}

    def use(self, sentences: Iterable[tuple[str, ...]], rows: Iterable[Tensor]) -> None:
        """Store the tensors of sentences, and drop the least recently used ones to make room."""
        for sentence, row in zip(sentences, rows, strict=True):
            self.rows.pop(sentence, None)
            self.rows[sentence] = row
        surplus = sum(map(len, self.rows)) - self.most_words
        for sentence in list(self.rows):
            if surplus <= 0:
                break
            surplus -= len(sentence)
            del self.rows[sentence]


class CachedFeatures:
    """Features computed once by ``source``, cached in half precision."""

    def __init__(self, source: Pretrained) -> None:
        self.source = source
        self._rows: dict[tuple[str, ...], Tensor] = {}

    @property
    def size(self) -> int:
        """Features of a word."""
        return self.source.size

    def rows(self, sentences: Sequence[Sequence[str]]) -> list[Tensor]:
        """For each sentence the (n, size) features of its n words, computed in small batches."""
        keys, rows = [tuple(sentence) for sentence in sentences], self._rows
        new = [key for key in dict.fromkeys(keys) if key not in rows]
        for start in range(0, len(new), ENCODED_TOGETHER):
            part = new[start : start + ENCODED_TOGETHER]
            for key, features in zip(part, self.source.features(part), strict=True):
                rows[key] = features[: len(key)].half()
        return [rows[key] for key in keys]

    def features(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """See `Pretrained.features`."""
        return pad_sequence(self.rows(sentences), batch_first=True).float()

    def identity(self) -> dict[str, Any]:
        """The identity of the source."""
        return self.source.identity()

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """The parts of the source."""
        return self.source.to_parts()


def with_cache(pretrained: Pretrained | None) -> CachedFeatures | None:
    """The same source, with a cache; None stays None."""
    if pretrained is None or isinstance(pretrained, CachedFeatures):
        return pretrained
    return CachedFeatures(pretrained)


def without_cache(pretrained: Pretrained | None) -> Pretrained | None:
    """The same source, without its cache."""
    return pretrained.source if isinstance(pretrained, CachedFeatures) else pretrained


def check_same(pretrained: Pretrained | None, wanted: Mapping[str, Any] | None) -> None:
    """Raise `ValueError` if a network gets other features than it was trained with (None: without)."""
    if (None if pretrained is None else pretrained.identity()) != wanted:
        raise ValueError("it was trained with other pretrained features of words")


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


class SentenceDropout(nn.Module):
    """Dropout of the same features at all words of a sentence (Gal & Ghahramani 2016)."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, words: Tensor) -> Tensor:
        """Drop features of (sentences, words, features), and scale up the others."""
        if not self.training:
            return words
        kept = torch.full_like(words[:, :1], 1 - self.rate).bernoulli()
        return words * (kept / (1 - self.rate))


class SpellingLayer(nn.Module):
    """A vector for each word from its characters: a convolution with maximum pooling."""

    def __init__(self, characters: int, size: int, filters: int) -> None:
        super().__init__()
        self.characters = nn.Embedding(characters, size, padding_idx=0)
        self.filters = nn.Conv1d(size, filters, WINDOW, padding=WINDOW // 2)
        nn.init.normal_(self.characters.weight[1:], std=0.3)

    def forward(self, spellings: Tensor) -> Tensor:
        """(words, characters) numbers, padded with 0, to (words, filters)."""
        filtered = self.filters(self.characters(spellings).transpose(1, 2))
        return filtered.masked_fill(spellings.eq(0)[:, None], 0.0).amax(-1).relu()


class Bidirectional(nn.Module):
    """Two LSTMs.  That of torch starts in the padding, or takes twice as long on packed sequences."""

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.rightward = nn.LSTM(size, hidden, batch_first=True)
        self.leftward = nn.LSTM(size, hidden, batch_first=True)
        for name, weight in self.named_parameters():
            if "weight_hh" in name:
                for gate in weight.chunk(4):
                    nn.init.orthogonal_(gate)
            elif "weight_ih" in name:
                nn.init.xavier_uniform_(weight)

    def forward(self, words: Tensor, mirror: Tensor) -> Tensor:
        """(sentences, words, size) to (sentences, words, 2 hidden); ``mirror`` as of `mirror`."""
        row = torch.arange(len(words), device=words.device)[:, None]
        rightward, _ = self.rightward(words)
        leftward, _ = self.leftward(words[row, mirror])
        return torch.cat([rightward, leftward[row, mirror]], -1)


class BidirectionalStack(nn.ModuleList):
    """A stack of bidirectional LSTMs with ``hidden`` states in each direction."""

    def __init__(self, layers: int, size: int, hidden: int) -> None:
        sizes = [size, *[2 * hidden] * (layers - 1)]
        super().__init__([Bidirectional(features, hidden) for features in sizes])

    def forward(self, words: Tensor, mirror: Tensor, dropout: SentenceDropout) -> Tensor:
        """See `Bidirectional.forward`; with dropout in front of each layer."""
        for layer in self:
            words = layer(dropout(words), mirror)
        return words


def mirror(batch: WordBatch) -> Tensor:
    """(sentences, words) the places of the words in the reverse of each sentence; padding stays."""
    place = torch.arange(batch.words.shape[1], device=batch.words.device)
    last = batch.lengths[:, None] - 1
    return torch.where(place <= last, last - place, place)


class WordNetwork(nn.Module):
    """The first layer of a network: a vector of ``word_size`` for each word, from the word and its spelling.

    Pretrained features are `standardised` and enter through a linear map.
    """

    def __init__(self, types: WordTypes, recipe: NetworkRecipe, pretrained: int = 0) -> None:
        super().__init__()
        self.word_size, self.word_dropout = recipe.form_size + recipe.spelling_size, recipe.word_dropout
        self.forms = nn.Embedding(len(types.forms), recipe.form_size)
        nn.init.normal_(self.forms.weight, std=0.1)
        self.spelling = SpellingLayer(len(types.characters), recipe.character_size, recipe.spelling_size)
        self.dropout = SentenceDropout(recipe.dropout)
        self.pretrained = nn.Linear(pretrained, PRETRAINED_SIZE) if pretrained else None
        if self.pretrained is not None:
            self.word_size += PRETRAINED_SIZE

    def embed(self, batch: WordBatch) -> Tensor:
        """(sentences, words, features); in training a share of the words is known by spelling only."""
        forms = batch.forms[batch.words]
        if self.training:
            hidden = torch.rand(forms.shape) < self.word_dropout
            forms = forms.masked_fill(hidden.to(forms.device), 1)
        spellings = functional.embedding(batch.words, self.spelling(batch.spellings))
        learned = torch.cat([self.forms(forms), spellings], -1)
        if self.pretrained is None or batch.features is None:
            return learned
        return torch.cat([learned, self.pretrained(standardised(batch.features))], -1)


def begin_with(network: WordNetwork, types: WordTypes, known: WordNetwork, known_types: WordTypes) -> None:
    """Copy the weights of a network of equal sizes; words unknown to it keep their own."""
    tables = {
        "forms.weight": (types.forms, known_types.forms),
        "spelling.characters.weight": (types.characters, known_types.characters),
    }
    before = known.state_dict()
    for name, weight in network.state_dict().items():
        if name not in tables:
            weight.copy_(before[name])
            continue
        new, old = tables[name]
        row_of = numbers_of(old)
        both = [row for row, type_ in enumerate(new) if type_ in row_of]
        weight[both] = before[name][[row_of[new[row]] for row in both]]


def standardised(features: Tensor) -> Tensor:
    """(..., features) shifted and scaled to mean 0 and variance 1 in each row."""
    return functional.layer_norm(features, features.shape[-1:])
