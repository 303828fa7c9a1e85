"""What of Pyro works with trees that are summed out, and what is refused: the table of the reference."""

import copy
import io
import math
import pickle
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pyro
import pyro.distributions as dist
import pytest
import torch
from problems import PAIRS, batch_of, story_case, tiny_story, window
from pyro import poutine
from pyro.contrib.autoname import scope
from pyro.infer import (
    MCMC,
    NUTS,
    SVI,
    Importance,
    JitTrace_ELBO,
    Predictive,
    Trace_ELBO,
    TraceEnum_ELBO,
    TraceGraph_ELBO,
    WeighedPredictive,
    config_enumerate,
    infer_discrete,
)
from pyro.infer.autoguide import AutoDelta, AutoLaplaceApproximation, AutoMultivariateNormal, AutoNormal
from pyro.infer.inspect import get_dependencies
from pyro.nn import PyroModule, PyroSample
from torch import Tensor
from variants import LooksAround

from pyropunct.inference.machines.evidence import SlotEvidence, any_over
from pyropunct.inference.packed import packed_forest
from pyropunct.inference.pyro.collapse import collapse_trees
from pyropunct.inference.pyro.decode import infer_trees
from pyropunct.inference.pyro.one_by_one import one_by_one
from pyropunct.inference.pyro.svi import scale_likelihood
from pyropunct.models.channel.window import SlidingWindow
from pyropunct.models.story import Story
from pyropunct.models.trees import LatentTrees

CASES = [story_case(tiny_story(window("left")), heads, 3) for heads in ([2, 0], [0, 1])]
TREES, SURFACE = batch_of(CASES)
"""Both trees are of the same words."""


def story() -> Story:
    """A story whose attach model is latent."""
    some = tiny_story(SlidingWindow(3))
    some.channel.edit_logits = torch.randn(3, 3, 4)
    return some


def looking_inside() -> Story:
    """A story whose scores may depend on the marks inside of constituents."""
    some = story()
    some.attach.reads_surface = True
    return some


def guided(kind: Callable[..., Callable[..., object]]) -> None:
    model = collapse_trees(story())
    guide = kind(model)
    guide(TREES, SURFACE)
    svi = SVI(model, guide, pyro.optim.Adam({"lr": 0.05}), Trace_ELBO())
    losses = [svi.step(TREES, SURFACE) for _ in range(30)]
    assert losses[-1] < losses[0] + 3


def trained_while_decoding() -> None:
    guide = AutoDelta(collapse_trees(story()))
    guide(TREES, SURFACE)
    SVI(infer_trees(story()), guide, pyro.optim.Adam({"lr": 0.05}), Trace_ELBO()).step(TREES, SURFACE)


def laplace() -> None:
    guide = AutoLaplaceApproximation(collapse_trees(story()))
    guide(TREES, SURFACE)
    posterior = guide.laplace_approximation(TREES, SURFACE).get_posterior()
    assert not torch.allclose(posterior.precision_matrix, torch.eye(9))  # as it is under the prior alone


def particles() -> None:
    guide = AutoDelta(collapse_trees(story()))
    guide(TREES, SURFACE)
    losses = [
        Trace_ELBO(num_particles=4, vectorize_particles=vectorised).loss(
            collapse_trees(guide.model), guide, TREES, SURFACE
        )
        for vectorised in (False, True)
    ]
    assert losses[0] == pytest.approx(losses[1], rel=1e-12)


def predictive(parallel: bool = False) -> None:
    table = {"attach.table": torch.randn(4, 1, 9) if parallel else torch.randn(4, 9)}
    drawn = Predictive(story(), table, parallel=parallel)(TREES)
    assert drawn["surface"].shape[0] == 4


def predictive_of_trees() -> None:
    drawn = Predictive(infer_trees(story()), {"attach.table": torch.randn(4, 9)})(TREES, SURFACE)
    assert drawn["pairs"].shape == (4, 4)


def predictive_of_trees_in_parallel() -> None:
    table = torch.randn(9).expand(60, 1, 9)
    drawn = Predictive(infer_trees(story()), {"attach.table": table}, parallel=True)(TREES, SURFACE)["pairs"]
    assert drawn.shape == (60, 4)
    assert len(drawn.unique(dim=0)) > 3


