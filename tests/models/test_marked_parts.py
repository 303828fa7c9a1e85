"""p(part | w), stories with parts, and the example of the paper."""

import itertools
from ast import literal_eval
from collections import Counter

import numpy as np
import pyro
import pytest
import torch
from brute_force import chi_square_is_plausible
from problems import batch_of, inventory, story_case, tiny_story, window
from pyro import poutine
from torch import Tensor

from pyropunct.inference.forest import forest_of
from pyropunct.inference.inside import log_evidence
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.parts import PartDraws, PartPair, PartScores, Shapes
from pyropunct.inference.pyro.collapse import collapse_trees, tree_expectation, tree_problem
from pyropunct.inference.pyro.decode import infer_trees
from pyropunct.inference.walk import Walk
from pyropunct.models.attach.attach_model import PairFrequencies
from pyropunct.models.channel.noisy_channel import Channel, Identity
from pyropunct.models.extensions import PartMarks, part_marks
from pyropunct.models.story import Story
from pyropunct.models.trees import TreeBatch
from pyropunct.treebank.reading import read_text
from pyropunct.vocabulary import build_vocabulary

MARKS = torch.tensor([[1, 2], [2, 2]])
HEADS = [3, 3, 0, 3]


def scores(heads: list[list[int]], some: float = 0.5) -> PartScores:
    """Random scores of the parts of trees."""
    forest, generator = forest_of(heads), torch.Generator().manual_seed(0)

    def normal(size: int) -> Tensor:
        return torch.randn(size, generator=generator, dtype=torch.double)

    left, right = len(forest.left_child), len(forest.right_child)
    logits = torch.full((forest.num_nodes,), some, dtype=torch.double)
    return PartScores(MARKS, forest, logits, normal(len(MARKS)), normal(left), normal(right))


def story(channel: Channel, seed: int = 0) -> tuple[Story, TreeBatch]:
    """A story with parts, whose weights are fixed, and one tree."""
    pyro.set_rng_seed(seed)
    parts = PartMarks(3, MARKS)
    pairs = inventory(None)
    told = Story(pairs, PairFrequencies(pairs), channel, parts=parts)
    told.attach.table = torch.randn(len(pairs.rows))
    parts.some, parts.outside, parts.kind = torch.zeros(3), torch.randn(3, 2), torch.randn(len(MARKS))
    trees, _ = batch_of([story_case(tiny_story(window("left")), HEADS, seed)])
    return told, trees


@pytest.mark.parametrize("heads", [[0], [2, 0], [3, 3, 0, 3, 3], [2, 0, 2, 3]], ids=str)
def test_probabilities_of_all_parts(heads: list[int]) -> None:
    """They add up to 1, and draws have them."""
    some = scores([heads])
    shapes, draws = Shapes(some.forest), np.full((3, len(heads), 5000), -1)
    PartDraws(some).draw(range(len(heads)), np.random.default_rng(0), draws)
    for node in range(len(heads)):
        numbers = torch.arange(int(len(MARKS) * (shapes.left[node] + 1) * (shapes.right[node] + 1)) + 1)
        known = [shapes.part(node, number) for number in numbers.tolist()]
        # The constituent as a whole is no part.
        numbers = numbers[[part is None or part.left_out + part.right_out > 0 for part in known]]
        rows = torch.zeros(len(numbers), len(heads), dtype=torch.long)
        rows[:, node] = numbers
        logs = some.log_prob_of(rows)[:, node]
        if len(numbers) == 1:
            assert not logs.any()
            continue
        assert float(logs.exp().sum()) == pytest.approx(1, rel=1e-12)
        counts = Counter(map(tuple, draws[:, node].T.tolist()))
        drawn = [counts[tuple(known[number] or (-1, -1, -1))] for number in numbers.tolist()]
        assert chi_square_is_plausible(drawn, logs.exp().tolist(), 5000)


def test_weights_are_sites() -> None:
    told, trees = story(Identity(3))
    told.parts = PartMarks(3, MARKS)
    with pyro.plate_stack("draws", ()):
        trace = poutine.trace(told).get_trace(trees)
    assert {"parts.some", "parts.outside", "parts.kind"} <= trace.nodes.keys()
    told.parts.some = torch.full((3,), -50.0)
    assert told.parts.scores(trees).log_none().min() > -1e-20


