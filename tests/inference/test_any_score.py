"""Scores whose exponentials are too small or too large for doubles, against enumeration in log space."""

import math
import random
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import pyro
import pytest
import torch
from brute_force import sliding_window
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import (
    Case,
    edits_of,
    explanations_of,
    inventory,
    padded,
    problem_of,
    random_case,
    tree_batch,
    window,
)
from pyro.infer import SVI, Trace_ELBO
from pyro.infer.autoguide import AutoDelta
from solving import by_tensors, exact_problem, random_heads
from torch import Tensor

from pyropunct.inference.circuit.program import Program
from pyropunct.inference.circuit.range import clear_flags, has_left_range
from pyropunct.inference.forest import forest_of
from pyropunct.inference.inside import (
    best_derivation,
    expected_cost,
    log_evidence,
    posterior_draws,
    posterior_pairs,
)
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.machines.evidence import exactly
from pyropunct.inference.problem import Problem
from pyropunct.inference.pyro.collapse import collapse_trees
from pyropunct.models.attach.attach_model import PairFrequencies
from pyropunct.models.channel.noisy_channel import Identity
from pyropunct.models.channel.window import SlidingWindow
from pyropunct.models.story import Story

MARK = Inventory(2, [[((), ()), ((), (1,))]])
"""A word has a mark on its right, or nothing."""

SOLVERS = pytest.mark.parametrize("solving", [nullcontext, by_tensors])
Solving = Callable[[], AbstractContextManager[None]]


def marks_at_the_end(words: int, marks: int, table: Tensor) -> Problem:
    """A chain whose words all end in the last slot, which shows some marks."""
    channel = Identity(2)
    automata = channel.transducer.automata([exactly(()), exactly((1,) * marks)], channel.probabilities())
    forest, slots = forest_of([[*range(words)]]), torch.tensor([0] * words + [1])
    return Problem(forest, MARK, torch.zeros(words, dtype=torch.long), table.repeat(words), automata, slots)


@SOLVERS
@pytest.mark.parametrize("score", [-1.0, -100.0, -744.0, -746.0, -1e9, 800.0])
@pytest.mark.parametrize(("words", "marks"), [(2, 1), (4, 2), (40, 20)])
def test_words_that_compete_for_marks(solving: Solving, score: float, words: int, marks: int) -> None:
    """The words that have the marks are as probable as any others."""
    table = torch.tensor([0.0, score], dtype=torch.double, requires_grad=True)
    problem = marks_at_the_end(words, marks, table)
    with solving():
        total, cost = expected_cost(problem, torch.tensor([0.0, 1.0]).repeat(words))
        draws = posterior_draws(problem, 300, torch.Generator().manual_seed(0))
        best = best_derivation(problem)
        posterior = posterior_pairs(problem)
    assert total.item() == pytest.approx(marks * score + math.log(math.comb(words, marks)), rel=1e-13)
    assert cost.item() == pytest.approx(marks)
    assert posterior[1::2].tolist() == pytest.approx([marks / words] * words)
    assert torch.autograd.grad(total, table)[0].tolist() == pytest.approx([words - marks, marks])
    assert best.sum() == marks
    assert (draws.sum(1) == marks).all()
    assert draws.double().mean(0).tolist() == pytest.approx([marks / words] * words, abs=0.15)


@pytest.mark.parametrize(("words", "marks", "score"), [(60, 30, -30.0), (80, 40, -20.0), (100, 80, -10.0)])
def test_scores_that_underflow_together_only(words: int, marks: int, score: float) -> None:
    problem = marks_at_the_end(words, marks, torch.tensor([0.0, score], dtype=torch.double))
    ways = math.lgamma(words + 1) - math.lgamma(marks + 1) - math.lgamma(words - marks + 1)
    assert log_evidence(problem).item() == pytest.approx(marks * score + ways, rel=1e-13)