def decoded_in_a_plate() -> None:
    some = story()
    some.attach.table = torch.randn(9)
    with pyro.plate("draws", 60, dim=-2):
        drawn = infer_trees(some)(TREES, SURFACE).choices
    assert drawn.shape == (60, 4)
    assert len(drawn.unique(dim=0)) > 3


def predictive_of_an_observed_surface() -> None:
    some = looking_inside()
    guide = AutoDelta(collapse_trees(some))
    guide(TREES, SURFACE)
    table = {"attach.table": torch.randn(4, 9)}
    assert Predictive(some, table)(TREES)["surface"].shape[0] == 4
    refusal(partial(WeighedPredictive(some, guide=guide, num_samples=4), TREES, SURFACE))
    Predictive(some, table)(TREES, SURFACE)


def predictive_of_a_collapsed_model() -> None:
    model = collapse_trees(story())
    guide = AutoDelta(model)
    guide(TREES, SURFACE)
    assert Predictive(model, num_samples=4)(TREES)["surface"].shape[:2] == (4, 6)
    weighed = WeighedPredictive(model, guide=guide, num_samples=4)(TREES, SURFACE)
    assert weighed.log_weights.shape == (4,)


def predictive_given_pairs() -> None:
    some = story()
    some.attach.table, some.channel.edit_logits = torch.randn(9), torch.randn(3, 3, 4)
    known = infer_trees(some)(TREES, SURFACE).choices
    for parallel in (False, True):
        drawn = Predictive(some, {"pairs": known.expand(60, -1)}, parallel=parallel)(TREES)["surface"]
        possible = poutine.condition(some, {"pairs": known})
        for surface in drawn.unique(dim=0):
            assert poutine.trace(possible).get_trace(TREES, surface).log_prob_sum() > -torch.inf


def nuts() -> None:
    kernel = NUTS(collapse_trees(story()))
    chain = MCMC(kernel, num_samples=3, warmup_steps=2, disable_progbar=True)
    chain.run(TREES, SURFACE)
    assert chain.get_samples()["attach.table"].shape == (3, 9)


def importance() -> None:
    posterior = Importance(collapse_trees(story()), num_samples=5).run(TREES, SURFACE)
    weights = posterior.get_normalized_weights()
    assert float(weights.max() - weights.min()) > 1e-3


def followed() -> None:
    some, tables = story(), torch.randn(2, 9)

    def model() -> None:
        some.attach.table = tables[pyro.sample("genre", dist.Bernoulli(0.5)).long()]
        some(TREES, SURFACE)

    collapsed = collapse_trees(model)
    assert "genre" in get_dependencies(collapsed)["prior_dependencies"]["surface"]
    assert TraceGraph_ELBO().loss(collapsed, lambda: pyro.sample("genre", dist.Bernoulli(0.5))) > 0


def scaled() -> None:
    some = story()
    some.attach.table = torch.zeros(9)
    whole, part = (
        Trace_ELBO().loss(collapse_trees(model), lambda *args: None, TREES, SURFACE)
        for model in (some, scale_likelihood(some, 0.5))
    )
    assert part == pytest.approx(whole / 2, rel=1e-12)


def masked() -> None:
    some, mask = story(), torch.tensor([True, False])
    some.attach.table = torch.randn(9)
    each = poutine.trace(collapse_trees(some)).get_trace(TREES, SURFACE)
    each.compute_log_prob()
    masked = poutine.trace(collapse_trees(poutine.mask(some, mask))).get_trace(TREES, SURFACE)
    torch.testing.assert_close(masked.log_prob_sum(), each.nodes["surface"]["log_prob"][0])


def of_slots() -> None:
    for handler in (poutine.scale(scale=torch.ones(3)), poutine.mask(mask=torch.ones(3, dtype=torch.bool))):
        some = story_case(tiny_story(window("left")), [2, 0], 3)
        error = refusal(partial(collapse_trees(handler(story())), *batch_of([some])))
    raise error


