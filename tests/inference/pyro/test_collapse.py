import gc
import math
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from weakref import ref

import pyro
import pyro.distributions as dist
import pytest
import torch
from brute_force import chi_square_is_plausible, sliding_window, total
from problems import (
    PAIRS,
    batch_of,
    evidence_of_trees,
    expected,
    explanations_of,
    slope,
    story_case,
    tiny_story,
    tree_batch,
    window,
)
from pyro import poutine
from pyro.infer import SVI, Predictive, Trace_ELBO, TraceEnum_ELBO
from pyro.infer.autoguide import AutoDelta, AutoNormal
from pyro.infer.autoguide.initialization import init_to_mean
from torch import Tensor

from pyropunct.inference.pyro.collapse import (
    collapse_trees,
    tree_expectation,
)
from pyropunct.inference.pyro.decode import infer_trees
from pyropunct.inference.pyro.one_by_one import one_by_one
from pyropunct.inference.pyro.posterior import ImpossibleSurfaceError
from pyropunct.inference.pyro.svi import scale_likelihood
from pyropunct.models.channel.window import SlidingWindow
from pyropunct.models.story import Story

DIRECTIONS = pytest.mark.parametrize("direction", ["left", "right"])
TREES = [[0], [2, 0], [2, 0, 2], [0, 1, 2], [3, 1, 0]]
CHILD, ROOT, BIG = [2, 0, 2], [0], [0, 1, 4, 2]


def nothing(*args: object, **kwargs: object) -> None:
    """A guide for models without latent variables but the trees."""


def test_a_sum_is_freed_with_its_story() -> None:
    """Without circles: commands look for garbage so rarely that its tables would fill the memory."""
    story = tiny_story(SlidingWindow(3))
    trace = poutine.trace(collapse_trees(story)).get_trace(*batch_of([story_case(story, CHILD, 0)]))
    trace.compute_log_prob()
    told = ref(trace.nodes["surface"]["fn"].state)
    gc.disable()
    try:
        del trace
        assert told() is None
    finally:
        gc.enable()


@DIRECTIONS
def test_collapsed_story_against_brute_force(direction: str) -> None:
    story = tiny_story(SlidingWindow(3, direction))
    for seed, heads in enumerate([*TREES, BIG]):
        case = story_case(story, heads, seed)
        found, _ = expected(case, story.channel, story.inventory)
        evidence = evidence_of_trees(story, *batch_of([case]))
        assert evidence.tolist() == pytest.approx([math.log(total(found))], rel=1e-12)


