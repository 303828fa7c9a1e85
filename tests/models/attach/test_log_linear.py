from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyro
import pytest
import torch
from brute_force import String
from problems import NOTHING, attributes_of, padded, scores_of, seen, tree_batch
from pyro.infer import SVI, Trace_ELBO
from pyro.infer.autoguide import AutoDelta
from pyro.nn.module import pyro_method
from torch import Tensor

from pyropunct.inference.inventory import Inventory
from pyropunct.inference.pyro.collapse import collapse_trees
from pyropunct.inference.story_inputs import OPENS
from pyropunct.inference.views import Views, views_of
from pyropunct.models.attach.attach_model import join_contexts
from pyropunct.models.attach.feature_weights import OF_RELATION, PARTS, PairPart, parts_of_pairs
from pyropunct.models.attach.features import FAMILIES, SEVERAL, Template, templates
from pyropunct.models.attach.log_linear import LogLinearAttach
from pyropunct.models.channel.window import SlidingWindow
from pyropunct.models.checking import check_attach
from pyropunct.models.story import Story
from pyropunct.models.symmetry import CLASSES, symmetry_class
from pyropunct.models.trees import TreeBatch

MARKS = ("^", ",", "(", ")")
PAIRS = [
    [NOTHING, ((), (1,)), ((1,), ()), ((1,), (1,)), ((2,), (3,))],
    [NOTHING, ((), (1,)), ((2,), (3,)), ((2, 1), (3,))],
    [NOTHING],
]
FAMILY = pytest.mark.parametrize("family", FAMILIES)


def treebank() -> tuple[TreeBatch, Tensor]:
    """Three trees, two of them alike but for a word."""
    torch.manual_seed(7)
    heads = [[2, 0, 5, 5, 2, 5], [2, 0, 5, 5, 2, 5], [0, 1, 1]]
    relations = [0, 1, 0, 2, 1, 0, 0, 1, 0, 2, 1, 0, 1, 0, 0]
    columns = {name: torch.randint(0, 3, (15,)).tolist() for name in ("tag", "form", "shape")}
    for column in columns.values():
        column[6:12] = column[:6]
    columns["tag"][7] = 9
    surface: list[String] = [(0,), (), (1,), (), (2,), (3, 1), (1,)] * 2 + [(0,), (1,), (), (1,)]
    return tree_batch(heads, relations, **columns), padded(surface)


def with_clauses() -> tuple[TreeBatch, Tensor]:
    """The treebank with words behind which a clause begins."""
    trees, surface = treebank()
    return replace(trees, more={OPENS: torch.tensor([0, 0, 1, 0, 0, 0] * 2 + [1, 0, 0])}), surface


def attach_of(
    *families: str, least: int = 1, known: Callable[[], tuple[TreeBatch, Tensor]] = treebank
) -> LogLinearAttach:
    attach = LogLinearAttach(Inventory(4, PAIRS, 0), MARKS, families, prior_scale=0.7, least=least)
    attach.learn([seen(*known())])
    return attach


def features(attach: LogLinearAttach, trees: TreeBatch, surface: Tensor) -> Tensor:
    """The feature vector f(l, r, w) of each pair at each node: the slopes of its score."""
    weights = torch.zeros(int(attach.starts[-1]), requires_grad=True)
    attach.weights = weights
    scores = scores_of(attach, trees, surface)
    return torch.stack([torch.autograd.grad(score, weights, retain_graph=True)[0] for score in scores])


Feature = tuple[object, ...]


def templates_of(family: str) -> list[Template]:
    """The templates of a family, and those of completed pairs."""
    own = FAMILIES[family]
    return [*own, *(template._replace(completed=True) for template in own if template.is_of_place)]


