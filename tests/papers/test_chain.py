"""The distributions of label sequences, against all sequences."""

import itertools
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from pyropunct.papers.chain import IndependentSlots, LabelDistribution, LinearChain

LENGTHS = (4, 1, 3)
NUM_LABELS = 3


def chain(scale: float = 2.0) -> LinearChain:
    """Three sentences of different length, with random scores, in the padding too."""
    scores = torch.randn(len(LENGTHS), max(LENGTHS), NUM_LABELS) * scale
    present = torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]
    return LinearChain(scores, torch.randn(NUM_LABELS, NUM_LABELS) * scale, present)


def independent(scale: float = 2.0) -> IndependentSlots:
    made = chain(scale)
    return IndependentSlots(made.scores, made.present)


def all_paths(length: int) -> list[tuple[int, ...]]:
    return list(itertools.product(range(NUM_LABELS), repeat=length))


def path_weights(given: LabelDistribution, row: int) -> dict[tuple[int, ...], float]:
    """From the definition: exp of the sum of the scores, and of the transitions if there are any."""
    weights = {}
    for path in all_paths(LENGTHS[row]):
        total = sum(float(given.scores[row, slot, label]) for slot, label in enumerate(path))
        if isinstance(given, LinearChain):
            total += sum(float(given.transitions[pair]) for pair in itertools.pairwise(path))
        weights[path] = float(torch.tensor(total).exp())
    return weights


def padded(path: tuple[int, ...]) -> list[int]:
    return [*path, *[0] * (max(LENGTHS) - len(path))]


both = pytest.mark.parametrize("make", [chain, independent])


@both
def test_log_prob(make: Callable[[], LabelDistribution]) -> None:
    given: LabelDistribution = make()
    for row in range(len(LENGTHS)):
        weights = path_weights(given, row)
        for path, weight in weights.items():
            labels = torch.zeros(len(LENGTHS), max(LENGTHS), dtype=torch.long)
            labels[row] = torch.tensor(padded(path))
            expected = torch.tensor(weight / sum(weights.values())).log()
            torch.testing.assert_close(given.log_prob(labels)[row], expected)


@both
def test_marginals(make: Callable[[], LabelDistribution]) -> None:
    given: LabelDistribution = make()
    found = given.marginals()
    for row, length in enumerate(LENGTHS):
        weights = path_weights(given, row)
        for slot, label in itertools.product(range(length), range(NUM_LABELS)):
            share = sum(weight for path, weight in weights.items() if path[slot] == label)
            assert float(found[row, slot, label]) == pytest.approx(share / sum(weights.values()), rel=1e-9)


@pytest.mark.parametrize("trial", range(5))
def test_best(trial: int) -> None:
    torch.manual_seed(trial)
    given = chain()
    found = given.best()
    for row, length in enumerate(LENGTHS):
        weights = path_weights(given, row)
        assert tuple(found[row, :length].tolist()) == max(weights, key=weights.__getitem__)


@both
def test_among_some_labels_is_conditioning(make: Callable[[], LabelDistribution]) -> None:
    given: LabelDistribution = make()
    kept = torch.tensor([2, 0])
    found = given.among(kept).marginals()
    weights = {
        path: weight for path, weight in path_weights(given, 0).items() if set(path) <= set(kept.tolist())
    }
    for slot, (place, label) in itertools.product(range(LENGTHS[0]), enumerate(kept.tolist())):
        share = sum(weight for path, weight in weights.items() if path[slot] == label)
        assert float(found[0, slot, place]) == pytest.approx(share / sum(weights.values()), rel=1e-9)


def test_gradients_by_finite_differences() -> None:
    given = chain()
    labels = torch.tensor([[0, 2, 1, 1], [1, 0, 0, 0], [2, 2, 0, 0]])

    def log_prob(scores: Tensor, transitions: Tensor) -> Tensor:
        return LinearChain(scores, transitions, given.present).log_prob(labels)

    assert torch.autograd.gradcheck(
        log_prob, (given.scores.requires_grad_(), given.transitions.requires_grad_())
    )


def test_padding_has_no_influence() -> None:
    given = chain()
    changed = torch.where(given.present[..., None], given.scores, torch.full_like(given.scores, 50.0))
    other = LinearChain(changed, given.transitions, given.present)
    torch.testing.assert_close(other.log_partition(), given.log_partition())
    assert torch.equal(other.best()[given.present], given.best()[given.present])


def test_two_thousand_slots_in_single_precision() -> None:
    scores = 20 * torch.randn(1, 2000, 30, dtype=torch.float)
    present = torch.ones(1, 2000, dtype=torch.bool)
    given = LinearChain(scores, 5 * torch.randn(30, 30, dtype=torch.float), present)
    precise = LinearChain(scores.double(), given.transitions.double(), present)
    torch.testing.assert_close(given.log_partition().double(), precise.log_partition(), rtol=1e-5, atol=0.0)
    torch.testing.assert_close(given.marginals().sum(-1), torch.ones(1, 2000), check_dtype=False)