def languages() -> None:
    some = story()
    some.attach.table = torch.randn(2, 1, 9)
    trace = poutine.trace(pyro.plate("languages", 2, dim=-2)(collapse_trees(some))).get_trace(TREES, SURFACE)
    together = trace.log_prob_sum()
    each = []
    for table in some.attach.table[:, 0]:
        some.attach.table = table
        each.append(poutine.trace(collapse_trees(some)).get_trace(TREES, SURFACE).log_prob_sum())
    torch.testing.assert_close(together, each[0] + each[1])


def plates_between() -> None:
    some = story()
    some.attach.table = torch.randn(9)
    plate = pyro.plate("languages", 2, dim=-2)
    within, around = (
        poutine.trace(model).get_trace(TREES, SURFACE).log_prob_sum()
        for model in (collapse_trees(plate(some)), plate(collapse_trees(some)))
    )
    torch.testing.assert_close(within, around)


def two_stories() -> None:
    stories = {name: story() for name in ("first", "second")}
    for some in stories.values():
        some.attach.table = torch.randn(9)

    def both(act: Callable[..., Callable[..., object]]) -> None:
        for name, some in stories.items():
            scope(prefix=name)(act(some))(TREES, SURFACE)

    together, alone = (
        poutine.trace(model).get_trace().log_prob_sum()
        for model in (collapse_trees(partial(both, lambda some: some)), partial(both, collapse_trees))
    )
    torch.testing.assert_close(together, alone)


class TwoStories(PyroModule):
    """Two stories that share a part."""

    def __init__(self, part: str) -> None:
        super().__init__()
        self.first, self.second = (tiny_story(SlidingWindow(3)) for _ in range(2))
        setattr(self.second, part, getattr(self.first, part))

    def forward(self) -> None:
        for name in ("first", "second"):
            scope(prefix=name)(collapse_trees(getattr(self, name)))(TREES, SURFACE)


def sharing_alone() -> None:
    for part in ("channel", "attach"):
        owner, other = (tiny_story(SlidingWindow(3)) for _ in range(2))
        setattr(other, part, getattr(owner, part))
        other(TREES, SURFACE)
        error = refusal(partial(owner, TREES, SURFACE))
    raise error


def sharing_together() -> None:
    for part, site in (("channel", "edit_logits"), ("attach", "table")):
        trace = poutine.trace(TwoStories(part)).get_trace()
        (name,) = (name for name in trace.nodes if name.endswith(f"{part}.{site}"))
        once = trace.nodes[name]["value"]
        for story_name in ("first", "second"):
            alone = tiny_story(SlidingWindow(3))
            for own, attribute in (("channel", "edit_logits"), ("attach", "table")):
                end = f"{story_name}.{own}.{attribute}"
                values = [node["value"] for key, node in trace.nodes.items() if key.endswith(end)]
                setattr(getattr(alone, own), attribute, values[0] if own != part else once)
            collapsed = poutine.trace(collapse_trees(alone)).get_trace(TREES, SURFACE).log_prob_sum()
            trace.compute_log_prob()
            torch.testing.assert_close(trace.nodes[f"{story_name}/surface"]["log_prob_sum"], collapsed)


def jit() -> None:
    model = collapse_trees(story())
    guide = AutoDelta(model)
    guide(TREES, SURFACE)
    told = partial(model, TREES, SURFACE), partial(guide, TREES, SURFACE)
    JitTrace_ELBO().loss_and_grads(*told)


def half_precision() -> None:
    some = story()
    some.attach.table = torch.randn(9)
    whole, half = (
        poutine.trace(collapse_trees(model)).get_trace(TREES, SURFACE).log_prob_sum()
        for model in (some, some.half())
    )
    torch.testing.assert_close(half, whole, rtol=1e-2, atol=0)


def test_evidence_may_list_a_state_twice() -> None:
    some = story()
    some.attach.table = torch.randn(9)

    def sums(*states: tuple[int, float]) -> Tensor:
        anything = any_over([0, 1, 2])
        slots = SlotEvidence([anything._replace(initial=states), *[anything] * 5])
        return poutine.trace(collapse_trees(some)).get_trace(TREES, slots).log_prob_sum()

    torch.testing.assert_close(sums((0, 1.0), (0, 2.0)), sums((0, 3.0)))


