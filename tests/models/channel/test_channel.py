import math

import pyro
import pytest
import torch
from brute_force import String, chi_square_is_plausible, expectation, total
from by_hand import chances, draws, edit_counts
from channels import CHANNELS, NUM_TOKENS, SEEN, Variant, bigram_table
from problems import (
    batch_of,
    cost_of,
    explanations_of,
    inventory,
    problem_of,
    random_case,
    settled,
    strings_up_to,
    tiny_story,
    window,
)
from pyro import poutine
from pyro.infer import SVI, Trace_ELBO
from pyro.infer.autoguide import AutoDelta
from pyro.infer.autoguide.initialization import init_to_mean

from pyropunct.fitted.variants import find
from pyropunct.inference.inside import best_derivation, expected_cost, posterior_draws
from pyropunct.inference.machines.products import KEEP, LEFT_ABSORPTION, RIGHT_ABSORPTION, TRANSPOSITION
from pyropunct.inference.pyro.collapse import collapse_trees
from pyropunct.models.channel.slip import Slip, TokenBigrams
from pyropunct.models.channel.window import SlidingWindow
from pyropunct.models.checking import check_channel

VARIANTS = pytest.mark.parametrize("variant", CHANNELS.values(), ids=CHANNELS)
DIRECTIONS = pytest.mark.parametrize("direction", ["left", "right"])
UNDERLYING: list[String] = [(), (1,), (0,), (2, 1), (0, 1), (1, 1), (0, 2, 1, 1), (2, 2, 1, 2)]


@VARIANTS
@DIRECTIONS
def test_probabilities_of_all_surfaces(variant: Variant, direction: str) -> None:
    """Each is the sum over all ways to get there, together they are 1, and draws have them."""
    channel = settled(variant.make(direction))
    rewritings = variant.rewritings(channel)
    surfaces = strings_up_to(4, range(NUM_TOKENS))
    for underlying in UNDERLYING:
        expected = [sum(rewritings(underlying, surface)) for surface in surfaces]
        assert chances(channel, surfaces, underlying).tolist() == pytest.approx(
            expected, rel=1e-12, abs=1e-300
        )
        assert sum(expected) <= 1 + 1e-12
        if variant.longer is not None:
            assert sum(expected) + variant.longer(channel, underlying, 4) == pytest.approx(1, abs=1e-12)
        counts = draws(channel, underlying, 1500)
        assert all(rewritings(underlying, surface) for surface in counts)
        assert chi_square_is_plausible([counts[surface] for surface in surfaces], expected, 1500)


@VARIANTS
@DIRECTIONS
def test_channels_keep_to_the_rules(variant: Variant, direction: str) -> None:
    """All surface strings of a tree together, and several joint values of the weights."""
    check_channel(variant.make(direction))


@VARIANTS
@DIRECTIONS
def test_inside_against_brute_force(variant: Variant, direction: str) -> None:
    channel, some = settled(variant.make(direction)), inventory()
    rewritings = variant.rewritings(channel)
    trees = [[0], [2, 0], [2, 0, 2], [3, 1, 0], [0, 1, 4, 2]]
    # Surfaces that nothing was done to are possible everywhere.
    nothing = window(direction)
    nothing.edit_logits = torch.tensor([9.0, -99, -99, -99]).expand(3, 3, 4)
    cases = [random_case(heads, nothing, some, seed) for seed, heads in enumerate(trees)]
    problem = problem_of(cases, channel, some)
    evidence, cost = expected_cost(problem, cost_of(cases))
    best = best_derivation(problem).split([len(case.heads) for case in cases])
    drawn = posterior_draws(problem, 50).split([len(case.heads) for case in cases], -1)
    for number, case in enumerate(cases):
        found = explanations_of(case, rewritings, some)
        assert float(evidence[number]) == pytest.approx(math.log(total(found)), rel=1e-12)
        assert float(cost[number]) == pytest.approx(expectation(found, case.cost), rel=1e-11, abs=1e-12)
        assert tuple(best[number].tolist()) == max(found, key=lambda one: one.best).choices
        assert {tuple(row) for row in drawn[number].tolist()} <= {one.choices for one in found}