def is_asked(template: Template, trees: TreeBatch, node: int) -> bool:
    """Whether a template has contexts at a node: those of place look at completed pairs where a side is
    not seen.
    """
    forest, opens = trees.forest, trees.more[OPENS].tolist()
    tree = int(forest.tree[node])
    left, right = (
        int(slots[node]) - forest.slots(tree).start for slots in (forest.left_slot, forest.right_slot)
    )
    unseen = {
        "left": left == 0 or opens[forest.nodes(tree).start + left - 1] == 1,
        "right": right == len(forest.nodes(tree)),
    }
    sides = {PairPart.LEFT: ["left"], PairPart.ANY_LEFT: ["left"]}
    sides |= {PairPart.RIGHT: ["right"], PairPart.ANY_RIGHT: ["right"]}
    hidden = any(unseen[side] for side in sides.get(template.part, ["left", "right"]))
    return not template.is_of_place or hidden == template.completed


def contexts(templates: list[Template], trees: TreeBatch, surface: Tensor) -> list[list[Feature]]:
    """The contexts of each node: the template's number, for some kinds the relation, and the attributes."""
    attributes = attributes_of(trees, surface)
    found: list[list[Feature]] = [[] for _ in trees.relation]
    for number, template in enumerate(templates):
        for node, relation in enumerate(trees.relation.tolist()):
            if not is_asked(template, trees, node):
                continue
            values: list[list[int]] = [[]]
            for name in template.attributes:
                if name in SEVERAL:
                    nodes, several = attributes.several(name)
                    values = [[*some, value] for value in several[nodes == node].tolist() for some in values]
                else:
                    values = [[*some, int(attributes.single(name)[node])] for some in values]
            own = relation if template.part in OF_RELATION else None
            found[node] += [(number, own, *some) for some in values]
    return found


def value_of(part: PairPart, left: String, right: String) -> object:
    """What a feature looks at."""
    return {
        PairPart.PAIR: (left, right),
        PairPart.LEFT: left,
        PairPart.RIGHT: right,
        PairPart.SYMMETRY: symmetry_class(
            [MARKS[token] for token in left], [MARKS[token] for token in right]
        ),
        PairPart.ANY_LEFT: left,
        PairPart.ANY_RIGHT: right,
    }[part]


def expected_features(
    templates: list[Template], trees: TreeBatch, surface: Tensor, known: set[Feature]
) -> list[dict[Feature, int]]:
    """How often each pair at each node has each feature, by the definition."""
    rows = []
    for relation, some in zip(trees.relation.tolist(), contexts(templates, trees, surface), strict=True):
        for pair in PAIRS[relation]:
            row: dict[Feature, int] = {}
            for context in some:
                if context in known:
                    template = templates[int(str(context[0]))]
                    both = ((1,), (1,)) in PAIRS[relation] and pair in (((1,), ()), ((), (1,)))
                    looked_at = ((1,), (1,)) if template.completed and both else pair
                    feature = (context, value_of(template.part, *looked_at))
                    row[feature] = row.get(feature, 0) + 1
            rows.append(row)
    return rows


def products(rows: list[dict[Feature, int]]) -> Tensor:
    """The inner products of all feature vectors, which say all about them but the names of the features."""
    return torch.tensor(
        [[float(sum(count * b.get(name, 0) for name, count in a.items())) for b in rows] for a in rows]
    )


def counts_of(templates: list[Template], trees: TreeBatch, surface: Tensor) -> dict[Feature, int]:
    counts: dict[Feature, int] = {}
    for some in contexts(templates, trees, surface):
        for context in some:
            counts[context] = counts.get(context, 0) + 1
    return counts


@FAMILY
@pytest.mark.parametrize("least", [1, 2])
def test_features_of_a_family(family: str, least: int) -> None:
    attach, (trees, surface) = attach_of(family, least=least, known=with_clauses), with_clauses()
    counts = counts_of(templates_of(family), trees, surface)
    known = {context for context, count in counts.items() if count >= least}
    assert 0 < len(known) <= len(counts)
    assert len(attach.keys) == len(known)
    rows = expected_features(templates_of(family), trees, surface, known)
    vectors = features(attach, trees, surface)
    assert torch.equal(vectors @ vectors.T, products(rows))