def of_genres() -> Callable[[], Tensor]:
    """A model with a genre that is enumerated in parallel."""
    some, tables = story(), torch.randn(2, 9)

    def model() -> Tensor:
        genre = pyro.sample("genre", dist.Categorical(torch.ones(2)), infer={"enumerate": "parallel"})
        some.attach.table = tables[genre]
        some(TREES, SURFACE)
        return genre

    return model


def inferred_discrete() -> None:
    assert infer_discrete(collapse_trees(of_genres()), first_available_dim=-2)() in (0, 1)


def vectorised() -> None:
    some = story()
    table = torch.zeros(9)

    def loss(table: Tensor) -> Tensor:
        some.attach.table = table
        return poutine.trace(collapse_trees(some)).get_trace(TREES, SURFACE).log_prob_sum()

    for transform, argument in ((torch.func.grad, table), (torch.func.vmap, table[None])):
        error = refusal(partial(transform(loss), argument))
    raise error


def plain_elbos() -> None:
    some = looking_inside()
    some.attach.table = torch.zeros(9)
    for elbo in (TraceEnum_ELBO(max_plate_nesting=1), TraceGraph_ELBO(), Trace_ELBO()):
        error = refusal(partial(elbo.loss, some, lambda *args: None, TREES, SURFACE))
    raise error


def guided_pairs() -> None:
    """An upper bound of the collapsed loss, which the posterior reaches."""
    some = story()
    some.attach.table, some.channel.edit_logits = torch.zeros(9), torch.randn(3, 3, 4)

    def guide(*args: object) -> None:
        poutine.block(infer_trees(some), expose=["pairs"])(TREES, SURFACE)

    exact = Trace_ELBO().loss(collapse_trees(some), lambda *args: None, TREES, SURFACE)
    for model in (some, collapse_trees(some)):
        assert Trace_ELBO().loss(model, guide, TREES, SURFACE) == pytest.approx(exact, rel=1e-12)


def conditioned() -> None:
    """Inside and around, the handlers of this package change nothing."""
    some = story()
    some.attach.table, some.channel.edit_logits = torch.zeros(9), torch.randn(3, 3, 4)
    data = {"pairs": infer_trees(some, 0)(TREES, SURFACE).choices}
    plain, *others = (
        poutine.trace(model).get_trace(TREES, SURFACE).log_prob_sum(site_filter)
        for act, site_filter in (
            (poutine.condition, lambda name, site: True),
            # The fresh site that Pyro makes beside an intervention is not of this x.
            (poutine.do, lambda name, site: name != "pairs"),
        )
        for model in (
            act(some, data),
            collapse_trees(act(some, data)),
            act(collapse_trees(some), data),
            infer_trees(act(some, data)),
            act(infer_trees(some), data),
        )
    )
    for other in others[:4]:
        torch.testing.assert_close(other, plain)
    for other in others[5:]:
        torch.testing.assert_close(other, others[4])
    assert others[4] > plain  # of an intervention, only p(x | T') counts


def conditioned_surface() -> None:
    """The value of the handler counts, not that of the model; likewise inside and around."""
    some = story()
    some.attach.table, some.channel.edit_logits = torch.zeros(9), torch.randn(3, 3, 4)
    drawn = poutine.trace(some).get_trace(TREES)
    other = drawn.nodes["surface"]["value"]
    expected = poutine.trace(collapse_trees(some)).get_trace(TREES, other).log_prob_sum()
    for handler in (
        partial(poutine.condition, data={"surface": other}),
        partial(poutine.replay, trace=drawn),
    ):
        models = [collapse_trees(handler(some)), handler(collapse_trees(some))]
        if handler.func is poutine.replay:
            drawn.remove_node("pairs")
            models, arguments = models[1:], [(TREES,)]
        else:
            arguments = [(TREES,), (TREES, SURFACE)]
        for model in models:
            for given in arguments:
                found = poutine.trace(model).get_trace(*given).log_prob_sum()
                torch.testing.assert_close(found, expected)
    drawn = poutine.trace(some).get_trace(TREES)
    replayed = poutine.trace(poutine.replay(some, trace=drawn)).get_trace(
        TREES, drawn.nodes["surface"]["value"]
    )
    torch.testing.assert_close(replayed.log_prob_sum(), drawn.log_prob_sum())


