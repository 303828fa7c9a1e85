"""Dynamic programs of one's own, against enumeration."""

import itertools
import math
import random
import re
from collections import Counter
from collections.abc import Callable
from functools import partial

import pytest
import torch
from brute_force import chi_square_is_plausible
from solving import random_heads
from torch import Tensor

from pyropunct.inference.circuit.recorder import DynamicProgram, Recorder, Vector

CLASSES = 3


def tree_of_classes(heads: list[int]) -> DynamicProgram:
    """Words have hidden classes: given are p(class of the root) and p(class | class of the head)."""
    recorder = Recorder(CLASSES + CLASSES**2)
    inside = {}
    for word in sorted(range(len(heads)), key=lambda word: -depth(heads, word)):
        vector = recorder.weights(word, range(word * CLASSES, (word + 1) * CLASSES))
        for child in (child for child, head in enumerate(heads) if head == word + 1):
            vector = recorder.times(vector, recorder.dense(CLASSES, inside[child], CLASSES))
        inside[word] = vector
    recorder.add_result(recorder.times(recorder.given(0, CLASSES), inside[heads.index(0)]))
    return recorder.program()


def depth(heads: list[int], word: int) -> int:
    return 0 if heads[word] == 0 else 1 + depth(heads, heads[word] - 1)


def chain(words: int) -> DynamicProgram:
    """A hidden Markov model, with rows in place of columns; its last classes are added up."""
    recorder = Recorder(CLASSES + CLASSES**2)
    vector = recorder.weighed(0, range(CLASSES), recorder.given(0, CLASSES))
    for word in range(1, words):
        step = recorder.transposed(CLASSES, vector, CLASSES)
        vector = recorder.weighed(word, range(word * CLASSES, (word + 1) * CLASSES), step)
    recorder.add_result(vector)
    return recorder.program()


def enumerated(heads: list[int], given: Tensor, scores: Tensor) -> dict[tuple[int, ...], Tensor]:
    """The weight of each choice of classes."""
    first, table = given[:CLASSES], given[CLASSES:].reshape(CLASSES, CLASSES)
    weights = {}
    for classes in itertools.product(range(CLASSES), repeat=len(heads)):
        weight = scores[torch.arange(len(heads)) * CLASSES + torch.tensor(classes)].sum().exp()
        for own, head in zip(classes, heads, strict=True):
            weight = weight * (table[classes[head - 1], own] if head else first[own])
        weights[classes] = weight
    return weights


def numbers(words: int, seed: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    given = torch.rand(CLASSES + CLASSES**2, generator=generator, dtype=torch.double)
    scores = torch.randn(words * CLASSES, generator=generator, dtype=torch.double)
    return given.requires_grad_(), scores.requires_grad_()


@pytest.mark.parametrize("seed", range(8))
def test_hidden_classes_of_a_tree(seed: int) -> None:
    heads = random_heads(1 + seed % 5, random.Random(seed))
    program, (given, scores) = tree_of_classes(heads), numbers(len(heads), seed)
    weights = enumerated(heads, given, scores)
    total, (found,) = torch.stack(list(weights.values())).sum().log(), program.log_totals(given, scores)
    torch.testing.assert_close(found, total, rtol=1e-12, atol=0)
    ours, theirs = (torch.autograd.grad(value, [given, scores]) for value in (found, total))
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-14)
    first = torch.arange(len(heads)) * CLASSES
    best = max(weights, key=lambda classes: float(weights[classes].detach()))
    assert (program.best(given, scores) - first).tolist() == list(best)
    drawn = program.draws(given, scores, 4000, torch.Generator().manual_seed(seed)) - first
    counts = Counter(map(tuple, drawn.tolist()))
    chances = [float((weight / total.exp()).detach()) for weight in weights.values()]
    assert chi_square_is_plausible([counts[classes] for classes in weights], chances, 4000)


def test_a_long_chain_does_not_underflow() -> None:
    words = 3000
    given, scores = numbers(words, 0)
    total = chain(words).log_totals(given, scores - 10)
    expected = scores[:CLASSES] - 10 + given[:CLASSES].log()
    table = given[CLASSES:].reshape(CLASSES, CLASSES).log()
    for word in range(1, words):
        own = scores[word * CLASSES : (word + 1) * CLASSES] - 10
        expected = torch.logsumexp(expected[:, None] + table, 0) + own
    wanted = torch.logsumexp(expected, 0)
    assert wanted < -20_000
    torch.testing.assert_close(total[0], wanted, rtol=1e-12, atol=0)
    ours, theirs = (torch.autograd.grad(value, [given, scores]) for value in (total[0], wanted))
    torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-12)


def test_an_impossible_result_has_no_slope() -> None:
    program, (given, scores) = chain(2), numbers(2, 0)
    total = program.log_totals(torch.zeros_like(given).requires_grad_(), scores)
    assert total.item() == -math.inf
    assert not torch.autograd.grad(total, scores)[0].any()
    with pytest.raises(ValueError, match="result 0 is 0, so it has no derivation"):
        program.best(torch.zeros(len(given)), scores)