@FAMILY
def test_features_of_trees_never_seen(family: str) -> None:
    """Only contexts seen in training have weights."""
    attach, seen = attach_of(family, known=with_clauses), with_clauses()
    trees = tree_batch(
        [[0, 1, 2], [3, 3, 0]], [0, 1, 2, 2, 0, 1], tag=[0, 7, 1, 2, 2, 1], form=[0, 1, 9, 2, 1, 0]
    )
    trees = replace(trees, more={OPENS: torch.tensor([0, 1, 0, 0, 1, 0])})
    surface = padded([(0,), (1,), (2, 1), (), (0,), (1,), (1, 3), ()])
    known = set(counts_of(templates_of(family), *seen))
    rows = expected_features(templates_of(family), trees, surface, known)
    vectors = features(attach, trees, surface)
    assert torch.equal(vectors @ vectors.T, products(rows))


def test_completed_pairs() -> None:
    """A comma or dash on one side is completed to both sides, if the relation has that pair."""
    comma, dash, quote = (0,), (1,), (2,)
    some = [NOTHING, ((), comma), (comma, ()), (comma, comma), (dash, ()), (dash, dash), (comma, dash)]
    inventory = Inventory(3, [[*some, ((), quote), (quote, quote)], [NOTHING, ((), dash), (comma, ())]])
    value = parts_of_pairs(inventory, (",", "--", '"')).value[:, PARTS + PairPart.PAIR]
    found = [
        {pair: pairs[number] for pair, number in zip(pairs, value[first:], strict=False)}
        for first, pairs in zip(inventory.pair_start, inventory.pairs, strict=False)
    ]
    changed = [{pair: other for pair, other in each.items() if other != pair} for each in found]
    both = (comma, comma)
    assert changed == [{((), comma): both, (comma, ()): both, (dash, ()): (dash, dash)}, {}]


@pytest.mark.parametrize(
    ("context", "is_of_place"),
    [
        ("edges", True),
        ("words_before", True),
        ("words_after", True),
        ("before tag", True),
        ("second after tag", True),
        ("left sibling relation", True),
        ("right sibling relation", True),
        ("tag + after tag", True),
        ("", False),
        ("tag + length", False),
        ("head tag + side", False),
        ("first tag", False),
        ("last child relation", False),
        ("child relation", False),
        ("until_mark", False),
    ],
)
def test_contexts_that_tell_where_a_constituent_stands(context: str, is_of_place: bool) -> None:
    [template] = templates([PairPart.PAIR], context)
    assert template.is_of_place == is_of_place


def test_families_add_up() -> None:
    trees, surface = treebank()
    parts = [features(attach_of(family), trees, surface) for family in ("head", "inside", "flanks")]
    whole = features(attach_of("head", "inside", "flanks"), trees, surface)
    torch.testing.assert_close(whole @ whole.T, sum(part @ part.T for part in parts), rtol=0, atol=0)


def test_scores_and_gradients() -> None:
    attach, (trees, surface) = attach_of(*FAMILIES), treebank()
    vectors = features(attach, trees, surface)
    weights = torch.randn(vectors.shape[1], requires_grad=True)
    attach.weights = weights
    scores = scores_of(attach, trees, surface)
    torch.testing.assert_close(scores, vectors @ weights, rtol=1e-13, atol=1e-13)
    direction = torch.randn(len(scores))
    (gradient,) = torch.autograd.grad(scores @ direction, weights)
    torch.testing.assert_close(gradient, direction @ vectors, rtol=1e-13, atol=1e-13)


