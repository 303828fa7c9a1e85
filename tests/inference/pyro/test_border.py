"""Parts that do not fit together raise an error of one line; weights for each tree give exact results."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

import pyro
import pyro.distributions as dist
import pytest
import torch
from problems import Table, batch_of, evidence_of_trees, inventory, story_case, tiny_story, window
from pyro import poutine
from torch import Tensor

from pyropunct.errors import VariantError
from pyropunct.inference.inside import log_evidence
from pyropunct.inference.machines.moves import MachineError
from pyropunct.inference.pyro.collapse import collapse_trees, expected_uses, tree_problem
from pyropunct.inference.pyro.decode import infer_trees
from pyropunct.inference.pyro.posterior import ImpossibleSurfaceError
from pyropunct.inference.pyro.sites import PunctuatedTrees
from pyropunct.inference.pyro.story_state import StoryState
from pyropunct.inference.pyro.svi import scale_likelihood
from pyropunct.inference.story_inputs import StoryInputs
from pyropunct.models.attach.attach_model import PairFrequencies
from pyropunct.models.channel.noisy_channel import Channel
from pyropunct.models.channel.slip import Slip, TokenBigrams
from pyropunct.models.channel.window import SlidingWindow
from pyropunct.models.story import Story
from pyropunct.models.trees import TreeBatch

HEADS = ([2, 0, 2], [0, 1, 4, 2])
CASES = [story_case(tiny_story(window("left")), heads, 2) for heads in HEADS]
TREES, SURFACE = batch_of(CASES)
PRECISIONS = pytest.mark.parametrize("precision", [torch.float, torch.double], ids=["float32", "float64"])


def story(channel: Channel, edit_logits: Tensor) -> Story:
    """A story with fixed weights."""
    some = tiny_story(channel)
    some.attach.table = torch.linspace(-1, 1, len(some.inventory.rows))
    channel.edit_logits = edit_logits
    return some


def state_of_parts(weights: Tensor, relation: Tensor | None = None) -> StoryState:
    """A story told from its parts."""
    some = tiny_story(SlidingWindow(3))
    trees = TREES if relation is None else replace(TREES, relation=relation)
    size = sum(len(some.inventory.pairs[relation]) for relation in TREES.relation.tolist())
    return StoryState(StoryInputs(trees, some.inventory, torch.zeros(size), some.channel.transducer, weights))


@PRECISIONS
def test_uses_of_weights_for_each_tree(precision: torch.dtype) -> None:
    """They are the sums of those of single trees, each with its weights."""
    torch.set_default_dtype(precision)
    logits = torch.randn(2, 3, 3, 4)
    both = story(SlidingWindow(3), logits)
    found = both.channel.transducer.edit_counts(expected_uses(both, TREES, SURFACE))
    single = []
    for case, of_tree in zip(CASES, logits, strict=True):
        one = story(SlidingWindow(3), of_tree)
        single.append(one.channel.transducer.edit_counts(expected_uses(one, *batch_of([case]))))
    assert found.sum() > 1
    torch.testing.assert_close(found, single[0] + single[1])


def test_uses_of_weights_are_weights_times_slopes() -> None:
    some = story(SlidingWindow(3), torch.randn(3, 3, 4))
    weights = some.channel.probabilities().requires_grad_()
    total = PunctuatedTrees(replace(some.inputs(TREES), weights=weights)).log_prob(SURFACE).sum()
    (slopes,) = torch.autograd.grad(total, weights)
    found = some.channel.transducer.edit_counts(expected_uses(some, TREES, SURFACE))
    torch.testing.assert_close(found.flatten(), (weights * slopes).detach())


def test_a_draw_computes_no_sum() -> None:
    state = collapse_trees(story(SlidingWindow(3), torch.randn(3, 3, 4)))(TREES)
    assert state.is_drawn
    assert "log_evidence" not in vars(state.posterior)


def test_the_impossible_tree_is_told_where_weights_have_a_plate_of_their_own() -> None:
    some = story(SlidingWindow(3), torch.randn(3, 3, 4))
    some.attach.table = torch.randn(2, 1, len(some.inventory.rows))
    surface = torch.nn.functional.pad(SURFACE, (0, 20), value=-1)
    surface[-2] = 1
    with pytest.raises(ImpossibleSurfaceError, match=r"tree 1 .*slot 3"):
        collapse_trees(some)(TREES, surface)


def test_another_number_of_tokens() -> None:
    some = inventory()
    with pytest.raises(ValueError, match=r"channel .*4.* inventory .*3"):
        Story(some, Table(some), SlidingWindow(4))(TREES, SURFACE)


def test_weights_of_another_shape_than_at_first() -> None:
    some = story(SlidingWindow(3), torch.randn(3, 3, 4))
    some(TREES)
    for shape in ((3, 4, 4), (4, 4)):
        some.channel.edit_logits = torch.randn(shape)
        with pytest.raises(MachineError, match=r"'edit' .*\(3, 3, 4\)"):
            some(TREES)


def test_more_weights_than_moves_name() -> None:
    with pytest.raises(MachineError, match=r"'edit' .*\(4, 4, 4\).*\(3, 3, 4\)$"):
        story(SlidingWindow(3), torch.zeros(4, 4, 4))(TREES, SURFACE)


@pytest.mark.parametrize("size", [8, 10])
def test_a_table_of_another_size(size: int) -> None:
    some = inventory()
    with_table = Story(some, PairFrequencies(some), SlidingWindow(3))
    with_table.attach.table = torch.zeros(size)
    with pytest.raises(VariantError, match=rf"table .*\({size},\).* 9 pairs"):
        collapse_trees(with_table)(TREES, SURFACE)


def test_scores_of_another_size() -> None:
    given = state_of_parts(torch.full((36,), 0.25)).inputs
    for size in (14, 16):
        with pytest.raises(ValueError, match=rf"15\), not \({size},\)$"):
            PunctuatedTrees(replace(given, scores=torch.zeros(size))).log_prob(SURFACE)


@pytest.mark.parametrize("token", [-2, 3, 1.7])
def test_tokens_out_of_range(token: float) -> None:
    """Of a story, of a distribution, and of one of several values of a distribution."""
    some = story(SlidingWindow(3), torch.zeros(3, 3, 4))
    wrong, site = SURFACE.where(SURFACE != 1, token), PunctuatedTrees(some.inputs(TREES))
    both = torch.stack([SURFACE.to(wrong), wrong])
    for tell in (
        partial(collapse_trees(some), TREES, wrong),
        *(partial(site.log_prob, x) for x in (wrong, both)),
    ):
        with pytest.raises(ValueError, match=rf"'surface' .* {token}: .*0 to 2"):
            tell()


def test_choices_that_are_no_whole_numbers() -> None:
    some = poutine.condition(story(SlidingWindow(3), torch.zeros(3, 3, 4)), {"pairs": torch.zeros(7)})
    with pytest.raises(ValueError, match=r"'pairs' .* torch\.float64"):
        some(TREES, SURFACE)


def test_no_draws() -> None:
    with pytest.raises(ValueError, match=r"\(0,\)"):
        PunctuatedTrees(state_of_parts(torch.full((36,), 0.25)).inputs).sample((0,))


@pytest.mark.parametrize(
    ("weights", "problem"),
    [
        (torch.full((37,), 0.25), r"36 weights, .*\(37,\)"),
        (torch.full((35,), 0.25), r"36 weights, .*\(35,\)"),
        (torch.full((36,), -0.25), r"edit.* is -0\.25"),
        (torch.full((36,), 0.35), r"add up to 1\.4"),
    ],
)
def test_weights_that_are_no_probabilities(weights: Tensor, problem: str) -> None:
    state_of_parts(torch.full((36,), 0.25))
    with pytest.raises(MachineError, match=problem):
        state_of_parts(weights)


def test_another_number_of_relations() -> None:
    with pytest.raises(ValueError, match=r"6 relations .* 7 nodes"):
        state_of_parts(torch.full((36,), 0.25), TREES.relation[:-1])


def test_a_scale_for_sites_that_are_latent_for_each_tree() -> None:
    """The guide's factor of such a site would have to be scaled as well."""
    some = tiny_story(SlidingWindow(3))

    def model() -> None:
        plate = pyro.plate("texts", 2, dim=-1)
        with plate:
            pyro.sample("style", dist.Normal(0.0, 1.0))
        some(TREES, SURFACE, plate=plate)

    scale_likelihood(collapse_trees(model), 1.0)()
    with pytest.raises(NotImplementedError, match=r"'style' .*scale_likelihood"):
        scale_likelihood(collapse_trees(model), 2.0)()


