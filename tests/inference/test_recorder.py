"""Dynamic programs of one's own, against enumeration."""

import itertools
import math
import random
from collections import Counter

import pytest
import torch
from brute_force import chi_square_is_plausible
from solving import random_heads
from torch import Tensor

from pyropunct.inference.circuit.recorder import DynamicProgram, Recorder

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
    assert (program.best(torch.zeros(len(given)), scores) == -1).all()


def test_a_weight_is_looked_up_once() -> None:
    recorder = Recorder(0)
    recorder.add_result(recorder.times(recorder.weights(0, [0, 1]), recorder.weights(1, [1, 2])))
    with pytest.raises(ValueError, match="weight 1 is looked up twice"):
        recorder.program()
