"""Evidence that leaves surface strings open: the story, its trees and draws, against sums over strings."""

import math
from collections import Counter
from collections.abc import Callable
from functools import cache

import pyro
import pytest
import torch
from brute_force import Rewritings, String, chi_square_is_plausible, explanations, posterior, total
from by_hand import ways
from problems import Table, inventory, random_case, settled, slope, tiny_story, tree_batch, walls, window
from pyro.infer import Predictive
from torch import Tensor

from pyropunct.inference.inside import best_derivation, log_evidence, posterior_pairs
from pyropunct.inference.machines.evidence import (
    Evidence,
    SlotEvidence,
    any_over,
    evidence_of,
    exactly,
    one_of,
    with_hidden,
)
from pyropunct.inference.pyro.collapse import collapse_trees, tree_problem
from pyropunct.inference.pyro.decode import infer_trees
from pyropunct.inference.strings import Underlying
from pyropunct.models.channel.composed import Inserting, TwoPasses
from pyropunct.models.channel.noisy_channel import Channel, Identity
from pyropunct.models.story import Story
from pyropunct.models.trees import TreeBatch

HEADS = [3, 1, 0]
COMMAS = with_hidden((2,), [1])
NOISY = one_of([((1,), 0.5), ((2,), 2.0), ((), 0.25)])
ANY = any_over([0, 1, 2])


CHANNELS = {
    "window": lambda direction: settled(window(direction, 4)),
    "two passes": lambda direction: settled(TwoPasses(3, direction)),
    "inserting": lambda direction: settled(Inserting(3, direction, prior_insertion=-1.0)),
}


def weight_of(evidence: Evidence, string: String) -> float:
    """What a piece of evidence says of a string, by looking at it."""
    if evidence == COMMAS:
        return float([token for token in string if token != 1] == [2])
    if evidence == NOISY:
        return {(1,): 0.5, (2,): 2.0, (): 0.25}.get(string, 0.0)
    return 1.0 if evidence == ANY else float(evidence.string == string)


def rewritings_of(channel: Channel) -> Rewritings:
    """The ways to all surface strings that the evidence allows, each with what it says of the string."""

    @cache
    def every(underlying: String) -> list[tuple[String, float]]:
        return [(way.surface, way.chance) for way in ways(channel, underlying, 9)]

    def rewritings(underlying: String, evidence: Evidence) -> list[float]:
        weighted = [chance * weight_of(evidence, string) for string, chance in every(underlying)]
        return [weight for weight in weighted if weight > 0]

    return rewritings  # type: ignore[return-value]  # where a string was, there is evidence


def known(seed: int, direction: str) -> list[Evidence]:
    """Evidence about the four slots of a tree, one of which is told whole."""
    case = random_case(HEADS, window(direction), inventory(), seed)
    return [ANY, exactly(case.surface[1]), NOISY, COMMAS]


def story_of(channel: Channel, seed: int) -> tuple[Story, list[list[float]]]:
    """A story whose parameters are known, and the probabilities of its pairs, relation by relation."""
    story, generator = tiny_story(channel), torch.Generator().manual_seed(seed)
    assert isinstance(story.attach, Table)
    story.attach.table = torch.randn(len(story.inventory.rows), generator=generator)
    return story, story.attach.chances(story.attach.table)


def true_explanations(channel: Channel, chances: list[list[float]], slots: list[Evidence]) -> list:
    some = inventory()
    pairs, rewritings = [some.pairs[relation] for relation in range(3)], rewritings_of(channel)
    return explanations(HEADS, pairs, chances, slots, rewritings, *walls(some))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", CHANNELS)
@pytest.mark.parametrize("direction", ["left", "right"])
def test_the_sum_over_all_strings_and_trees(name: str, direction: str) -> None:
    channel = CHANNELS[name](direction)
    story, chances = story_of(channel, 1)
    trees, slots = tree_batch([HEADS], [0, 1, 2]), known(1, direction)
    found = true_explanations(channel, chances, slots)
    problem = tree_problem(story, trees, SlotEvidence(slots))
    assert float(log_evidence(problem)) == pytest.approx(math.log(total(found)), rel=1e-10)
    sizes = [len(some) for some in chances]
    assert posterior_pairs(problem).tolist() == pytest.approx(posterior(found, sizes), abs=1e-10)
    assert tuple(best_derivation(problem).tolist()) == max(found, key=lambda one: one.best).choices


