"""What may not depend on choices that are summed out is refused, wherever the dependence hides."""

from collections.abc import Callable
from functools import partial

import pyro
import pyro.distributions as dist
import pytest
import torch
from problems import inventory, padded, window
from pyro import poutine
from pyro.distributions import transforms
from pyro.infer import Trace_ELBO, TraceGraph_ELBO
from pyro.infer.inspect import get_dependencies
from torch import Tensor

from pyropunct.inference.forest import forest_of
from pyropunct.inference.pyro.collapse import collapse_trees
from pyropunct.inference.pyro.handles import (
    Handles,
    HandlesMessenger,
    UndecidedError,
    are_handles,
    handles,
    origins,
)
from pyropunct.inference.pyro.pairs import MARKED, PunctemePairs, tree_expectation
from pyropunct.inference.pyro.strings import Underlying

START = torch.tensor([0, 2, 5])


def surface_of(choices: Tensor) -> None:
    """The surface of two words, observed."""
    forest, channel = forest_of([[2, 0]]), window("left")
    underlying = Underlying(forest, inventory(), torch.tensor([0, 1]), choices, torch.arange(3))
    with pyro.plate("slots", 3):
        surface = channel.surface(underlying, channel.probabilities())
        pyro.sample("surface", surface, obs=padded([(0,), (), ()]))


def told(more: Callable[[Tensor], object], choices: Callable[[Tensor], Tensor] = lambda pairs: pairs) -> None:
    """A model of two words, of whose pairs more is made."""
    with pyro.plate("nodes", 2):
        pairs = pyro.sample("pairs", PunctemePairs(torch.arange(5.0), START), infer=MARKED)
    surface_of(choices(pairs))
    more(pairs)


def told_apart(scale: float = 1.0) -> None:
    """The same with a site for each word."""
    with poutine.scale(scale=scale):
        first = pyro.sample("first", dist.Categorical(torch.ones(2)), infer=MARKED)
    surface_of(torch.stack([first, pyro.sample("second", dist.Categorical(torch.ones(3)), infer=MARKED)]))


def told_pairs() -> Tensor:
    kept = []
    told(kept.append)
    return kept[0]


def told_more(more: Callable[[Tensor], object]) -> float:
    return Trace_ELBO().loss(collapse_trees(told), lambda more: None, more)


def seen(fn: dist.TorchDistribution, value: Tensor) -> None:
    pyro.sample("later", fn, obs=value)


def logits(pairs: Tensor) -> Tensor:
    return torch.where(pairs > 0, torch.ones(2), -torch.ones(2))


ONES, ZERO = torch.ones(2), torch.tensor(0.0)

DEPENDENT: dict[str, Callable[[Tensor], object]] = {
    "independent": lambda pairs: seen(dist.Bernoulli(logits=logits(pairs)).to_event(1), ONES),
    "masked": lambda pairs: seen(dist.Normal(ZERO, 1.0).expand([2]).mask(pairs > 0), ONES),
    "expanded": lambda pairs: seen(dist.Normal(logits(pairs), 1.0).expand([3, 2]), torch.ones(3, 2)),
    "transformed": lambda pairs: seen(
        dist.TransformedDistribution(
            dist.Normal(torch.zeros(2), 1.0), [transforms.AffineTransform(logits(pairs), 1.0)]
        ),
        ONES,
    ),
    "mixture": lambda pairs: seen(
        dist.MixtureSameFamily(dist.Categorical(torch.ones(2)), dist.Normal(logits(pairs), 1.0)), ZERO
    ),
    "deterministic": lambda pairs: pyro.deterministic("later", pairs),
    "factor": lambda pairs: pyro.factor("later", logits(pairs).sum()),
    "value": lambda pairs: seen(dist.Normal(ZERO, 1.0).expand([2]), logits(pairs)),
    "mask": lambda pairs: poutine.mask(lambda: seen(dist.Normal(ZERO, 1.0).expand([2]), ONES), pairs > 0)(),
    "latent": lambda pairs: pyro.sample("later", dist.Categorical(logits=logits(pairs)), infer=MARKED),
}


