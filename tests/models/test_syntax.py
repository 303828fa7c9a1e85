import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pytest
import torch
from brute_force import chi_square_is_plausible, projective_trees
from hypothesis import given
from hypothesis import strategies as st
from problems import tree_batch
from pyro import poutine
from torch import Tensor

from pyropunct.errors import FailureError
from pyropunct.models.syntax import BASE_STOP, Decisions, HeadOutward
from pyropunct.models.trees import TreeBatch

RELATIONS, TAGS = 2, 2
LEFT, RIGHT = 0, 1
START, STOP = None, None

Context = tuple[int, int, int | None] | None
"""A head's tag, a side, and the tag of the dependent before; or the wall."""

Dependent = tuple[int, int] | None
"""A relation and a tag; or STOP."""


class PlainTree(NamedTuple):
    heads: tuple[int, ...]
    relations: tuple[int, ...]
    tags: tuple[int, ...]


def batch_of(trees: Sequence[PlainTree]) -> TreeBatch:
    relations = [relation for tree in trees for relation in tree.relations]
    tags = [tag for tree in trees for tag in tree.tags]
    return tree_batch([tree.heads for tree in trees], relations, tag=tags)


def plain_trees(batch: TreeBatch) -> list[PlainTree]:
    """The trees of a batch, one by one."""
    starts, found = batch.forest.node_start.tolist(), []
    for first, last in itertools.pairwise(starts):
        heads = (batch.forest.head[first:last] - first + 1).clamp(min=0)
        columns = heads, batch.relation[first:last], batch.tag[first:last]
        found.append(PlainTree(*(tuple(column.tolist()) for column in columns)))
    return found


def steps(tree: PlainTree) -> Iterator[tuple[Context, Dependent]]:
    """The decisions of a tree, read off its heads."""
    dependents = list(zip(tree.relations, tree.tags, strict=True))
    for word, (head, tag) in enumerate(zip(tree.heads, tree.tags, strict=True), 1):
        if head == 0:
            yield None, dependents[word - 1]
        left = [child for child in range(word - 1, 0, -1) if tree.heads[child - 1] == word]
        right = [child for child in range(word + 1, len(tree.heads) + 1) if tree.heads[child - 1] == word]
        for side, children in ((LEFT, left), (RIGHT, right)):
            before = START
            for child in children:
                yield (tag, side, before), dependents[child - 1]
                before = tree.tags[child - 1]
            yield (tag, side, before), STOP


def probability(model: HeadOutward, context: Context, dependent: Dependent) -> float:
    row = model.root_context
    if context is not None:
        tag, side, before = context
        row = (tag * 2 + side) * (TAGS + 1) + (TAGS if before is START else before)
    column = model.stop if dependent is STOP else dependent[0] * TAGS + dependent[1]
    return float(model.probabilities[row, column])


def by_hand(model: HeadOutward, tree: PlainTree) -> float:
    """p_syn(T), as a product of decisions."""
    return math.prod(probability(model, *step) for step in steps(tree))


def score(model: HeadOutward, batch: TreeBatch) -> float:
    return float(poutine.trace(model).get_trace(batch).log_prob_sum())


def trees_of_size(n: int) -> list[PlainTree]:
    """All trees of n words over the tiny vocabulary."""
    labels = list(itertools.product(range(RELATIONS), range(TAGS)))
    return [
        PlainTree(tuple(heads), *zip(*words, strict=True))
        for heads in projective_trees(n)
        for words in itertools.product(labels, repeat=n)
    ]


def random_model(seed: int = 0) -> HeadOutward:
    """A model all of whose probabilities are different; words stop often."""
    torch.manual_seed(seed)
    model = HeadOutward(RELATIONS, TAGS)
    weights = torch.rand_like(model.probabilities) + 0.05
    weights[:-1, model.stop] += 8
    weights[-1, model.stop] = 0
    model.probabilities.copy_(weights / weights.sum(-1, keepdim=True))
    return model


TREEBANK = [
    PlainTree((2, 0, 2), (0, 1, 0), (0, 1, 0)),
    PlainTree((0,), (1,), (1,)),
    PlainTree((0, 3, 1, 3), (1, 0, 1, 0), (1, 1, 0, 0)),
    PlainTree((3, 3, 0), (0, 1, 1), (0, 0, 1)),
    PlainTree((2, 0), (0, 1), (0, 0)),
]


def fitted(smoothing: float = 1.0) -> HeadOutward:
    model = HeadOutward(RELATIONS, TAGS)
    model.fit_counts([batch_of(TREEBANK)], smoothing)
    return model


@st.composite
def random_trees(draw: st.DrawFn) -> PlainTree:
    n = draw(st.integers(1, 5))
    heads = draw(st.sampled_from(projective_trees(n)))
    columns = [tuple(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))) for _ in range(2)]
    return PlainTree(tuple(heads), *columns)


