"""Slots where a clause begins: their strings stand behind a token that no page shows."""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from brute_force import String, chi_square_is_plausible, sliding_window, underlying_strings
from problems import PAIRS, edits_of, tree_batch
from pyro import poutine

from pyropunct.inference.given import OPENS
from pyropunct.inference.inside import log_evidence
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.machines.evidence import SlotEvidence, any_over, padded
from pyropunct.inference.pyro.collapse import collapse_trees, tree_problem
from pyropunct.inference.pyro.decode import infer_trees
from pyropunct.inference.walk import Walk
from pyropunct.models.attach.attach_model import PairFrequencies
from pyropunct.models.channel.window import SlidingWindow
from pyropunct.models.conditioning import Conditioned
from pyropunct.models.story import Story

CLAUSE = 3
HEADS, RELATIONS = [3, 3, 0], [1, 0, 2]
OPENS_CLAUSE = [1, 0, 0]


def story() -> Story:
    inventory = Inventory(4, PAIRS, start_token=0, clause_token=CLAUSE)
    told = Story(inventory, PairFrequencies(inventory), SlidingWindow(4, "right"))
    told.attach.table = torch.linspace(-1, 1, len(inventory.rows))
    told.channel.edit_logits = torch.randn(4, 4, 4, generator=torch.Generator().manual_seed(3))
    return told


TREES = replace(tree_batch([HEADS], RELATIONS), more={OPENS: torch.tensor(OPENS_CLAUSE)})


def joint(told: Story, surface: Sequence[String]) -> float:
    """p(x | T), by all choices: the second slot has the token first in u, and anywhere in x, or nowhere."""
    inventory, log_pairs = (
        told.inventory,
        told.given(TREES).log_pairs(told.given(TREES).views(padded(surface))),
    )
    chances = log_pairs.exp().split(told.given(TREES).start.diff().tolist())
    rewritings = sliding_window(edits_of(told.channel), "right")
    total = 0.0
    for chosen in itertools.product(*(range(len(some)) for some in chances)):
        pairs = [inventory.pairs[d][choice] for d, choice in zip(RELATIONS, chosen, strict=True)]
        strings = underlying_strings(HEADS, pairs, (0,), ())
        strings[1] = (CLAUSE, *strings[1])
        weight = math.prod(float(some[choice]) for some, choice in zip(chances, chosen, strict=True))
        for slot, (u, x) in enumerate(zip(strings, surface, strict=True)):
            hidden = [(*x[:place], CLAUSE, *x[place:]) for place in range(len(x) + 1)] if slot == 1 else []
            weight *= sum(sum(rewritings(u, one)) for one in [x, *hidden])
        total += weight
    return total


def drawn(told: Story, draws: int) -> list[tuple[String, ...]]:
    walk = Walk(told.given(TREES), [np.random.default_rng(0)])
    pages = walk.surfaces(walk.draw(np.array([draws])))
    return [tuple(tuple(t for t in row if t >= 0) for row in one) for one in pages.tolist()]


def test_the_sum_is_that_of_enumeration() -> None:
    """Also the probability of the best T' and of a draw."""
    told = story()
    for surface in {*drawn(told, 12)}:
        page = padded(surface)
        found = float(log_evidence(tree_problem(told, TREES, page)).exp())
        assert found == pytest.approx(joint(told, surface), rel=1e-9)
        for temperature in (0, 1):
            trace = poutine.trace(infer_trees(told, temperature)).get_trace(TREES, page)
            again = poutine.condition(told, {"pairs": trace.nodes["pairs"]["value"]})
            expected = poutine.trace(again).get_trace(TREES, page).log_prob_sum()
            torch.testing.assert_close(trace.log_prob_sum(), expected)


def test_draws() -> None:
    """No page shows the token, wherever the channel has moved it."""
    told, draws = story(), 3000
    counts = Counter(drawn(told, draws))
    assert not any(CLAUSE in string for page in counts for string in page)
    common = [page for page, count in counts.items() if count > 20]
    chances, observed = [joint(told, page) for page in common], [counts[page] for page in common]
    assert chi_square_is_plausible([*observed, draws - sum(observed)], [*chances, 1 - sum(chances)], draws)


def test_given_evidence() -> None:
    """Importance sampling and the decoded site complete open slots without the token."""
    told = story()
    known = [any_over([0]), any_over([1]), any_over([1]), any_over([1])]
    posterior = Conditioned(told, TREES, [1.0], known, np.random.default_rng(0))
    drawn = posterior.draw(2000)
    total = float(collapse_trees(told)(TREES, SlotEvidence(known)).posterior.log_evidence.exp())
    assert np.exp(drawn.log_weight).mean() == pytest.approx(total, rel=1e-9)
    counts = Counter(posterior.strings.tokens(number) for number in drawn.numbers[:, 1].tolist())
    assert all(CLAUSE not in string for string in counts)
    string, count = counts.most_common(1)[0]
    narrowed = SlotEvidence([known[0], string, *known[2:]])
    chance = float(collapse_trees(told)(TREES, narrowed).posterior.log_evidence.exp()) / total
    assert chi_square_is_plausible([count, 2000 - count], [chance, 1 - chance], 2000)
    completed = infer_trees(told)(TREES, SlotEvidence(known)).surface
    assert CLAUSE not in completed
