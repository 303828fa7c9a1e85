"""Classes of trees, plates, particles and subsampling, against log p(x | T) of each tree."""

import itertools
import math
import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

import pyro
import pyro.distributions as dist
import pytest
import torch
from problems import batch_of, evidence_of_trees, story_case, tiny_story, window
from pyro import poutine
from pyro.contrib.autoname import scope
from pyro.infer import MCMC, NUTS, Predictive, Trace_ELBO, TraceEnum_ELBO, infer_discrete
from pyro.infer.autoguide import AutoNormal
from torch import Tensor

from pyropunct.inference.pyro.collapse import collapse_trees, run_story
from pyropunct.inference.pyro.decode import infer_trees
from pyropunct.inference.pyro.story_state import StoryState
from pyropunct.models.channel.window import SlidingWindow
from pyropunct.models.story import Story

CASES = [story_case(tiny_story(window("left")), heads, 2) for heads in ([2, 0, 2], [0, 1, 4, 2])]
TREES, SURFACE = batch_of(CASES)
PRECISIONS = pytest.mark.parametrize("precision", [torch.float, torch.double], ids=["float32", "float64"])
GENRES = torch.tensor([[0.3, 0.7], [0.6, 0.4]], dtype=torch.double)
REGISTERS = torch.tensor([0.8, 0.2], dtype=torch.double)
"""p(genre) of each tree, and p(register) of all trees together."""


def nothing(*args: object, **kwargs: object) -> None:
    """A guide for models without latent variables but those that are summed out."""


@cache
def numbers() -> tuple[Tensor, Tensor]:
    """Scores by (region, language, genre), and logits of edits by (language, register)."""
    generator = torch.Generator().manual_seed(1)
    shapes = (3, 2, 2, 9), (2, 2, 3, 3, 4)
    tables, edits = (torch.randn(shape, generator=generator, dtype=torch.double) for shape in shapes)
    return tables, edits


@cache
def evidence(region: int, language: int, genre: int, register: int) -> list[float]:
    """log p(x | T) of each tree with fixed weights."""
    story, (tables, edits) = tiny_story(SlidingWindow(3)), numbers()
    story.attach.table, story.channel.edit_logits = tables[region, language, genre], edits[language, register]
    return evidence_of_trees(story, TREES, SURFACE).tolist()


def log_sum(values: Sequence[float]) -> float:
    return float(torch.tensor(list(values)).logsumexp(0))


def exactly(regions: int, languages: int, genres: bool, registers: bool, scale: float) -> float:
    """log p of the surfaces in all plates: each genre is of a tree, the register of everything."""

    def of_tree(tree: int, region: int, language: int, register: int) -> float:
        each = [evidence(region, language, genre, register)[tree] for genre in (0, 1)]
        prior = GENRES[tree].log().tolist()
        joint = log_sum([a + b for a, b in zip(prior, each, strict=True)]) if genres else each[0]
        return scale * joint

    def of_register(register: int) -> float:
        places = itertools.product(range(2), range(regions), range(languages))
        return sum(of_tree(*place, register) for place in places)

    if not registers:
        return of_register(0)
    return log_sum([float(REGISTERS[register].log()) + of_register(register) for register in (0, 1)])


