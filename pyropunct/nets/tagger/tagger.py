"""The trained slot tagger: p(x | words) without trees."""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.draws import Draws
from pyropunct.inference.forward import renumber
from pyropunct.models.learned import filled
from pyropunct.nets.layers import not_in_training
from pyropunct.nets.parser.parser import BiaffineParser, batches
from pyropunct.nets.tagger.labels import SlotString
from pyropunct.nets.tagger.network import SlotNetwork
from pyropunct.nets.tagger.recipes import SlotTaggerRecipe
from pyropunct.nets.tagger.vocabulary import SlotVocabulary
from pyropunct.treebank.marks import START, Surface

Probabilities = NDArray[np.float64]
"""(n + 1, labels) the probability of each label in each slot of a sentence of n words."""

Spell = Callable[[int, np.random.Generator], SlotString]
"""Draws the string of a slot that has no label."""


@dataclass(frozen=True)
class SlotTagger:
    """Punctuates words without trees, each slot by itself; trained by
    `pyropunct.nets.tagger.train_slot_tagger`.

    It reads what the network of a parser makes of the words before it looks for arcs.  A string without a
    label of its own has the label for such strings, times the probability of its spelling.  So the
    probabilities of all strings add up to 1::

        p(x | words) = product over i of p(label of x_i | words) q(x_i | no label, if it has none)

    :ivar vocabulary: the slot strings that it knows.
    :ivar recipe: how it was trained.
    :ivar network: gives the scores.
    :ivar report: what happened in training, in plain JSON types.
    :ivar parser: whose states it reads.
    """

    vocabulary: SlotVocabulary
    recipe: SlotTaggerRecipe
    network: SlotNetwork
    report: Mapping[str, Any]
    parser: BiaffineParser

    def read(self, sentences: Sequence[Sequence[str]]) -> list[Probabilities]:
        """The probabilities of the labels of each sentence.

        :raises ValueError: if a sentence has no word.
        """
        found: dict[int, Probabilities] = {}
        for numbers in batches([len(words) for words in sentences]):
            scores = self._scores([sentences[number] for number in numbers])
            for number, row in zip(numbers, scores, strict=True):
                found[number] = row[: len(sentences[number]) + 1].double().softmax(-1).numpy()
        return [found[number] for number in range(len(sentences))]

    @torch.inference_mode()
    def _scores(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        lengths = torch.tensor([len(words) for words in sentences])
        states = self.parser.states(sentences)[..., : self.network.size]
        scores: Tensor = not_in_training(self.network)(states, lengths)
        return scores

    def log_prob(self, sentences: Sequence[Sequence[str]], surfaces: Sequence[Surface]) -> Tensor:
        """(sentences,) log p(x | words) in natural logarithms, over all slots; START is given.

        :param sentences: the words of each.
        :param surfaces: the punctuation of each.
        """
        pairs = zip(self.read(sentences), surfaces, strict=True)
        return torch.tensor([self._log_prob(*pair) for pair in pairs], dtype=torch.double)

    def _log_prob(self, probabilities: Probabilities, surface: Surface) -> float:
        labels, spelling = self.vocabulary.labels, self.vocabulary.spelling
        strings = labels.strings_of(surface)
        numbers = labels.encode(strings)
        of_labels = np.log(probabilities[np.arange(len(numbers)), numbers])
        rare = [string for string, label in zip(strings, numbers, strict=True) if label == labels.unknown]
        return math.fsum(of_labels.tolist()) + math.fsum(map(spelling.log_prob, rare))

    def draw(
        self,
        probabilities: Probabilities,
        samples: int,
        generator: np.random.Generator,
        spell: Spell | None = None,
    ) -> Draws:
        """Draws from p(x | words) for one sentence.

        :param probabilities: as `read` gives them.
        :param spell: draws the string of a slot that has no label; by default whatever the slot.
        """
        labels, (slots, number) = self.vocabulary.labels, probabilities.shape
        place = np.arange(slots)
        bounds = probabilities.cumsum(1) / probabilities.sum(1, keepdims=True) + place[:, None]
        found = np.searchsorted(bounds.ravel(), generator.random((samples, slots)) + place, side="right")
        drawn = np.minimum(found - number * place, number - 1)
        unknown = drawn == labels.unknown
        any_slot = self.vocabulary.spelling.draw
        spelt = [
            any_slot(generator) if spell is None else spell(slot, generator)
            for slot in np.nonzero(unknown)[1].tolist()
        ]
        row = {string: row for row, string in enumerate(dict.fromkeys(spelt), start=labels.unknown)}
        drawn[unknown] = [row[string] for string in spelt]
        strings = [*labels.strings, *row]
        drawn[:, 0] += len(strings)  # with START
        numbers, distinct = renumber(np.ascontiguousarray(drawn.T, np.int32), 2 * len(strings))
        started = [divmod(number, len(strings)) for number in distinct.tolist()]
        shown = tuple((START, *strings[row]) if starts else strings[row] for starts, row in started)
        return Draws(shown, numbers, np.full(samples, 1 / samples))

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """It as plain JSON types and tensors, as `pyropunct.fitted.model_file` writes them.

        The parser is not among them.
        """
        plain = {
            "vocabulary": self.vocabulary.to_json(),
            "recipe": self.recipe.to_json(),
            "report": dict(self.report),
        }
        return plain, dict(self.network.state_dict())

    @classmethod
    def from_parts(
        cls, plain: Mapping[str, Any], tensors: Mapping[str, Tensor], parser: BiaffineParser
    ) -> Self:
        """What `to_parts` took apart.

        :param parser: that of the tagger.
        :raises ValueError: if these are not the parts of a tagger that reads this parser.
        """
        try:
            vocabulary = SlotVocabulary.from_json(plain["vocabulary"])
            recipe = SlotTaggerRecipe.from_json(plain["recipe"])
            number = len(vocabulary.labels.strings) + 1
            older = 4 * parser.recipe.lstm_size  # without pretrained features, which are the last
            size = older if tensors["edges"].shape[1] == older else parser.state_size
            network = filled(lambda: SlotNetwork(size, number, recipe), tensors)
            return cls(vocabulary, recipe, network, plain["report"], parser)
        except (LookupError, TypeError, ValueError, AttributeError, RuntimeError) as error:
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            raise ValueError(f"not the parts of a slot tagger: {reason}") from error


def generator_for(words: Sequence[str], seed: int) -> np.random.Generator:
    """Random numbers that depend on the words and on a seed alone."""
    digest = hashlib.sha256(repr(tuple(words)).encode()).digest()
    return np.random.default_rng([seed, int.from_bytes(digest)])
