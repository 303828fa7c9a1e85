"""Slots where a clause begins: a token that the tree gives stands at the left of u, and on the page."""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from brute_force import String, chi_square_is_plausible, slides, sliding_window, underlying_strings
from problems import PAIRS, edits_of, padded, tree_batch
from pyro import poutine
from torch import Tensor

from pyropunct.inference.conditioning import Conditioned
from pyropunct.inference.inside import log_evidence
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.machines.evidence import (
    SlotEvidence,
    any_over,
    evidence_of,
    exactly,
    one_of,
    with_first,
)
from pyropunct.inference.pyro.collapse import collapse_trees, tree_problem
from pyropunct.inference.pyro.decode import infer_trees
from pyropunct.inference.pyro.posterior import problem_of
from pyropunct.inference.story_inputs import OPENS
from pyropunct.inference.views import Views
from pyropunct.inference.walk import Walk
from pyropunct.models.attach.attach_model import PairFrequencies
from pyropunct.models.channel.slip import Slip, TokenBigrams
from pyropunct.models.channel.window import SlidingWindow
from pyropunct.models.story import Story
from pyropunct.models.trees import TreeBatch

START, CLAUSE = 0, 3
DIRECTIONS = ("left", "right")
HEADS, RELATIONS, OPENS_CLAUSE = [3, 3, 0], [1, 0, 2], [1, 0, 0]
INSIDE = 0.7
"""What each mark inside a constituent adds to the scores of its pairs other than the first one."""


class Looking(PairFrequencies):
    """An attach model that counts the marks inside."""

    reads_surface = True

    def scores(self, trees: Any, views: Views) -> Tensor:
        """A table of relations, and the marks inside."""
        first = torch.zeros(len(self.table))
        first[self.inventory.pair_start[:-1]] = 1
        return self.table + INSIDE * views.sizes[:, None] * (1 - first)


def story(direction: str, attach: type[PairFrequencies] = PairFrequencies) -> Story:
    inventory = Inventory(4, PAIRS, start_token=START, clause_token=CLAUSE)
    told = Story(inventory, attach(inventory), SlidingWindow(4, direction))
    told.attach.table = torch.linspace(-1, 1, len(inventory.rows))
    told.channel.edit_logits = torch.randn(4, 4, 4, generator=torch.Generator().manual_seed(3))
    return told


def trees(
    heads: Sequence[int] = HEADS,
    relations: Sequence[int] = RELATIONS,
    opens: Sequence[int] = OPENS_CLAUSE,
    copies: int = 1,
) -> TreeBatch:
    batch = tree_batch([heads] * copies, [*relations] * copies)
    return replace(batch, more={OPENS: torch.tensor([*opens] * copies)})


def underlying(heads: Sequence[int], opens: Sequence[int], pairs: Sequence[Any]) -> list[String]:
    first, *others = underlying_strings(heads, pairs, (START,), ())
    return [first, *((CLAUSE,) * begins + string for begins, string in zip(opens, others, strict=True))]


def joint(told: Story, surface: Sequence[String]) -> float:
    """p(x | T) of the first tree, by all choices of pairs; ⟨ is not counted among the marks inside."""
    inside = sum(token != CLAUSE for string in surface[1:3] for token in string)
    marks_inside = [0, 0, inside if isinstance(told.attach, Looking) else 0]
    chances = []
    for relation, marks in zip(RELATIONS, marks_inside, strict=True):
        first, last = told.inventory.pair_start[relation : relation + 2]
        scores = told.attach.table[first:last].clone()
        scores[1:] += INSIDE * marks
        chances.append(scores.softmax(-1).tolist())
    rewritings = sliding_window(edits_of(told.channel), told.channel.direction)
    total = 0.0
    for chosen in itertools.product(*(range(len(some)) for some in chances)):
        pairs = [PAIRS[relation][choice] for relation, choice in zip(RELATIONS, chosen, strict=True)]
        strings = underlying(HEADS, OPENS_CLAUSE, pairs)
        weight = math.prod(some[choice] for some, choice in zip(chances, chosen, strict=True))
        total += weight * math.prod(sum(rewritings(u, x)) for u, x in zip(strings, surface, strict=True))
    return total


def log_prob(told: Story, batch: TreeBatch, surface: Tensor) -> Tensor:
    """log p(x | T) of any pages, also of those that no text has, since they lack the token."""
    given = told.inputs(batch)
    return log_evidence(problem_of(given, evidence_of(surface), given.log_pairs(given.views(surface))))