def replayed() -> None:
    """Replay leaves out what a handler has observed, so the weights must be observed again."""
    some = story()
    guide = AutoDelta(collapse_trees(some))
    guide(TREES, SURFACE)
    fitted = poutine.condition(some, data=guide.median())
    trace = poutine.trace(fitted).get_trace(TREES)
    again = poutine.trace(poutine.replay(fitted, trace)).get_trace(TREES)
    torch.testing.assert_close(again.log_prob_sum(), trace.log_prob_sum())
    with pytest.raises(RuntimeError, match="must be sampled in trace"):
        poutine.replay(some, trace)(TREES)


def surface_intervened() -> None:
    some = looking_inside()
    collapse_trees(poutine.do(some, {"surface": SURFACE}))(TREES)
    for model in (some, infer_trees(some)):
        error = refusal(partial(poutine.do(model, {"surface": SURFACE.clamp(min=2)}), TREES))
    raise error


def twice_told() -> None:
    some = story()
    some.attach.table, some.channel.edit_logits = torch.zeros(9), torch.randn(3, 3, 4)
    assert infer_trees(collapse_trees(some))(TREES, SURFACE).choices.shape == (4,)
    assert not collapse_trees(infer_trees(some))(TREES, SURFACE).is_decided


def conditioned_in_part() -> None:
    """The sum over the other choices is that over all of them, less those where the known one differs."""
    some = story()
    some.attach.table, some.channel.edit_logits = torch.randn(9), torch.randn(3, 3, 4)
    pairs = range(len(PAIRS[int(TREES.relation[0])]))
    losses = [
        TraceEnum_ELBO(max_plate_nesting=1).loss(model, lambda *args: None, TREES, SURFACE)
        for model in (
            one_by_one(some),
            *(poutine.condition(one_by_one(some), {"pair 0": torch.tensor(pair)}) for pair in pairs),
        )
    ]
    whole, *parts = (math.exp(-loss) for loss in losses)
    assert sum(parts) == pytest.approx(whole)


def compared() -> None:
    some = story()
    some.attach.table, some.channel.edit_logits = torch.randn(9), torch.randn(3, 3, 4)
    ours, theirs = (
        elbo(max_plate_nesting=1).loss(model, lambda *args: None, TREES, SURFACE)
        for elbo, model in (
            (Trace_ELBO, collapse_trees(some)),
            (TraceEnum_ELBO, config_enumerate(one_by_one(some))),
        )
    )
    assert ours == pytest.approx(theirs, rel=1e-12)


def looked_at() -> None:
    collapse_trees(story())(TREES, SURFACE).choices.tolist()


def genres(name: str = "trees") -> None:
    tables = torch.randn(2, 9)

    def model() -> None:
        with pyro.plate(name, 2, dim=-1):
            genre = pyro.sample("genre", dist.Categorical(torch.ones(2)), infer={"enumerate": "parallel"})
        some = story()
        some.attach.table = tables[genre]
        some(TREES, SURFACE, plate=name)

    assert math.isfinite(TraceEnum_ELBO(max_plate_nesting=1).loss(collapse_trees(model), lambda: None))


def odd_batches() -> None:
    refusal(partial(collapse_trees(story()), TREES.pick([]), SURFACE[:0]))
    for surface in (SURFACE[:-1], SURFACE[None], SURFACE.tolist()):
        error = refusal(partial(collapse_trees(story()), TREES, surface))
    raise error


def no_numbers() -> None:
    some = story()
    for table in (
        *(torch.full((9,), value) for value in (torch.nan, torch.inf)),
        torch.zeros(9, dtype=torch.bfloat16),
    ):
        some.attach.table = table
        error = refusal(partial(collapse_trees(some), TREES, SURFACE))
    raise error


