"""Fits an error channel to pairs of right and wrong punctuation: maximum a posteriori."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from pyropunct.errors import InputError
from pyropunct.nets.parser import Parser
from pyropunct.punctuator import Punctuator
from pyropunct.restore.parses import weighted_trees
from pyropunct.tasks.correct.channel import Context, Error, ErrorChannel, contexts, features
from pyropunct.tasks.correct.gold_corrections import Corrected
from pyropunct.tasks.correct.learner_errors import ErrorRates, String
from pyropunct.tasks.correct.simulation import wrong_copies
from pyropunct.text.marks import NO_MARKS, Surface
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree

USUAL, SPREAD = -6.0, 3.0
"""The prior of the weight of an error itself: the mean and the standard deviation of its log-odds."""

NEAR = 1.0
"""The standard deviation of the prior of all other weights, whose mean is 0."""

STEPS = 60
"""The most iterations of the search for the likeliest weights."""

LEAST_WEIGHT, DIGITS = 0.02, 3
"""Weights nearer to 0 than this are left out of a fitted channel; the others have so many decimals."""


class RightAndWrong(NamedTuple):
    """A sentence with right (x_c) and wrong (x_e) punctuation of its slots 0..n."""

    tree: Tree
    right: Surface
    wrong: Surface


def error_between(right: String, wrong: String) -> Error | None:
    """The single error between two strings; None if they are equal or differ by more."""
    while right and wrong and right[0] == wrong[0]:
        right, wrong = right[1:], wrong[1:]
    while right and wrong and right[-1] == wrong[-1]:
        right, wrong = right[:-1], wrong[:-1]
    kinds = {(1, 0): "drop", (0, 1): "insert", (1, 1): "replace", (2, 2): "swap"}
    lengths = len(right), len(wrong)
    if lengths not in kinds:
        return None
    error = Error(kinds[lengths], *(right + wrong)[:2])
    return error if error.rewriting == (right, wrong) else None


def simulated_pairs(
    sentences: Iterable[Sentence],
    rates: ErrorRates | None = None,
    copies: int = 1,
    seed: int = 0,
    parser: Parser | None = None,
) -> list[RightAndWrong]:
    """`wrong_copies` of right sentences as pairs."""
    made = wrong_copies(sentences, rates, copies, seed, parser)
    return [RightAndWrong(right.tree, right.surface, wrong.surface) for right, wrong in made]


def pairs_of_learners(model: Punctuator, learners: Sequence[Corrected]) -> list[RightAndWrong]:
    """Corrections of learners' text, with best trees; raises `MissingPartError` without a parser."""
    parsed = weighted_trees(model, [sentence.words for sentence in learners], 1)
    return [
        RightAndWrong(best.tree, sentence.right, sentence.wrong)
        for [best], sentence in zip(parsed, learners, strict=True)
    ]


def _slots(pairs: Iterable[RightAndWrong]) -> Iterator[tuple[String, String, Context]]:
    """The right string, the wrong string and the context of each slot."""
    for pair in pairs:
        for right, wrong, context in zip(pair.right, pair.wrong, contexts(pair.tree), strict=True):
            yield tuple(right), tuple(wrong), context


def perplexity(channel: ErrorChannel, pairs: Iterable[RightAndWrong]) -> float:
    """exp(- log p(x_e | x_c) per slot), over the slots in which at most one error was made."""
    total, slots = 0.0, 0
    for right, wrong, context in _slots(pairs):
        log_prob = channel.log_prob(wrong, right, context)
        if log_prob > -math.inf:
            total, slots = total + log_prob, slots + 1
    return math.exp(-total / slots)