@DIRECTIONS
@pytest.mark.parametrize("heads", TREES)
@pytest.mark.parametrize("economy_weight", [0.0, 0.7], ids=["", "with a factor"])
def test_loss_and_gradients_are_those_of_parallel_enumeration(
    direction: str, heads: list[int], economy_weight: float
) -> None:
    story = tiny_story(SlidingWindow(3, direction), economy_weight=economy_weight)
    batch = batch_of([story_case(tiny_story(window(direction)), heads, 4)])
    guide = AutoDelta(collapse_trees(story), init_loc_fn=lambda site: 0.5 * torch.randn(site["fn"].shape()))
    guide(*batch)
    results = []
    for elbo, model in [
        (Trace_ELBO(), collapse_trees(story)),
        (TraceEnum_ELBO(max_plate_nesting=1, strict_enumeration_warning=False), collapse_trees(story)),
        (TraceEnum_ELBO(max_plate_nesting=1), one_by_one(story)),
    ]:
        loss = elbo.differentiable_loss(model, guide, *batch)
        results.append([loss, *torch.autograd.grad(loss, list(guide.parameters()))])
    assert len(results[0]) == 3
    for tensors in results[:-1]:
        for ours, theirs in zip(tensors, results[-1], strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("precision", [torch.float, torch.double])
def test_another_discrete_variable_is_summed_out_along_with_the_trees(precision: torch.dtype) -> None:
    """A mixture of two attach models, as a site that is enumerated in parallel."""
    torch.set_default_dtype(precision)
    batch = batch_of([story_case(tiny_story(window("left")), heads, 2) for heads in (CHILD, BIG)])
    story, tables = tiny_story(window("left")), torch.randn(2, 9)

    def model(which: int | None = None) -> None:
        if which is None:
            kind = pyro.sample(
                "kind", dist.Categorical(torch.tensor([0.3, 0.7])), infer={"enumerate": "parallel"}
            )
        story.attach.table = tables[kind if which is None else which]
        story(*batch)

    collapsed = collapse_trees(model)
    losses = [Trace_ELBO().loss(collapsed, nothing, which) for which in (0, 1)]
    mixed = -math.log(sum(p * math.exp(-loss) for p, loss in zip((0.3, 0.7), losses, strict=True)))
    close = {"rel": 1e-12 if precision == torch.double else 1e-6}
    assert TraceEnum_ELBO(max_plate_nesting=1).loss(collapsed, nothing) == pytest.approx(mixed, **close)


@DIRECTIONS
def test_best_derivation_of_a_model(direction: str) -> None:
    story = tiny_story(SlidingWindow(3, direction))
    for seed, heads in enumerate([*TREES, BIG, [2, 0, 4, 2, 4]]):
        case = story_case(story, heads, seed)
        found, _ = expected(case, story.channel, story.inventory)
        told = infer_trees(story, 0)(*batch_of([case]))
        assert tuple(told.choices.tolist()) == max(found, key=lambda one: one.best).choices


def test_posterior_draws_of_a_model() -> None:
    story = tiny_story(SlidingWindow(3, "right"))
    case = story_case(story, [2, 0, 4, 2], 11)
    found, _ = expected(case, story.channel, story.inventory)
    draws = 3000
    trace = poutine.trace(infer_trees(story)).get_trace(*batch_of([case] * draws))
    drawn = trace.nodes["pairs"]["value"]
    assert torch.equal(trace.nodes["_RETURN"]["value"].choices, drawn)
    counts = Counter(tuple(row) for row in drawn.reshape(-1, 4).tolist())
    assert set(counts) <= {one.choices for one in found}
    chances = [one.weight / total(found) for one in found]
    assert sorted(chances)[-3] > 0.01
    assert chi_square_is_plausible([counts[one.choices] for one in found], chances, draws)
    joint = {one.choices: math.log(one.weight) for one in found}  # log p(T', x | T)
    assert trace.log_prob_sum() == pytest.approx(sum(joint[key] * times for key, times in counts.items()))


@pytest.mark.parametrize("temperature", [2, -1, 0.5])
def test_wrong_temperature(temperature: float) -> None:
    with pytest.raises(ValueError, match=f"0 or 1, not {temperature}"):
        infer_trees(nothing, temperature)  # type: ignore[arg-type]


def test_posterior_draws_follow_the_other_variables_of_each_sample() -> None:
    """With a value for the weights from `Predictive`, punctemes are inferred under these weights."""
    story = tiny_story(SlidingWindow(3))
    case = story_case(tiny_story(window("left")), [2, 0, 4, 2], 11)
    scores, edits = torch.randn(3, len(story.inventory.rows)), torch.randn(3, 3, 3, 4)
    samples = {"attach.table": scores.repeat(250, 1), "channel.edit_logits": edits.repeat(250, 1, 1, 1)}
    drawn = Predictive(infer_trees(story), posterior_samples=samples)(*batch_of([case]))["pairs"]
    assert drawn.shape == (750, 4)
    for which in range(3):
        chances = story.attach.chances(scores[which])
        one = case._replace(chances=[chances[relation] for relation in case.relations])
        rewritings = sliding_window(edits[which].softmax(-1).tolist(), "left")
        found = explanations_of(one, rewritings, story.inventory)
        counts = Counter(tuple(row) for row in drawn[which::3].tolist())
        assert chi_square_is_plausible(
            [counts[some.choices] for some in found], [some.weight / total(found) for some in found], 250
        )


def test_best_derivation_under_a_guide() -> None:
    story = tiny_story(SlidingWindow(3))
    batch = batch_of([story_case(tiny_story(window("left")), heads, 3) for heads in TREES])
    guide = AutoNormal(collapse_trees(story))
    guide(*batch)
    guide_trace = poutine.trace(guide).get_trace(*batch)
    trace = poutine.trace(poutine.replay(infer_trees(story, 0), trace=guide_trace)).get_trace(*batch)
    for name in ("attach.table", "channel.edit_logits"):
        assert torch.equal(trace.nodes[name]["value"], guide_trace.nodes[name]["value"])
    story.attach.table = guide_trace.nodes["attach.table"]["value"]
    story.channel.edit_logits = guide_trace.nodes["channel.edit_logits"]["value"]
    choices = infer_trees(story, 0)(*batch).choices
    assert torch.equal(trace.nodes["pairs"]["value"], choices)
    known = poutine.trace(poutine.condition(story, {"pairs": choices})).get_trace(*batch)
    with torch.no_grad():
        told = poutine.trace(infer_trees(story, 0)).get_trace(*batch)
        torch.testing.assert_close(told.log_prob_sum(), known.log_prob_sum(), rtol=1e-13, atol=0)


@pytest.mark.parametrize("elbo", [Trace_ELBO, partial(TraceEnum_ELBO, strict_enumeration_warning=False)])
def test_scale(elbo: Callable[..., Trace_ELBO]) -> None:
    """Of all terms, as Pyro's own handler does it, or of those of trees: here there are no others."""
    story = tiny_story(window("left"), symmetry_weight=1.7)
    case = story_case(story, BIG, 6)
    batch, model = batch_of([case]), collapse_trees(story)
    loss, regulariser = elbo(max_plate_nesting=1).loss(model, nothing, *batch), story.symmetry_weight
    story.symmetry_weight = 0.0
    assert loss > 1 + elbo(max_plate_nesting=1).loss(model, nothing, *batch)
    story.symmetry_weight = regulariser
    assert elbo(max_plate_nesting=1).loss(poutine.scale(model, 0.25), nothing, *batch) == pytest.approx(
        loss / 4, rel=1e-14
    )
    tripled = collapse_trees(scale_likelihood(story, 3.0))
    assert elbo(max_plate_nesting=1).loss(tripled, nothing, *batch) == pytest.approx(loss * 3, rel=1e-14)


def test_scale_leaves_the_priors_of_conditioned_weights_alone() -> None:
    story = tiny_story(SlidingWindow(3))
    batch = batch_of([story_case(tiny_story(window("left")), BIG, 6)])
    weights = AutoDelta(collapse_trees(story))(*batch)
    traces = [
        poutine.trace(scale_likelihood(poutine.condition(collapse_trees(story), weights), scale)).get_trace(
            *batch
        )
        for scale in (1.0, 3.0)
    ]
    for name in traces[0].observation_nodes:
        once, thrice = (trace.compute_log_prob() or trace.nodes[name]["log_prob_sum"] for trace in traces)
        torch.testing.assert_close(thrice, once if name in weights else 3 * once)


def test_scale_of_factors() -> None:
    """Factors count for the mini-batch, in the plate of trees or outside of it."""

    def model() -> None:
        pyro.factor("of all", torch.tensor(2.0))
        with pyro.plate("trees", 2, dim=-1):
            pyro.factor("of trees", torch.tensor([1.0, 4.0]))

    assert poutine.trace(scale_likelihood(model, 3.0)).get_trace().log_prob_sum() == 3 * (2 + 1 + 4)


def test_scale_leaves_priors_alone() -> None:
    story = tiny_story(SlidingWindow(3))
    batch = batch_of([story_case(tiny_story(window("left")), BIG, 1)])
    guide = AutoDelta(collapse_trees(story), init_loc_fn=init_to_mean)
    losses = [
        Trace_ELBO().loss(collapse_trees(scale_likelihood(story, scale)), guide, *batch)
        for scale in (1e-300, 1.0, 5.0)
    ]
    normal = (
        dist.Normal(0.0, 1.0).log_prob(torch.tensor(0.0)),
        dist.Normal(0.0, 2.0).log_prob(torch.tensor(0.0)),
    )
    assert losses[0] == pytest.approx(
        -float(len(story.inventory.rows) * normal[0] + 36 * normal[1]), rel=1e-12
    )
    assert losses[2] - losses[0] == pytest.approx(5 * (losses[1] - losses[0]), rel=1e-12)


@DIRECTIONS
def test_symmetry_regulariser(direction: str) -> None:
    """The term xi E[c]^2 of each tree and its gradient."""
    story = tiny_story(SlidingWindow(3, direction), symmetry_weight=1.7)
    cases = [story_case(story, heads, 6) for heads in (CHILD, BIG, [2, 0])]
    batch = batch_of(cases)
    # With ( and ) for 1 and 2, only the empty pair and (( )) are balanced; no pair here is the latter.
    unbalanced = [[0.0] + [1.0] * (len(some) - 1) for some in PAIRS]
    assert story._unmatched.tolist() == [value for some in unbalanced for value in some]
    loss = 0.0
    for case in cases:
        case = case._replace(cost=[unbalanced[relation] for relation in case.relations])
        found, expectation = expected(case, story.channel, story.inventory)
        assert expectation > 0
        loss += -math.log(total(found)) + 1.7 * expectation**2
    assert Trace_ELBO().loss(collapse_trees(story), nothing, *batch) == pytest.approx(loss, rel=1e-12)


@pytest.mark.parametrize("economy_weight", [0.0, 0.7])
def test_gradient_of_the_symmetry_regulariser(economy_weight: float) -> None:
    """Alone, and where another factor changes the posterior."""
    story = tiny_story(SlidingWindow(3), symmetry_weight=2.0, economy_weight=economy_weight)
    batch = batch_of([story_case(story, heads, 6) for heads in (CHILD, BIG, [2, 0])])
    for module, name in [(story.attach, "table"), (story.channel, "edit_logits")]:
        here = getattr(module, name).clone().requires_grad_()

        def loss(values: Tensor, module: torch.nn.Module = module, name: str = name) -> Tensor:
            setattr(module, name, values)
            return Trace_ELBO().differentiable_loss(collapse_trees(story), nothing, *batch)

        (gradient,) = torch.autograd.grad(loss(here), here)
        where = gradient.flatten().abs().argsort(descending=True)[:6]
        for flat in where.tolist():
            index = tuple(int(i) for i in torch.unravel_index(torch.tensor(flat), here.shape))
            assert abs(gradient[index]) > 1e-3
            assert float(gradient[index]) == pytest.approx(slope(loss, here, index), rel=1e-9, abs=1e-9)
        setattr(module, name, here.detach())


def test_cost_of_punctemes_that_are_known() -> None:
    """The expectation is that of the choices themselves; a table and a function mean the same."""
    story = tiny_story(window("left"))
    story.attach.table = torch.zeros(9)
    trees = tree_batch([[2, 0], [0]], [0, 1, 2])
    cost = torch.arange(9.0).exp2()

    def model() -> None:
        told = story(trees)
        for given in (cost, lambda node, row: cost[row] * (1 + 0 * node)):
            assert tree_expectation(told, given).tolist() == [2 + 16, 32]
        assert tree_expectation(told, lambda node, row: node.double()).tolist() == [1, 2]
        for wrong in (cost[:5], cost[None], torch.zeros(3, 4)):
            with pytest.raises(
                ValueError, match=r"a cost has shape .*: it needs \(9,\), a number for each row"
            ):
                tree_expectation(told, wrong)
        with pytest.raises(ValueError, match=r"it needs \(9,\), a number for each pair of each node"):
            tree_expectation(told, lambda node, row: torch.zeros(2))

    poutine.condition(model, {"pairs": torch.tensor([1, 2, 0])})()


def test_the_factor_of_the_reference() -> None:
    """The example of the page, with other trees: against the sum over all T'."""
    page = Path("docs/reference/pyro.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (code,) = (block for block in blocks if "few_marks" in block)
    story = tiny_story(window("left"))
    cases = [story_case(story, heads, 2) for heads in ([2, 0, 2], [0, 1])]
    trees, surface = batch_of(cases)
    names: dict[str, Any] = {"pyro": pyro, "torch": torch, "trees": trees, "surface": surface}
    names["model"] = SimpleNamespace(story=story)
    exec(code, names)
    trace = poutine.trace(collapse_trees(names["with_few_marks"])).get_trace(trees, surface)
    sprouted = [[len(left) + len(right) for left, right in some] for some in PAIRS]
    found = []
    for case in cases:
        case = case._replace(cost=[sprouted[relation] for relation in case.relations])
        every, marks = expected(case, story.channel, story.inventory)
        found.append((math.log(total(every)), marks))
    evidence, marks = map(torch.tensor, zip(*found, strict=True))
    torch.testing.assert_close(trace.nodes["_RETURN"]["value"], marks)
    torch.testing.assert_close(trace.log_prob_sum(), (evidence - 0.5 * marks).sum())


def adam_step(story: Story, batch: tuple) -> tuple[dict[str, Tensor], dict[str, Tensor]]:  # type: ignore[type-arg]
    """Parameters of a new point estimate before and after one step."""
    guide = AutoDelta(collapse_trees(story), init_loc_fn=lambda site: 0.5 * torch.randn(site["fn"].shape()))
    guide(*batch)
    before = {name: value.detach().clone() for name, value in guide.named_parameters()}
    SVI(collapse_trees(story), guide, pyro.optim.Adam({"lr": 0.1}), Trace_ELBO()).step(*batch)
    return before, {name: value.detach().clone() for name, value in guide.named_parameters()}


def test_one_step_moves_all_parameters_of_its_own_model_only() -> None:
    batch = batch_of([story_case(tiny_story(window("left")), heads, 3) for heads in TREES])
    first, second = tiny_story(SlidingWindow(3)), tiny_story(SlidingWindow(3))
    _, after = adam_step(first, batch)
    kept = {name: value.clone() for name, value in after.items()}
    before, later = adam_step(second, batch)
    assert set(before) == {"attach.table_unconstrained", "channel.edit_logits_unconstrained"}
    for name in before:
        assert (before[name] != later[name]).all()
        assert not torch.equal(later[name], kept[name])
        assert torch.equal(after[name], kept[name])


@pytest.mark.parametrize("act", [collapse_trees, lambda story: infer_trees(story, 0), infer_trees])
def test_impossible_surface_is_named(act) -> None:  # type: ignore[no-untyped-def]
    story = tiny_story(window("left"))
    cases = [story_case(story, heads, 1) for heads in (CHILD, BIG, CHILD)]
    surface = [*cases[1].surface]
    surface[3] = (1,) * 8
    cases[1] = cases[1]._replace(surface=surface)
    with pytest.raises(ImpossibleSurfaceError, match="tree 1 of the batch, slot 3"):
        act(story)(*batch_of(cases))


def test_several_impossible_slots_are_not_named() -> None:
    story = tiny_story(window("left"))
    case = story_case(story, CHILD, 1)
    with pytest.raises(ImpossibleSurfaceError, match="tree 0 of the batch, several slots"):
        collapse_trees(story)(*batch_of([case._replace(surface=[(1,) * 8, (), (), (1,) * 8])]))
