"""What a story says of itself to Pyro and to its callers, beside its probabilities."""

import pyro
import pyro.distributions as dist
import pytest
import torch
from problems import batch_of, story_case, tiny_story, window
from pyro import poutine
from pyro.infer import TraceEnum_ELBO
from pyro.ops.provenance import get_provenance, track_provenance

from pyropunct.inference.pyro.collapse import collapse_trees, tree_expectation, tree_problem
from pyropunct.inference.pyro.decode import infer_trees
from pyropunct.inference.pyro.one_by_one import one_by_one
from pyropunct.inference.pyro.svi import scale_likelihood
from pyropunct.models.story import Story

CASES = [story_case(tiny_story(window("left")), heads, 3) for heads in ([2, 0], [0, 1])]
TREES, SURFACE = batch_of(CASES)


def known_story() -> Story:
    """A story without latent weights."""
    story = tiny_story(window("left"))
    story.attach.table, story.channel.edit_logits = torch.randn(9), torch.randn(3, 3, 4)
    return story


def nothing(*args: object) -> None:
    """A guide for models whose latent variables are summed out."""


@pytest.mark.parametrize("part", ["scores", "channel", "cost"])
def test_sums_know_the_sites_that_they_depend_on(part: str) -> None:
    story, cost = known_story(), torch.arange(9.0)
    if part == "scores":
        story.attach.table = track_provenance(story.attach.table, frozenset({"genre"}))
    elif part == "channel":
        story.channel.edit_logits = track_provenance(story.channel.edit_logits, frozenset({"genre"}))
    else:
        cost = track_provenance(cost, frozenset({"genre"}))

    def model() -> torch.Tensor:
        return tree_expectation(story(TREES, SURFACE), cost)

    trace = poutine.trace(collapse_trees(model)).get_trace()
    trace.compute_log_prob()
    assert get_provenance(trace.nodes["_RETURN"]["value"]) == {"genre"}
    assert get_provenance(trace.nodes["surface"]["log_prob"]) == (
        {"genre"} if part != "cost" else frozenset()
    )


def test_an_expectation_is_that_of_the_posterior_where_trees_are_decoded() -> None:
    story, cost = known_story(), torch.rand(9)

    def model() -> torch.Tensor:
        return tree_expectation(story(TREES, SURFACE), cost)

    torch.testing.assert_close(infer_trees(model)(), collapse_trees(model)())


def test_values_of_other_trees_are_refused() -> None:
    story = known_story()
    with pytest.raises(ValueError, match=r"site 'pairs' has values of shape \(3,\) for 4 nodes"):
        poutine.condition(story, {"pairs": torch.zeros(3, dtype=torch.long)})(TREES)


def test_a_problem_needs_one_story_whose_choices_are_summed_out() -> None:
    story = known_story()
    known = poutine.condition(story, {"pairs": torch.zeros(4, dtype=torch.long)})
    for model, stories in ((known, 1), (nothing, 0), (lambda *batch: (story(*batch), story(*batch)), 2)):
        with pytest.raises(ValueError, match=f"the model tells {stories} stories: one is needed"):
            tree_problem(model, TREES, SURFACE)


def test_sites_one_by_one_are_not_of_each_tree() -> None:
    """They are outside of the plate of trees, where a class of each tree has no meaning."""
    story, tables = known_story(), torch.randn(2, 9)

    def model() -> None:
        with pyro.plate("trees", 2, dim=-1):
            genre = pyro.sample("genre", dist.Categorical(torch.ones(2)), infer={"enumerate": "parallel"})
        story.attach.table = tables[genre]
        story(TREES, SURFACE)

    with pytest.raises(NotImplementedError, match="compare one tree at a time"):
        TraceEnum_ELBO(max_plate_nesting=1).loss(one_by_one(model), nothing)
    plain = TraceEnum_ELBO(max_plate_nesting=1).loss(collapse_trees(model), nothing)
    scaled = TraceEnum_ELBO(max_plate_nesting=1).loss(collapse_trees(scale_likelihood(model, 3.0)), nothing)
    assert scaled == pytest.approx(3 * plain, rel=1e-12)