@pytest.mark.parametrize("direction", ["left", "right"])
def test_gradients(direction: str) -> None:
    channel = window(direction, 2)
    story, _ = story_of(channel, 2)
    trees, evidence = tree_batch([HEADS], [0, 1, 2]), SlotEvidence(known(2, direction))

    def value(logits: Tensor) -> Tensor:
        channel.edit_logits = logits
        return log_evidence(tree_problem(story, trees, evidence)).sum()

    leaf = channel.edit_logits.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(value(leaf), leaf)
    for index in ((1, 2, 0), (2, 1, 1), (0, 1, 2), (2, 2, 3)):
        with torch.no_grad():
            assert float(gradient[index]) == pytest.approx(slope(value, leaf, index), abs=1e-7)


def one_by_one(story: Story, trees: TreeBatch, evidence: SlotEvidence, size: int) -> Tensor:
    return torch.stack([infer_trees(story, 1)(trees, evidence).surface for _ in range(size)])


def in_a_plate(story: Story, trees: TreeBatch, evidence: SlotEvidence, size: int) -> Tensor:
    with pyro.plate("draws", size, dim=-2):
        return infer_trees(story, 1)(trees, evidence).surface


def by_predictive(story: Story, trees: TreeBatch, evidence: SlotEvidence, size: int) -> Tensor:
    samples = {"none of the story": torch.zeros(size)}
    predictive = Predictive(infer_trees(story, 1), samples, return_sites=["completed"], parallel=True)
    return predictive(trees, evidence)["completed"]


@pytest.mark.parametrize(
    ("direction", "draw"),
    [("left", one_by_one), ("left", in_a_plate), ("right", in_a_plate), ("right", by_predictive)],
)
def test_draws_of_trees_and_strings(direction: str, draw: Callable[..., Tensor]) -> None:
    """Of T' and of x given T' and the evidence: the strings of the last slot, by their true posterior."""
    channel = CHANNELS["window"](direction)
    story, chances = story_of(channel, 3)
    trees, slots = tree_batch([HEADS], [0, 1, 2]), known(1, direction)
    size = 100 if draw is one_by_one else 300
    expected: Counter[String] = Counter()
    every = {string for u in all_underlying() for string in (way.surface for way in ways(channel, u, 9))}
    for string in every:
        if weight := weight_of(COMMAS, string):
            found = true_explanations(channel, chances, [*slots[:3], exactly(string)])
            expected[string] += weight * total(found)  # type: ignore[assignment]
    pyro.set_rng_seed(0)
    last = draw(story, trees, SlotEvidence(slots), size)[:, 3].tolist()
    drawn = Counter(tuple(token for token in row if token >= 0) for row in last)
    share = sum(expected.values())
    assert all(weight_of(COMMAS, string) for string in drawn)
    outcomes = list(expected)
    assert chi_square_is_plausible(
        [drawn[string] for string in outcomes], [expected[string] / share for string in outcomes], size
    )


def all_underlying() -> set[String]:
    """What may be underlying the last slot."""
    rights = [[right for _, right in some] for some in inventory().pairs]
    return {a + b for a in rights[0] for b in rights[2]} | set(rights[2])


def test_the_best_strings() -> None:
    channel = CHANNELS["window"]("left")
    story, chances = story_of(channel, 5)
    trees, slots = tree_batch([HEADS], [0, 1, 2]), known(5, "left")
    told = infer_trees(story, 0)(trees, SlotEvidence(slots))
    best = max(true_explanations(channel, chances, slots), key=lambda one: one.best)
    assert tuple(told.choices.tolist()) == best.choices
    shown = [tuple(token for token in row if token >= 0) for row in told.surface.tolist()]
    whole = [exactly(string) for string in shown]
    alone = max(true_explanations(channel, chances, whole), key=lambda one: one.best)
    said = math.prod(weight_of(one, string) for one, string in zip(slots, shown, strict=True))
    assert alone.best * said == pytest.approx(best.best, rel=1e-10)


def test_a_decoded_page_has_the_probability_of_its_parts() -> None:
    """p(evidence) p(T' | evidence) p(x | T', evidence) = p(T', x) times what the evidence says of x."""
    channel = CHANNELS["window"]("left")
    story, _ = story_of(channel, 3)
    trees, slots = tree_batch([HEADS], [0, 1, 2]), known(1, "left")
    for _ in range(5):
        drawn = pyro.poutine.trace(infer_trees(story)).get_trace(trees, SlotEvidence(slots))
        told = drawn.nodes["_RETURN"]["value"]
        given = pyro.poutine.condition(story, {"pairs": told.choices})
        joint = pyro.poutine.trace(given).get_trace(trees, told.surface).log_prob_sum()
        shown = [tuple(token for token in row if token >= 0) for row in told.surface.tolist()]
        said = math.prod(weight_of(one, string) for one, string in zip(slots, shown, strict=True))
        assert float(drawn.log_prob_sum()) == pytest.approx(float(joint) + math.log(said), rel=1e-12)


