"""The tagger of parts of speech: trained, applied, and jackknifed.

A parser learns from jackknifed tags, which are as good as the tags that it will see.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from pyropunct.compare.progress import Advance
from pyropunct.nets.jackknife import folds_of, in_order, others_of
from pyropunct.rivals.ma_2014.tagging import (
    AROUND,
    OF_WORD,
    TAG_ATOMS,
    TAG_TEMPLATES,
    learn_tags,
    tags_found,
)
from pyropunct.rivals.transitions.perceptron import (
    MOST_ACTIONS,
    Rows,
    Weights,
    averaged,
    no_weights,
    weights_of,
    with_room,
)
from pyropunct.rivals.transitions.templates import compiled_templates, number_of, templates_in

Array = NDArray[Any]

ITERATIONS = 8
"""How often each sentence is seen in training."""

FOLDS = 10
"""How many folds there are by default, as in the paper."""

_EDGE = "\t"


class Tagged(Protocol):
    """A dataclass of tokens, such as `pyropunct.rivals.ma_2014.treatments.MarkedSentence`."""

    @property
    def forms(self) -> tuple[str, ...]:
        """As written."""
        ...

    @property
    def tags(self) -> tuple[str, ...]:
        """Their parts of speech."""
        ...


Tokens = TypeVar("Tokens", bound=Tagged)


@dataclass(frozen=True)
class PerceptronTagger:
    """A tagger of words and marks, trained by `train_perceptron_tagger`.

    :ivar tags: the tags that it knows.
    :ivar rows: the averaged weights.
    """

    tags: tuple[str, ...]
    rows: Rows = field(repr=False)

    def tag(self, forms: Sequence[str]) -> tuple[str, ...]:
        """The tags of a sentence's tokens."""
        found = tags_found(_encoded(forms), _templates(), self._weights, len(self.tags))
        return tuple(self.tags[tag] for tag in found)

    @cached_property
    def _weights(self) -> Weights:
        return weights_of(self.rows)


def train_perceptron_tagger(
    sentences: Iterable[Tagged], *, iterations: int = ITERATIONS, seed: int = 0
) -> PerceptronTagger:
    """Train a tagger on a treebank.

    :param iterations: how often each sentence is seen.
    :param seed: decides the order of sentences, anew in each iteration.
    :raises ValueError: if there are thousands of tags, or none.
    """
    sentences = list(sentences)
    tags = tuple(sorted({tag for sentence in sentences for tag in sentence.tags}))
    if not 0 < len(tags) < MOST_ACTIONS:
        raise ValueError(f"there are {len(tags)} tags to choose from")
    numbers = {tag: number for number, tag in enumerate(tags)}
    examples = [(_encoded(one.forms), np.array([numbers[tag] for tag in one.tags])) for one in sentences]
    weights, order, number = no_weights(), np.random.default_rng(seed), 0
    for _ in range(iterations):
        for place in order.permutation(len(examples)):
            words, gold = examples[place]
            weights = _learned(weights, words, gold, len(tags), number)
            number += 1
    return PerceptronTagger(tags, averaged(weights, number))


def _learned(weights: Weights, words: Array, gold: Array, tags: int, number: int) -> Weights:
    """The weights after one sentence."""
    table, first = _templates(), 0
    found = tags_found(words, table, weights, tags)
    while (first := learn_tags(words, table, weights, tags, found, gold, first, number)) < len(gold):
        weights = with_room(weights, 2 * len(table), tags)
    return weights


def with_tags(sentences: Iterable[Tokens], tagger: PerceptronTagger) -> list[Tokens]:
    """Sentences with the tags of a tagger instead of those of the treebank."""
    return [
        replace(sentence, tags=tagger.tag(sentence.forms))  # type: ignore[type-var]
        for sentence in sentences
    ]


def with_jackknifed_tags(
    sentences: Sequence[Tokens],
    *,
    folds: int = FOLDS,
    seed: int = 0,
    advance: Advance = lambda done: None,
) -> list[Tokens]:
    """Sentences with the tags of taggers that were trained on other sentences.

    :param folds: the number of parts: each is tagged by a tagger of the others.
    :param seed: of the taggers.
    :param advance: called after each part with 1.
    :raises ValueError: as `pyropunct.nets.jackknife.folds_of` does.
    """
    parts = folds_of(sentences, folds)
    tagged = []
    for fold, part in enumerate(parts):
        tagged.append(with_tags(part, train_perceptron_tagger(others_of(parts, fold), seed=seed)))
        advance(1)
    return in_order(tagged)


def right_tags(found: Iterable[Sequence[str]], gold: Iterable[Sequence[str]]) -> float:
    """The percentage of right tags among the tags of sentences."""
    pairs = [pair for both in zip(found, gold, strict=True) for pair in zip(*both, strict=True)]
    return 100 * sum(tag == true for tag, true in pairs) / len(pairs)


def _encoded(forms: Sequence[str]) -> Array:
    """A sentence as compiled code reads it."""
    edge = [_EDGE] * AROUND
    return np.array([_atoms(form) for form in (*edge, *forms, *edge)])


@lru_cache(1 << 18)
def _atoms(form: str) -> tuple[int, ...]:
    """The numbers of `OF_WORD`."""
    parts = (form, form.lower(), form[:1], form[-1:], form[-2:], form[-3:], _shape(form))
    return tuple(number_of(part) for _, part in zip(OF_WORD, parts, strict=True))


def _shape(form: str) -> str:
    """The form with A for each run of capitals, a for other letters, and 9 for digits."""
    kinds = (
        "A" if one.isupper() else "a" if one.isalpha() else "9" if one.isdigit() else one for one in form
    )
    return "".join(kind for kind, _ in groupby(kinds))


@lru_cache(1)
def _templates() -> Array:
    return compiled_templates(templates_in(TAG_TEMPLATES), TAG_ATOMS)
