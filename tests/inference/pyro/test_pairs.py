import itertools
import math

import pytest
import torch
from brute_force import chi_square_is_plausible

from pyropunct.inference.pyro.pairs import PunctemePairs

SIZES = [3, 1, 4]
START = torch.tensor([0, 3, 4, 8])


def test_probabilities_are_those_of_each_set() -> None:
    logits = 3 * torch.randn(2, 8)
    pairs = PunctemePairs(logits, START)
    assert (pairs.batch_shape, pairs.event_shape) == ((2, 3), ())
    for choices in itertools.product(*(range(size) for size in SIZES)):
        found = pairs.log_prob(torch.tensor(choices))
        for row in range(2):
            for node, choice in enumerate(choices):
                weights = [math.exp(x) for x in logits[row, START[node] : START[node + 1]].tolist()]
                assert float(found[row, node]) == pytest.approx(
                    math.log(weights[choice] / sum(weights)), abs=1e-13
                )


def test_great_and_impossible_logits() -> None:
    logits = torch.tensor([1000.0, 1000, -torch.inf, 5, -3000, -3000, -3000, -3001])
    logits.requires_grad_()
    pairs = PunctemePairs(logits, START)
    found = pairs.log_prob(torch.tensor([1, 0, 2]))
    total = 3 + math.exp(-1)
    assert found.tolist() == pytest.approx([-math.log(2), 0, -math.log(total)], abs=1e-13)
    assert pairs.log_prob(torch.tensor([2, 0, 0]))[0] == -torch.inf
    (gradient,) = torch.autograd.grad(found.sum(), logits)
    assert gradient.tolist() == pytest.approx(
        [-0.5, 0.5, 0, 0, -1 / total, -1 / total, 1 - 1 / total, -math.exp(-1) / total], abs=1e-12
    )


def test_tensor_operations_normalise_alike() -> None:
    logits, flows = 5 * torch.randn(2, 8, requires_grad=True), torch.randn(2, 8)
    pairs = PunctemePairs(logits, START)
    for found in (pairs.logits, pairs._normalised(logits)):
        (gradient,) = torch.autograd.grad(found, logits, flows, retain_graph=True)
        torch.testing.assert_close(found, pairs.logits, rtol=0, atol=1e-13)
        (expected,) = torch.autograd.grad(pairs.logits, logits, flows, retain_graph=True)
        torch.testing.assert_close(gradient, expected, rtol=0, atol=1e-13)


def test_values_broadcast() -> None:
    logits = torch.randn(2, 1, 8)
    pairs = PunctemePairs(logits, START)
    assert pairs.batch_shape == (2, 3)
    values = torch.tensor([[0, 0, 1], [2, 0, 3], [1, 0, 0], [1, 0, 2]]).unsqueeze(-2)
    assert pairs.log_prob(values).shape == (4, 2, 3)
    one = PunctemePairs(logits[1, 0], START)
    torch.testing.assert_close(pairs.log_prob(values)[:, 1], one.log_prob(values[:, 0]), rtol=0, atol=1e-14)


def test_draws() -> None:
    pairs = PunctemePairs(torch.randn(8), START)
    drawn = pairs.sample(torch.Size([5000]))
    assert drawn.shape == (5000, 3)
    for node, size in enumerate(SIZES):
        chances = pairs.logits[START[node] : START[node + 1]].exp().tolist()
        counts = torch.bincount(drawn[:, node], minlength=size).tolist()
        assert len(counts) == size
        assert chi_square_is_plausible(counts, chances, 5000)


def test_draws_of_different_nodes_are_independent() -> None:
    drawn = PunctemePairs(torch.zeros(8), START).sample(torch.Size([6000]))
    counts = torch.bincount(drawn[:, 0] * 4 + drawn[:, 2], minlength=12).tolist()
    assert chi_square_is_plausible(counts, [1 / 12] * 12, 6000)


def test_expansion_repeats_the_choices() -> None:
    pairs = PunctemePairs(torch.randn(8), START)
    assert pairs.expand(torch.Size([3])) is pairs
    wide = pairs.expand(torch.Size([5, 3]))
    assert (wide.batch_shape, wide.sample().shape) == ((5, 3), (5, 3))
    with pytest.raises(NotImplementedError, match=r"3 nodes cannot be expanded to \(3, 5\): .* dim=-1"):
        pairs.expand(torch.Size([3, 5]))
    value = torch.tensor([2, 0, 1])
    torch.testing.assert_close(wide.log_prob(value), pairs.log_prob(value).expand(5, 3), rtol=0, atol=1e-14)


def test_support() -> None:
    same = PunctemePairs(torch.zeros(6), torch.tensor([0, 3, 6]))
    assert same.enumerate_support().tolist() == [[0, 0], [1, 1], [2, 2]]
    assert same.enumerate_support(expand=False).tolist() == [[0], [1], [2]]
    with pytest.raises(NotImplementedError, match="different sizes cannot be enumerated together"):
        PunctemePairs(torch.zeros(8), START).enumerate_support()