def symmetry_weights(attach: LogLinearAttach) -> torch.Tensor:
    """(relations, classes) the weights of classes of symmetry for each relation."""
    places = attach._places(
        Template(PairPart.SYMMETRY, ("relation",)), np.arange(attach.inventory.num_relations)[None]
    )
    weights = attach.weights.detach().to_dense()
    return torch.stack([weights[attach.starts[place] : attach.starts[place + 1]] for place in places])


def test_weights_of_symmetry() -> None:
    """Each adds to the scores of the pairs of its class at the nodes with its relation, and to no others."""
    attach, (trees, surface) = attach_of("symmetry", "head"), treebank()
    pairs = [(relation, *pair) for relation in trees.relation.tolist() for pair in PAIRS[relation]]
    told = 0
    for one_hot in torch.eye(int(attach.starts[-1])):
        attach.weights = one_hot
        for relation, symmetry in symmetry_weights(attach).nonzero().tolist():
            expected = [
                of == relation and value_of(PairPart.SYMMETRY, *pair) == CLASSES[symmetry]
                for of, *pair in pairs
            ]
            assert scores_of(attach, trees, surface).tolist() == list(map(float, expected))
            told += 1
    assert told == len(PAIRS) * len(CLASSES)


def test_learning_from_several_batches_is_learning_from_one() -> None:
    twice = attach_of(*FAMILIES, least=2)
    halves = LogLinearAttach(Inventory(4, PAIRS, 0), MARKS, tuple(FAMILIES), least=2)
    halves.learn([seen(*part) for part in in_batches()])
    for name in ("keys", "starts", "kinds"):
        assert torch.equal(getattr(twice, name), getattr(halves, name))


def test_scores_keep_to_the_rules() -> None:
    """Every p(l, r | w) depends on marks strictly inside w alone."""
    attach, (trees, _) = attach_of(*FAMILIES), treebank()
    check_attach(attach, trees)


def test_prior() -> None:
    """The penalty of equation (5): ||theta||^2 / (2 s^2) beside a constant."""
    attach = LogLinearAttach(Inventory(4, PAIRS, 0), MARKS, ("head",), prior_scale=0.5, least=1)
    attach.learn([seen(*treebank())])
    prior = attach._prior()
    theta = torch.randn(int(attach.starts[-1]))
    difference = prior.log_prob(theta) - prior.log_prob(torch.zeros_like(theta))
    assert float(difference) == pytest.approx(-2 * float(theta.square().sum()), rel=1e-12)
    normal = torch.distributions.Normal(torch.zeros_like(theta), 0.5).log_prob(theta).sum()
    assert float(prior.log_prob(theta)) == pytest.approx(float(normal), rel=1e-12)


def in_batches() -> list[tuple[TreeBatch, Tensor]]:
    """The trees of `treebank`, two of them and one."""
    trees, surface = treebank()
    parts = []
    for nodes, slots, heads in [
        (slice(0, 12), slice(0, 14), [[2, 0, 5, 5, 2, 5], [2, 0, 5, 5, 2, 5]]),
        (slice(12, 15), slice(14, 18), [[0, 1, 1]]),
    ]:
        columns = {name: getattr(trees, name)[nodes].tolist() for name in ("tag", "form", "shape")}
        parts.append((tree_batch(heads, trees.relation[nodes].tolist(), **columns), surface[slots]))
    return parts


def remembered(attach: LogLinearAttach, trees: TreeBatch, surface: Tensor) -> Views:
    """All nodes as training sees them, with their contexts looked up."""
    views = views_of(trees.forest, surface)
    return views._replace(contexts=attach.contexts(trees, views))


