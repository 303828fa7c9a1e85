"""The evidence of trees within plates, particles, and sites that are enumerated for each tree."""

import itertools
import math

import pyro
import pyro.distributions as dist
import pytest
import torch
from problems import PAIRS, batch_of, inventory, story_case, tiny_story, window
from pyro import poutine
from pyro.infer import MCMC, NUTS, Trace_ELBO
from pyro.infer.autoguide import AutoNormal
from torch import Tensor

from pyropunct.inference.inside import log_evidence
from pyropunct.inference.pyro.collapse import collapse_trees, tree_problem
from pyropunct.inference.pyro.decode import infer_trees
from pyropunct.inference.pyro.elbo import TreeEnum_ELBO, TreeTrace_ELBO
from pyropunct.inference.pyro.pairs import MARKED, PunctemePairs
from pyropunct.inference.pyro.strings import Underlying
from pyropunct.models.channel.window import SlidingWindow

CASES = [story_case(tiny_story(window("left")), heads, 2) for heads in ([2, 0, 2], [0, 1, 4, 2])]
TREES, SURFACE = batch_of(CASES)
SIZES = [len(PAIRS[relation]) for relation in TREES.relation.tolist()]
START = torch.tensor([0, *SIZES]).cumsum(0)
NODE = torch.repeat_interleave(torch.arange(len(SIZES)), torch.tensor(SIZES))


def nothing(*args: object, **kwargs: object) -> None:
    """A guide for models without latent variables but the trees."""


def told(logits: Tensor) -> Tensor:
    """The sites of the trees."""
    channel = window("left")
    with pyro.plate("nodes", len(SIZES)):
        pairs = pyro.sample("pairs", PunctemePairs(logits, START), infer=MARKED)
    underlying = Underlying(TREES.forest, inventory(), TREES.relation, pairs, torch.arange(len(SURFACE)))
    with pyro.plate("slots", len(SURFACE)):
        pyro.sample("surface", channel.surface(underlying, channel.probabilities()), obs=SURFACE)
    return pairs


def evidence_of_logits(logits: Tensor) -> list[float]:
    return log_evidence(tree_problem(told, logits)).tolist()


@pytest.mark.parametrize("elbo", [Trace_ELBO, TreeTrace_ELBO, TreeEnum_ELBO])
def test_vectorised_particles(elbo: type) -> None:
    """Their loss is the mean of those of the particles, each with its own weights."""
    story = tiny_story(SlidingWindow(3))
    model = collapse_trees(story) if elbo is Trace_ELBO else story
    guide = AutoNormal(collapse_trees(story))
    guide(TREES, SURFACE)
    with pyro.plate("particles", 3, dim=-2):
        drawn = poutine.trace(guide).get_trace(TREES, SURFACE)
    values = {name: drawn.nodes[name]["value"] for name in ("attach.table", "channel.edit_logits")}
    assert values["attach.table"].shape[:2] == (3, 1)

    def fixed(*args: object) -> None:
        for name, value in values.items():
            events = value.dim() - 2
            pyro.sample(name, dist.Delta(value, event_dim=events).mask(False))

    def one(row: int) -> float:
        data = {name: value[row, 0] for name, value in values.items()}
        trace = poutine.trace(poutine.condition(collapse_trees(story), data)).get_trace(TREES, SURFACE)
        return trace.log_prob_sum().item()

    loss = elbo(num_particles=3, vectorize_particles=True, max_plate_nesting=1).loss(
        model, fixed, TREES, SURFACE
    )
    assert loss == pytest.approx(-sum(one(row) for row in range(3)) / 3, rel=1e-12)


@pytest.mark.parametrize("elbo", [Trace_ELBO, TreeEnum_ELBO])
def test_particles_without_weights(elbo: type) -> None:
    logits = torch.randn(len(NODE))
    expected = -sum(evidence_of_logits(logits))
    loss = elbo(num_particles=10, vectorize_particles=True).loss(collapse_trees(told), nothing, logits)
    assert loss == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("shape", [(2,), (2, 1)])
def test_a_plate_of_languages(shape: tuple[int, ...]) -> None:
    """Each has its own weights, with or without the dimension that is that of the nodes."""
    logits = torch.randn(2, len(NODE))
    trace = poutine.trace(pyro.plate("languages", 2, dim=-2)(collapse_trees(told)))
    found = trace.get_trace(logits.reshape(*shape, -1)).log_prob_sum()
    assert float(found) == pytest.approx(sum(sum(evidence_of_logits(row)) for row in logits), rel=1e-12)


def test_what_has_no_place() -> None:
    logits = torch.randn(2, len(NODE))
    with pytest.raises(NotImplementedError, match=r"2 values in dimension -2, .* no plate of this size"):
        collapse_trees(told)(logits)
    with (
        pyro.plate("languages", 3, dim=-2),
        pytest.raises(NotImplementedError, match="no plate of this size"),
    ):
        collapse_trees(told)(logits)
    with pytest.raises(NotImplementedError, match=r"plates? .*dim=-1"), pyro.plate("languages", 2):
        collapse_trees(told)(logits[0])

    def between() -> None:
        with pyro.plate("languages", 2, dim=-2):
            told(logits)

    with pytest.raises(NotImplementedError, match=r"the plates 'languages' \(dim=-2\), 'nodes'"):
        collapse_trees(between)()


