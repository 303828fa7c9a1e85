"""Words, tags and relations as numbers."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from pyropunct.files import types
from pyropunct.treebank.conllu_block import FEATS, XPOS
from pyropunct.treebank.sentence import Sentence

PADDING, UNKNOWN = "", "\N{REPLACEMENT CHARACTER}"
"""The padding, number 0, and the type that stands for all that is too rare in training."""

ROOT = "root"
"""The relation of the root of every tree (Universal Dependencies)."""

UNSPECIFIED = "dep"
"""The relation of unknown type in Universal Dependencies, used if training has shown only roots."""

LONGEST = 20
"""The most characters that are read of a word: of a longer one the first and the last half of these."""

CHARACTER_COUNT = 3
FINE_TAG_COUNT = 5


class WordBatch(NamedTuple):
    """Sentences as the network reads them.

    :ivar words: (sentences, longest), which of the different words of this batch each is; 0 is padding.
    :ivar lengths: (sentences,), the number of words of each.
    :ivar forms: (different words,), the number of each, lower-cased.
    :ivar spellings: (different words, longest word), the numbers of its characters.
    """

    words: Tensor
    lengths: Tensor
    forms: Tensor
    spellings: Tensor


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


@dataclass(frozen=True)
class ParserVocabulary:
    """Numbers for the types of a training treebank.

    :ivar forms: lower-cased words; the first two are `PADDING` and `UNKNOWN`.
    :ivar characters: likewise.
    :ivar tags: universal tags.
    :ivar fine_tags: the first is `UNKNOWN`.
    :ivar relations: of words other than the root.
    """

    forms: tuple[str, ...]
    characters: tuple[str, ...]
    tags: tuple[str, ...]
    fine_tags: tuple[str, ...]
    relations: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary, from which `from_json` makes an equal vocabulary."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "ParserVocabulary":
        """The vocabulary that `to_json` wrote.

        :raises ValueError: if it is none.
        """
        first = {"forms": (PADDING, UNKNOWN), "characters": (PADDING, UNKNOWN), "fine_tags": (UNKNOWN,)}
        lists = {
            field.name: types(f"the list of {field.name}", plain[field.name], first.get(field.name, ()))
            for field in fields(cls)
        }
        if not lists["tags"] or not lists["relations"]:
            raise ValueError("there is no tag or no relation")
        return cls(**lists)

    def encode(self, sentences: Sequence[Sequence[str]]) -> WordBatch:
        """The words of some sentences."""
        different = dict.fromkeys(word for sentence in sentences for word in sentence)
        row = {word: number for number, word in enumerate(different, start=1)}
        return WordBatch(
            words=_padded([[row[word] for word in sentence] for sentence in sentences]),
            lengths=torch.tensor([len(sentence) for sentence in sentences]),
            forms=torch.tensor([0, *(self._form_numbers.get(word.lower(), 1) for word in row)]),
            spellings=_padded([[0], *map(self._spell, row)]),
        )

    def _spell(self, word: str) -> list[int]:
        if len(word) > LONGEST:
            word = word[: LONGEST // 2] + word[-LONGEST // 2 :]
        return [self._character_numbers.get(character, 1) for character in word]

    def answers(self, sentences: Sequence[Sentence]) -> Answers:
        """The treebank's analysis of some sentences, whose types must all be known."""
        trees = [sentence.tree for sentence in sentences]
        return Answers(
            tags=_padded([[self._tag_numbers[tag] for tag in tree.tags] for tree in trees]),
            fine_tags=_padded(
                [
                    [self._fine_tag_numbers.get(tag, 0) for tag in fine_tags(sentence)]
                    for sentence in sentences
                ]
            ),
            heads=_padded([tree.heads for tree in trees]),
            relations=_padded(
                [[self._relation_numbers.get(relation, 0) for relation in tree.relations] for tree in trees]
            ),
        )

    @cached_property
    def _form_numbers(self) -> dict[str, int]:
        return _numbers(self.forms)

    @cached_property
    def _character_numbers(self) -> dict[str, int]:
        return _numbers(self.characters)

    @cached_property
    def _tag_numbers(self) -> dict[str, int]:
        return _numbers(self.tags)

    @cached_property
    def _fine_tag_numbers(self) -> dict[str, int]:
        return _numbers(self.fine_tags)

    @cached_property
    def _relation_numbers(self) -> dict[str, int]:
        return _numbers(self.relations)


def _numbers(types: Sequence[str]) -> dict[str, int]:
    return {one: number for number, one in enumerate(types)}


def _padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """Rows of numbers as a matrix, with 0 behind the shorter ones."""
    table = np.zeros((len(rows), max(map(len, rows))), np.int64)
    for line, row in zip(table, rows, strict=True):
        line[: len(row)] = row
    return torch.from_numpy(table)


def fine_tags(sentence: Sentence) -> list[str]:
    """The language-specific tag and the morphological features of each word, as one tag."""
    tokens = [sentence.layout.block.tokens[token - 1].columns for token in sentence.layout.words]
    return [f"{columns[XPOS]} {columns[FEATS]}" for columns in tokens]


def build_parser_vocabulary(sentences: Sequence[Sentence], form_count: int) -> ParserVocabulary:
    """The types of a training treebank.

    :param form_count: rarer words, lower-cased, are `UNKNOWN`.
    """
    trees = [sentence.tree for sentence in sentences]
    forms = [form for tree in trees for form in tree.forms]
    arcs = [arc for tree in trees for arc in zip(tree.heads, tree.relations, strict=True)]
    fine = [tag for sentence in sentences for tag in fine_tags(sentence)]
    return ParserVocabulary(
        forms=(PADDING, UNKNOWN, *_frequent(map(str.lower, forms), form_count)),
        characters=(PADDING, UNKNOWN, *_frequent("".join(forms), CHARACTER_COUNT)),
        tags=_frequent((tag for tree in trees for tag in tree.tags), 1),
        fine_tags=(UNKNOWN, *_frequent(fine, FINE_TAG_COUNT)),
        relations=_frequent((relation for head, relation in arcs if head), 1) or (UNSPECIFIED,),
    )


def _frequent(seen: Iterable[str], least: int) -> tuple[str, ...]:
    """The types seen at least so often, by frequency and then alphabetically."""
    counts = Counter(seen)
    return tuple(sorted((one for one in counts if counts[one] >= least), key=lambda one: (-counts[one], one)))