def copied() -> None:
    some = story()
    some.attach.table = torch.randn(9)
    model = collapse_trees(some)
    model(TREES, SURFACE)
    again = copy.deepcopy(model)
    torch.testing.assert_close(
        *(poutine.trace(one).get_trace(TREES, SURFACE).nodes["surface"]["value"] for one in (model, again))
    )


def pickled() -> None:
    """A story and a trace, each as itself."""
    some = story()
    some.attach.table = torch.randn(9)
    trace = poutine.trace(collapse_trees(some)).get_trace(TREES, SURFACE)
    for saved in (some, trace):
        file = io.BytesIO()
        torch.save(saved, file)
        file.seek(0)
        again = torch.load(file, weights_only=False)
    again.compute_log_prob()
    trace.compute_log_prob()
    torch.testing.assert_close(again.log_prob_sum(), trace.log_prob_sum())
    assert pickle.loads(pickle.dumps(some))(TREES).surface.shape[0] == len(SURFACE)


def enumerated_evidence() -> None:
    """Evidence that leaves nothing open counts as the surface."""
    some, tables = story(), torch.randn(2, 9)

    def model(surface: object) -> None:
        with pyro.plate("trees", 2, dim=-1):
            genre = pyro.sample("genre", dist.Categorical(torch.ones(2)), infer={"enumerate": "parallel"})
        some.attach.table = tables[genre]
        collapse_trees(some)(TREES, surface)

    known = SlotEvidence([[token for token in slot if token >= 0] for slot in SURFACE.tolist()])
    elbo = TraceEnum_ELBO(max_plate_nesting=1)
    losses = [elbo.loss(model, lambda _: None, surface) for surface in (SURFACE, known)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)


def completed_in_a_plate() -> None:
    some = story()
    some.attach.table = torch.randn(9)
    known = SlotEvidence([any_over([1, 2])] * len(SURFACE))

    def model() -> None:
        with pyro.plate("draws", 3, dim=-2):
            infer_trees(some)(TREES, known)

    trace = poutine.trace(model).get_trace()
    trace.compute_log_prob()
    site = trace.nodes["completed"]
    assert site["log_prob"].shape == (3, 2)
    for draw in range(3):
        told = site["fn"]._state
        alone = type(site["fn"])(told, 1)._log_prob(site["value"][draw], told.choices[draw])
        torch.testing.assert_close(site["log_prob"][draw].double(), alone.double(), rtol=1e-5, atol=1e-6)


def impossible_and_masked() -> None:
    """The tree that is left out may have an impossible surface."""
    some = story()
    some.attach.table = torch.randn(9)
    surface = SURFACE.clone()
    surface[3:] = 0  # of the second tree: sentence starts, which nothing sprouts
    with poutine.mask(mask=torch.tensor([True, False])):
        trace = poutine.trace(collapse_trees(some)).get_trace(TREES, surface)
    trace.compute_log_prob()
    first = poutine.trace(collapse_trees(some)).get_trace(TREES.pick([0]), surface[:3])
    first.compute_log_prob()
    found, wanted = (one.nodes["surface"]["log_prob_sum"] for one in (trace, first))
    torch.testing.assert_close(found, wanted)


def returned() -> None:
    Predictive(story(), num_samples=2, return_sites=["_RETURN"])(TREES)


def subsampled() -> None:
    some = story()
    some.attach.table = torch.randn(2, 1, 9)
    plate = pyro.plate("languages", 6, subsample_size=2, dim=-2)
    trace = poutine.trace(plate(collapse_trees(some))).get_trace(TREES, SURFACE)
    trace.compute_log_prob()
    evidence = trace.nodes["surface"]["unscaled_log_prob"]
    torch.testing.assert_close(trace.log_prob_sum(), 3 * evidence.sum())


def strange_dimensions() -> None:
    some = story()
    some.attach.table = torch.zeros(3, 1, 9)
    Trace_ELBO().loss(collapse_trees(some), lambda *args: None, TREES, SURFACE)


