"""Running text of a treebank: its documents as words, sentence ends and cases, and these as numbers."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple

from pyropunct.nets.reader.case import OTHER, case_of
from pyropunct.nets.words import WordTypes, known_characters, known_forms
from pyropunct.treebank.sentence import Sentence, by_document

NO_CASE = -1
"""The case of a word without letters in two cases."""


class Document(NamedTuple):
    """Running text without punctuation.

    :ivar words: as they are written.
    :ivar ends: for each word whether a sentence ends behind it.
    """

    words: tuple[str, ...]
    ends: tuple[bool, ...]

    @property
    def starts(self) -> tuple[bool, ...]:
        """For each word whether a sentence starts with it."""
        return (True, *self.ends[:-1])


def documents(sentences: Iterable[Sentence]) -> list[Document]:
    """The documents of a treebank; without comments that start documents, it is one document."""
    return [joined([sentence.tree.forms for sentence in part]) for part in by_document(sentences)]


def joined(sentences: Sequence[Sequence[str]]) -> Document:
    """Sentences as running text."""
    last = [len(words) - 1 for words in sentences]
    return Document(
        tuple(word for words in sentences for word in words),
        tuple(
            place == end for words, end in zip(sentences, last, strict=True) for place in range(len(words))
        ),
    )


@dataclass(frozen=True)
class ReaderVocabulary(WordTypes):
    """The types of words and characters of a training treebank.

    :ivar others: words with capital letters at other places than the first alone, such as "iPhone".
    """

    others: tuple[str, ...]

    def with_types_of(self, first: "ReaderVocabulary") -> "ReaderVocabulary":
        """The types of both, those of another vocabulary first."""
        names = [field.name for field in fields(self)]
        return ReaderVocabulary(
            *(tuple(dict.fromkeys((*getattr(first, name), *getattr(self, name)))) for name in names)
        )

    @cached_property
    def other_by_lower(self) -> Mapping[str, str]:
        """For each of `others`, lower-cased, the word."""
        return {word.lower(): word for word in reversed(self.others)}


def build_reader_vocabulary(train: Sequence[Document], form_count: int) -> ReaderVocabulary:
    """The types of a training treebank.

    :param form_count: rarer words, lower-cased, are `pyropunct.nets.words.UNKNOWN`.
    """
    words = [word for document in train for word in document.words]
    others = Counter(word for word in words if case_of(word) == OTHER)
    return ReaderVocabulary(
        known_forms(words, form_count),
        known_characters([*words, *map(str.lower, words)]),
        tuple(word for word, _ in sorted(others.items(), key=lambda item: (-item[1], item[0]))),
    )
