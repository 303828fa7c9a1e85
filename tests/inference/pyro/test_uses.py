"""What of Pyro works with trees that are summed out, and what is refused: the table of the reference."""

import math
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyro
import pyro.distributions as dist
import pytest
import torch
from problems import batch_of, story_case, tiny_story, window
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
    infer_discrete,
)
from pyro.infer.autoguide import AutoDelta, AutoLaplaceApproximation, AutoMultivariateNormal, AutoNormal
from pyro.infer.inspect import get_dependencies
from pyro.nn import PyroModule, PyroSample
from torch import Tensor

from pyropunct.inference.machines.evidence import SlotEvidence, any_over
from pyropunct.inference.pyro.collapse import collapse_trees
from pyropunct.inference.pyro.decode import infer_trees
from pyropunct.inference.pyro.elbo import TreeEnum_ELBO, scale_likelihood
from pyropunct.inference.pyro.mixture import mix_trees
from pyropunct.inference.pyro.pairs import one_by_one
from pyropunct.models.channel.window import SlidingWindow
from pyropunct.models.story import Story

CASES = [story_case(tiny_story(window("left")), heads, 3) for heads in ([2, 0], [0, 1])]
TREES, SURFACE = batch_of(CASES)


def story() -> Story:
    """A story whose attach model is latent."""
    some = tiny_story(SlidingWindow(3))
    some.channel.edit_logits = torch.randn(3, 3, 4)
    return some


def guided(kind: Callable[..., Callable[..., object]]) -> None:
    model = collapse_trees(story())
    guide = kind(model)
    guide(TREES, SURFACE)
    svi = SVI(model, guide, pyro.optim.Adam({"lr": 0.05}), Trace_ELBO())
    losses = [svi.step(TREES, SURFACE) for _ in range(30)]
    assert losses[-1] < losses[0] + 3


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
    assert drawn["surface 0"].shape[0] == 4


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
    some = story()
    guide = AutoDelta(collapse_trees(some))
    guide(TREES, SURFACE)
    table = {"attach.table": torch.randn(4, 9)}
    assert Predictive(some, table)(TREES)["surface 0"].shape[0] == 4
    for kind, parts in (
        (Predictive, {"posterior_samples": table}),
        (WeighedPredictive, {"guide": guide, "num_samples": 4}),
    ):
        refusal(partial(kind(some, **parts), TREES, SURFACE))
    Predictive(some, guide=guide, num_samples=4)(TREES, SURFACE)


def nuts() -> None:
    kernel = NUTS(collapse_trees(story(), allow_impossible=True))
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
    assert "genre" in get_dependencies(collapsed)["prior_dependencies"]["tree_evidence"]
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
    collapse_trees(poutine.mask(story(), torch.tensor(True)))(TREES, SURFACE)


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
    collapse_trees(pyro.plate("languages", 2, dim=-2)(story()))(TREES, SURFACE)


def two_stories() -> None:
    def both() -> None:
        for name in ("first", "second"):
            scope(prefix=name)(story())(TREES, SURFACE)

    collapse_trees(both)()


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
            factor = trace.nodes[f"{story_name}/tree_evidence"]["fn"].log_factor.sum()
            torch.testing.assert_close(factor, collapsed)


def two_collapses() -> None:
    def both() -> None:
        for name in ("first", "second"):
            scope(prefix=name)(collapse_trees(story()))(TREES, SURFACE)

    found = poutine.trace(both).get_trace()
    assert {"first/tree_evidence", "second/tree_evidence"} <= found.nodes.keys()


def jit() -> None:
    model = collapse_trees(story())
    guide = AutoDelta(model)
    guide(TREES, SURFACE)
    told = partial(model, TREES, SURFACE), partial(guide, TREES, SURFACE)
    refusal(partial(JitTrace_ELBO().loss_and_grads, *told))
    JitTrace_ELBO().loss_and_grads(model, guide, TREES, SURFACE)  # which torch.jit itself would refuse


def half_precision() -> None:
    some = story()
    some.attach.table = torch.randn(9)
    whole, half = (
        poutine.trace(collapse_trees(model)).get_trace(TREES, SURFACE).log_prob_sum()
        for model in (some, some.half())
    )
    torch.testing.assert_close(half, whole, rtol=1e-2, atol=0)


def listed_twice() -> None:
    some = story()
    some.attach.table = torch.randn(9)

    def sums(*states: tuple[int, float]) -> Tensor:
        anything = any_over([0, 1, 2])
        slots = SlotEvidence([anything._replace(initial=states), *[anything] * 5])
        return poutine.trace(collapse_trees(some)).get_trace(TREES, slots).log_prob_sum()

    torch.testing.assert_close(sums((0, 1.0), (0, 2.0)), sums((0, 3.0)))