@pytest.mark.parametrize("step", [-10.0, -25.0, -1000.0, 800.0])
def test_a_class_that_dies_out_at_the_end(step: float) -> None:
    """All but the last word prefer the class that the last word excludes, and no class ever changes."""
    words = 30
    given = torch.tensor([0.5, 0.5, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1], dtype=torch.double)
    scores = torch.zeros(words, CLASSES, dtype=torch.double)
    scores[:, 1], scores[-1, 0] = step, -math.inf
    leaf = scores.flatten().requires_grad_()
    total = chain(words).log_totals(given, leaf)
    assert total.item() == pytest.approx(words * step + math.log(0.5))
    (slopes,) = torch.autograd.grad(total, leaf)
    torch.testing.assert_close(slopes.reshape(words, CLASSES), torch.eye(CLASSES)[[1] * words].double())
    for found in (chain(words).best(given, leaf), chain(words).draws(given, leaf, 2)[1]):
        assert (found % CLASSES).tolist() == [1] * words


@pytest.mark.parametrize("far", [0.0, -1e4])
def test_sums_outer_products_and_a_table_used_twice(far: float) -> None:
    """log sum_ij (a_i b_j + b_i a_j) w_ij, for five rows of weights at once."""
    recorder = Recorder(given=0, weights=8)
    one, other = recorder.weights(0, [0, 1]), recorder.weights(1, [1, 2])
    both = recorder.plus(recorder.outer(one, other), recorder.outer(other, one))
    recorder.add_result(recorder.weighed(2, range(3, 7), both))
    program, given = recorder.program(), torch.zeros(0)
    scores = torch.randn((5, 1, 8), generator=torch.Generator().manual_seed(0), dtype=torch.double)
    scores = (scores + far * torch.tensor([0, 1, 0, 0, 0, 1, 0, 0])).requires_grad_()
    a, b = scores[..., :2], scores[..., 1:3]
    products = a[..., :, None] + b[..., None, :], b[..., :, None] + a[..., None, :]
    terms = torch.stack(products, -1) + scores[..., 3:7].reshape(5, 1, 2, 2, 1)
    wanted, found = terms.flatten(-3).logsumexp(-1, keepdim=True), program.log_totals(given, scores)
    torch.testing.assert_close(found, wanted)
    ours, theirs = (torch.autograd.grad(value.square().sum(), scores)[0] for value in (found, wanted))
    torch.testing.assert_close(ours, theirs)
    best = terms.flatten(-3).argmax(-1)
    row, column, turn = best // 4, best // 2 % 2, best % 2
    places = [row.where(turn == 0, column), 1 + column.where(turn == 0, row), 3 + 2 * row + column]
    assert torch.equal(program.best(given, scores), torch.stack(places, -1))
    draws = program.draws(given, scores, 2000, torch.Generator().manual_seed(0))[..., 2]
    chances = terms.flatten(-3).softmax(-1).reshape(5, 1, 4, 2).sum(-1)
    frequencies = (draws[..., None] == torch.arange(3, 7)).double().mean(-2)
    torch.testing.assert_close(frequencies, chances, rtol=0, atol=0.05)


def test_a_slope_beyond_the_range_of_doubles() -> None:
    """The total is within it, but not what a weight of 0 would add."""
    recorder = Recorder(given=2)
    recorder.add_result(recorder.weighed(0, [0, 1], recorder.given(0, 2)))
    scores = torch.tensor([-500.0, -math.inf], dtype=torch.double, requires_grad=True)
    total = recorder.program().log_totals(torch.tensor([1e-60, 1e300], dtype=torch.double), scores)
    assert torch.autograd.grad(total, scores)[0].tolist() == pytest.approx([1, 0])


@pytest.mark.parametrize(("number", "score"), [(6e-309, -700.0), (1.0, 1e12), (1.0, -1e12)])
def test_totals_and_slopes_at_the_border_of_doubles(number: float, score: float) -> None:
    recorder = Recorder(given=1)
    recorder.add_result(recorder.weighed(0, [0], recorder.given(0, 1)))
    leaves = [torch.tensor([value], dtype=torch.double, requires_grad=True) for value in (number, score)]
    total = recorder.program().log_totals(*leaves)
    assert total.item() == pytest.approx(math.log(number) + score, rel=1e-12)
    slopes = torch.autograd.grad(total, leaves)
    assert [slope.item() for slope in slopes] == pytest.approx([1 / number, 1], rel=1e-12)


def test_outer_products_of_different_lengths_are_row_by_row() -> None:
    """What a matrix makes of them tells where each product lies."""
    recorder = Recorder(given=5 + 6)
    products = recorder.outer(recorder.given(0, 2), recorder.given(2, 3))
    recorder.add_result(recorder.dense(5, products, 1))
    numbers = torch.rand(11, dtype=torch.double)
    expected = (torch.outer(numbers[:2], numbers[2:5]).flatten() @ numbers[5:]).log()
    torch.testing.assert_close(recorder.program().log_totals(numbers, torch.zeros(0)), expected[None])


