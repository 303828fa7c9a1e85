"""The log-linear model of orders, against enumeration of all orders."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
import torch

from pyropunct.tasks.rephrase.ordering import log_posterior, map_weights, pair_scores
from pyropunct.tasks.rephrase.orders import MOST_DRAWN, NO_ITEM, Nodes, draw_orders, log_prob, nodes_of

KINDS = 12


def made_up_nodes(seed: int, sizes: tuple[int, ...]) -> tuple[Nodes, list[np.ndarray], torch.Tensor]:
    """Nodes of some sizes, their tables of pairs, and random scores."""
    random = np.random.default_rng(seed)
    tables = [random.integers(KINDS, size=(size + 1, size + 1)) for size in sizes]
    return nodes_of(tables), tables, torch.tensor(random.normal(size=(KINDS, 4)))


def score(table: np.ndarray, scores: np.ndarray, order: tuple[int, ...]) -> float:
    """The definition, term by term."""
    edge = len(table) - 1
    total = 0.0
    for place, item in enumerate(order):
        side = int(0 in order[:place])  # item 0 is the head
        total += sum(scores[table[earlier, item], side] for earlier in order[:place])
        total += scores[table[order[place - 1] if place else edge, item], 2 + side]
    return total + float(scores[table[order[-1], edge], 3])


def exact(table: np.ndarray, scores: np.ndarray) -> dict[tuple[int, ...], float]:
    """The probability of each order, by enumeration."""
    orders = list(permutations(range(len(table) - 1)))
    logits = np.array([score(table, scores, order) for order in orders])
    shares = np.exp(logits - logits.max())
    return dict(zip(orders, (shares / shares.sum()).tolist(), strict=True))


def padded(orders: list[tuple[int, ...]]) -> torch.Tensor:
    longest = max(map(len, orders))
    return torch.tensor([[*order, *[NO_ITEM] * (longest - len(order))] for order in orders])


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6])
def test_probabilities(size: int) -> None:
    nodes, (table,), scores = made_up_nodes(size, (size,))
    for order, chance in exact(table, scores.numpy()).items():
        assert float(log_prob(nodes, scores, padded([order])).exp()) == pytest.approx(chance, rel=1e-10)


def test_nodes_of_several_sizes_are_independent() -> None:
    nodes, tables, scores = made_up_nodes(7, (3, 1, 5, 2))
    orders = [tuple(np.random.default_rng(0).permutation(len(table) - 1).tolist()) for table in tables]
    expected = [exact(table, scores.numpy())[order] for table, order in zip(tables, orders, strict=True)]
    found = log_prob(nodes, scores, padded(orders)).exp()
    assert found.tolist() == pytest.approx(expected, rel=1e-10)


def test_gradients_equal_finite_differences() -> None:
    nodes, tables, scores = made_up_nodes(8, (2, 4, 5))
    orders = padded([tuple(reversed(range(len(table) - 1))) for table in tables])
    weights = torch.tensor([1.0, 3.0, 0.5])
    scores.requires_grad_()
    assert torch.autograd.gradcheck(lambda some: (log_prob(nodes, some, orders) * weights).sum(), (scores,))


@pytest.mark.parametrize("scale", [1.0, 400.0])
def test_large_scores_are_no_problem(scale: float) -> None:
    nodes, (table,), scores = made_up_nodes(9, (5,))
    logits = {one: score(table, scores.numpy() * scale, one) for one in permutations(range(5))}
    best = max(logits, key=logits.__getitem__)
    expected = logits[best] - np.logaddexp.reduce(list(logits.values()))
    scaled = (scores * scale).requires_grad_()
    found = log_prob(nodes, scaled, padded([best]))
    assert float(found.detach()) == pytest.approx(expected, abs=1e-9)
    found.sum().backward()
    assert scaled.grad is not None
    assert scaled.grad.isfinite().all()


def test_frequencies_of_draws() -> None:
    _, (table,), scores = made_up_nodes(10, (4,))
    draws = 5000
    nodes = nodes_of([table] * draws)
    found = Counter(map(tuple, draw_orders(nodes, scores.numpy(), np.random.default_rng(0)).tolist()))
    expected = exact(table, scores.numpy())
    assert set(found) <= set(expected)
    statistic = sum((found[one] - draws * p) ** 2 / (draws * p) for one, p in expected.items())
    assert statistic < 49.7  # chi-square with 23 degrees of freedom: p = 0.001


def test_a_node_of_many_items() -> None:
    """Up to a limit, each item comes where it wants to stand, behind all with greater numbers; then not."""
    tables = []
    for size in (2, MOST_DRAWN, MOST_DRAWN + 1):
        table = np.zeros((size + 1, size + 1), np.int64)
        table[np.tril_indices(size, -1)] = 1
        tables.append(table)
    scores = np.array([[0.0, 0, 0, 0], [9.0, 9, 0, 0]])
    drawn = draw_orders(nodes_of(tables), scores, np.random.default_rng(0)).tolist()
    assert drawn[0] == [1, 0] + [NO_ITEM] * (MOST_DRAWN - 1)
    assert drawn[1] == [*reversed(range(MOST_DRAWN)), NO_ITEM]
    assert drawn[2] == list(range(MOST_DRAWN + 1))


def test_scores_of_features() -> None:
    weights = torch.arange(12.0).reshape(2, 6)
    found = pair_scores(weights, torch.tensor([[0, 1], [1, -1], [-1, -1]]))
    left_before, right_before, either_before, left_next, right_next, either_next = (
        0 + 6,
        1 + 7,
        2 + 8,
        12,
        14,
        16,
    )
    assert found[0].tolist() == [
        left_before + either_before,
        right_before + either_before,
        left_next + either_next,
        right_next + either_next,
    ]
    assert found[1].tolist() == [6 + 8, 7 + 8, 9 + 11, 10 + 11]
    assert found[2].tolist() == [0.0] * 4


def test_the_posterior() -> None:
    """It is that of the prior times that of each order as often as it was seen."""
    random = np.random.default_rng(12)
    nodes, tables, _ = made_up_nodes(12, (3, 4))
    features, weights = torch.tensor(random.integers(-1, 5, size=(KINDS, 2))), torch.randn(5, 6)
    orders, counts = padded([(2, 0, 1), (3, 1, 0, 2)]), torch.tensor([2.0, 5.0])
    found = log_posterior(weights, 0.7, nodes, features, orders, counts)
    scores = pair_scores(weights, features).numpy()
    chances = [
        exact(table, scores)[order] for table, order in zip(tables, [(2, 0, 1), (3, 1, 0, 2)], strict=True)
    ]
    prior = torch.distributions.Normal(0.0, 0.7).log_prob(weights).sum()
    expected = prior + 2 * np.log(chances[0]) + 5 * np.log(chances[1])
    assert float(found) == pytest.approx(float(expected))


def test_the_best_weights() -> None:
    """At the maximum of the posterior no gradient is left, and the model has learned the frequencies."""
    nodes = nodes_of([np.array([[0, 1, 2], [3, 0, 4], [5, 6, 0]])] * 2)
    features = torch.arange(7)[:, None]
    orders, counts = padded([(0, 1), (1, 0)]), torch.tensor([30.0, 10.0])
    data = nodes, features, orders, counts
    weights = map_weights(7, 100.0, *data).requires_grad_()
    log_posterior(weights, 100.0, *data).backward()
    assert weights.grad is not None
    assert float(weights.grad.abs().max()) < 1e-3
    learned = log_prob(nodes, pair_scores(weights.detach(), features), orders).exp()
    assert learned.tolist() == pytest.approx([0.75, 0.25], abs=1e-3)
