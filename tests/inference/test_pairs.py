import itertools
import math

import pytest
import torch

from pyropunct.inference.pairs import log_probabilities, of_choices

SIZES = [3, 1, 4]
START = torch.tensor([0, 3, 4, 8])


def log_prob(logits: torch.Tensor, choices: torch.Tensor) -> torch.Tensor:
    return of_choices(log_probabilities(logits, START), choices, START)


def test_probabilities_are_those_of_each_set() -> None:
    logits = 3 * torch.randn(2, 8)
    for choices in itertools.product(*(range(size) for size in SIZES)):
        found = log_prob(logits, torch.tensor(choices))
        for row in range(2):
            for node, choice in enumerate(choices):
                weights = [math.exp(x) for x in logits[row, START[node] : START[node + 1]].tolist()]
                assert float(found[row, node]) == pytest.approx(
                    math.log(weights[choice] / sum(weights)), abs=1e-13
                )


def test_great_and_impossible_logits() -> None:
    logits = torch.tensor([1000.0, 1000, -torch.inf, 5, -3000, -3000, -3000, -3001])
    logits.requires_grad_()
    found = log_prob(logits, torch.tensor([1, 0, 2]))
    total = 3 + math.exp(-1)
    assert found.tolist() == pytest.approx([-math.log(2), 0, -math.log(total)], abs=1e-13)
    assert log_prob(logits, torch.tensor([2, 0, 0]))[0] == -torch.inf
    (gradient,) = torch.autograd.grad(found.sum(), logits)
    assert gradient.tolist() == pytest.approx(
        [-0.5, 0.5, 0, 0, -1 / total, -1 / total, 1 - 1 / total, -math.exp(-1) / total], abs=1e-12
    )


def test_values_broadcast() -> None:
    logits = torch.randn(2, 1, 8)
    values = torch.tensor([[0, 0, 1], [2, 0, 3], [1, 0, 0], [1, 0, 2]])
    found = log_prob(logits, values)
    assert found.shape == (2, 4, 3)
    torch.testing.assert_close(found[1], log_prob(logits[1], values), rtol=0, atol=1e-14)


@pytest.mark.parametrize("choices", [[3, 0, 0], [0, -1, 0], [0, 0, 4]])
def test_choices_outside_of_a_set_are_refused(choices: list[int]) -> None:
    """They would read the numbers of the next node."""
    with pytest.raises(ValueError, match="outside of the pairs that its node may sprout"):
        log_prob(torch.zeros(8), torch.tensor(choices))