def test_shares_of_an_epoch_are_the_whole_prior() -> None:
    """Each batch's estimate is scaled to the treebank, so the whole is their mean weighted by their sizes."""
    attach = attach_of(*FAMILIES)
    theta = torch.randn(int(attach.starts[-1]), requires_grad=True)
    whole = attach._prior().log_prob(theta)
    (slopes,) = torch.autograd.grad(whole, theta)
    assert attach.make_sparse() == {"weights"}
    estimates, estimated_slopes = [], []
    for trees, surface in in_batches():
        views = remembered(attach, trees, surface)
        with pyro.poutine.trace() as tracer, pyro.condition(data={"weights": theta}):
            pyro_method(LogLinearAttach.scores)(attach, trees, views)
        share = len(trees) / 3
        estimate = share * tracer.trace.log_prob_sum()
        (slope,) = torch.autograd.grad(estimate, theta)
        assert slope.is_sparse
        estimates.append(float(estimate.detach()))
        estimated_slopes.append(slope.to_dense())
    assert estimates[0] != pytest.approx(estimates[1])
    assert sum(estimates) == pytest.approx(float(whole.detach()), rel=1e-12)
    torch.testing.assert_close(sum(estimated_slopes), slopes, rtol=1e-12, atol=1e-12)


def test_shares_are_those_of_one_batch_alone() -> None:
    """An error while weights are read, here values of a wrong shape, leaves the whole prior behind."""
    attach = attach_of(*FAMILIES)
    attach.make_sparse()
    theta = torch.randn(int(attach.starts[-1]))
    whole = attach._prior().log_prob(theta)
    trees, surface = in_batches()[0]
    views = remembered(attach, trees, surface)
    with pytest.raises(ValueError, match="wrong"), pyro.poutine.trace(), Broken():
        pyro_method(LogLinearAttach.scores)(attach, trees, views)
    assert torch.equal(attach._prior().log_prob(theta), whole)


class Broken(pyro.poutine.messenger.Messenger):
    """A handler that fails at each site."""

    def _pyro_sample(self, msg: object) -> None:
        raise ValueError("wrong")


def test_sparse_scores_are_the_dense_ones() -> None:
    attach = attach_of(*FAMILIES)
    attach.weights = torch.randn(int(attach.starts[-1]), requires_grad=True)
    for trees, surface in in_batches():
        views, found = remembered(attach, trees, surface), []
        for attach.sparse in (False, True):
            scores = attach.scores(trees, views)
            direction = torch.linspace(-1, 2, len(scores))
            found.append((scores, torch.autograd.grad(scores @ direction, attach.weights)[0]))
        (dense, dense_slopes), (sparse, sparse_slopes) = found
        assert torch.equal(dense, sparse)
        assert torch.equal(dense_slopes, sparse_slopes.to_dense())
        assert sparse_slopes._nnz() < len(dense_slopes)


def test_scores_of_a_sparse_tensor_are_the_same_to_the_last_bit() -> None:
    """Whether contexts have many weights that are not zero or few, also when it is changed in its place."""
    attach, (trees, surface) = attach_of("head", "symmetry", "inside", least=1), treebank()
    views, size = views_of(trees.forest, surface), int(attach.starts[-1])
    for share in (0.0, 0.05, 0.3, 1.0):
        weights = torch.randn(size) * (torch.rand(size) < share)
        attach.weights = weights
        expected = attach.scores(trees, views)
        attach.weights = weights.to_sparse()
        assert torch.equal(attach.scores(trees, views), expected)
    attach.weights.zero_()
    assert not attach.scores(trees, views).any()


def test_contexts_of_batches() -> None:
    """Joined, and picked again in another order, they are those of the trees in that order."""
    attach = attach_of(*FAMILIES)
    trees, surface = treebank()
    whole = join_contexts([attach.contexts(*seen(*batch)) for batch in in_batches()])
    slots = [*trees.forest.slots(2), *trees.forest.slots(0)]
    expected = attach.contexts(*seen(trees.pick([2, 0]), surface[slots]))
    found = whole.of(trees.forest.nodes_of([2, 0]))
    assert expected.start.tolist() == found.start.tolist()
    assert expected.number.tolist() == found.number.tolist()
    assert expected.number.size > 100