def test_dependents_stay_outside_by_the_weights_of_their_side() -> None:
    """Both dependents on the left stay outside; the dependent on the right does not."""
    told, trees = story(Identity(3))
    assert told.parts is not None
    told.parts.outside = torch.tensor([[50.0, -50.0]]).expand(3, 2)
    node, kind = torch.full((6,), 2), torch.zeros(6, dtype=torch.long)
    left_out, right_out = torch.cartesian_prod(torch.arange(3), torch.arange(2)).T
    shares = told.parts.scores(trees).log_prob(node, kind, left_out, right_out).exp()
    expected = torch.tensor([0.0, 0, 0, 0, 1, 0]) * torch.sigmoid(told.parts.some[0])
    torch.testing.assert_close(shares, expected * told.parts.kind.softmax(-1)[0])


def test_one_value_of_the_weights_at_a_time() -> None:
    told, trees = story(Identity(3))
    told.parts.some = torch.zeros(2, 1, 3)
    with pytest.raises(NotImplementedError, match="one value of their weights at a time"):
        told(trees)


@pytest.mark.parametrize("name", ["identity", "window"])
def test_draws_of_surfaces(name: str) -> None:
    """Draws one by one, and many at once; where marks stay as they are, by the sum over all T'."""
    channel = Identity(3) if name == "identity" else window("left")
    told, trees = story(channel)
    one_by_one = Counter(
        str([[t for t in slot if t >= 0] for slot in told(trees).surface.tolist()]) for _ in range(500)
    )
    many = Walk(told.inputs(trees), [np.random.default_rng(1)])
    numbers = many.draw(np.array([10_000])).numbers
    strings = [[list(many.strings.tokens(int(n))) for n in column] for column in numbers.T]
    at_once = Counter(map(str, strings))
    common = [surface for surface, count in at_once.most_common() if count > 100]
    shares = [at_once[surface] / 10_000 for surface in common]
    rest = 500 - sum(one_by_one[surface] for surface in common)
    observed = [*(one_by_one[surface] for surface in common), rest]
    assert chi_square_is_plausible(observed, [*shares, 1 - sum(shares)], 500)
    if isinstance(channel, Identity):
        for surface, share in zip(common, shares, strict=True):
            problem = tree_problem(told, trees, as_tensor(literal_eval(surface)))
            (found,) = log_evidence(problem).exp().tolist()
            assert share == pytest.approx(found, abs=5 * (found / 10_000) ** 0.5)


def as_tensor(strings: list[list[int]]) -> Tensor:
    longest = max(1, *map(len, strings))
    return torch.tensor([string + [-1] * (longest - len(string)) for string in strings])


def test_joint_and_posterior_probabilities() -> None:
    """Of every T' with its parts: p(T', x | T) adds up to p(x | T), p(T' | T, x) to 1."""
    told, trees = story(window("left"))
    surface = as_tensor([[], [1], [], [2], [2]])
    with torch.no_grad():
        problem = tree_problem(told, trees, surface)
        assert problem.parts is not None
        sizes = problem.sizes.tolist()
        numbers = [
            [0, *(int(problem.parts.number[k]) for k in problem.parts.of_node.get(node, ()))]
            for node in range(len(sizes))
        ]
        options = [
            [pair + size * number for number in own for pair in range(size)]
            for size, own in zip(sizes, numbers, strict=True)
        ]
        assert max(map(len, options)) > max(sizes)
        joint, posterior = [], []
        given = infer_trees(told)
        for choices in itertools.product(*options):
            data = {"pairs": torch.tensor(choices), "surface": surface}
            trace = poutine.trace(poutine.condition(told, data)).get_trace(trees)
            trace.compute_log_prob()
            joint.append(trace.nodes["pairs"]["log_prob_sum"] + trace.nodes["surface"]["log_prob_sum"])
        site = poutine.trace(given).get_trace(trees, surface).nodes["pairs"]["fn"]
        posterior = [site.log_prob(torch.tensor(choices)).sum() for choices in itertools.product(*options)]
        trace = poutine.trace(collapse_trees(told)).get_trace(trees, surface)
        trace.compute_log_prob()
    torch.testing.assert_close(torch.stack(joint).logsumexp(0), trace.nodes["surface"]["log_prob_sum"])
    torch.testing.assert_close(torch.stack(posterior).logsumexp(0), torch.tensor(0.0), atol=1e-5, rtol=0)
    shares = torch.zeros(len(sizes), max(sizes))
    for choices, log_share in zip(itertools.product(*options), posterior, strict=True):
        for node, choice in enumerate(choices):
            shares[node, choice % sizes[node]] += log_share.exp()
    found = infer_trees(told)(trees, surface).posterior.marginals().probs
    torch.testing.assert_close(found, shares.to(found), atol=1e-5, rtol=0)