def test_score_of_a_tree_is_the_product_of_its_decisions() -> None:
    """Written out in full: two dependents on the left, two on the right, one of which has its own."""
    model = random_model()
    tree = PlainTree((3, 3, 0, 5, 3, 3), (0, 1, 1, 1, 0, 1), (0, 1, 1, 0, 0, 1))
    expected: list[tuple[Context, Dependent]] = [
        (None, (1, 1)),
        ((1, LEFT, START), (1, 1)),
        ((1, LEFT, 1), (0, 0)),
        ((1, LEFT, 0), STOP),
        ((1, RIGHT, START), (0, 0)),
        ((1, RIGHT, 0), (1, 1)),
        ((1, RIGHT, 1), STOP),
        ((0, LEFT, START), (1, 0)),
        ((0, LEFT, 0), STOP),
        *[((0, LEFT, START), STOP)] * 2,
        *[((0, RIGHT, START), STOP)] * 3,
        *[((1, LEFT, START), STOP)] * 2,
        *[((1, RIGHT, START), STOP)] * 2,
    ]
    assert Counter(steps(tree)) == Counter(expected)
    total = math.fsum(math.log(probability(model, *step)) for step in expected)
    assert score(model, batch_of([tree])) == pytest.approx(total, rel=1e-13)


def test_draws_have_the_probabilities_of_the_scores() -> None:
    """For each tree of up to three words; all larger ones count as one outcome."""
    model, draws = random_model(), 8000
    counts = Counter(plain_trees(model(num_trees=draws)))
    trees = [tree for n in (1, 2, 3) for tree in trees_of_size(n)]
    chances = [by_hand(model, tree) for tree in trees]
    assert sum(p * draws >= 5 for p in chances) > 50
    assert sum(chances) < 0.95
    assert chi_square_is_plausible([counts[tree] for tree in trees], chances, draws)


def test_each_tree_of_a_batch_has_its_own_probability() -> None:
    model, some = random_model(), trees_of_size(3)[::50]
    found = model.log_prob(batch_of(some))
    assert found.exp().tolist() == pytest.approx([by_hand(model, tree) for tree in some])


def test_a_draw_has_the_same_probability_when_observed() -> None:
    trace = poutine.trace(random_model()).get_trace(num_trees=50)
    trees = trace.nodes["_RETURN"]["value"]
    assert len(trees) == 50
    assert not trees.form.any()
    assert not trees.shape.any()
    assert score(random_model(), trees) == pytest.approx(float(trace.log_prob_sum()), rel=1e-13)


@given(st.lists(random_trees(), min_size=1, max_size=5))
def test_score_of_a_batch_is_the_sum_of_its_trees(trees: list[PlainTree]) -> None:
    model = random_model()
    total = math.fsum(score(model, batch_of([tree])) for tree in trees)
    assert score(model, batch_of(trees)) == pytest.approx(total, rel=1e-12)
    assert total == pytest.approx(sum(math.log(by_hand(model, tree)) for tree in trees), rel=1e-12)


@given(random_trees())
def test_every_tree_is_possible(tree: PlainTree) -> None:
    assert math.isfinite(score(fitted(), batch_of([tree])))
    assert math.isfinite(score(HeadOutward(RELATIONS, TAGS), batch_of([tree])))


@pytest.mark.parametrize("smoothing", [0.0, 0.3, 1.0])
def test_probabilities_add_up(smoothing: float) -> None:
    model = fitted(smoothing)
    assert torch.allclose(model.probabilities.sum(-1), torch.ones(()), atol=1e-15)
    assert float(model.probabilities[model.root_context, model.stop]) == 0


def test_unsmoothed_counts_are_relative_frequencies() -> None:
    model = fitted(smoothing=0)
    seen = Counter(step for tree in TREEBANK for step in steps(tree))
    contexts = Counter(context for tree in TREEBANK for context, _ in steps(tree))
    assert len(contexts) > 8
    for (context, dependent), count in seen.items():
        assert probability(model, context, dependent) == pytest.approx(count / contexts[context], rel=1e-14)


def test_unsmoothed_model_has_the_mean_length_of_the_treebank() -> None:
    """A property of relative frequencies in branching processes (Chi & Geman 1998)."""
    lengths = [len(tree.heads) for tree in TREEBANK]
    assert fitted(smoothing=0).mean_length() == pytest.approx(sum(lengths) / len(lengths), rel=1e-12)