def test_contexts_belong_to_a_surface_not_to_trees() -> None:
    """A story told forward looks anew, whatever was looked up for the same trees before."""
    attach, (trees, _) = attach_of("inside", "symmetry"), treebank()
    attach.weights = 2 * torch.randn(int(attach.starts[-1]))
    channel = SlidingWindow(4)
    channel.edit_logits = torch.randn(4, 4, 4)
    story = Story(Inventory(4, PAIRS, 0), attach, channel)
    surface = story(trees).surface
    views = remembered(attach, trees, surface)
    before = collapsed(story, trees, surface, views)
    assert before == pytest.approx(collapsed(story, trees, surface), rel=1e-12)
    forward = pyro.poutine.trace(story).get_trace(trees)
    told = forward.nodes["_RETURN"]["value"]
    shown = views_of(trees.forest, told.surface)
    assert not torch.equal(attach.scores(trees, shown), attach.scores(trees, views))
    again = pyro.poutine.trace(pyro.condition(story, {"pairs": told.choices})).get_trace(trees, told.surface)
    assert float(again.log_prob_sum()) == pytest.approx(float(forward.log_prob_sum()), rel=1e-12)
    with pytest.raises(ValueError, match="views of a surface that is not given"):
        story(trees, None, views)


def collapsed(story: Story, *batch: object) -> float:
    return float(pyro.poutine.trace(collapse_trees(story)).get_trace(*batch).log_prob_sum())


def test_scores_do_not_depend_on_threads() -> None:
    """But for rounding: the gradient's parts are added up in another order."""
    attach, (trees, surface) = attach_of(*FAMILIES), treebank()
    attach.weights = torch.randn(int(attach.starts[-1]), requires_grad=True)
    trees, surface = trees.pick([*range(3)] * 60), surface.repeat(60, 1)
    threads, found = torch.get_num_threads(), []
    for number in (1, 3):
        torch.set_num_threads(number)
        scores = scores_of(attach, trees, surface)
        (slopes,) = torch.autograd.grad(scores @ torch.linspace(-1, 2, len(scores)), attach.weights)
        found.append((scores, slopes))
    torch.set_num_threads(threads)
    assert torch.equal(found[0][0], found[1][0])
    torch.testing.assert_close(found[0][1], found[1][1], rtol=1e-12, atol=1e-10)


def test_one_step_moves_exactly_the_weights_in_use() -> None:
    """From zero, where the prior is flat: the others have no gradient."""
    attach, (trees, surface) = attach_of(*FAMILIES), treebank()
    size = int(attach.starts[-1])
    vectors = features(attach, trees, surface)
    del attach.weights
    fresh = attach_of(*FAMILIES)
    channel = SlidingWindow(4)
    channel.edit_logits = torch.randn(4, 4, 4)
    story = Story(Inventory(4, PAIRS, 0), fresh, channel)
    guide = AutoDelta(collapse_trees(story), init_loc_fn=lambda site: torch.zeros(site["fn"].shape()))
    some = tree_batch(
        [[0, 1, 1]],
        trees.relation[12:].tolist(),
        **{name: getattr(trees, name)[12:].tolist() for name in ("tag", "form", "shape")},
    )
    guide(some, surface[14:])
    loss = Trace_ELBO().differentiable_loss(collapse_trees(story), guide, some, surface[14:])
    (parameter,) = guide.parameters()
    (gradient,) = torch.autograd.grad(loss, parameter)
    SVI(collapse_trees(story), guide, pyro.optim.Adam({"lr": 0.1}), Trace_ELBO()).step(some, surface[14:])
    pairs = sum(len(PAIRS[relation]) for relation in some.relation.tolist())
    in_use = vectors[-pairs:].any(0)
    moved = parameter.detach().abs() > 0.05
    assert torch.equal(moved, gradient.abs() > 1e-6)
    assert not moved[~in_use].any()
    assert 100 < int(moved.sum()) <= int(in_use.sum()) < size