def test_what_has_been_computed_is_no_choice_wherever_it_stands() -> None:
    computed = partial(told, lambda pairs: None, lambda pairs: torch.stack(tensors=[pairs[0] + 0, pairs[1]]))
    with pytest.raises(UndecidedError, match="'surface' depends on the tree-enumerated sites"):
        collapse_trees(computed)()


@pytest.mark.parametrize("name", DEPENDENT)
def test_sites_that_depend_on_choices(name: str) -> None:
    with pytest.raises(
        UndecidedError, match=r"site 'later' depends on the tree-enumerated sites \['pairs'\]"
    ):
        told_more(DEPENDENT[name])


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("tolist", lambda pairs: pairs.tolist()),
        ("__bool__", lambda pairs: bool(pairs[0] > 0)),
        ("item", lambda pairs: pairs.sum().item()),
        ("numpy", lambda pairs: pairs.numpy()),
        ("__getitem__", lambda pairs: torch.ones(3)[pairs]),
        ("index_select", lambda pairs: torch.ones(3).index_select(0, pairs)),
    ],
)
def test_python_values_of_choices(name: str, more: Callable[[Tensor], object]) -> None:
    with pytest.raises(UndecidedError, match=rf"^{name} needs the choices of .* \['pairs'\], .* summed out"):
        told_more(more)


def test_a_site_that_feeds_no_surface() -> None:
    def model() -> None:
        pairs = pyro.sample("pairs", PunctemePairs(torch.zeros(5), START), infer=MARKED)
        pyro.sample("later", dist.Normal(torch.arange(3.0)[pairs], 1.0), obs=ONES)

    with pytest.raises(UndecidedError, match="feed observed surface sites and tree_expectation alone"):
        collapse_trees(model)()


def test_what_does_not_depend_on_choices() -> None:
    alone = told_more(lambda pairs: None)
    log_normal = dist.Normal(0.0, 1.0).log_prob(torch.tensor(1.0))
    more = told_more(lambda pairs: seen(dist.Normal(torch.zeros(pairs.shape), 1.0).to_event(1), ONES))
    assert more == pytest.approx(alone - 2 * float(log_normal), rel=1e-12)


@pytest.mark.parametrize("choices", [lambda pairs: pairs * 1, lambda pairs: pairs.clamp(min=0)])
def test_choices_that_are_computed(choices: Callable[[Tensor], Tensor]) -> None:
    with pytest.raises(
        UndecidedError, match=r"site 'surface' depends on .* through their choices as they are"
    ):
        collapse_trees(told)(lambda pairs: None, choices)


def test_conditioning_one_of_several_sites() -> None:
    with pytest.raises(ValueError, match=r"each node needs one choice, .* neither conditioned nor computed"):
        collapse_trees(poutine.condition(told_apart, {"first": torch.tensor(0)}))()


def test_unequal_scales_in_one_tree() -> None:
    with pytest.raises(NotImplementedError, match=r"'first' has the scale 2.0 and site 'second' has 1.0"):
        collapse_trees(told_apart)(2.0)
    collapse_trees(poutine.scale(told_apart, 0.5))()


def test_handles_are_what_they_were_when_moved() -> None:
    some = handles(torch.arange(4), "a")
    more = torch.stack([some[0], *some[1:].unbind()]).reshape(2, 2)
    assert are_handles(more)
    assert are_handles(torch.cat([some, torch.zeros(2, dtype=torch.long)]))
    assert more.shape == (2, 2)
    with HandlesMessenger():
        computed = some + 1
        assert isinstance(computed, Handles)
        assert not are_handles(computed)
        assert not are_handles(torch.cat([some, computed]))
    with pytest.raises(UndecidedError, match="add"):
        some + 1


def test_choices_that_leave_the_handler() -> None:
    def model() -> None:
        pairs = collapse_trees(told_pairs)()
        assert pairs.shape == (2,)
        pyro.sample("later", dist.Normal(pairs, 1.0).to_event(1), obs=ONES)

    with pytest.raises(UndecidedError, match=r"needs the choices of the tree-enumerated sites \['pairs'\]"):
        poutine.trace(model).get_trace().log_prob_sum()