WENT = """# text = I went to the “special place”.
1	I	_	PRON	_	_	2	nsubj	_	_
2	went	_	VERB	_	_	0	root	_	_
3	to	_	ADP	_	_	7	case	_	_
4	the	_	DET	_	_	7	det	_	_
5	“	_	PUNCT	_	_	7	punct	_	_
6	special	_	ADJ	_	_	7	amod	_	_
7	place	_	NOUN	_	_	2	obl	_	_
8	”	_	PUNCT	_	_	7	punct	_	_
9	.	_	PUNCT	_	_	2	punct	_	_

1	“	_	PUNCT	_	_	2	punct	_	_
2	Never	_	ADV	_	_	0	root	_	_
3	”	_	PUNCT	_	_	2	punct	_	_
"""


def test_choices_that_are_drawn_have_their_parts() -> None:
    told, trees = story(Identity(3))
    for _ in range(30):
        trace = poutine.trace(told).get_trace(trees)
        trace.compute_log_prob()
        assert trace.nodes["surface"]["log_prob_sum"].item() == 0


def test_parts_stand_between_one_mark_on_either_side() -> None:
    pairs = Inventory(3, [[((), ()), ((1,), (2,)), ((1,), (2, 0)), ((), (2,))]])
    assert part_marks(pairs, (",", "“", "”")).tolist() == [[1, 2]]
    assert not len(part_marks(Inventory(3, [[((), ()), ((1,), (2, 0))]]), (",", "“", "”")))


def test_the_example_of_the_paper() -> None:
    """To the “ special place ” (footnote 8): the marks enclose a part, without *to* and *the*."""
    went, never = read_text(WENT)
    vocabulary = build_vocabulary([(one.tree, one.surface) for one in (went, never) * 10])
    pairs, marks = vocabulary.inventory, vocabulary.tokens
    enclosing = part_marks(pairs, marks)
    assert [[marks[mark] for mark in pair] for pair in enclosing.tolist()] == [["“", "”"]]
    told = Story(
        pairs,
        PairFrequencies(pairs),
        Identity(len(marks)),
        marks=marks,
        functions=vocabulary.functions,
        economy_weight=0.2,
        parts=PartMarks(len(vocabulary.relations), enclosing),
    )
    told.attach.table = torch.zeros(len(pairs.rows))
    best = infer_trees(lambda *given: told(*given, regularised=True), temperature=0)
    trees, surface = vocabulary.encode_trees([went.tree]), vocabulary.encode_surface(went.surface)
    choices = best(trees, surface).choices
    sizes, shapes = torch.from_numpy(np.diff(pairs.pair_start))[trees.relation], Shapes(trees.forest)
    found = [shapes.part(node, int(choices[node] // sizes[node])) for node in range(6)]
    assert found == [None] * 5 + [PartPair(0, 2, 0)]
    punctemes = [pairs.pairs[trees.relation[node]][choices[node] % sizes[node]] for node in range(6)]
    assert [pair != ((), ()) for pair in punctemes] == [False, True, False, False, False, False]


def test_an_expected_cost_is_that_of_the_posterior() -> None:
    """Of pairs alone, whatever parts they have."""
    told, trees = story(window("left"))
    surface = as_tensor([[], [1], [], [2], [2]])
    cost = torch.arange(len(told.inventory.rows)) / 7
    with torch.no_grad():
        collapsed = collapse_trees(told)(trees, surface)
        expected = tree_expectation(collapsed, cost)
        decoded = infer_trees(told)(trees, surface)
    rows = torch.from_numpy(told.inventory.pair_start)[trees.relation]
    probs = decoded.posterior.marginals().probs.double()
    by_hand = sum(
        float((probs[node] * cost[rows[node] : rows[node] + probs.shape[1]].double()[: probs.shape[1]]).sum())
        for node in range(len(rows))
    )
    assert float(expected) == pytest.approx(by_hand, rel=1e-5)
