"""Evidence about the surface string of a slot: a weighted acceptor, in the simplest case of one string.

p(evidence | u) is the sum, over accepted strings, of p(string | u) times the string's weight.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

String = tuple[int, ...]
"""Token ids, from left to right."""

EMPTY = -1
"""Fills token strings up to the length of the longest."""


class Step(NamedTuple):
    """A token that an acceptor may read."""

    token: int
    source: int
    target: int
    weight: float = 1.0


class Evidence(NamedTuple):
    """A weighted acceptor of surface strings, as `exactly`, `with_hidden`, `any_over` and `one_of` make them.

    :ivar initial: where paths start, with weights; those of a repeated state add up. Likewise ``final``.
    :ivar steps: the steps of paths.  The weight of a string is the sum of its paths' products.
    :ivar string: the string, if the evidence is that string and nothing else.
    """

    num_states: int
    initial: tuple[tuple[int, float], ...]
    final: tuple[tuple[int, float], ...]
    steps: tuple[Step, ...]
    string: String | None = None

    @property
    def weights(self) -> list[float]:
        """The weights of all starts, ends and steps."""
        return [weight for *_, weight in (*self.initial, *self.final, *self.steps)]

    def check(self) -> None:
        """Check the weights. Raises ValueError if one is negative or not finite."""
        if refused := _refused(self.weights):
            raise ValueError(f"evidence has the weights {refused}: they must be finite, and none below zero")

    @property
    def is_set(self) -> bool:
        """Whether every string has at most one path, of weight 1: a quick test, which may say no."""
        choices = {(step.source, step.token) for step in self.steps}
        ends = {state for state, _ in self.final}
        return (
            len(self.initial) == 1
            and len(choices) == len(self.steps)
            and len(ends) == len(self.final)
            and all(weight == 1 for weight in self.weights)
        )

    def weight(self, string: Sequence[int]) -> float:
        """The weight of a string: the sum of the products of its paths."""
        reached = self.behind(string)
        return sum(reached.get(state, 0.0) * weight for state, weight in self.final)

    def behind(self, tokens: Sequence[int]) -> dict[int, float]:
        """The states to which tokens lead, each with the sum of the products of its paths."""
        reached: defaultdict[int, float] = defaultdict(float)
        for state, weight in self.initial:
            reached[state] += weight
        for token in tokens:
            before, reached = reached, defaultdict(float)
            for step in self.steps:
                if step.token == token and step.source in before:
                    reached[step.target] += before[step.source] * step.weight
        return dict(reached)


def _refused(weights: Iterable[float]) -> list[float]:
    """The weights that are negative or not finite."""
    return [weight for weight in weights if not 0 <= weight < np.inf]


def exactly(string: Sequence[int]) -> Evidence:
    """This string."""
    steps = tuple(Step(token, place, place + 1) for place, token in enumerate(string))
    last = len(string)
    return Evidence(last + 1, ((0, 1.0),), ((last, 1.0),), steps, tuple(string))


def with_hidden(string: Sequence[int], hidden: Iterable[int]) -> Evidence:
    """Any string that equals this one when the hidden tokens, such as commas to restore, are removed.

    :raises ValueError: if the string itself holds one of them.
    """
    unseen = sorted(set(hidden))
    if set(string) & set(unseen):
        raise ValueError(f"the string {tuple(string)} holds tokens that are hidden: {unseen}")
    line = exactly(string)
    loops = [Step(token, place, place) for place in range(line.num_states) for token in unseen]
    return line._replace(steps=(*line.steps, *loops), string=None if loops else line.string)


def with_first(token: int, evidence: Evidence) -> Evidence:
    """The same evidence about what follows a token that is known to come first."""
    if evidence.string is not None:
        return exactly((token, *evidence.string))
    begin = evidence.num_states
    firsts = (Step(token, begin, state, weight) for state, weight in evidence.initial)
    return evidence._replace(num_states=begin + 1, initial=((begin, 1.0),), steps=(*firsts, *evidence.steps))


def any_over(tokens: Iterable[int]) -> Evidence:
    """Any string of these tokens, the empty one too."""
    return with_hidden((), tokens)


def one_of(strings: Iterable[tuple[Sequence[int], float]]) -> Evidence:
    """Strings weighted by the probability of the observation given each.

    :raises ValueError: if a weight is negative or not finite, or none is positive.
    """
    weighted = [(tuple(string), weight) for string, weight in strings]
    weights = [weight for _, weight in weighted]
    if _refused(weights) or not any(weights):
        raise ValueError(
            f"the weights of observed strings are {weights}: "
            "they must be finite, none below zero, and not all zero"
        )
    if len(weighted) == 1 and weighted[0][1] == 1:
        return exactly(weighted[0][0])
    initial, final, steps, size = [], [], [], 0
    for string, weight in weighted:
        line = exactly(string)
        initial.append((size, weight))
        final.append((size + len(string), 1.0))
        steps += [step._replace(source=step.source + size, target=step.target + size) for step in line.steps]
        size += line.num_states
    return Evidence(size, tuple(initial), tuple(final), tuple(steps))


class SlotEvidence:
    """Evidence about the surface strings of S slots: the observed value of a surface site.

    :param slots: for each slot its evidence, or its string.
    :raises ValueError: if a weight of evidence is negative or not finite.
    :ivar place: (S,) which of the ``distinct`` evidence each slot has.
    """

    def __init__(self, slots: Iterable[Evidence | Sequence[int]]) -> None:
        numbers: dict[Evidence, int] = {}
        known = [slot if isinstance(slot, Evidence) else exactly(slot) for slot in slots]
        self.place = torch.tensor([numbers.setdefault(slot, len(numbers)) for slot in known])
        self.distinct = list(numbers)
        for evidence in self.distinct:
            evidence.check()

    def __len__(self) -> int:
        return len(self.place)

    @property
    def shape(self) -> torch.Size:
        """(S, 1), where strings would have (S, L): Pyro asks for the shapes of observed values."""
        return torch.Size((len(self), 1))

    @property
    def data(self) -> "SlotEvidence":
        """Itself, as Pyro takes values for tensors; for the same reason it has ``dim``."""
        return self

    def dim(self) -> int:
        """The number of dimensions of `shape`."""
        return 2

    @property
    def open(self) -> Tensor:
        """(S,) whether more than one string is possible in each slot."""
        return torch.tensor([evidence.string is None for evidence in self.distinct])[self.place]

    def of(self, slots: Tensor) -> "SlotEvidence":
        """The evidence about some of the slots, in this order; itself for all slots in their own order."""
        if torch.equal(slots, torch.arange(len(self))):
            return self
        return SlotEvidence([self.distinct[place] for place in self.place[slots].tolist()])

    def settled(self) -> Tensor:
        """(S, L) the strings of the slots, filled up with -1; open slots have none."""
        return padded([self.distinct[place].string or () for place in self.place.tolist()])


def padded(strings: Sequence[Sequence[int]], least: int = 1) -> Tensor:
    """(S, L) token strings as a tensor, filled up with -1 to the length of the longest, or to ``least``."""
    longest = max(least, max(map(len, strings), default=0))
    filled = np.full((len(strings), longest), EMPTY)
    for row, string in enumerate(strings):
        if string:  # most slots are empty
            filled[row, : len(string)] = string
    return torch.from_numpy(filled)


def as_wide(rows: Sequence[Tensor]) -> list[Tensor]:
    """Several (..., L) strings, all filled up with -1 to the length of the longest."""
    longest = max(row.shape[-1] for row in rows)
    return [torch.nn.functional.pad(row, (0, longest - row.shape[-1]), value=EMPTY) for row in rows]


def evidence_of(value: Tensor | SlotEvidence) -> SlotEvidence:
    """The evidence that a value of a surface site gives; (S, L) strings are padded with -1."""
    if isinstance(value, SlotEvidence):
        return value
    rows = np.ascontiguousarray(value.reshape(-1, value.shape[-1]).cpu().numpy())
    numbers: dict[bytes, int] = {}
    # A row's bytes are compared more quickly than the tuple of its tokens.
    keys = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[-1])))[:, 0].tolist()
    found = SlotEvidence([])
    found.place = torch.tensor([numbers.setdefault(key, len(numbers)) for key in keys])
    distinct = [np.frombuffer(key, rows.dtype).tolist() for key in numbers]
    found.distinct = [exactly([token for token in row if token != EMPTY]) for row in distinct]
    return found