def model(regions: int, languages: int, genres: bool, registers: bool, first: str = "genre") -> StoryState:
    """A story in plates of languages (-2) and regions (-3), with classes; the plate of trees is its own."""
    story = tiny_story(SlidingWindow(3))
    tables, edits = (values.to(torch.get_default_dtype()) for values in numbers())
    plates = [pyro.plate("texts", 2, dim=-1)]
    plates += [pyro.plate("languages", languages, dim=-2)] * (languages > 1)
    plates += [pyro.plate("regions", regions, dim=-3)] * (regions > 1)
    parallel, kind, register = {"enumerate": "parallel"}, torch.tensor(0), torch.tensor(0)
    for name in (first, {"genre": "register", "register": "genre"}[first]):
        if name == "genre" and genres:
            weights = GENRES.to(tables)
            for plate in plates:
                plate.__enter__()
            kind = pyro.sample("genre", dist.Categorical(weights), infer=parallel)
            for plate in reversed(plates):
                plate.__exit__(None, None, None)
        if name == "register" and registers:
            register = pyro.sample("register", dist.Categorical(REGISTERS.to(tables)), infer=parallel)
    region = torch.arange(regions)[:, None, None] if regions > 1 else torch.tensor(0)
    language = torch.arange(languages)[:, None] if languages > 1 else torch.tensor(0)
    story.attach.table = tables[region, language, kind]
    story.channel.edit_logits = edits[language, register]
    for plate in plates[1:]:
        plate.__enter__()
    told = story(TREES, SURFACE, plate=plates[0])
    for plate in reversed(plates[1:]):
        plate.__exit__(None, None, None)
    return told


@pytest.mark.parametrize(("precision", "particles"), [(torch.float, 1), (torch.double, 3)])
@pytest.mark.parametrize(("regions", "languages"), [(1, 1), (1, 2), (3, 2)])
@pytest.mark.parametrize(
    ("genres", "registers", "first"),
    [(True, False, "genre"), (False, True, "register"), (True, True, "genre"), (True, True, "register")],
)
def test_classes_and_plates(
    precision: torch.dtype,
    particles: int,
    regions: int,
    languages: int,
    genres: bool,
    registers: bool,
    first: str,
) -> None:
    """All together are exact: classes are summed out, each within its plates."""
    torch.set_default_dtype(precision)
    nesting = 3 if regions > 1 else languages
    elbo = TraceEnum_ELBO(
        max_plate_nesting=nesting, num_particles=particles, vectorize_particles=particles > 1
    )
    loss = elbo.loss(collapse_trees(model), nothing, regions, languages, genres, registers, first)
    expected = exactly(regions, languages, genres, registers, 1.0)
    assert -loss == pytest.approx(expected, rel=1e-12 if precision == torch.double else 1e-5)


@PRECISIONS
def test_subsampled_trees_with_classes(precision: torch.dtype) -> None:
    """The plate of trees is the model's own; it scales the site of the story as any other."""
    torch.set_default_dtype(precision)
    tables, edits = (values.to(precision) for values in numbers())
    story = tiny_story(SlidingWindow(3))
    story.channel.edit_logits = edits[0, 0]

    def treebank() -> None:
        plate = pyro.plate("treebank", 10, subsample=torch.tensor([0, 1]), dim=-1)
        with plate:
            kind = pyro.sample("genre", dist.Categorical(GENRES.to(tables)), infer={"enumerate": "parallel"})
        story.attach.table = tables[0, 0][kind]
        story(TREES, SURFACE, plate=plate)

    loss = TraceEnum_ELBO(max_plate_nesting=1).loss(collapse_trees(treebank), nothing)
    expected = exactly(1, 1, True, False, 5.0)
    assert -loss == pytest.approx(expected, rel=1e-12 if precision == torch.double else 1e-5)


@PRECISIONS
def test_weights_of_each_tree(precision: torch.dtype) -> None:
    """A class of each tree that is known: scores, and weights of the channel, with a row for each tree."""
    torch.set_default_dtype(precision)
    tables, edits = (values.to(precision) for values in numbers())
    story, close = tiny_story(SlidingWindow(3)), {"rel": 1e-12 if precision == torch.double else 1e-5}
    for kind, register in itertools.product([(0, 1), (1, 0), (1, 1)], [(0, 1), (1, 0)]):
        story.attach.table = tables[0, 0][torch.tensor(kind)]
        story.channel.edit_logits = edits[0][torch.tensor(register)]
        expected = [evidence(0, 0, kind[tree], register[tree])[tree] for tree in (0, 1)]
        assert evidence_of_trees(story, TREES, SURFACE).tolist() == pytest.approx(expected, **close)
        drawn = poutine.trace(infer_trees(story)).get_trace(TREES, SURFACE)
        choices = drawn.nodes["pairs"]["value"]
        known = poutine.trace(poutine.condition(story, {"pairs": choices})).get_trace(TREES, SURFACE)
        assert float(drawn.log_prob_sum()) == pytest.approx(float(known.log_prob_sum()), **close)
        forward = poutine.trace(story).get_trace(TREES)
        told = forward.nodes["_RETURN"]["value"]
        again = evidence_of_trees(story, TREES, told.surface)
        assert (again > -torch.inf).all()
        assert again.sum() >= forward.log_prob_sum() - 1e-4


