"""Running text of a treebank: its documents as words, sentence ends, marks and cases, and as numbers."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

from pyropunct.files import types
from pyropunct.nets.labels import SlotString, SlotVocabulary, slot_strings
from pyropunct.nets.reader.case import OTHER, case_of
from pyropunct.nets.words import WordTypes, known_characters, known_forms
from pyropunct.text.marks import Surface
from pyropunct.treebank.sentence import Sentence, by_document

NO_CASE = -1
"""The case of a word without letters in two cases."""


class Document(NamedTuple):
    """Running text.

    :ivar words: as they are written.
    :ivar ends: for each word whether a sentence ends behind it.
    :ivar marks: the marks behind each word; those in front of a sentence are left out.
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
        joined([(sentence.tree.forms, sentence.surface) for sentence in part])
        for part in by_document(sentences)
    ]


def joined(sentences: Iterable[tuple[Sequence[str], Surface]]) -> Document:
    """Sentences, each its words and its surface, as running text."""
    words, ends, marks = list[str](), list[bool](), list[SlotString]()
    for of_sentence, surface in sentences:
        words += of_sentence
        ends += [False] * (len(of_sentence) - 1) + [True]
        marks += slot_strings(surface[1:])
    return Document(tuple(words), tuple(ends), tuple(marks))


@dataclass(frozen=True)
class ReaderVocabulary(WordTypes):
    """The types of words, characters and slot strings of a training treebank.

    :ivar others: words with capital letters at other places than the first alone, such as "iPhone".
    :ivar slots: the strings of marks behind words.
    """

    others: tuple[str, ...]
    slots: SlotVocabulary

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """See `WordTypes.from_json`."""
        others = types("the list of others", plain["others"])
        known = WordTypes.from_json(plain)
        return cls(known.forms, known.characters, others, SlotVocabulary.from_json(plain["slots"]))

    def with_types_of(self, first: "ReaderVocabulary") -> "ReaderVocabulary":
        """The words and characters of both, those of another vocabulary first, and its slot strings."""

        def both(name: str) -> tuple[str, ...]:
            return tuple(dict.fromkeys((*getattr(first, name), *getattr(self, name))))

        return replace(first, forms=both("forms"), characters=both("characters"), others=both("others"))

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
        SlotVocabulary.collect([document.marks for document in train]),
    )