def test_smoothing_by_shorter_contexts() -> None:
    """Heads of tag 1 on their left, after a dependent of tag 0: two of three times STOP, once (0, 0)."""
    model, smoothing = fitted(0.5), 0.5
    seen = Counter(step for tree in TREEBANK for step in steps(tree))
    base = {STOP: BASE_STOP} | {
        (relation, tag): (1 - BASE_STOP) / 4 for relation in range(2) for tag in range(2)
    }

    def interpolated(kept: Sequence[Context], shorter: dict[Dependent, float]) -> dict[Dependent, float]:
        counts = {d: sum(seen[context, d] for context in kept) for d in shorter}
        weight = smoothing * sum(count > 0 for count in counts.values())
        return {d: (counts[d] + weight * p) / (sum(counts.values()) + weight) for d, p in shorter.items()}

    of_side = [(tag, LEFT, before) for tag in range(2) for before in (START, 0, 1)]
    of_head = [context for context in of_side if context[0] == 1]
    expected = interpolated([(1, LEFT, 0)], interpolated(of_head, interpolated(of_side, base)))
    assert {d: seen[(1, LEFT, 0), d] for d in base if seen[(1, LEFT, 0), d]} == {STOP: 2, (0, 0): 1}
    for dependent, p in expected.items():
        assert probability(model, (1, LEFT, 0), dependent) == pytest.approx(p, rel=1e-13)


def test_smoothed_counts_maximise_the_posterior() -> None:
    """Of the root, under a Dirichlet prior around the base distribution."""
    smoothing, model = 0.5, fitted(0.5)
    counts = torch.zeros(RELATIONS * TAGS)
    for tree in TREEBANK:
        root = tree.heads.index(0)
        counts[tree.relations[root] * TAGS + tree.tags[root]] += 1
    weight = smoothing * (counts > 0).sum() / (RELATIONS * TAGS)
    prior = torch.distributions.Dirichlet(1 + weight * torch.ones(RELATIONS * TAGS))

    def log_posterior(p: Tensor) -> float:
        return float(prior.log_prob(p) + (counts * p.log()).sum())

    found = model.probabilities[model.root_context, : model.stop]
    best = log_posterior(found)
    for other, step in itertools.product(torch.eye(RELATIONS * TAGS), (1e-3, 0.1, 0.5)):
        assert log_posterior((1 - step) * found + step * other) < best


def test_counts_of_several_batches_add_up() -> None:
    model = HeadOutward(RELATIONS, TAGS)
    model.fit_counts(batch_of([tree]) for tree in TREEBANK)
    assert torch.equal(model.probabilities, fitted().probabilities)


def test_unfitted_trees_are_small() -> None:
    """Each side has 1/3 of a dependent on average, so a constituent has 1 / (1 - 2/3) words."""
    assert HeadOutward(3, 4).mean_length() == pytest.approx(3)


def test_trees_that_never_stop() -> None:
    model = HeadOutward(RELATIONS, TAGS, max_words=30)
    model.probabilities[:-1, model.stop] = 0.4
    model.probabilities[:-1, : model.stop] = 0.15
    assert model.mean_length() == math.inf
    with pytest.raises(FailureError, match=r"more than 30 \(max_words\).*inf words on average"):
        model(num_trees=20)


def test_a_chain_deeper_than_the_stack() -> None:
    """The first dependent on a word's left comes with probability 0.9995, no other ever."""
    model = HeadOutward(1, 1, max_words=100_000)
    model.probabilities.copy_(torch.tensor([[0, 1], [0.9995, 0.0005], [0, 1], [0, 1], [1, 0]]))
    assert model.mean_length() == pytest.approx(2000)
    torch.manual_seed(6)
    trees = model()
    assert 1500 < trees.forest.num_nodes < 5000
    assert trees.forest.depth.tolist() == list(range(trees.forest.num_nodes))[::-1]


def test_bad_input() -> None:
    model = HeadOutward(RELATIONS, TAGS)
    with pytest.raises(ValueError, match="relation 2, but the syntax model knows 0 to 1"):
        model(batch_of([PlainTree((0,), (2,), (0,))]))
    with pytest.raises(ValueError, match="tag 5, but the syntax model knows 0 to 1"):
        model(batch_of([PlainTree((0,), (0,), (5,))]))
    with pytest.raises(ValueError, match="no tree"):
        model.fit_counts([])
    with pytest.raises(ValueError, match=r"negative, but it is -0\.5"):
        model.fit_counts([batch_of(TREEBANK)], smoothing=-0.5)


def test_decisions_as_a_distribution() -> None:
    table = torch.tensor([[0.25, 0.75], [1.0, 0.0]])
    decisions = Decisions(table, torch.tensor([0, 1, 0]))
    assert decisions.sample().shape == (3,)
    assert decisions.expand((2, 3)).sample((7,)).shape == (7, 2, 3)
    assert decisions.log_prob(torch.tensor([1, 0, 0])).exp().tolist() == pytest.approx([0.75, 1, 0.25])
