"""The learned weights of any channel, as its moves name them."""

from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple

import torch

from pyropunct.fitted.story import FittedStory
from pyropunct.tasks.explain.rules import Advance, part_by_part
from pyropunct.text.marks import display
from pyropunct.treebank.sentence import Sentence


class LearnedWeight(NamedTuple):
    """A weight of a channel.

    :ivar name: the name of a tensor of `pyropunct.models.channel.base.Channel.weights`.
    :ivar place: a place in it; tokens stand for their numbers in dimensions that have one for each token.
    :ivar probability: its value.
    :ivar count: how often it is used in the sentences, in expectation; None if there are none.
    """

    name: str
    place: tuple[str, ...]
    probability: float
    count: float | None = None  # type: ignore[assignment]  # hides tuple.count, which nobody needs here


def learned_weights(
    model: FittedStory, sentences: Sequence[Sentence] | None = None, advance: Advance = lambda done: None
) -> list[LearnedWeight]:
    """The weights of a model's channel: the most used ones first, or without sentences the greatest.

    :param sentences: count the uses in them, in expectation under p(T' | T, x).
    :param advance: called with the number of sentences newly done.
    """
    channel, tokens = model.story.channel, model.vocabulary.tokens
    with torch.no_grad():
        line = channel.probabilities()
    counts = None if sentences is None else part_by_part(model.weight_counts, sentences, advance)
    places, weights = channel.transducer.products.places, []
    for number, probability in enumerate(line.tolist()):
        name, *index = places.name(number)
        sizes = zip(index, places.shapes[str(name)], strict=True)
        place = tuple(_shown(int(one), size, tokens) for one, size in sizes)
        count = None if counts is None else float(counts[number])
        weights.append(LearnedWeight(str(name), place, probability, count))
    by = "probability" if counts is None else "count"
    return sorted(weights, key=attrgetter(by), reverse=True)


def _shown(number: int, size: int, tokens: Sequence[str]) -> str:
    """A place in a dimension of a tensor: a token, if the dimension has one for each token."""
    return display(tokens[number]) if size >= len(tokens) > number else str(number)
