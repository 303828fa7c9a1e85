"""Strings too long for their probabilities to be numbers."""

import math
import random
from collections.abc import Sequence

import pytest
import torch
from brute_force import String
from channels import SEEN, bigram_table
from problems import PAIRS, Case, inventory, padded, problem_of, tree_batch, window
from torch import Tensor

from pyropunct.inference.inside import expected_cost
from pyropunct.inference.machines import transducers
from pyropunct.inference.machines.evidence import Evidence, SlotEvidence, Step, exactly, with_hidden
from pyropunct.inference.problem import Problem
from pyropunct.inference.strings import SurfaceStrings, Underlying
from pyropunct.models.channel.noisy_channel import Channel, Identity
from pyropunct.models.channel.slip import Slip, TokenBigrams

DIRECTIONS = pytest.mark.parametrize("direction", ["left", "right"])


def slipping(inner: Channel) -> Slip:
    channel = Slip(inner, TokenBigrams(SEEN, 3, 0))
    channel.slip_logit = torch.tensor(-7.0, requires_grad=True)
    return channel


def chain(words: int, strings: dict[int, String]) -> Case:
    """Each word is the head of the next, so that all of their constituents end in the last slot."""
    relations = [place % 3 for place in range(words)]
    surface = [strings.get(slot, ()) for slot in range(words + 1)]
    surface[0] = (0, *surface[0])
    chances = [[1 / len(PAIRS[relation])] * len(PAIRS[relation]) for relation in relations]
    return Case(list(range(words)), relations, chances, surface, [[1.0] * len(row) for row in chances])


def ones_and_twos(length: int) -> String:
    return tuple(random.Random(length).choices([1, 2], k=length))


def log_chance(string: String) -> float:
    """log q of a string, by the bigram model."""
    table = bigram_table(SEEN, 0.05, 0)
    return sum(math.log(table[a][b]) for a, b in zip((3, *string), (*string, 3), strict=True))


def everything(problem: Problem, channel: Slip) -> Sequence[Tensor]:
    """log p(x | T), the expected cost, and their gradients in pairs and slips."""
    pairs = problem.log_pairs.requires_grad_()
    found = expected_cost(problem, torch.linspace(0, 1, len(pairs)))
    wanted = found[0].sum() + found[1].sum()
    return *found, *torch.autograd.grad(wanted, [pairs, channel.slip_logit], retain_graph=True)


@DIRECTIONS
def test_scaling_changes_nothing(direction: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty marks, which can be had without: some of them sprouted by a chain of words, or all slipped."""
    twenty, thirty = ones_and_twos(20), ones_and_twos(30)
    cases = [chain(12, {12: twenty}), chain(5, {2: thirty, 5: (2, 2)}), chain(4, {4: (2,)})]

    def found() -> Sequence[Tensor]:
        channel = slipping(window(direction))
        problem = problem_of(cases, channel, inventory())
        assert problem.automata.log_scale.any() == (transducers.SHORT < 30)
        return everything(problem, channel)

    scaled = found()
    monkeypatch.setattr(transducers, "SHORT", 30)
    for one, other in zip(scaled, found(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-11, atol=1e-14)


@DIRECTIONS
def test_slips_of_any_length(direction: str) -> None:
    """They differ by the steps of the bigram model alone, and their gradients by nothing."""

    def found(string: String) -> tuple[float, Sequence[Tensor]]:
        channel = slipping(Identity(3, direction))
        evidence, *others = everything(problem_of([chain(3, {2: string})], channel, inventory()), channel)
        return float(evidence.detach()), others

    short = ones_and_twos(10)  # more than three words sprout, and too short to be scaled
    evidence, others = found(short)
    for length in (100, 1000):
        further, same = found(ones_and_twos(length))
        assert further < -length
        difference = log_chance(ones_and_twos(length)) - log_chance(short)
        assert further - evidence == pytest.approx(difference, rel=1e-12)
        torch.testing.assert_close(same, others, rtol=1e-10, atol=1e-14)


@DIRECTIONS
@pytest.mark.parametrize("dtype", [torch.float, torch.double])
def test_hidden_marks_in_long_strings(
    direction: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scaling changes nothing there either, and each further mark costs the same."""
    trees, weights = tree_batch([[0]], [2]), slipping(window(direction)).probabilities().to(dtype)

    def found(marks: int) -> float:
        channel = slipping(window(direction))
        underlying = Underlying(trees.forest, inventory(), trees.relation, torch.tensor([1]), torch.arange(2))
        surface = SurfaceStrings(underlying, channel.transducer, weights)
        known = SlotEvidence([exactly((0,)), with_hidden((1,) * marks, [2])])
        return float(surface.log_prob(known)[1].detach())

    scaled = found(20)
    first, second, third = map(found, (60, 110, 160))
    assert third - second == pytest.approx(second - first, rel=1e-4)
    assert third < -200
    monkeypatch.setattr(transducers, "SHORT", 20)
    assert scaled == pytest.approx(found(20), rel=1e-5 if dtype == torch.float else 1e-12)


@DIRECTIONS
def test_slips_of_any_length_in_known_trees(direction: str) -> None:
    """log p(x | u), with nothing underlying."""
    channel, string = slipping(Identity(3, direction)), ones_and_twos(500)
    trees = tree_batch([[0]], [0])
    underlying = Underlying(trees.forest, inventory(), trees.relation, torch.tensor([0]), torch.arange(2))
    surface = SurfaceStrings(underlying, channel.transducer, channel.probabilities())
    found = surface.log_prob(padded([(0,), string]))[1]
    slip = math.log(torch.tensor(-7.0).sigmoid())
    assert float(found.detach()) == pytest.approx(slip + log_chance(string), rel=1e-12)


LINE = exactly(ones_and_twos(20))._replace(string=None)


@pytest.mark.parametrize(
    "other",
    [
        LINE._replace(initial=((0, 1.0), (1, 1.0))),
        LINE._replace(final=((20, 1.0), (19, 1.0))),
        LINE._replace(final=((10, 1.0),)),
        LINE._replace(steps=(*LINE.steps, Step(1, 3, 4))),
        LINE._replace(steps=(*LINE.steps, Step(1, 20, 0))),
        LINE._replace(final=((1, 1.0),), steps=(*LINE.steps, Step(1, 20, 0), Step(1, 0, 1))),
    ],
    ids=["two starts", "two ends", "an end inside", "two ways", "a circle", "two ways in a circle"],
)
def test_evidence_of_several_strings_is_not_scaled(other: Evidence) -> None:
    machines = slipping(Identity(3)).transducer.machines
    assert transducers.scaled(LINE, machines)[1] < 0
    assert transducers.scaled(other, machines) == (other, 0.0)


def test_scaling_keeps_the_weights_of_evidence() -> None:
    machines = slipping(Identity(3)).transducer.machines
    halves = LINE._replace(steps=tuple(step._replace(weight=0.5) for step in LINE.steps))
    (scaled, log_scale), (half, same) = (transducers.scaled(each, machines) for each in (LINE, halves))
    assert same == log_scale
    assert [step.weight for step in half.steps] == [step.weight / 2 for step in scaled.steps]