def test_the_genres_of_the_reference() -> None:
    """The example of the page: a class of each tree."""
    page = Path("docs/reference/pyro.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (code,) = (block for block in blocks if "genre" in block)
    story = tiny_story(window("left"))
    names = {"pyro": pyro, "torch": torch, "dist": dist, "story": story, "inventory": story.inventory}
    exec(code, names)
    loss = TraceEnum_ELBO(max_plate_nesting=1).loss(collapse_trees(names["model"]), nothing, TREES, SURFACE)
    each = []
    for table in names["tables"]:
        story.attach.table = table
        each.append(evidence_of_trees(story, TREES, SURFACE))
    assert loss == pytest.approx(-float((torch.stack(each).logsumexp(0) - math.log(2)).sum()), rel=1e-12)


def posterior(genre: int) -> float:
    """p(genre of the first tree | x)."""
    joint = [GENRES[0, kind] * math.exp(evidence(0, 0, kind, 0)[0]) for kind in (0, 1)]
    return float(joint[genre] / sum(joint))


def test_posterior_of_genres_and_trees() -> None:
    arguments, expected = (1, 1, True, False), posterior(0)
    marginals = TraceEnum_ELBO(max_plate_nesting=1).compute_marginals(
        collapse_trees(model), nothing, *arguments
    )
    torch.testing.assert_close(marginals["genre"].probs[0, 0].double(), torch.tensor(expected).double())
    of_genre, count = infer_discrete(collapse_trees(model), first_available_dim=-2), 0
    for _ in range(50):
        genre = poutine.trace(of_genre).get_trace(*arguments).nodes["genre"]["value"]
        count += int(genre[0] == 0)
    assert count / 50 == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / 50))
    told = infer_trees(poutine.condition(model, {"genre": genre}))(*arguments)
    assert told.choices.shape == (7,)


def test_posterior_and_marginals_of_trees() -> None:
    arguments = (1, 1, False, False)
    marginal = infer_trees(model)(*arguments).posterior.marginals()
    drawn = torch.stack([infer_trees(model)(*arguments).choices for _ in range(60)])
    for node, chances in enumerate(marginal.probs.tolist()):
        counts = torch.bincount(drawn[:, node], minlength=len(chances)).tolist()
        for count, chance in zip(counts, chances, strict=True):
            bound = 4.5 * math.sqrt(chance * (1 - chance) / 60) + 1e-9
            assert count / 60 == pytest.approx(chance, abs=bound)


def test_marginals_of_two_stories() -> None:
    """Each is that of the story alone, by the name of its site."""
    both = {name: tiny_story(SlidingWindow(3)) for name in ("first", "second")}
    for some in both.values():
        some.attach.table, some.channel.edit_logits = torch.randn(9), torch.randn(3, 3, 4)

    def stories() -> None:
        for name, some in both.items():
            scope(prefix=name)(some)(TREES, SURFACE)

    trace = poutine.trace(collapse_trees(stories)).get_trace()
    for name, some in both.items():
        found = trace.nodes[f"{name}/surface"]["fn"].posterior(SURFACE).marginals()
        alone = run_story(some, TREES, SURFACE).posterior.marginals()
        torch.testing.assert_close(found.probs, alone.probs)


