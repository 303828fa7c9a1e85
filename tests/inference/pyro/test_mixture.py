"""Mixtures over the trees of a sentence: log sum_k w_k p(x | T_k)."""

import itertools
import math
import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyro
import pyro.distributions as dist
import pytest
import torch
from brute_force import projective_trees, slides, sliding_window, total, underlying_strings
from problems import (
    Case,
    batch_of,
    edits_of,
    evidence_of_trees,
    explanations_of,
    slope,
    story_case,
    tiny_story,
    walls,
    window,
)
from pyro import poutine
from pyro.infer import SVI, Trace_ELBO
from pyro.infer.autoguide import AutoDelta
from torch import Tensor

from pyropunct.inference.pyro.collapse import ImpossibleSurfaceError, collapse_trees
from pyropunct.inference.pyro.decode import infer_trees
from pyropunct.inference.pyro.mixture import mix_trees
from pyropunct.inference.pyro.svi import TreeEnum_ELBO, TreeTrace_ELBO, scale_likelihood
from pyropunct.models.channel.window import SlidingWindow
from pyropunct.models.story import Story

CHANCES = [0.5, 0.3, 0.1, 0.25, 0.05, 0.2, 0.4]
"""Weights of up to seven trees, which need not add up to 1."""

SIZES = [3, 1, 7]
"""How many trees some sentences have."""

EQUAL = torch.zeros(11)

Mixed = Callable[..., object]


def nothing(*args: object, **kwargs: object) -> None:
    """A guide for models without latent variables but the trees."""


def trees_of(case: Case, count: int = 7) -> list[Case]:
    """The case with the first projective trees of its words."""
    return [case._replace(heads=heads) for heads in projective_trees(len(case.heads))[:count]]


def probability(story: Story, case: Case) -> float:
    """p(x | T), by enumeration."""
    rewritings = sliding_window(edits_of(story.channel), "left")
    return total(explanations_of(case, rewritings, story.inventory))


def sentences(story: Story, seed: int = 7) -> tuple[list[Case], Tensor]:
    """Three sentences, of 3, 1 and 7 trees, whose punctuation all trees explain, and the log-weights."""
    case = story_case(story, [2, 0, 2], seed)
    cases = [some for size in SIZES for some in trees_of(case, size)]
    return cases, torch.tensor([weight for size in SIZES for weight in CHANCES[:size]]).log()


@pytest.mark.parametrize("seed", range(6))
def test_mixture_against_brute_force(seed: int) -> None:
    """Some of these trees do not explain the punctuation."""
    story = tiny_story(SlidingWindow(3))
    cases = trees_of(story_case(story, [2, 0, 2], seed))
    each = [probability(story, case) for case in cases]
    evidence = evidence_of_trees(mix_trees(story, [7], torch.tensor(CHANCES).log()), *batch_of(cases))
    expected = math.fsum(weight * one for weight, one in zip(CHANCES, each, strict=True))
    assert evidence.tolist() == pytest.approx([math.log(expected)], rel=1e-12)


def test_the_probabilities_of_all_punctuations_add_up_to_the_weights() -> None:
    story = tiny_story(SlidingWindow(3))
    case = story_case(story, [2, 0], 1)
    trees, phi = ([2, 0], [0, 1]), edits_of(story.channel)
    surfaces = set()
    for heads, pairs in itertools.product(trees, itertools.product(*case.pairs)):
        slots = underlying_strings(heads, pairs, *walls(story.inventory))
        surfaces |= set(itertools.product(*({x for x, _ in slides(u, phi, "left")} for u in slots)))
    cases = [case._replace(heads=heads, surface=list(surface)) for surface in surfaces for heads in trees]
    model = mix_trees(story, [2] * len(surfaces), torch.tensor([0.6, 0.3] * len(surfaces)).log())
    assert len(surfaces) > 20
    assert evidence_of_trees(model, *batch_of(cases)).exp().sum() == pytest.approx(0.9, rel=1e-12)


def test_a_batch_is_its_sentences() -> None:
    story = tiny_story(SlidingWindow(3))
    cases, log_weights = sentences(story)
    together = evidence_of_trees(mix_trees(story, SIZES, log_weights), *batch_of(cases))
    first, alone = 0, []
    for size in SIZES:
        part = slice(first, first + size)
        alone.append(evidence_of_trees(mix_trees(story, [size], log_weights[part]), *batch_of(cases[part])))
        first += size
    torch.testing.assert_close(together, torch.cat(alone), rtol=1e-12, atol=0)