def fit_channel(pairs: Iterable[RightAndWrong], marks: Collection[str]) -> ErrorChannel:
    """Fit an error channel to pairs: maximum a posteriori, with normal priors on the weights.

    Slots that need more than one error are ignored.

    :param marks: the marks of a model of right text; errors with other marks are ignored.
    :raises InputError: if no pair has an error with these marks.
    """
    known = set(marks).difference(NO_MARKS)
    seen, made = Counter(_slots(pairs)), Counter[Error]()
    for (right, wrong, _), count in seen.items():
        error = error_between(right, wrong)
        if error is not None and known.issuperset(filter(None, error[1:])):
            made[error] += count
    if not made:
        raise InputError("there is no error to learn from: no marks that the model knows are wrong")
    errors = tuple(sorted(made))
    weights = _Likelihood(ErrorChannel(errors, {}), seen).maximise()
    kept = {name: round(weight, DIGITS) for name, weight in weights.items() if abs(weight) >= LEAST_WEIGHT}
    return ErrorChannel(errors, kept)


class _Likelihood:
    """The log-likelihood of a channel; a string may come about in several ways (an error at a place)."""

    def __init__(self, channel: ErrorChannel, seen: Mapping[tuple[String, String, Context], int]) -> None:
        self.names: dict[str, int] = {}
        self._is_error: list[bool] = []
        slots: dict[tuple[String, Context], int] = {}
        ways: dict[tuple[int, String], list[int]] = {}
        feature, way, slot_of_way = list[int](), list[int](), list[int]()
        for right, _, context in seen:
            if (right, context) in slots:
                continue
            slot = slots[right, context] = len(slots)
            for made in channel.outcomes(right):
                ways.setdefault((slot, made.string), []).append(len(slot_of_way))
                for rank, name in enumerate(features(made, context)):
                    if name not in self.names:
                        self.names[name] = len(self.names)
                        self._is_error.append(not rank)
                    feature.append(self.names[name])
                    way.append(len(slot_of_way))
                slot_of_way.append(slot)
        self._feature, self._way, self._slot = map(torch.tensor, (feature, way, slot_of_way))
        self._count(slots, ways, seen)

    def _count(
        self,
        slots: Mapping[tuple[String, Context], int],
        ways: Mapping[tuple[int, String], list[int]],
        seen: Mapping[tuple[String, String, Context], int],
    ) -> None:
        """How often each kind of slot was seen, and with which outcome other than itself."""
        count = [0] * len(slots)
        outcome, way_of_outcome, made = list[int](), list[int](), list[int]()
        for (right, wrong, context), number in seen.items():
            slot = slots[right, context]
            led = ways.get((slot, wrong), [])
            if right == wrong or led:
                count[slot] += number
            if right != wrong and led:
                outcome += [len(made)] * len(led)
                way_of_outcome += led
                made.append(number)
        self._outcome, self._way_of_outcome = torch.tensor(outcome), torch.tensor(way_of_outcome)
        self._slots, self._made = (torch.tensor(counts, dtype=torch.double) for counts in (count, made))

    def of(self, weights: Tensor) -> Tensor:
        """The log-likelihood."""
        score = weights.new_zeros(len(self._slot)).index_add(0, self._way, weights[self._feature])
        odds = score.exp()
        total = weights.new_zeros(len(self._slots)).index_add(0, self._slot, odds)
        made = weights.new_zeros(len(self._made)).index_add(0, self._outcome, odds[self._way_of_outcome])
        return (self._made * made.log()).sum() - (self._slots * total.log1p()).sum()

    def maximise(self) -> dict[str, float]:
        """The likeliest weights of all features."""
        is_error = torch.tensor(self._is_error)
        mean = torch.where(is_error, USUAL, 0.0).double()
        scale = torch.where(is_error, SPREAD, NEAR).double()
        weights = mean.clone().requires_grad_()
        search = torch.optim.LBFGS([weights], max_iter=STEPS, history_size=20, line_search_fn="strong_wolfe")

        def step() -> Tensor:
            search.zero_grad()
            loss = ((weights - mean) / scale).square().sum() / 2 - self.of(weights)
            loss.backward()
            return loss

        search.step(step)
        return dict(zip(self.names, weights.detach().tolist(), strict=True))