def drawn(told: Story, draws: int) -> list[tuple[String, ...]]:
    walk = Walk(told.inputs(trees()), [np.random.default_rng(0)])
    pages = walk.surfaces(walk.draw(np.array([draws])))
    return [tuple(tuple(t for t in row if t >= 0) for row in one) for one in pages.tolist()]


def has_clause(page: Sequence[String]) -> bool:
    return page[1][:1] == (CLAUSE,)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("attach", [PairFrequencies, Looking])
def test_the_sum_is_that_of_enumeration(direction: str, attach: type[PairFrequencies]) -> None:
    """Also the probability of the best T' and of a draw; and of pages without the token."""
    told = story(direction, attach)
    for surface in {*drawn(told, 40)}:
        page = padded(surface)
        assert float(log_prob(told, trees(), page).exp()) == pytest.approx(joint(told, surface), rel=1e-9)
        if not has_clause(surface):
            continue
        assert float(log_evidence(tree_problem(told, trees(), page)).exp()) == pytest.approx(
            joint(told, surface), rel=1e-9
        )
        for temperature in (0, 1):
            trace = poutine.trace(infer_trees(told, temperature)).get_trace(trees(), page)
            again = poutine.condition(told, {"pairs": trace.nodes["pairs"]["value"]})
            expected = poutine.trace(again).get_trace(trees(), page).log_prob_sum()
            torch.testing.assert_close(trace.log_prob_sum(), expected)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_all_pages_add_up_to_one(direction: str) -> None:
    """Those that keep the token, and those in which the channel has deleted or moved it."""
    told, heads, relations, opens = story(direction), [2, 0], [1, 1], [1, 0]
    phi, slots = edits_of(told.channel), [set[String](), set[String](), set[String]()]
    for pairs in itertools.product(*(PAIRS[relation] for relation in relations)):
        for slot, string in zip(slots, underlying(heads, opens, pairs), strict=True):
            slot |= {surface for surface, _ in slides(string, phi, direction)}
    pages = list(itertools.product(*map(sorted, slots)))
    batch = trees(heads, relations, opens, len(pages))
    chances = log_prob(told, batch, padded([string for page in pages for string in page])).exp()
    kept = torch.tensor([has_clause(page) for page in pages])
    assert float(chances.sum()) == pytest.approx(1, rel=1e-9)
    assert 0.05 < float(chances[kept].sum()) < 0.95


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_draws(direction: str) -> None:
    told, draws = story(direction, Looking), 3000
    counts = Counter(drawn(told, draws))
    common = [page for page, count in counts.items() if count > 20]
    chances, observed = [joint(told, page) for page in common], [counts[page] for page in common]
    assert chi_square_is_plausible([*observed, draws - sum(observed)], [*chances, 1 - sum(chances)], draws)
    assert {has_clause(page) for page in common} == {True, False}


def test_a_batch_equals_its_trees() -> None:
    """The same string is evidence where a clause begins, and elsewhere; the channel may depend on trees."""
    told, pages = story("left"), [[(START,), (CLAUSE, 2), (2,), (2,)], [(START,), (2,), (CLAUSE, 2), ()]]
    opens = [[1, 0, 0], [0, 1, 0]]
    each = [log_prob(told, trees(opens=own), padded(page)) for own, page in zip(opens, pages, strict=True)]
    both = replace(tree_batch([HEADS] * 2, RELATIONS * 2), more={OPENS: torch.tensor(opens).flatten()})
    surface = padded([string for page in pages for string in page])
    torch.testing.assert_close(log_prob(told, both, surface), torch.cat(each))
    moved = padded([(START,), (2,), (2,), (2,)])
    expected = joint(told, [(START,), (2,), (2,), (2,)])
    assert float(log_prob(told, trees(), moved).exp()) == pytest.approx(expected, rel=1e-9)


def test_views_leave_the_token_out() -> None:
    page = padded([(START,), (CLAUSE, 2), (1,), ()])
    views = story("left").inputs(trees()).views(page)
    assert views.sizes.tolist() == [0, 0, 2]
    assert views.token.tolist() == [2, 1]
    assert views.slot.tolist() == [1, 2]