@pytest.mark.parametrize("elbo", [TreeTrace_ELBO, TreeEnum_ELBO])
def test_one_tree_a_sentence_is_the_plain_elbo(elbo: type) -> None:
    story = tiny_story(window("left"))
    cases, _ = sentences(story)
    batch, mixed = batch_of(cases), mix_trees(story, [1] * len(cases), torch.zeros(len(cases)))
    plain = elbo(max_plate_nesting=1).loss(story, nothing, *batch)
    assert elbo(max_plate_nesting=1).loss(mixed, nothing, *batch) == pytest.approx(plain, rel=1e-14)
    scaled = scale_likelihood(mix_trees(story, SIZES, sentences(story)[1]), 3.0)
    mixture = mix_trees(story, SIZES, sentences(story)[1])
    assert elbo(max_plate_nesting=1).loss(scaled, nothing, *batch) == pytest.approx(
        3 * elbo(max_plate_nesting=1).loss(mixture, nothing, *batch), rel=1e-14
    )


@pytest.mark.parametrize("seed", [1, 7])
def test_gradients_are_slopes(seed: int) -> None:
    """Of the weights of the story and of the log-weights, also where trees do not explain the punctuation."""
    story = tiny_story(SlidingWindow(3))
    cases = trees_of(story_case(story, [2, 0, 2], seed))
    batch, values = batch_of(cases), {"log_weights": torch.tensor(CHANCES).log()}
    values |= {"table": story.attach.table, "edit_logits": story.channel.edit_logits}

    def loss(name: str, value: Tensor) -> Tensor:
        story.attach.table, story.channel.edit_logits = values["table"], values["edit_logits"]
        if name != "log_weights":
            setattr(story.attach if name == "table" else story.channel, name, value)
        mixed = mix_trees(story, [7], value if name == "log_weights" else values["log_weights"])
        return TreeTrace_ELBO().differentiable_loss(mixed, nothing, *batch)

    for name, value in values.items():
        here = value.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(loss(name, here), here)
        for flat in gradient.flatten().abs().argsort(descending=True)[:6].tolist():
            index = tuple(int(i) for i in torch.unravel_index(torch.tensor(flat), here.shape))
            by_differences = slope(lambda moved, name=name: loss(name, moved), here, index)
            assert float(gradient[index]) == pytest.approx(by_differences, rel=1e-8, abs=1e-9)


def test_each_tree_counts_by_its_share() -> None:
    """The gradient for the log-weights is minus p(T_k | words, x)."""
    story = tiny_story(SlidingWindow(3))
    cases = trees_of(story_case(story, [2, 0, 2], 1))
    here = torch.tensor(CHANCES).log().requires_grad_()
    loss = TreeTrace_ELBO().differentiable_loss(mix_trees(story, [7], here), nothing, *batch_of(cases))
    joint = [weight * probability(story, case) for weight, case in zip(CHANCES, cases, strict=True)]
    (gradient,) = torch.autograd.grad(loss, here)
    assert gradient.tolist() == pytest.approx([-one / sum(joint) for one in joint], rel=1e-12)


def test_one_step_moves_all_parameters() -> None:
    cases, log_weights = sentences(tiny_story(window("left")))
    story, batch = tiny_story(SlidingWindow(3)), batch_of(cases)
    model = collapse_trees(mix_trees(story, SIZES, log_weights))
    guide = AutoDelta(model, init_loc_fn=lambda site: 0.5 * torch.randn(site["fn"].shape()))
    guide(*batch)
    before = [value.detach().clone() for value in guide.parameters()]
    SVI(model, guide, pyro.optim.Adam({"lr": 0.1}), Trace_ELBO()).step(*batch)
    assert len(before) == 2
    assert all((old != new).all() for old, new in zip(before, guide.parameters(), strict=True))


@pytest.mark.parametrize("for_each", [False, True], ids=["for all sentences", "for each sentence"])
def test_a_discrete_site_that_trees_share(for_each: bool) -> None:
    """It is summed out around the mixtures; tables have one element for all sentences."""
    story = tiny_story(SlidingWindow(3))
    cases, log_weights = sentences(story)
    tables, chances = torch.randn(2, 9), torch.tensor([0.3, 0.7])

    def model(*batch: object) -> None:
        with pyro.plate("sentences", 3, dim=-1) if for_each else nullcontext():
            genre = pyro.sample("genre", dist.Categorical(chances), infer={"enumerate": "parallel"})
        story.attach.table = tables[genre]
        mix_trees(story, SIZES, log_weights)(*batch)

    loss = TreeEnum_ELBO(max_plate_nesting=1).loss(model, nothing, *batch_of(cases))
    of_genre = []
    for table in tables:
        story.attach.table = table
        of_genre.append(evidence_of_trees(mix_trees(story, SIZES, log_weights), *batch_of(cases)))
    of_genre = torch.stack(of_genre) if for_each else torch.stack(of_genre).sum(1, keepdim=True)
    expected = (chances.log()[:, None] + of_genre).logsumexp(0).sum()
    assert loss == pytest.approx(-float(expected), rel=1e-12)


