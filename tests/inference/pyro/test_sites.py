"""The sites of a story are functions of their values, as Pyro's algorithms take them."""

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import pyro.distributions as dist
import pytest
import torch
from brute_force import chi_square_is_plausible, total
from problems import batch_of, expected, story_case, tiny_story, window
from pyro import poutine
from pyro.infer import Importance
from pyro.infer.reparam.reparam import Reparam
from pyro.poutine.messenger import Messenger
from torch import Tensor

from pyropunct.inference.pyro.collapse import collapse_trees
from pyropunct.inference.pyro.decode import infer_trees
from pyropunct.inference.views import Views
from pyropunct.models.attach.attach_model import Attach
from pyropunct.models.story import Story
from pyropunct.models.trees import TreeBatch

FIRST = tiny_story(window("left"))
CASE = story_case(FIRST, [2, 0, 2], 21)
TREES, SURFACE = batch_of([CASE])
EXPLANATIONS, _ = expected(CASE, FIRST.channel, FIRST.inventory)
POSTERIOR = {one.choices: one.weight / total(EXPLANATIONS) for one in EXPLANATIONS}
"""p(T' | T, x), by brute force."""


class LooksInside(Attach):
    """Scores that depend on the number of marks inside."""

    def scores(self, trees: TreeBatch, views: Views) -> Tensor:
        """More marks inside, more marks around."""
        sizes = torch.tensor([len(some) for some in self.inventory.pairs])[trees.relation[views.node]]
        marked = torch.cat([torch.arange(size) > 0 for size in sizes.tolist()])
        return marked * torch.repeat_interleave(views.sizes.double() - 1, sizes)


def plain() -> Story:
    """A story whose scores do not depend on the marks inside."""
    some = tiny_story(window("left"))
    some.attach.table, some.channel.edit_logits = FIRST.attach.table, FIRST.channel.edit_logits
    return some


def looking_inside() -> Story:
    some = plain()
    return Story(some.inventory, LooksInside(some.inventory), some.channel)


@pytest.mark.parametrize("make", [plain, looking_inside])
@pytest.mark.parametrize("act", [None, collapse_trees, infer_trees])
def test_a_surface_has_its_probability_whatever_the_story_was_told_with(
    make: Callable[[], Story], act: Callable[..., Callable[..., object]] | None
) -> None:
    """p(x | u(T')), or p(x | T) with the marks of x inside; several at once are as one after the other."""
    story = make()
    first, second = (poutine.trace(story).get_trace(TREES).nodes["surface"]["value"] for _ in range(2))
    pairs = infer_trees(story)(TREES, first).choices
    model = act(story) if act else poutine.condition(story, {"pairs": pairs})
    here, there = (poutine.trace(model).get_trace(TREES, x).nodes["surface"]["fn"] for x in (first, second))
    for x in (first, second):
        torch.testing.assert_close(here.log_prob(x), there.log_prob(x))
    both = here.log_prob(torch.stack([first, second]))
    torch.testing.assert_close(both, torch.stack([here.log_prob(first), here.log_prob(second)]))
    for wrong in (torch.full_like(first, 99), first.tolist()):
        with pytest.raises(ValueError, match="site 'surface' is given"):
            here.log_prob(wrong)


def test_draws_of_a_site_are_independent_and_have_its_probabilities() -> None:
    """The first is that of the walk that has drawn T'; others are draws given T'."""
    known = torch.tensor([1, 2, 1])
    fn = poutine.trace(poutine.condition(plain(), {"pairs": known})).get_trace(TREES).nodes["surface"]["fn"]
    drawn = [fn.sample() for _ in range(400)]
    counts = Counter(str(x.tolist()) for x in drawn)
    chances = {str(x.tolist()): float(fn.log_prob(x).exp()) for x in drawn}
    assert len(counts) > 3
    observed = [*counts.values(), 0]
    expected = [*(chances[x] for x in counts), max(0.0, 1 - sum(chances.values()))]
    assert chi_square_is_plausible(observed, expected, 400)


