"""Punctuated trees as one distribution, beside the handlers, and by draws."""

from collections import Counter
from dataclasses import replace

import pyro
import pytest
import torch
from brute_force import chi_square_is_plausible
from problems import batch_of, story_case, tiny_story, window
from pyro import poutine
from pyro.infer import SVI, Trace_ELBO
from pyro.infer.autoguide import AutoDelta
from torch import Tensor

from pyropunct.inference.inside import posterior_pairs
from pyropunct.inference.pyro.collapse import collapse_trees, tree_problem
from pyropunct.inference.pyro.decode import infer_trees
from pyropunct.inference.pyro.sites import BY_TREES, PunctuatedTrees, Sprouted, rewritten
from pyropunct.inference.pyro.story_state import StoryState
from pyropunct.inference.story_inputs import StoryInputs
from pyropunct.models.story import Story

STORY = tiny_story(window("left"))
CASES = [story_case(STORY, heads, seed) for seed, heads in enumerate(([2, 0, 2], [0, 1]))]
TREES, SURFACE = batch_of(CASES)
TABLE = torch.linspace(-1, 1, len(STORY.inventory.rows))
ROWS = STORY.inventory.choice_rows(TREES.relation)
WEIGHTS = STORY.channel.probabilities().detach()


def distribution(table: Tensor, weights: Tensor = WEIGHTS) -> PunctuatedTrees:
    return PunctuatedTrees(
        StoryInputs(TREES, STORY.inventory, table[..., ROWS], STORY.channel.transducer, weights)
    )


def told_alike() -> Story:
    """Another story with the same channel."""
    told = tiny_story(window("left"))
    told.channel.edit_logits = STORY.channel.edit_logits
    return told


def test_log_probabilities_and_gradients_are_those_of_the_story() -> None:
    table, weights = TABLE.clone().requires_grad_(), WEIGHTS.clone().requires_grad_()
    ours = distribution(table, weights).log_prob(SURFACE)
    told = told_alike()
    told.attach.table = again = TABLE.clone().requires_grad_()
    trace = poutine.trace(collapse_trees(told)).get_trace(TREES, SURFACE)
    trace.compute_log_prob()
    theirs = trace.nodes["surface"]["log_prob"]
    torch.testing.assert_close(ours.float(), theirs)
    slopes = torch.autograd.grad(ours.sum(), [table, weights])
    torch.testing.assert_close(slopes[0], torch.autograd.grad(theirs.sum(), again)[0])
    assert slopes[1].any()


def test_decoding_is_that_of_the_story() -> None:
    told = told_alike()
    told.attach.table = TABLE
    some = distribution(TABLE)
    found = some.posterior(SURFACE)
    assert torch.equal(found.best(), infer_trees(told, temperature=0)(TREES, SURFACE).choices)
    posterior = posterior_pairs(tree_problem(told, TREES, SURFACE))
    sizes = torch.tensor([len(STORY.inventory.pairs[relation]) for relation in TREES.relation.tolist()])
    for node, own in enumerate(posterior.split(sizes.tolist())):
        torch.testing.assert_close(found.marginals().probs[node, : len(own)], own)
    drawn = found.draws(3000, torch.Generator().manual_seed(0))
    for column, own in zip(drawn.T, posterior.split(sizes.tolist()), strict=True):
        counts = torch.bincount(column, minlength=len(own)).tolist()
        assert chi_square_is_plausible(counts, own.tolist(), 3000)


def test_draws_have_the_probabilities() -> None:
    pyro.set_rng_seed(0)
    some = PunctuatedTrees(
        StoryInputs(
            TREES.pick([1]),
            STORY.inventory,
            TABLE[STORY.inventory.choice_rows(TREES.relation[3:])],
            STORY.channel.transducer,
            WEIGHTS,
        )
    )
    drawn = some.sample((400,))
    assert drawn.shape[:2] == (400, 3)
    counts = Counter(str([[t for t in slot if t >= 0] for slot in one.tolist()]) for one in drawn)
    shown = {str([[t for t in slot if t >= 0] for slot in one.tolist()]): one for one in drawn}
    common = [text for text, count in counts.most_common() if count > 8]
    chances = [float(some.log_prob(shown[text]).exp()) for text in common]
    observed = [*(counts[text] for text in common), 400 - sum(counts[text] for text in common)]
    assert chi_square_is_plausible(observed, [*chances, 1 - sum(chances)], 400)


def test_training_in_a_plate() -> None:
    """An ordinary Pyro model: no handlers, Pyro's own guide and loss."""

    def model() -> None:
        table = pyro.sample("table", pyro.distributions.Normal(0 * TABLE, 1.0).to_event(1))
        with pyro.plate("trees", 2, dim=-1):
            pyro.sample("surface", distribution(table), obs=SURFACE)

    guide = AutoDelta(model)
    svi = SVI(model, guide, pyro.optim.Adam({"lr": 0.05}), Trace_ELBO())
    losses = [svi.step() for _ in range(60)]
    assert losses[-1] < losses[0] - 0.2
    with pyro.plate("draws", 3, dim=-2):
        expanded = distribution(TABLE).expand((3, 2))
    assert expanded.log_prob(SURFACE).shape == (3, 2)


def test_a_decoded_tree_has_the_cost_of_its_punctemes() -> None:
    """p(x | T) p(T' | T, x) is p(T', x | T) exp(-cost(T')), for any T'."""
    cost = torch.linspace(0, 2, len(STORY.inventory.rows))
    given = StoryInputs(TREES, STORY.inventory, TABLE[ROWS], STORY.channel.transducer, WEIGHTS, cost)

    def model(given: StoryInputs) -> StoryState:
        told = StoryState(given)
        with told.plate:
            pairs = pyro.sample("pairs", Sprouted(told), infer=BY_TREES)
            told.show(pyro.sample("surface", rewritten(told, pairs), obs=SURFACE))
        return told

    decoded = poutine.trace(infer_trees(model)).get_trace(given)
    choices = decoded.nodes["pairs"]["value"]
    known = poutine.trace(poutine.condition(model, {"pairs": choices})).get_trace(replace(given, cost=None))
    of_choices = known.nodes["_RETURN"]["value"].cost(given.of_pairs(cost)).sum()
    assert float(decoded.log_prob_sum()) == pytest.approx(float(known.log_prob_sum() - of_choices), abs=1e-5)