def test_other_sites_may_be_followed_too() -> None:
    """The values of `TraceGraph_ELBO` know the sites that they come from, which are none of trees."""

    def model() -> None:
        kind = pyro.sample("kind", dist.Bernoulli(0.5))
        pyro.sample("seen", dist.Normal(kind, 1.0).to_event(0), obs=ZERO)
        told(lambda pairs: None)

    def guide() -> None:
        pyro.sample("kind", dist.Bernoulli(0.5))

    losses = [TraceGraph_ELBO().loss(collapse_trees(model), guide) for _ in range(8)]
    alone = told_more(lambda pairs: None)
    far, near = (-float(dist.Normal(0.0, 1.0).log_prob(torch.tensor(x))) for x in (1.0, 0.0))
    assert {round(loss - alone, 8) for loss in losses} == {round(far, 8), round(near, 8)}


GENRES = 0.7 * torch.tensor([[0.0, 1, 2, 0, 1], [1.0, -1, 0, 2, -2]])


def of_a_genre(edits: Tensor | None = None) -> None:
    """A model of two words, whose punctemes, or whose channel, depend on a genre."""
    genre = pyro.sample("genre", dist.Bernoulli(0.4)).long()
    with pyro.plate("nodes", 2):
        logits = GENRES[genre] if edits is None else GENRES[0]
        pairs = pyro.sample("pairs", PunctemePairs(logits, START), infer=MARKED)
    forest, channel = forest_of([[2, 0]]), window("left")
    if edits is not None:
        channel.edit_logits = edits[genre]
    underlying = Underlying(forest, inventory(), torch.tensor([0, 1]), pairs, torch.arange(3))
    cost, start = torch.arange(5.0), torch.tensor([0, 2, 5])
    with pyro.plate("slots", 3):
        surface = channel.surface(underlying, channel.probabilities())
        pyro.sample("surface", surface, obs=padded([(0, 1), (), (1,)]))
    pyro.factor("cost", tree_expectation(pairs, cost, start, forest).sum())


class Always(dist.Bernoulli):
    """A Bernoulli distribution that always draws the same number."""

    def __init__(self, number: float, logits: Tensor) -> None:
        super().__init__(logits=logits)
        self._number = number

    def sample(self, sample_shape: torch.Size = torch.Size()) -> Tensor:  # noqa: B008
        return torch.tensor(self._number)


EDITS = torch.arange(72.0).reshape(2, 3, 3, 4).sin()


@pytest.mark.parametrize("edits", [None, EDITS], ids=["punctemes", "channel"])
def test_evidence_knows_the_sites_that_it_depends_on(edits: Tensor | None) -> None:
    """So the gradient of `TraceGraph_ELBO`, on average over the values of a site, is the exact one."""
    model, logit = collapse_trees(of_a_genre), torch.tensor(0.3, requires_grad=True)
    q = logit.detach().sigmoid()
    relations = get_dependencies(model, (edits,))["prior_dependencies"]
    assert "genre" in relations["tree_evidence"]
    assert "genre" in relations["cost"]
    losses, gradients = [], []
    for number, share in ((0.0, 1 - q), (1.0, q)):
        loss = TraceGraph_ELBO().loss_and_grads(
            model, lambda _, number=number: pyro.sample("genre", Always(number, logit)), edits
        )
        gradients.append(float(share * logit.grad))
        losses.append(loss)
        logit.grad = None
    # The loss is q loss_1 + (1 - q) loss_0, and that of a value has the term log q, whose mean slope is 0.
    exact = float(q * (1 - q)) * (losses[1] - losses[0])
    assert abs(losses[1] - losses[0]) > 0.1
    assert sum(gradients) == pytest.approx(exact, rel=1e-9)


def test_where_origins_are_looked_for() -> None:
    some = handles(torch.arange(4), "a")

    def function() -> Tensor:
        return some

    circle: list[object] = [1]
    circle.append(circle)
    for value in ({"x": [(some,)]}, partial(max, some), function, partial(max, key=some)):
        assert origins(value) == {"a"}
    for nothing in (circle, 3, None, torch.ones(2), lambda x: x):
        assert origins(nothing) == frozenset()