def test_weights_in_half_precision_have_sums_in_single_precision() -> None:
    some = story(SlidingWindow(3), torch.randn(3, 3, 4).half())
    some.attach.table = some.attach.table.half()
    trace = poutine.trace(collapse_trees(some)).get_trace(TREES, SURFACE)
    trace.compute_log_prob()
    assert trace.nodes["surface"]["log_prob"].dtype == torch.float32


def slipping(strings: Sequence[tuple[int, ...]]) -> Story:
    """A story whose channel slips to strings."""
    channel = Slip(SlidingWindow(3), TokenBigrams(strings, 3, 0), prior_mean=0.0)
    some = story(channel.channel, torch.zeros(3, 3, 4))
    made = Story(some.inventory, some.attach, channel)
    made.channel.slip_logit = torch.tensor(0.0)
    return made


def test_a_machine_follows_the_state_that_is_loaded() -> None:
    """Also where it has been used before."""
    one, other = slipping([(1,), (1, 1)]), slipping([(2,), (2, 1)])
    before = evidence_of_trees(one, TREES, SURFACE)
    fresh = deepcopy(other)
    one.load_state_dict(other.state_dict())
    assert not torch.allclose(evidence_of_trees(one, TREES, SURFACE), before)
    torch.testing.assert_close(
        evidence_of_trees(one, TREES, SURFACE), evidence_of_trees(fresh, TREES, SURFACE)
    )