@pytest.mark.parametrize("score", [1e18, -1e18, 2.1e201, -2.1e201])
def test_totals_of_scores_without_fractions(score: float) -> None:
    recorder = Recorder(given=0)
    recorder.add_result(recorder.weights(0, [0]))
    total = recorder.program().log_totals(torch.zeros(0), torch.tensor([score], dtype=torch.double))
    assert total.item() == pytest.approx(score, rel=1e-12)


@pytest.mark.parametrize("score", [0.0, -1000.0])
def test_of_equal_weights_the_first_is_best(score: float) -> None:
    recorder = Recorder(given=0)
    recorder.add_result(recorder.times(recorder.weights(0, [2, 1, 0]), recorder.weights(1, [0, 1, 2])))
    assert recorder.program().best(torch.zeros(0), torch.full((3,), score)).tolist() == [2, 0]


WRONG: dict[str, Callable[[Recorder, Vector], object]] = {
    "lengths differ: 3, 2": lambda some, three: some.times(three, some.given(3, 2)),
    "lengths differ: 3, 3, 2": lambda some, three: some.plus(three, three, some.given(3, 2)),
    "lengths differ: 3, 1": lambda some, three: some.weighed(0, [0], three),
    "a vector of 3 numbers from 3 on, of 5 given numbers": lambda some, _: some.given(3, 3),
    "a vector of 3 numbers from -1 on, of 5 given numbers": lambda some, _: some.given(-1, 3),
    "a vector of 0 numbers from 2 on, of 5 given numbers": lambda some, _: some.given(2, 0),
    "a matrix of 6 numbers from 0 on, of 5 given numbers": lambda some, three: some.dense(0, three, 2),
    "a matrix of 3 numbers from 3 on, of 5 given numbers": lambda some, three: some.transposed(3, three, 1),
    "item 1 looks up place 4 of 4 weights": lambda some, _: some.weights(1, [0, 4]),
    "item -1, place 0: neither may be negative": lambda some, _: some.weights(-1, [0]),
    "item 0, place -1: neither may be negative": lambda some, _: some.weights(0, [-1]),
}
FOREIGN: list[Callable[[Recorder, Vector], object]] = [
    lambda some, other: some.dense(0, other, 1),
    lambda some, other: some.transposed(0, other, 1),
    lambda some, other: some.times(some.given(0, 3), other),
    lambda some, other: some.outer(other, some.given(0, 3)),
    lambda some, other: some.plus(some.given(0, 3), other),
    lambda some, other: some.weighed(0, [0, 1, 2], other),
    lambda some, other: some.add_result(other),
]


@pytest.mark.parametrize("message", WRONG)
def test_steps_that_do_not_fit_are_refused(message: str) -> None:
    recorder = Recorder(given=5, weights=4)
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        WRONG[message](recorder, recorder.given(0, 3))


@pytest.mark.parametrize(
    ("sizes", "what"), [({"given": -3}, "-3 given numbers"), ({"given": 2, "weights": -1}, "-1 weights")]
)
def test_negative_sizes_are_refused(sizes: dict[str, int], what: str) -> None:
    with pytest.raises(ValueError, match=f"^a Recorder of {what}: there may be none, but not fewer$"):
        Recorder(**sizes)


@pytest.mark.parametrize("step", FOREIGN)
def test_vectors_of_another_recorder_are_refused(step: Callable[[Recorder, Vector], object]) -> None:
    with pytest.raises(
        ValueError, match=r"^a vector belongs to another Recorder: record each program with one$"
    ):
        step(Recorder(given=5), Recorder(given=5).given(0, 3))


@pytest.mark.parametrize(
    ("given", "scores", "message"),
    [
        ([1.0] * 11, [0.0] * 6, "given numbers: expected (..., 12), actual (11,)"),
        ([1.0] * 13, [0.0] * 6, "given numbers: expected (..., 12), actual (13,)"),
        ([1.0] * 12, [0.0] * 5, "log weights: expected (..., 6), actual (5,)"),
        ([1.0] * 12, [0.0] * 7, "log weights: expected (..., 6), actual (7,)"),
        ([1.0] * 12, 0.0, "log weights: expected (..., 6), actual ()"),
        ([-1.0] * 12, [0.0] * 6, "given numbers: one is negative; they are not logarithms"),
        ([math.inf] * 12, [0.0] * 6, "given numbers: one is infinite or NaN"),
        ([1.0] * 12, [math.nan] * 6, "log weights: one is infinite or NaN"),
        ([1.0] * 12, [math.inf] * 6, "log weights: one is infinite or NaN"),
    ],
)
def test_numbers_are_checked(given: list[float], scores: list[float], message: str) -> None:
    program = chain(2)
    for ask in (program.log_totals, program.best, partial(program.draws, draws=1)):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            ask(torch.tensor(given), torch.tensor(scores))


def test_second_derivatives_are_refused() -> None:
    given, scores = numbers(2, 0)
    with pytest.raises(NotImplementedError, match="no second derivatives"):
        torch.autograd.grad(chain(2).log_totals(given, scores), scores, create_graph=True)