def enumerated(case: Case, scores: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The log weight of each explanation, that of its best edits alone, and its choices."""
    ones = case._replace(chances=[[1.0] * len(some) for some in case.pairs])
    channel = window("left")
    found = explanations_of(ones, sliding_window(edits_of(channel), "left"), inventory())
    choices = torch.tensor([one.choices for one in found])
    start = torch.tensor([0, *map(len, case.pairs)]).cumsum(0)[:-1]
    edits = torch.tensor([[one.weight, one.best] for one in found]).log()
    weights, best = (edits + scores[start + choices].sum(-1)[:, None]).unbind(1)
    return weights, best, choices


@SOLVERS
@given(st.data())
@settings(max_examples=60)
def test_mixed_scores(solving: Solving, data: st.DataObject) -> None:
    """Values, posteriors, their derivatives, expectations, best derivations and draws."""
    seed = data.draw(st.integers(0, 10**6))
    heads = random_heads(data.draw(st.integers(1, 4)), random.Random(seed))
    case = random_case(heads, window("left"), inventory(), seed)
    far = st.sampled_from([-1e4, -800.0, -500.0, -300.0, -30.0, 0.0, 300.0, 800.0, -math.inf])
    own = [data.draw(far) + 0.1 * place for place in range(sum(map(len, case.pairs)))]
    scores = torch.tensor(own, dtype=torch.double, requires_grad=True)
    problem = replace(problem_of([case], window("left"), inventory()), log_pairs=scores)
    weights, of_best, choices = enumerated(case, scores)
    total, costs = weights.logsumexp(0), torch.randn(len(own), dtype=torch.double)
    with solving():
        found, expectation = expected_cost(problem, costs)
        draws, best = posterior_draws(problem, 20), best_derivation(problem)
        if total == -math.inf:
            assert found.item() == -math.inf
            assert (draws == -1).all()
            assert (best == -1).all()
            return
        evidence = log_evidence(problem)[0]
        slopes = torch.autograd.grad(evidence, scores, create_graph=True)[0]
        curvature = torch.autograd.grad((slopes * costs).sum(), scores)[0]
    torch.testing.assert_close(found[0], total, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(evidence, total, rtol=1e-12, atol=1e-12)
    posterior = weights.detach().softmax(0)
    starts = torch.tensor([0, *map(len, case.pairs)]).cumsum(0)[:-1]
    uses = torch.nn.functional.one_hot(starts + choices, len(own)).sum(1).double()
    mean = posterior @ uses
    torch.testing.assert_close(slopes, mean, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(expectation[0], mean @ costs, rtol=1e-9, atol=1e-9)
    covariance = (uses * posterior[:, None]).T @ uses - mean[:, None] * mean
    torch.testing.assert_close(curvature, covariance @ costs, rtol=1e-9, atol=1e-9)
    possible = {tuple(some) for some, chance in zip(choices.tolist(), posterior, strict=True) if chance > 0}
    assert set(map(tuple, draws.tolist())) <= possible
    (chosen,) = (choices == best).all(1).nonzero()[:, 0]
    assert of_best[chosen].item() == pytest.approx(of_best.max().item(), rel=1e-12)


def test_only_trees_that_leave_the_range_are_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither far scores of other trees nor a long sentence of usual scores."""
    again: list[int] = []
    of_range = Program.wide_values

    def counted(self: Program, *columns: object) -> object:
        again.append(len(self.results))
        return of_range(self, *columns)  # type: ignore[arg-type]

    monkeypatch.setattr(Program, "wide_values", counted)
    problem, _ = exact_problem("left", (0, None))
    posterior = posterior_pairs(problem)
    assert not again
    start, scores = problem.choice_start[problem.forest.node_start], problem.log_pairs.clone()
    for tree in (5, 8, 9):
        scores[start[tree] : start[tree + 1]] -= 1000
    torch.testing.assert_close(posterior_pairs(replace(problem, log_pairs=scores)), posterior)
    assert again == [1, 2]


def test_flags_tell_of_numbers_that_left_the_range() -> None:
    for number, left in ((1e-200, True), (1e200, True), (1e-150, False), (1 / 3, False), (0.0, False)):
        clear_flags()
        assert number * number >= 0
        assert has_left_range() == left
    clear_flags()
    assert not has_left_range()


@SOLVERS
@pytest.mark.parametrize("score", [0.0, -400.0, -1000.0])
def test_of_equal_derivations_the_first_is_best(solving: Solving, score: float) -> None:
    """The last word of the chain, which is the first to be attached, has the mark."""
    with solving():
        problem = marks_at_the_end(4, 1, torch.tensor([0.0, score]).double())
        assert best_derivation(problem).tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("score", [-720.0, -746.0, -1e5])
def test_a_step_of_svi_from_far_scores(score: float) -> None:
    """Chains of two words with one, two and one mark at their ends, and a standard normal prior."""
    story, start = Story(MARK, PairFrequencies(MARK), Identity(2)), torch.tensor([0.0, score])
    trees = tree_batch([[0, 1]] * 3, [0] * 6)
    surface = padded([string for marks in (1, 2, 1) for string in ((), (), (1,) * marks)])
    guide = AutoDelta(collapse_trees(story), init_loc_fn=lambda site: start.clone())
    svi = SVI(collapse_trees(story), guide, pyro.optim.SGD({"lr": 0.01}), Trace_ELBO())
    loss = svi.step(trees, surface)
    prior = torch.distributions.Normal(0, 1).log_prob(start).sum().item()
    assert -loss == pytest.approx(4 * score + 2 * math.log(2) + prior, rel=1e-12)
    (parameter,) = guide.parameters()
    assert parameter.tolist() == pytest.approx([-0.04, score + 0.01 * (4 - score)])


class SoftmaxWindow(SlidingWindow):
    """A window that computes its probabilities in the precision of the logits."""

    def edit_table(self) -> Tensor:
        return self.edit_logits.softmax(-1)


def evidence_and_slopes(
    kind: type[SlidingWindow], table: list[float], edits: list[float], marks: int, dtype: torch.dtype
) -> tuple[float, list[float]]:
    """log p(x | T) of a chain of two words, and its slopes in the logits of the edits of two marks."""
    story = Story(MARK, PairFrequencies(MARK), kind(2))
    story.attach.table, logits = torch.tensor(table, dtype=dtype), torch.zeros(2, 2, 4, dtype=dtype)
    logits[1, 1] = torch.tensor(edits)
    story.channel.edit_logits = logits.requires_grad_()
    told = collapse_trees(story)(tree_batch([[0, 1]], [0, 0]), padded([(), (), (1,) * marks]))
    (total,) = told.posterior.log_evidence
    return total.item(), torch.autograd.grad(total, logits)[0][1, 1].tolist()


@SOLVERS
@pytest.mark.parametrize("dtype", [torch.float, torch.double])
@pytest.mark.parametrize("kind", [SlidingWindow, SoftmaxWindow])
@pytest.mark.parametrize("score", [-60.0, -95.0, -800.0, -1e5])
def test_slopes_of_forbidden_edits_are_0(
    solving: Solving, kind: type[SlidingWindow], dtype: torch.dtype, score: float
) -> None:
    """Both words would sprout the mark that the page shows once, but neither mark may absorb the other."""
    with solving():
        edits = [0.0, -math.inf, -math.inf, 0.0]
        total, slopes = evidence_and_slopes(kind, [score, 0.0], edits, 1, dtype)
    assert total == pytest.approx(score + math.log(2))
    assert slopes == [0.0] * 4


@SOLVERS
@pytest.mark.parametrize("dtype", [torch.float, torch.double])
@pytest.mark.parametrize("logit", [-60.0, -95.0, -300.0, -690.0])
def test_a_page_that_needs_an_improbable_edit(solving: Solving, dtype: torch.dtype, logit: float) -> None:
    with solving():
        edits = [logit, 0.0, 0.0, -math.inf]
        total, slopes = evidence_and_slopes(SlidingWindow, [0.0, 0.0], edits, 2, dtype)
    assert total == pytest.approx(logit - 3 * math.log(2))
    assert slopes == pytest.approx([1.0, -0.5, -0.5, 0.0])