def shared_prior() -> None:
    stories = {name: story() for name in ("first", "second")}

    def both() -> None:
        mean = pyro.sample("mean", dist.Normal(torch.zeros(9), 1.0).to_event(1))
        for name, some in stories.items():
            some.attach.table = PyroSample(dist.Normal(mean, 1.0).to_event(1))
            scope(prefix=name)(collapse_trees(some))(TREES, SURFACE)

    guide = AutoDelta(both)
    guide()
    svi = SVI(both, guide, pyro.optim.Adam({"lr": 0.05}), Trace_ELBO())
    losses = [svi.step() for _ in range(30)]
    assert losses[-1] < losses[0]
    assert guide.median()["mean"].abs().min() > 0


def sampled_posterior() -> None:
    elbo, arguments = TraceEnum_ELBO(max_plate_nesting=1), (collapse_trees(of_genres()), lambda: None)
    assert elbo.sample_posterior(*arguments) in (0, 1)
    assert elbo.compute_marginals(*arguments)["genre"].probs.sum() == pytest.approx(1)


def refusal(use: Callable[[], object]) -> Exception:
    """The error that a use raises."""
    with pytest.raises((NotImplementedError, ValueError)) as error:
        use()
    return error.value


def latent() -> LatentTrees:
    """All trees of the words of `TREES`, alike."""
    forest = packed_forest([np.ones((2, 3), np.bool_)] * 2)
    scores = torch.zeros(forest.num_nodes, dtype=torch.double)
    return LatentTrees.of_scores(TREES, forest, TREES.relation[forest.word], scores)


def trained_on_latent_trees() -> None:
    model, trees = collapse_trees(story()), latent()
    guide = AutoDelta(model)
    guide(trees, SURFACE)
    svi = SVI(model, guide, pyro.optim.Adam({"lr": 0.05}), Trace_ELBO())
    losses = [svi.step(trees, SURFACE) for _ in range(30)]
    assert losses[-1] < losses[0]


def latent_trees_given() -> None:
    trees, some = latent(), story()
    first = poutine.trace(some).get_trace(trees)
    tree = first.nodes["tree"]["value"]
    again = poutine.trace(poutine.replay(some, first)).get_trace(trees)
    given = poutine.trace(collapse_trees(poutine.condition(some, {"tree": tree}))).get_trace(trees, SURFACE)
    for trace in (again, given):
        assert torch.equal(trace.nodes["tree"]["value"], tree)