def test_a_kind_that_the_guide_enumerates() -> None:
    """For all trees; the guide's distribution is that of the model, so the loss is its mean."""
    story, (tables, edits) = tiny_story(SlidingWindow(3)), numbers()
    story.channel.edit_logits = edits[0, 0]

    def kinds() -> None:
        story.attach.table = tables[0, 0][pyro.sample("kind", dist.Categorical(torch.tensor([0.3, 0.7])))]
        story(TREES, SURFACE)

    def guide() -> None:
        pyro.sample("kind", dist.Categorical(torch.tensor([0.3, 0.7])), infer={"enumerate": "parallel"})

    loss = TraceEnum_ELBO(max_plate_nesting=1).loss(collapse_trees(kinds), guide)
    each = [sum(evidence(0, 0, kind, 0)) for kind in (0, 1)]
    assert loss == pytest.approx(-0.3 * each[0] - 0.7 * each[1], rel=1e-12)


@pytest.mark.parametrize("elbo", [Trace_ELBO, partial(TraceEnum_ELBO, strict_enumeration_warning=False)])
def test_vectorised_particles(elbo: Callable[..., Trace_ELBO]) -> None:
    """Their loss is the mean of those of the particles, each with its own weights."""
    story = tiny_story(SlidingWindow(3))
    guide = AutoNormal(collapse_trees(story))
    guide(TREES, SURFACE)
    with pyro.plate("particles", 3, dim=-2):
        drawn = poutine.trace(guide).get_trace(TREES, SURFACE)
    values = {name: drawn.nodes[name]["value"] for name in ("attach.table", "channel.edit_logits")}
    assert values["attach.table"].shape[:2] == (3, 1)

    def fixed(*args: object) -> None:
        for name, value in values.items():
            pyro.sample(name, dist.Delta(value, event_dim=value.dim() - 2).mask(False))

    def one(row: int) -> float:
        data = {name: value[row, 0] for name, value in values.items()}
        trace = poutine.trace(poutine.condition(collapse_trees(story), data)).get_trace(TREES, SURFACE)
        return trace.log_prob_sum().item()

    loss = elbo(num_particles=3, vectorize_particles=True, max_plate_nesting=1).loss(
        collapse_trees(story), fixed, TREES, SURFACE
    )
    assert loss == pytest.approx(-sum(one(row) for row in range(3)) / 3, rel=1e-12)


def test_draws_in_parallel_have_the_weights_of_their_row() -> None:
    """Told forward with `Predictive`, each row of weights gives a draw of its own."""
    story = tiny_story(window("left"))
    tables = torch.full((2, 9), -30.0)
    tables[0, [0, 2, 5]] = tables[1, [1, 3, 6]] = 30.0  # the first row sprouts nothing
    drawn = Predictive(story, {"attach.table": tables[:, None]}, parallel=True)(TREES)
    expected = [[0] * 7, [1] * 7]
    assert drawn["pairs"].tolist() == expected
    assert (drawn["surface"][0] >= 0).sum() == 2  # the starts of the sentences
    assert (drawn["surface"][1] >= 0).sum() > 2