class OfGenres(SlidingWindow):
    """The logits of edits differ between two genres of trees; where none are known, their mean."""

    def __init__(self) -> None:
        super().__init__(3)
        self.effect = torch.nn.Parameter(torch.randn(2, 3, 3, 4))

    def weights(self) -> dict[str, Tensor]:
        return {"edit": (self.edit_logits + self.effect.mean(0)).softmax(-1)}

    def weights_of(self, trees: TreeBatch) -> dict[str, Tensor]:
        return {"edit": (self.edit_logits + self.effect[trees.more["genre"]]).softmax(-1)}


@pytest.mark.parametrize("slips", [False, True])
def test_a_channel_that_looks_at_trees(slips: bool) -> None:
    """Each tree has the probability that it has alone, and each genre its gradient."""
    genres = OfGenres()
    channel = Slip(genres, TokenBigrams([(0,), (1, 2)], 3, 0)) if slips else genres
    logits = torch.randn(3, 3, 4)
    some = tiny_story(channel)
    some.attach.table = torch.linspace(-1, 1, len(some.inventory.rows))
    genres.edit_logits = logits
    if slips:
        channel.slip_logit = torch.tensor(-3.0)
    trees = replace(TREES, more={"genre": torch.tensor([1, 0])})
    together = collapse_trees(some)(trees, SURFACE).posterior.log_evidence
    slopes = torch.autograd.grad(together.sum(), genres.effect)[0]
    assert slopes.abs().flatten(1).sum(1).gt(0).all()
    others = replace(TREES, more={"genre": torch.tensor([0, 1])})
    assert not torch.isclose(collapse_trees(some)(others, SURFACE).posterior.log_evidence, together).any()
    for number, (genre, case) in enumerate(zip((1, 0), CASES, strict=True)):
        alone, surface = batch_of([case])
        alone = replace(alone, more={"genre": torch.tensor([genre])})
        torch.testing.assert_close(
            collapse_trees(some)(alone, surface).posterior.log_evidence[0], together[number]
        )


@pytest.mark.filterwarnings("ignore::UserWarning")  # of torch about Pyro
@pytest.mark.parametrize("told_as", ["collapsed", "decoded", "plain", "distribution"])
def test_a_compiled_model_has_the_numbers_of_the_model(told_as: str) -> None:
    """Also its gradients."""
    some = story(SlidingWindow(3), torch.randn(3, 3, 4))
    pairs = infer_trees(some, temperature=0)(TREES, SURFACE).choices

    models: dict[str, Callable[..., Any]] = {
        "collapsed": collapse_trees(some),
        "decoded": infer_trees(some, temperature=0),
        "plain": poutine.condition(some, {"pairs": pairs}),
    }

    def model(table: Tensor) -> tuple[Tensor, Tensor]:
        some.attach.table = table
        if told_as == "distribution":
            posterior = PunctuatedTrees(some.inputs(TREES)).posterior(SURFACE)
            return posterior.log_evidence.sum(), posterior.best()
        trace = poutine.trace(models[told_as]).get_trace(TREES, SURFACE)
        return trace.log_prob_sum(), expected_uses(some, TREES, SURFACE)

    table = torch.linspace(-1, 1, len(some.inventory.rows), requires_grad=True)
    (ours, used), (theirs, expected) = torch.compile(model, backend="eager")(table), model(table)
    torch.testing.assert_close((ours, used), (theirs, expected), rtol=0, atol=0)
    if told_as != "decoded":
        slopes = [torch.autograd.grad(total, table)[0] for total in (ours, theirs)]
        torch.testing.assert_close(*slopes, rtol=0, atol=0)
        assert slopes[0].any()


def test_what_torch_does_to_functions() -> None:
    """The sum works in a compiled function, and refuses to be traced or transformed."""
    problem = tree_problem(story(SlidingWindow(3), torch.zeros(3, 3, 4)), TREES, SURFACE)

    def evidence(log_pairs: Tensor) -> Tensor:
        return log_evidence(replace(problem, log_pairs=log_pairs))

    scores = problem.log_pairs.detach()
    torch.testing.assert_close(torch.compile(evidence, backend="eager")(scores), evidence(scores))
    with pytest.raises(NotImplementedError, match="cannot be traced"):
        torch.jit.trace(evidence, (scores,))
    with pytest.raises(NotImplementedError, match=r"use torch\.autograd"):
        torch.func.grad(lambda some: evidence(some).sum())(scores)
    with pytest.raises(NotImplementedError, match=r"use torch\.autograd"):
        torch.func.vmap(evidence)(scores.expand(2, -1))