def test_a_channel_without_weights_decodes_open_strings() -> None:
    story, trees = tiny_story(Identity(3)), tree_batch([HEADS], [0, 1, 2])
    shown = infer_trees(story)(trees, SlotEvidence([ANY] * 4)).surface
    assert collapse_trees(story)(trees, shown).posterior.log_evidence.isfinite().all()


def test_whole_strings_are_the_special_case() -> None:
    channel = CHANNELS["window"]("left")
    story, _ = story_of(channel, 1)
    case = random_case(HEADS, window("left"), inventory(), 1)
    trees, surface = tree_batch([HEADS], [0, 1, 2]), SlotEvidence(case.surface)
    evidence = evidence_of(surface.settled())
    assert [evidence.distinct[place].string for place in evidence.place.tolist()] == case.surface
    one, other = (log_evidence(tree_problem(story, trees, x)) for x in (surface, surface.settled()))
    assert torch.equal(one, other)


def test_several_trees_and_uncollapsed_sites() -> None:
    """Evidence of a batch is that of its trees; without the handler a site has the same probability."""
    channel = CHANNELS["window"]("right")
    story, _ = story_of(channel, 1)
    slots = known(1, "right")
    together = tree_problem(
        story, tree_batch([HEADS, HEADS], [0, 1, 2] * 2), SlotEvidence([*slots, *slots[::-1]])
    )
    alone = [
        tree_problem(story, tree_batch([HEADS], [0, 1, 2]), SlotEvidence(some))
        for some in (slots, slots[::-1])
    ]
    torch.testing.assert_close(log_evidence(together), torch.cat([log_evidence(one) for one in alone]))
    trees = tree_batch([HEADS], [0, 1, 2])
    choices = torch.tensor([1, 0, 2])
    data = {"pairs": choices}
    trace = pyro.poutine.trace(pyro.poutine.condition(story, data=data)).get_trace(trees, SlotEvidence(slots))
    given = trace.nodes["surface"]["fn"].log_prob(trace.nodes["surface"]["value"]).sum()
    some = inventory()
    rewritings = rewritings_of(channel)
    underlying = Underlying(trees.forest, some, trees.relation, choices, torch.arange(4))
    strings = [tuple(token for token in row if token >= 0) for row in underlying.tokens.tolist()]
    expected = math.prod(sum(rewritings(u, one)) for u, one in zip(strings, slots, strict=True))  # type: ignore[arg-type]
    assert walls(some) == ((0,), ())
    assert float(given) == pytest.approx(math.log(expected), rel=1e-10)


class Looking(Table):
    """The same scores, said to depend on the marks inside."""

    reads_surface = True


def test_an_attach_model_that_looks_at_marks_needs_to_know_them() -> None:
    channel = CHANNELS["window"]("left")
    story, _ = story_of(channel, 1)
    looking = Looking(story.inventory)
    looking.table = story.attach.table
    other = Story(story.inventory, looking, channel)
    trees = tree_batch([[0], HEADS], [0, 0, 1, 2])
    inner = [exactly((0,)), COMMAS, ANY, exactly((1,)), NOISY, COMMAS]
    with pytest.raises(ValueError, match=r"the attach model looks at .* slot 2 of tree 1 .* leaves open"):
        collapse_trees(other)(trees, SlotEvidence(inner))
    outer = SlotEvidence([exactly((0,)), COMMAS, ANY, exactly((1,)), exactly(()), COMMAS])
    one, same = (log_evidence(tree_problem(each, trees, outer)) for each in (story, other))
    torch.testing.assert_close(one, same)


def test_evidence_that_nothing_agrees_with() -> None:
    story, _ = story_of(CHANNELS["window"]("left"), 1)
    trees = tree_batch([HEADS], [0, 1, 2])
    evidence = SlotEvidence([exactly((0,)), exactly((0, 0, 0)), ANY, ANY])
    with pytest.raises(ValueError, match=r"no punctemes explain the surface punctuation of tree 0 .* slot 1"):
        collapse_trees(story)(trees, evidence)


@pytest.mark.parametrize("weights", [[-1.0, 2.0], [math.inf, 1.0], [0.0, 0.0], []])
def test_weights_of_observed_strings(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="finite, none below zero, and not all zero"):
        one_of(zip([(1,), (2,)], weights, strict=False))


def test_a_string_must_not_hold_what_is_hidden() -> None:
    with pytest.raises(ValueError, match=r"the string \(1, 2\) holds tokens that are hidden: \[2\]"):
        with_hidden((1, 2), [2])