SHAPES: dict[str, tuple[Callable[[Story], object], type[Exception], str]] = {
    "no plate": (
        lambda story: Trace_ELBO().loss(collapse_trees(story), nothing, TREES, SURFACE),
        ValueError,
        "invalid log_prob shape",
    ),
    "in the place of trees": (
        lambda story: _with_table(story, torch.zeros(3, 9))(TREES, SURFACE),
        ValueError,
        r"scores of pairs have the batch shape \(3,\), whose last dimension is that of the 2 trees",
    ),
    "the channel": (
        lambda story: _with_edits(story, torch.zeros(3, 3, 3, 4))(TREES, SURFACE),
        ValueError,
        r"the channel's weights have the batch shape \(3,\), whose last dimension is that of the 2 trees",
    ),
    "a plate of something else": (
        lambda story: pyro.plate("languages", 2)(collapse_trees(story))(TREES, SURFACE),
        ValueError,
        "collide at dim=-1",
    ),
    "a plate of another size": (
        lambda story: story(TREES, plate=pyro.plate("treebank", 10, subsample_size=3)),
        ValueError,
        "'treebank' has 3 elements .* to be 2 trees in dim=-1",
    ),
    "a plate in another dimension": (
        lambda story: story(TREES, plate=pyro.plate("treebank", 2, dim=-2)),
        ValueError,
        "'treebank' has 2 elements in dim=-2",
    ),
    "draws": (
        lambda story: story(TREES),
        NotImplementedError,
        r"dimensions \(3,\) on the left, the plates around it \(\)",
    ),
}


def _with_table(story: Story, table: Tensor) -> Callable[..., object]:
    story.attach.table = table
    return collapse_trees(story)


def _with_edits(story: Story, edits: Tensor) -> Callable[..., object]:
    story.attach.table, story.channel.edit_logits = torch.zeros(9), edits
    return collapse_trees(story)


@pytest.mark.parametrize("name", SHAPES)
def test_what_has_no_place(name: str) -> None:
    use, error, message = SHAPES[name]
    story = tiny_story(window("left"))
    story.attach.table = torch.zeros(3, 1, 9) if name in ("no plate", "draws") else torch.zeros(9)
    with pytest.raises(error, match=message):
        use(story)


def test_impossible_values_of_weights() -> None:
    story, table = tiny_story(window("left")), torch.full((9,), -torch.inf)
    table[[0, 2, 5]] = 0.0
    story.attach.table = table
    with pytest.raises(ValueError, match="no punctemes explain"):
        collapse_trees(story)(TREES, SURFACE)
    trace = poutine.trace(collapse_trees(story, allow_impossible=True)).get_trace(TREES, SURFACE)
    assert trace.log_prob_sum() == -torch.inf


def test_nuts_where_some_weights_make_the_surface_impossible() -> None:
    """They have no posterior, and so are never drawn."""
    story, marks = tiny_story(window("left")), torch.ones(9, dtype=torch.bool)
    marks[[0, 2, 5]] = False

    def weighted() -> None:
        weight = pyro.sample("weight", dist.Normal(0.0, 1.0))
        story.attach.table = (weight * torch.arange(9)).masked_fill(marks & (weight < 0), -torch.inf)
        story(TREES, SURFACE)

    kernel = NUTS(collapse_trees(weighted, allow_impossible=True), step_size=0.5, adapt_step_size=False)
    start = {"weight": torch.tensor(0.5)}
    chain = MCMC(kernel, num_samples=30, warmup_steps=5, initial_params=start, disable_progbar=True)
    chain.run()
    drawn = chain.get_samples()["weight"]
    assert (drawn > 0).all()
    assert len(drawn.unique()) > 5


def test_values_of_weights_need_the_dimension_of_trees() -> None:
    """Pyro's parallel prediction leaves it out, so that two samples would be those of the two trees."""
    story, tables = tiny_story(window("left")), torch.stack([torch.arange(9.0), -torch.arange(9.0)])
    samples = {"attach.table": tables, "channel.edit_logits": story.channel.edit_logits.expand(2, 3, 3, 4)}
    with pytest.raises(ValueError, match=r"site 'attach.table' has a value of shape \(2, 9\) .* \(2, 1, 9\)"):
        Predictive(story, {"attach.table": tables}, parallel=True)(TREES)
    full = {name: value.unsqueeze(1) for name, value in samples.items()}
    drawn = Predictive(infer_trees(story, 0), full, parallel=True)(TREES, SURFACE)["pairs"]
    for sample, table in enumerate(tables):
        story.attach.table = table
        assert torch.equal(drawn[sample].flatten(), infer_trees(story, 0)(TREES, SURFACE).choices)