def inferred_discrete() -> None:
    drawn = infer_discrete(collapse_trees(story()), first_available_dim=-2)(TREES, SURFACE)
    drawn.choices.tolist()


def plain_elbos() -> None:
    some = story()
    some.attach.table = torch.zeros(9)
    for elbo in (TraceEnum_ELBO(max_plate_nesting=1), TraceGraph_ELBO(), Trace_ELBO()):
        error = refusal(partial(elbo.loss, some, lambda *args: None, TREES, SURFACE))
    raise error


def inferred_discrete_uncollapsed() -> None:
    infer_discrete(story(), first_available_dim=-2)(TREES, SURFACE)


def guided_pairs() -> None:
    def guide(*args: object) -> None:
        with pyro.plate("nodes", 4):
            pyro.sample("pairs", dist.Categorical(torch.ones(2)))

    some = story()
    some.attach.table = torch.zeros(9)
    assert Trace_ELBO().loss(some, guide, TREES, SURFACE) > 0  # a model that is not collapsed may have it
    Trace_ELBO().loss(collapse_trees(some), guide, TREES, SURFACE)


def conditioned() -> None:
    some = story()
    known = infer_trees(some, 0)(TREES, SURFACE).choices
    some.attach.table, data = torch.zeros(9), {"pairs": known}
    inside, plain = (
        poutine.trace(model).get_trace(TREES, SURFACE).log_prob_sum()
        for model in (collapse_trees(poutine.condition(some, data)), poutine.condition(some, data))
    )
    torch.testing.assert_close(inside, plain)
    refusal(partial(poutine.condition(collapse_trees(some), data), TREES, SURFACE))


def intervened() -> None:
    poutine.do(collapse_trees(story()), {"pairs": torch.zeros(4, dtype=torch.long)})(TREES, SURFACE)


def twice_collapsed() -> None:
    infer_trees(collapse_trees(story()))(TREES, SURFACE)


def conditioned_in_part() -> None:
    model = poutine.condition(one_by_one(story()), {"pair 0": torch.tensor(0)})
    collapse_trees(model)(TREES, SURFACE)


def looked_at() -> None:
    def model() -> None:
        choices = story()(TREES, SURFACE).choices
        refusal(partial(bool, choices[0]))
        refusal(choices.tolist)

    collapse_trees(model)()
    behind = collapse_trees(story())(TREES, SURFACE).choices
    refusal(partial(torch.add, behind, 1))
    behind.tolist()


def dependent() -> None:
    def model(finish: Callable[[Tensor], object]) -> None:
        finish(story()(TREES, SURFACE).choices)

    refusal(partial(collapse_trees(model), lambda choices: pyro.deterministic("same", choices)))
    collapse_trees(model)(lambda choices: pyro.factor("many", torch.where(choices > 0, 1.0, 0.0).sum()))


def genres(name: str = "trees") -> None:
    tables = torch.randn(2, 9)

    def model() -> None:
        with pyro.plate(name, 2, dim=-1):
            genre = pyro.sample("genre", dist.Categorical(torch.ones(2)), infer={"enumerate": "parallel"})
        some = story()
        some.attach.table = tables[genre]
        some(TREES, SURFACE)

    assert math.isfinite(TreeEnum_ELBO(max_plate_nesting=1).loss(model, lambda: None))


def subsampled() -> None:
    some = story()
    some.attach.table = torch.randn(2, 1, 9)
    plate = pyro.plate("languages", 6, subsample_size=2, dim=-2)
    trace = poutine.trace(plate(collapse_trees(some))).get_trace(TREES, SURFACE)
    evidence = trace.nodes["tree_evidence"]["fn"].log_factor
    torch.testing.assert_close(trace.log_prob_sum(), 3 * evidence.sum())


def strange_dimensions() -> None:
    some = story()
    some.attach.table = torch.zeros(3, 1, 9)
    collapse_trees(some)(TREES, SURFACE)


def unequal_scales() -> None:
    halved = poutine.scale(scale=0.5)
    part = story()
    part.attach.forward = part.attach.scorer
    part._sprout = halved(part._sprout)
    collapse_trees(part)(TREES, SURFACE)


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
    some = story()
    some.attach.table = torch.zeros(9)
    elbo = TreeEnum_ELBO(max_plate_nesting=1)
    assert elbo.sample_posterior(some, lambda *args: None, TREES, SURFACE).choices.shape == (4,)
    marginals = elbo.compute_marginals(some, lambda *args: None, TREES, SURFACE)
    assert isinstance(marginals["pairs"], dist.TorchDistribution)


