"""Words, tags and relations as numbers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import torch
from torch import Tensor

from pyropunct.nets.words import (
    UNKNOWN,
    WordTypes,
    frequent,
    known_characters,
    known_forms,
    numbers_of,
    padded,
)
from pyropunct.treebank.conllu_block import FEATS, XPOS
from pyropunct.treebank.sentence import Sentence

ROOT = "root"
"""The relation of the root of every tree (Universal Dependencies)."""

UNSPECIFIED = "dep"
"""The relation of unknown type in Universal Dependencies, used if training has shown only roots."""

FINE_TAG_COUNT = 5


class Answers(NamedTuple):
    """The right answers for a batch; each (sentences, longest), 0 where there is no word.

    :ivar tags: their universal tags.
    :ivar fine_tags: see `fine_tags`.
    :ivar heads: in their sentence, 0 for the root.
    :ivar relations: to their heads; of the root, any.
    """

    tags: Tensor
    fine_tags: Tensor
    heads: Tensor
    relations: Tensor

    def to(self, device: torch.device | str) -> "Answers":
        """The same on a device."""
        return Answers(*(numbers.to(device) for numbers in self))


@dataclass(frozen=True)
class ParserVocabulary(WordTypes):
    """Numbers for the types of a training treebank.

    :ivar forms: lower-cased words; the first two are `PADDING` and `UNKNOWN`.
    :ivar characters: the first two are the same.
    :ivar tags: universal tags.
    :ivar fine_tags: the first is `UNKNOWN`.
    :ivar relations: of words other than the root.
    """

    tags: tuple[str, ...]
    fine_tags: tuple[str, ...]
    relations: tuple[str, ...]

    first: ClassVar[Mapping[str, tuple[str, ...]]] = {**WordTypes.first, "fine_tags": (UNKNOWN,)}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """The vocabulary of a plain dictionary of its lists.

        :raises ValueError: if a list of types is missing, damaged, or empty.
        """
        vocabulary = super().from_json(plain)
        if not vocabulary.tags or not vocabulary.relations:
            raise ValueError("there is no tag or no relation")
        return vocabulary

    def answers(self, sentences: Sequence[Sentence]) -> Answers:
        """The treebank's analysis of training sentences."""
        tag_number, fine_number, relation_number = self._numbers
        trees = [sentence.tree for sentence in sentences]
        fine = map(fine_tags, sentences)
        return Answers(
            tags=padded([[tag_number[tag] for tag in tree.tags] for tree in trees]),
            fine_tags=padded([[fine_number.get(tag, 0) for tag in tags] for tags in fine]),
            heads=padded([tree.heads for tree in trees]),
            relations=padded([[relation_number.get(name, 0) for name in tree.relations] for tree in trees]),
        )

    @cached_property
    def _numbers(self) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
        return numbers_of(self.tags), numbers_of(self.fine_tags), numbers_of(self.relations)


def fine_tags(sentence: Sentence) -> list[str]:
    """The language-specific tag and the morphological features of each word, as one tag."""
    tokens = [sentence.layout.block.tokens[token - 1].columns for token in sentence.layout.words]
    return [f"{columns[XPOS]} {columns[FEATS]}" for columns in tokens]


def build_parser_vocabulary(
    sentences: Sequence[Sentence], texts: Iterable[Sequence[str]], form_count: int
) -> ParserVocabulary:
    """The types of a training treebank.

    :param texts: its sentences as the parser reads them.
    :param form_count: rarer words, lower-cased, are `UNKNOWN`.
    """
    trees = [sentence.tree for sentence in sentences]
    forms = [form for text in texts for form in text]
    arcs = [arc for tree in trees for arc in zip(tree.heads, tree.relations, strict=True)]
    fine = [tag for sentence in sentences for tag in fine_tags(sentence)]
    return ParserVocabulary(
        forms=known_forms(forms, form_count),
        characters=known_characters(forms),
        tags=frequent((tag for tree in trees for tag in tree.tags), 1),
        fine_tags=(UNKNOWN, *frequent(fine, FINE_TAG_COUNT)),
        relations=frequent((relation for head, relation in arcs if head), 1) or (UNSPECIFIED,),
    )