USES: dict[str, Callable[[], object]] = {
    "`SVI` with `AutoDelta`, `AutoLaplaceApproximation`": lambda: (guided(AutoDelta), laplace()),
    "`SVI` with `AutoNormal`": lambda: guided(AutoNormal),
    "`SVI` with `AutoMultivariateNormal`": lambda: guided(AutoMultivariateNormal),
    "`SVI` of `infer_trees(model)`": trained_while_decoding,
    "`vectorize_particles=True`": particles,
    "`TraceGraph_ELBO`, `get_dependencies`": followed,
    "`JitTrace_ELBO`": jit,
    "`torch.func.grad`, `torch.func.vmap`": vectorised,
    "weights in half precision, `copy.deepcopy`": lambda: (half_precision(), copied()),
    "`pickle`, `torch.save` of a story or a trace": pickled,
    "`SlotEvidence` where sites are enumerated": enumerated_evidence,
    "`SlotEvidence` decoded in a plate": completed_in_a_plate,
    "`poutine.mask` of trees whose surface is impossible": impossible_and_masked,
    "scores that are NaN, infinite, or bfloat16": no_numbers,
    "no trees, or a surface with other slots, with a batch dimension, or as a list": odd_batches,
    "`NUTS`, `Importance` of `collapse_trees(model)`": lambda: (nuts(), importance()),
    "`Predictive` of surfaces, also `parallel=True`": lambda: (
        predictive(),
        predictive(parallel=True),
        predictive_given_pairs(),
    ),
    "`Predictive` of `infer_trees(model)`, also `parallel=True`": lambda: (
        predictive_of_trees(),
        predictive_of_trees_in_parallel(),
    ),
    "`Predictive`, `WeighedPredictive` of a collapsed model": predictive_of_a_collapsed_model,
    "`Predictive`, `WeighedPredictive` of a plain story with an observed surface": (
        predictive_of_an_observed_surface
    ),
    '`Predictive(..., return_sites=["_RETURN"])`': returned,
    "`infer_discrete` of `collapse_trees(model)`": inferred_discrete,
    "`Trace_ELBO`, `TraceEnum_ELBO`, `TraceGraph_ELBO` of a plain story": plain_elbos,
    "`TraceEnum_ELBO` of `one_by_one(model)`": compared,
    "a guide that samples the punctemes": guided_pairs,
    "`poutine.condition`, `poutine.do` of all punctemes": conditioned,
    "`poutine.condition` of some punctemes, in `one_by_one(model)`": conditioned_in_part,
    "`poutine.condition`, `poutine.replay` of the surface": conditioned_surface,
    "`poutine.replay` of a trace made with learned weights": replayed,
    "`poutine.do` of the surface": surface_intervened,
    "`Predictive`, `poutine.do` of a plain story whose scores do not read the marks inside": lambda: (
        Predictive(story(), num_samples=2)(TREES, SURFACE),
        poutine.do(story(), {"surface": SURFACE})(TREES),
    ),
    "`collapse_trees` around `infer_trees`, or the reverse": twice_told,
    "choices that are summed out": looked_at,
    "a site for each tree, enumerated in parallel": lambda: (genres(), genres("authors")),
    "weights with other dimensions on the left": strange_dimensions,
    "`sample_posterior`, `compute_marginals` of `TraceEnum_ELBO`": sampled_posterior,
    "`poutine.scale`, `poutine.mask`": lambda: (scaled(), masked()),
    "a scale or a mask of slots or nodes": of_slots,
    "`collapse_trees`, SVI, `condition`, `replay` with `LatentTrees`": lambda: (
        latent_trees_given(),
        trained_on_latent_trees(),
    ),
    "`infer_trees` with `LatentTrees`": lambda: infer_trees(story())(latent(), SURFACE),
    "draws of x from a collapsed story of `LatentTrees`": lambda: collapse_trees(story())(latent()),
    "`LatentTrees` with an attach model of more than one arc": lambda: collapse_trees(
        Story(story().inventory, LooksAround(story().inventory), window("left"))
    )(latent(), SURFACE),
    "a plate around or within the model or `infer_trees(model)`, also with subsampling": lambda: (
        decoded_in_a_plate(),
        languages(),
        subsampled(),
        plates_between(),
    ),
    "two stories in one `collapse_trees`, or each in one": two_stories,
    "two stories that share a part, but no `PyroModule`": sharing_alone,
    "two stories that share a channel or attach model": sharing_together,
    "two collapsed stories with a prior in common": shared_prior,
}


def rows() -> dict[str, str]:
    """What the reference says of each use."""
    text = Path("docs/reference/pyro.md").read_text(encoding="utf-8")
    lists = re.findall(r"^(Works|Refused).*:\n\n((?:- .+\n)+)", text, re.MULTILINE)
    return {
        use: kind.lower() for kind, uses in lists for use in re.findall(r"^- (.+?)(?:: .+)?$", uses, re.M)
    }


@pytest.mark.parametrize("use", USES)
def test_uses_are_as_the_reference_says(use: str) -> None:
    with pyro.settings.context(module_local_params=False):
        if rows()[use] == "works":
            USES[use]()
        else:
            assert re.search(r"tree|choices|stor|surface", str(refusal(USES[use])).splitlines()[0])


def test_the_reference_has_all_uses() -> None:
    assert rows().keys() == USES.keys()


@pytest.mark.usefixtures("single_precision", "fresh_pyro")
def test_the_snippets_run_one_after_the_other() -> None:
    """Behind the fit of the first program."""
    names: dict[str, object] = {}
    for page, number in (("guide/first-pyro-program.md", 1), ("reference/pyro.md", None)):
        text = Path("docs", page).read_text(encoding="utf-8")
        blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        for block in blocks[:number]:
            exec(block.replace("range(200)", "range(2)"), names)
    assert names["latent"].forest.num_nodes > 1  # type: ignore[attr-defined]