def genres(name: str = "trees", plate: str = "trees", size: int = 2) -> Tensor:
    """A model of trees of two genres, a site for each."""
    generator = torch.Generator().manual_seed(1)
    tables, weights = torch.randn(2, len(NODE), generator=generator), torch.tensor([[0.3, 0.7], [0.6, 0.4]])
    with pyro.plate(plate, size):
        kind = pyro.sample("genre", dist.Categorical(weights), infer={"enumerate": "parallel"})
    kind = kind.expand(*kind.shape[:-1], size)
    of_pair = kind[..., TREES.forest.tree[NODE]]
    pairs = told(torch.where(of_pair == 0, tables[0], tables[1]))
    return torch.cat([kind, pairs]) if kind.dim() == 1 else kind


def genre_weights() -> dict[tuple[int, int], list[float]]:
    """For each choice of genres the probability of it with the surface of each tree."""
    tables = torch.randn(2, len(NODE), generator=torch.Generator().manual_seed(1))
    of_genre = [evidence_of_logits(table) for table in tables]
    prior = [[0.3, 0.7], [0.6, 0.4]]
    return {
        kinds: [prior[tree][kind] * math.exp(of_genre[kind][tree]) for tree, kind in enumerate(kinds)]
        for kinds in itertools.product((0, 1), repeat=2)
    }


def test_a_genre_for_each_tree() -> None:
    total = sum(math.prod(chances) for chances in genre_weights().values())
    loss = TreeEnum_ELBO(max_plate_nesting=1).loss(genres, nothing)
    assert loss == pytest.approx(-math.log(total), rel=1e-12)


def test_a_kind_that_the_guide_enumerates() -> None:
    """For all trees; the guide's distribution is that of the model, so the loss is its mean."""
    tables = torch.randn(2, len(NODE))

    def model() -> None:
        kind = pyro.sample("kind", dist.Categorical(torch.tensor([0.3, 0.7])))
        told(tables[kind])

    def guide() -> None:
        pyro.sample("kind", dist.Categorical(torch.tensor([0.3, 0.7])), infer={"enumerate": "parallel"})

    loss = TreeEnum_ELBO(max_plate_nesting=1).loss(model, guide)
    each = [sum(evidence_of_logits(table)) for table in tables]
    assert loss == pytest.approx(-0.3 * each[0] - 0.7 * each[1], rel=1e-12)


def test_a_plate_of_something_else() -> None:
    message = r"'genre' in the plates 'authors', .* plate named 'trees' of dim=-1 and size 2"
    with pytest.raises(NotImplementedError, match=message):
        TreeEnum_ELBO(max_plate_nesting=1).loss(genres, nothing, plate="authors")


def test_posterior_of_genres_and_trees() -> None:
    chances = genre_weights()
    first = [sum(math.prod(row) for kinds, row in chances.items() if kinds[0] == kind) for kind in (0, 1)]
    elbo = TreeEnum_ELBO(max_plate_nesting=1)
    drawn = torch.stack([elbo.sample_posterior(genres, nothing) for _ in range(100)])
    share, expected = float((drawn[:, 0] == 0).double().mean()), first[0] / sum(first)
    assert share == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / 100))
    assert drawn.shape[1] == 2 + len(SIZES)
    with pytest.raises(NotImplementedError, match=r"\['pairs'\] depend on other enumerated sites"):
        elbo.compute_marginals(genres, nothing)


def test_posterior_and_marginals_of_trees() -> None:
    logits = torch.randn(len(NODE))
    elbo = TreeEnum_ELBO(max_plate_nesting=1)
    marginal = elbo.compute_marginals(told, nothing, logits)["pairs"]
    drawn = torch.stack([elbo.sample_posterior(told, nothing, logits) for _ in range(120)])
    for node, size in enumerate(SIZES):
        chances = marginal.logits[START[node] : START[node + 1]].exp().tolist()
        assert sum(chances) == pytest.approx(1)
        counts = torch.bincount(drawn[:, node], minlength=size).tolist()
        for count, chance in zip(counts, chances, strict=True):
            assert count / 120 == pytest.approx(
                chance, abs=4.5 * math.sqrt(chance * (1 - chance) / 120) + 1e-9
            )
    with pytest.raises(NotImplementedError, match="not compatible with multiple particles"):
        TreeEnum_ELBO(num_particles=2).sample_posterior(told, nothing, logits)


def test_impossible_values_of_weights() -> None:
    trace = poutine.trace(collapse_trees(told, allow_impossible=True))
    logits = torch.full((len(NODE),), -torch.inf)
    logits[START[:-1]] = 0.0
    with pytest.raises(ValueError, match="no punctemes explain"):
        collapse_trees(told)(logits)
    assert trace.get_trace(logits).log_prob_sum() == -torch.inf


def test_nuts_where_some_weights_make_the_surface_impossible() -> None:
    """They have no posterior, and so are never drawn."""
    marks = torch.ones(len(NODE), dtype=torch.bool).index_fill(0, START[:-1], False)

    def model() -> None:
        weight = pyro.sample("weight", dist.Normal(0.0, 1.0))
        told((weight * torch.arange(len(NODE))).masked_fill(marks & (weight < 0), -torch.inf))

    kernel = NUTS(collapse_trees(model, allow_impossible=True), step_size=0.5, adapt_step_size=False)
    start = {"weight": torch.tensor(0.5)}
    chain = MCMC(kernel, num_samples=30, warmup_steps=5, initial_params=start, disable_progbar=True)
    chain.run()
    drawn = chain.get_samples()["weight"]
    assert (drawn > 0).all()
    assert len(drawn.unique()) > 5


def test_weights_that_do_not_fit_the_plates_around_draws() -> None:
    with (
        pyro.plate("particles", 2, dim=-2),
        pytest.raises(NotImplementedError, match=r"\(3,\) on the left, .* have \(2,\)"),
    ):
        infer_trees(told)(torch.zeros(3, 1, len(NODE)))