def refusal(use: Callable[[], object]) -> Exception:
    """The error that a use raises."""
    with pytest.raises((NotImplementedError, ValueError)) as error:
        use()
    return error.value


def mixed(model: Callable[..., object] | None = None) -> Callable[..., object]:
    return mix_trees(story() if model is None else model, [2], torch.tensor([0.4, 0.6]).log())


def mixture() -> None:
    collapsed = poutine.trace(collapse_trees(mixed())).get_trace(TREES, SURFACE)
    assert collapsed.nodes["tree_evidence"]["fn"].log_factor.shape == (1,)


def mixture_of_expectations() -> None:
    some = story()
    refusal(partial(collapse_trees(mixed(poutine.scale(some, torch.ones(4)))), TREES, SURFACE))
    collapse_trees(mixed(tiny_story(window("left"), symmetry_weight=1.0)))(TREES, SURFACE)


USES: dict[str, Callable[[], None]] = {
    "`SVI` with `AutoDelta`": lambda: guided(AutoDelta),
    "`SVI` with `AutoNormal`": lambda: guided(AutoNormal),
    "`SVI` with `AutoMultivariateNormal`": lambda: guided(AutoMultivariateNormal),
    "`AutoLaplaceApproximation`": laplace,
    "`vectorize_particles=True`": particles,
    "`TraceGraph_ELBO`, `get_dependencies`": followed,
    "`JitTrace_ELBO`": jit,
    "weights in half precision": half_precision,
    "evidence that lists a state twice": listed_twice,
    "`NUTS`": nuts,
    "`Importance`": importance,
    "`Predictive` of surfaces": predictive,
    "`Predictive` of T'": predictive_of_trees,
    "`Predictive(..., parallel=True)` of surfaces": lambda: predictive(parallel=True),
    "`Predictive(..., parallel=True)` of T'": predictive_of_trees_in_parallel,
    "`infer_trees(model)` in a plate": decoded_in_a_plate,
    "`Predictive`, `WeighedPredictive` with an observed surface": predictive_of_an_observed_surface,
    "`infer_discrete`": inferred_discrete,
    "`infer_discrete` without `collapse_trees`": inferred_discrete_uncollapsed,
    "`Trace_ELBO`, `TraceEnum_ELBO`, `TraceGraph_ELBO` without `collapse_trees`": plain_elbos,
    "a guide that samples the punctemes": guided_pairs,
    "`poutine.condition` of all punctemes": conditioned,
    "`poutine.condition` of some punctemes": conditioned_in_part,
    "`poutine.do` of punctemes": intervened,
    "`infer_trees(collapse_trees(model))`": twice_collapsed,
    "`if`, `.tolist()` of choices": looked_at,
    "other sites and factors that depend on choices": dependent,
    "a site for each tree, enumerated in parallel": genres,
    "the same in a plate of another name": lambda: genres("authors"),
    "weights with other dimensions on the left": strange_dimensions,
    "`sample_posterior`, `compute_marginals`": sampled_posterior,
    "`poutine.scale`": scaled,
    "`poutine.scale` of some sites of the trees": unequal_scales,
    "`poutine.mask`": masked,
    "`collapse_trees(mix_trees(model, ...))`": mixture,
    "`mix_trees(collapse_trees(model), ...)`": lambda: mixed(collapse_trees(story()))(TREES, SURFACE),
    "`infer_trees(mix_trees(model, ...))`": lambda: infer_trees(mixed())(TREES, SURFACE),
    "`mix_trees` where the model has a `tree_expectation`, or a scale for each tree": mixture_of_expectations,
    "a plate around the model": languages,
    "a plate with subsampling around the model": subsampled,
    "a plate within the model": plates_between,
    "two stories in one `collapse_trees`": two_stories,
    "two collapsed stories": two_collapses,
    "two stories with one channel, or one attach model": sharing_alone,
    "the same as attributes of one `PyroModule`": sharing_together,
    "two collapsed stories with a prior in common": shared_prior,
}


def rows() -> dict[str, str]:
    """What the reference says of each use."""
    text = Path("docs/reference/pyro.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\| (.+?) \| (works|refused) \|", text, re.MULTILINE))


@pytest.mark.parametrize("use", USES)
def test_uses_are_as_the_reference_says(use: str) -> None:
    with pyro.settings.context(module_local_params=False):
        if rows()[use] == "works":
            USES[use]()
        else:
            assert re.search(r"tree|choices|stor|p\(x \| T\)", str(refusal(USES[use])).splitlines()[0])


def test_the_reference_has_all_uses() -> None:
    assert rows().keys() == USES.keys()