def test_importance_sampling() -> None:
    """The prior of T' proposes, x weighs; scores do not read the marks inside."""
    posterior = Importance(plain(), num_samples=2000).run(TREES, SURFACE)
    weights = posterior.get_normalized_weights()
    evidence = torch.stack(posterior.log_weights).exp().mean()
    deviation = torch.stack(posterior.log_weights).exp().std() / math.sqrt(2000)
    assert float(evidence) == pytest.approx(total(EXPLANATIONS), abs=4 * float(deviation))
    found = Counter[tuple[int, ...]]()
    for trace, weight in zip(posterior.exec_traces, weights.tolist(), strict=True):
        found[tuple(trace.nodes["pairs"]["value"].tolist())] += weight
    for choices, chance in POSTERIOR.items():
        assert found[choices] == pytest.approx(chance, abs=0.1)


def test_metropolis_hastings_by_replay() -> None:
    """Proposals of T' from its prior, so that only p(x | u(T')) decides."""
    observed = poutine.condition(plain(), {"surface": SURFACE})
    given = poutine.condition(observed, {"pairs": torch.tensor(EXPLANATIONS[0].choices)})
    here = poutine.trace(given).get_trace(TREES)
    counts = Counter[tuple[int, ...]]()

    def likelihood(trace: poutine.Trace) -> float:
        return float(trace.log_prob_sum(lambda name, site: name == "surface"))

    for step in range(2000):
        new = poutine.trace(observed).get_trace(TREES)
        there = poutine.trace(poutine.replay(observed, trace=new)).get_trace(TREES)
        if math.log(torch.rand(())) < likelihood(there) - likelihood(here):
            here = there
        if step % 5 == 4:
            counts[tuple(here.nodes["pairs"]["value"].tolist())] += 1
    every = list(POSTERIOR)
    assert chi_square_is_plausible(
        [counts[one] for one in every], [POSTERIOR[one] for one in every], sum(counts.values())
    )


def test_an_observed_surface_is_refused_where_its_marks_are_read() -> None:
    """T' was drawn with other marks inside than those of x."""
    with pytest.raises(NotImplementedError, match="drawn from their prior with other marks inside"):
        looking_inside()(TREES, SURFACE)
    told = poutine.trace(looking_inside()).get_trace(TREES).nodes["_RETURN"]["value"]
    again = poutine.condition(looking_inside(), {"pairs": told.choices})(TREES, told.surface.clone())
    assert torch.equal(again.choices, told.choices)


CHOICES = torch.tensor(EXPLANATIONS[0].choices)


class Unchanged(Reparam):
    """Leaves a site as it is."""

    def apply(self, msg: Any) -> Any:
        return {"fn": msg["fn"], "value": msg["value"], "is_observed": msg["is_observed"]}


@pytest.mark.parametrize("act", [collapse_trees, infer_trees])
@pytest.mark.parametrize(
    ("handle", "is_given"),
    [
        (lambda model: poutine.condition(model, {"pairs": CHOICES}), True),
        (lambda model: poutine.do(model, {"pairs": CHOICES}), True),
        (
            lambda model: poutine.replay(
                model, poutine.trace(infer_trees(plain())).get_trace(TREES, SURFACE)
            ),
            True,
        ),
        (lambda model: poutine.block(model, hide=["pairs"]), False),
        (lambda model: poutine.mask(model, mask=torch.tensor([True])), False),
        (lambda model: poutine.scale(model, scale=2.0), False),
        (lambda model: poutine.lift(model, prior=dist.Normal(0.0, 1.0)), False),
        (lambda model: poutine.reparam(model, config={"surface": Unchanged()}), False),
        (lambda model: poutine.uncondition(model), False),
        (lambda model: poutine.seed(model, rng_seed=0), False),
    ],
    ids=["condition", "do", "replay", "block", "mask", "scale", "lift", "reparam", "uncondition", "seed"],
)
def test_every_handler_of_pyro_around_an_open_site(
    act: Callable[..., Any], handle: Callable[..., Any], is_given: bool
) -> None:
    """It may give the site a value, and always sees a tensor."""
    seen = []

    class Look(Messenger):
        def _pyro_post_sample(self, msg: Any) -> None:
            if msg["name"].startswith("pairs"):
                seen.append(msg["value"])

    with Look():
        trace = poutine.trace(handle(act(plain()))).get_trace(TREES, SURFACE)
    told = trace.nodes["_RETURN"]["value"]
    assert bool(told.left) is not is_given
    assert told.is_decided is (is_given or act is infer_trees)
    assert all(isinstance(value, Tensor) for value in seen)  # EnumMessenger and get_dependencies need tensors
    trace.compute_log_prob()
    assert trace.log_prob_sum().isfinite()