@pytest.mark.parametrize("name", [name for name in CHANNELS if name != "identity"])
def test_one_step_moves_the_parameters_in_use(name: str) -> None:
    """From the mean of the prior, where only the trees have a say; and this mean stays where it is."""
    story = tiny_story(CHANNELS[name].make("left"))

    def means() -> list[torch.Tensor]:
        """Of the priors of the channel."""
        sites = poutine.trace(collapse_trees(story)).get_trace(*batch).nodes
        return [site["fn"].mean.clone() for name, site in sites.items() if name.startswith("channel.")]

    nothing = window("left")
    nothing.edit_logits = torch.tensor([9.0, -99, -99, -99]).expand(3, 3, 4)
    batch = batch_of([random_case(heads, nothing, inventory(), 2) for heads in ([2, 0, 4, 2], [0, 1, 2])])
    at_first = means()
    guide = AutoDelta(collapse_trees(story), init_loc_fn=init_to_mean)
    guide(*batch)
    parameters = {name: value for name, value in guide.named_parameters() if "channel" in name}
    assert parameters
    before = {name: value.detach().clone() for name, value in parameters.items()}
    loss = Trace_ELBO().differentiable_loss(collapse_trees(story), guide, *batch)
    gradients = torch.autograd.grad(loss, list(parameters.values()))
    SVI(collapse_trees(story), guide, pyro.optim.Adam({"lr": 0.1}), Trace_ELBO()).step(*batch)
    for (name, value), gradient in zip(parameters.items(), gradients, strict=True):
        assert (gradient.abs() > 1e-6).any()
        moved = (value - before[name]).abs() > 0.01
        assert torch.equal(moved, gradient.abs() > 1e-6)
    assert at_first
    assert [mean.tolist() for mean in means()] == [mean.tolist() for mean in at_first]


@DIRECTIONS
@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (KEEP, {"left": (0, 1, 2), "right": (0, 1, 2)}),
        (LEFT_ABSORPTION, {"left": (2,), "right": (2,)}),
        (RIGHT_ABSORPTION, {"left": (0,), "right": (0,)}),
        (TRANSPOSITION, {"left": (1, 2, 0), "right": (2, 0, 1)}),
    ],
)
def test_edits_on_the_page(direction: str, edit: int, expected: dict[str, String]) -> None:
    """When every pair of neighbours gets the same edit."""
    channel = SlidingWindow(NUM_TOKENS, direction)
    channel.edit_logits = torch.full((3, 3, 4), -torch.inf).index_fill(-1, torch.tensor(edit), 0.0)
    assert draws(channel, (0, 1, 2), 1) == {expected[direction]: 1}
    assert chances(channel, [expected[direction]], (0, 1, 2)).tolist() == [1.0]


def test_wrong_direction() -> None:
    with pytest.raises(ValueError, match='"left" or "right", not \'up\''):
        SlidingWindow(NUM_TOKENS, "up")


@DIRECTIONS
def test_expected_counts_of_edits(direction: str) -> None:
    """The derivative by the logarithm of a product of weights: here a single slot with all its ways."""
    channel = window(direction)
    underlying, surface = (1, 2, 1), (2, 1)
    counts = edit_counts(channel, underlying, surface)
    assert float(counts.sum()) == pytest.approx(2, abs=1e-13)  # two edits on every way
    assert counts[0].abs().sum() == counts[:, 0].abs().sum() == 0


@pytest.mark.parametrize("name", ["sliding-window", "strength", "pooled", "inserting"])
def test_two_tokens_are_kept_before_anything_is_learned(name: str) -> None:
    """At the prior's means, where the logit of keeping them is the one that is not zero."""
    channel = find("channel", name)(NUM_TOKENS, prior_keep=2.0)
    for site, prior in list(channel._pyro_samples.items()):
        setattr(channel, site, prior(channel).mean)
    expected = torch.tensor([2.0, 0.0, 0.0, 0.0]).softmax(-1).expand(NUM_TOKENS, NUM_TOKENS, 4)
    torch.testing.assert_close(channel.edit_table(), expected)


def test_bigrams_are_counted() -> None:
    bigrams, table = TokenBigrams(SEEN, NUM_TOKENS, 0), bigram_table(SEEN, 0.05, 0)
    assert bigrams.probabilities.flatten().tolist() == pytest.approx([p for row in table for p in row])
    # Five strings begin without ^, three of them with 1 and two with 2.
    assert float(bigrams.probabilities[3, 1]) == pytest.approx(3.05 / 5.1, rel=1e-14)


def test_a_buffer_changed_in_place_makes_a_new_machine() -> None:
    channel = settled(CHANNELS["slip"].make("left"))
    assert isinstance(channel, Slip)
    first, table = [(1,), (2,)], channel.bigrams.probabilities
    before, ratio = chances(channel, first, ()), table[3, [2, 1]] / table[3, [1, 2]]
    table[3, [1, 2]] = table[3, [2, 1]]
    torch.testing.assert_close(chances(channel, first, ()) / before, ratio)