@pytest.mark.parametrize("dtype", [torch.float, torch.double])
@pytest.mark.parametrize("marks", [18, 400])
def test_long_strings(dtype: torch.dtype, marks: int) -> None:
    """A slip has written them; weights have gradients, in single precision too."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        inventory = Inventory(4, PAIRS, START, clause_token=CLAUSE)
        bigrams = TokenBigrams([(START,), (CLAUSE,), (1,)], 4, START, CLAUSE)
        told = Story(inventory, PairFrequencies(inventory), Slip(SlidingWindow(4), bigrams))
        told.attach.table = torch.zeros(len(inventory.rows))
        leaves = torch.zeros(4, 4, 4, requires_grad=True), torch.tensor(-7.0, requires_grad=True)
        told.channel.channel.edit_logits, told.channel.slip_logit = leaves
        page = padded([(START,), (CLAUSE, *[1] * marks), (), ()])
        found = log_evidence(tree_problem(told, trees(), page))
        gradients = torch.autograd.grad(found.sum(), leaves)
    finally:
        torch.set_default_dtype(before)
    table = bigrams.probabilities.log()
    string = float(table[CLAUSE, 1] + (marks - 1) * table[1, 1] + table[1, 4])
    assert float(found.detach()) == pytest.approx(string - 7, abs=10)
    assert all(bool(gradient.isfinite().all()) for gradient in gradients)
    assert float(gradients[1]) > 0.9


@pytest.mark.parametrize("dtype", [torch.float, torch.double])
def test_improbable_marks_have_gradients(dtype: torch.dtype) -> None:
    inventory = Inventory(4, PAIRS, START, clause_token=CLAUSE)
    told = Story(inventory, PairFrequencies(inventory), SlidingWindow(4))
    told.attach.table = torch.zeros(len(inventory.rows), dtype=dtype)
    told.attach.table[inventory.pair_start[:-1]] = 110.0 if dtype == torch.float else 800.0
    told.channel.edit_logits = torch.zeros(4, 4, 4, dtype=dtype, requires_grad=True)
    found = log_evidence(tree_problem(told, trees(), padded([(START,), (CLAUSE, 2), (), ()])))
    [gradient] = torch.autograd.grad(found.sum(), [told.channel.edit_logits])
    assert found.isfinite().all()
    assert gradient.isfinite().all()


def test_evidence_behind_a_token() -> None:
    assert with_first(CLAUSE, exactly((1, 2))) == exactly((CLAUSE, 1, 2))
    weighted = with_first(CLAUSE, one_of([((1,), 0.5), ((2, 2), 0.25)]))
    weights = {string: weighted.weight(string) for string in [(CLAUSE, 1), (CLAUSE, 2, 2), (1,), (CLAUSE,)]}
    assert weights == {(CLAUSE, 1): 0.5, (CLAUSE, 2, 2): 0.25, (1,): 0, (CLAUSE,): 0}
    assert with_first(CLAUSE, any_over([1])).is_set


def test_given_evidence() -> None:
    """Importance sampling puts the token where each tree has it; so does the decoded site."""
    told, others = story("right"), [0, 1, 0]
    known = [any_over([START]), any_over([1]), any_over([1]), any_over([1])]

    def evidence(opens: Sequence[int], slots: Sequence[Any] = known) -> SlotEvidence:
        begins = [0, *opens]
        return SlotEvidence(
            with_first(CLAUSE, slot) if one else slot for one, slot in zip(begins, slots, strict=True)
        )

    def total(opens: Sequence[int], slots: Sequence[Any] = known) -> float:
        batch, observed = trees(opens=opens), evidence(opens, slots)
        return float(collapse_trees(told)(batch, observed).posterior.log_evidence.exp())

    both = replace(
        tree_batch([HEADS] * 2, RELATIONS * 2), more={OPENS: torch.tensor([*OPENS_CLAUSE, *others])}
    )
    posterior = Conditioned(told.inputs, both, [0.75, 0.25], known, np.random.default_rng(0))
    drawn = posterior.draw(2000)
    chances = np.array([0.75 * total(OPENS_CLAUSE), 0.25 * total(others)])
    assert np.exp(drawn.log_weight).mean() == pytest.approx(chances.sum(), rel=1e-9)
    assert np.bincount(drawn.tree) / 2000 == pytest.approx(chances / chances.sum(), abs=1e-3)
    of_first = drawn.numbers[drawn.tree == 0]
    counts = Counter(posterior.strings.tokens(number) for number in of_first[:, 1].tolist())
    assert all(string[:1] == (CLAUSE,) and CLAUSE not in string[1:] for string in counts)
    string, count = counts.most_common(1)[0]
    chance = total(OPENS_CLAUSE, [known[0], exactly(string[1:]), *known[2:]]) / total(OPENS_CLAUSE)
    size = len(of_first)
    assert chi_square_is_plausible([count, size - count], [chance, 1 - chance], size)
    completed = infer_trees(told)(trees(), evidence(OPENS_CLAUSE)).surface
    assert (completed[:, 0] == CLAUSE).tolist() == [False, True, False, False]