def test_weights_of_trees_that_depend_on_a_site() -> None:
    """Two parsers, which weigh the trees in their own ways."""
    story = tiny_story(SlidingWindow(3))
    cases, log_weights = sentences(story)
    weights = torch.stack([log_weights, log_weights.flip(0)])

    def model(*batch: object) -> None:
        parser = pyro.sample("parser", dist.Bernoulli(0.5), infer={"enumerate": "parallel"})
        mix_trees(story, SIZES, weights[parser.long().reshape(-1)])(*batch)

    loss = TreeEnum_ELBO(max_plate_nesting=1).loss(model, nothing, *batch_of(cases))
    each = [evidence_of_trees(mix_trees(story, SIZES, some), *batch_of(cases)).sum() for some in weights]
    assert loss == pytest.approx(-float(torch.stack(each).logsumexp(0) - math.log(2)), rel=1e-12)


def test_a_plate_around_the_mixture() -> None:
    story = tiny_story(SlidingWindow(3))
    cases, log_weights = sentences(story)
    model = collapse_trees(mix_trees(story, SIZES, log_weights))
    once, twice = (
        poutine.trace(some).get_trace(*batch_of(cases)).log_prob_sum()
        for some in (model, pyro.plate("copies", 2, dim=-2)(model))
    )
    torch.testing.assert_close(twice, 2 * once)


def test_a_sentence_that_none_of_its_trees_explains() -> None:
    story = tiny_story(window("left"))
    cases, log_weights = sentences(story)
    cases[3] = cases[3]._replace(surface=[(1,) * 8, *cases[3].surface[1:]])
    mixed = mix_trees(story, SIZES, log_weights)
    with pytest.raises(ImpossibleSurfaceError, match="tree 3 of the batch, slot 0"):
        evidence_of_trees(mixed, *batch_of(cases))
    trace = poutine.trace(collapse_trees(mixed, allow_impossible=True)).get_trace(*batch_of(cases))
    trace.compute_log_prob()
    assert (trace.nodes["surface"]["log_prob"] == -torch.inf).tolist() == [False, True, False]


def told(**options: float) -> Mixed:
    """A story that is made when it is called, under the settings of the tests."""
    return lambda *batch: tiny_story(window("left"), **options)(*batch)


def mixed(sizes: Sequence[int] = SIZES, weights: Tensor = EQUAL, **options: float) -> Mixed:
    return mix_trees(told(**options), sizes, weights)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (mixed(), "nothing sums out the trees"),
        (infer_trees(mixed()), "neither draws nor decodes"),
        (lambda trees, _: collapse_trees(mixed())(trees), "neither draws nor decodes"),
        (collapse_trees(mix_trees(mixed(), SIZES, EQUAL)), "mix_trees is around the model twice"),
        (collapse_trees(mixed([3, 1])), r"sentences of \[3, 1\] trees .* has 11 trees"),
        (collapse_trees(mixed([3, 0, 8])), "each sentence needs one or more"),
        (collapse_trees(mixed(weights=torch.zeros(1))), r"log-weights of shape \(1,\)"),
        (
            partial(Trace_ELBO().loss, collapse_trees(mixed(weights=torch.zeros(2, 11))), nothing),
            "log_prob shape",
        ),
        (collapse_trees(mixed([2, 2, 7])), r"sentence 1 in mix_trees have \[4, 3\] slots"),
        (collapse_trees(mixed(symmetry_weight=1.0)), "leave the symmetry regulariser out"),
        (collapse_trees(poutine.scale(mixed(), torch.ones(11))), r"scale of shape \(11,\).* its 3 trees"),
        (collapse_trees(poutine.condition(mixed(), {"pairs": EQUAL.long()})), "neither draws nor decodes"),
    ],
)
def test_what_cannot_be_mixed(model: Mixed, message: str) -> None:
    """Here the second sentence has a word less."""
    story = tiny_story(window("left"))
    cases, _ = sentences(story)
    cases[3] = story_case(story, [2, 0], 7)
    with pytest.raises((NotImplementedError, ValueError), match=message):
        model(*batch_of(cases))


def test_trees_of_one_sentence_with_different_surfaces() -> None:
    story = tiny_story(window("left"))
    cases, _ = sentences(story)
    assert cases[1].surface[1] != (2, 1)
    cases[1] = cases[1]._replace(surface=[cases[1].surface[0], (2, 1), *cases[1].surface[2:]])
    with pytest.raises(ValueError, match=r"^the trees of sentence 0 in mix_trees have different surfaces"):
        mix_trees(collapse_trees(story), SIZES, EQUAL)(*batch_of(cases))


@pytest.mark.usefixtures("single_precision")
def test_the_example_of_the_reference() -> None:
    """It is what `log_prob_over_trees` says of the same trees."""
    page = Path("docs/reference/pyro.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (code,) = (block for block in blocks if "mix_trees(" in block)
    names: dict[str, Any] = {}
    exec(code, names)
    expected = replace(names["model"], tagger=None).log_prob_over_trees(names["sentences"], names["parses"])
    assert -float(names["loss"].detach()) == pytest.approx(float(expected.sum()), rel=1e-5)
    assert -float(names["gradient"].sum()) == pytest.approx(3, rel=1e-5)
    assert len(names["flat"]) > 3
