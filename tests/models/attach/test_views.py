"""Constituents as an attach model sees them, and its scores of them."""

import itertools

import numpy as np
import pytest
import torch
from problems import NOTHING, attributes_of, padded, seen, seen_several_times, tree_batch
from torch import Tensor
from variants import PairFrequencies

from pyropunct.errors import VariantError
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.views import Views, views_of
from pyropunct.models.attach.attach_model import Attach
from pyropunct.models.attach.feature_weights import PairPart
from pyropunct.models.attach.features import (
    COLUMNS,
    FAMILIES,
    SEVERAL,
    SURFACE,
    Attributes,
    Template,
    ViewAttributes,
)
from pyropunct.models.attach.log_linear import LogLinearAttach
from pyropunct.models.trees import TreeBatch

MARKS = ("^", ",", "(", ")")
PAIRS = [
    [NOTHING, ((), (1,)), ((1,), ()), ((1,), (1,)), ((2,), (3,))],
    [NOTHING, ((), (1,)), ((2,), (3,)), ((2, 1), (3,))],
    [NOTHING],
]
ATTRIBUTES = sorted(
    {name for family in FAMILIES.values() for template in family for name in template.attributes}
)


def trees() -> TreeBatch:
    heads = [[2, 0, 5, 5, 2, 5], [2, 0, 5, 5, 2, 5], [0, 1, 1], [0]]
    generator = torch.Generator().manual_seed(7)
    columns = {
        name: torch.randint(0, 3, (16,), generator=generator).tolist() for name in ("tag", "form", "shape")
    }
    return tree_batch(heads, torch.randint(0, 3, (16,), generator=generator).tolist(), **columns)


def random_surface(seed: int) -> Tensor:
    """Surface strings of all slots, half of them empty."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(0, 4, (20,), generator=generator).sub(1).clamp(0).tolist()
    return padded([tuple(torch.randint(0, 4, (n,), generator=generator).tolist()) for n in lengths])


def values(attributes: ViewAttributes, name: str, place: int) -> list[int]:
    if name in SEVERAL:
        places, found = attributes.several(name)
        return found[places == place].tolist()
    return [int(attributes.single(name)[place])]


def test_views_hold_the_marks_strictly_inside() -> None:
    """By the definition, for all nodes and for some; what is shown elsewhere leaves no trace."""
    some, surface = trees(), random_surface(0)
    left, right = some.forest.left_slot.tolist(), some.forest.right_slot.tolist()
    for nodes in (torch.arange(16), torch.tensor([7, 1, 1, 15])):
        views = views_of(some.forest, surface, nodes)
        assert views.node.tolist() == nodes.tolist()
        for view, node in enumerate(nodes):
            marks = slice(views.start[view], views.start[view + 1])
            expected = [
                (token, slot)
                for slot in range(left[node] + 1, right[node])
                for token in surface[slot].tolist()
                if token >= 0
            ]
            found = zip(views.token[marks].tolist(), views.slot[marks].tolist(), strict=True)
            assert list(found) == expected
            assert (views.view[marks] == view).all()


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes_of_views_in_any_number(name: str) -> None:
    """Nodes seen several times have the attributes that they have when each is seen once."""
    some, surfaces = trees(), [random_surface(seed) for seed in range(4)]
    once = [attributes_of(some, surface) for surface in surfaces]
    of_views = ViewAttributes(Attributes(some), seen_several_times(some, surfaces))
    assert of_views.relation.tolist() == np.repeat(some.relation.numpy(), 4).tolist()
    for view in range(4 * some.forest.num_nodes):
        node, surface = divmod(view, 4)
        assert values(of_views, name, view) == values(once[surface], name, node)


def test_surface_attributes_are_those_that_change_with_the_surface() -> None:
    some = trees()
    changing = {
        name
        for name in {*COLUMNS, *SEVERAL, *SURFACE}
        for node in range(some.forest.num_nodes)
        if values(attributes_of(some, random_surface(1)), name, node)
        != values(attributes_of(some, random_surface(2)), name, node)
    }
    assert changing == SURFACE


def attach_of(*families: str) -> LogLinearAttach:
    attach = LogLinearAttach(Inventory(4, PAIRS, 0), MARKS, families, least=1)
    attach.learn([seen(trees(), random_surface(seed)) for seed in range(6)])
    attach.weights = torch.randn(int(attach.starts[-1]))
    return attach


MIXED = [
    Template(PairPart.PAIR, ("child relation", "last_mark")),
    Template(PairPart.SYMMETRY, ("mark inside", "tag")),
]


@pytest.mark.parametrize("families", [*((name,) for name in FAMILIES), tuple(FAMILIES), ("mixed", "head")])
def test_scores_of_views(families: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """They are those of views that bring their contexts, each node seen once."""
    monkeypatch.setitem(FAMILIES, "mixed", MIXED)
    attach, some = attach_of(*families), trees()
    surfaces = [random_surface(seed) for seed in range(3, 9)]
    found = attach.scores(some, seen_several_times(some, surfaces))
    each = []
    for surface in surfaces:
        views = views_of(some.forest, surface)
        each.append(attach.scores(some, views._replace(contexts=attach.contexts(some, views))))
    start = attach.inventory.choice_start(some.relation)
    expected = [scores[a:b] for a, b in itertools.pairwise(start) for scores in each]
    torch.testing.assert_close(found, torch.cat(expected), rtol=1e-12, atol=1e-12)
    differ = any(not torch.equal(each[0], scores) for scores in each)
    assert differ == attach.reads_surface == bool({"inside", "rhythm", "mixed"}.intersection(families))


class FixedScores(Attach):
    """Scores that somebody else has computed."""

    def __init__(self, given: Tensor) -> None:
        super().__init__(Inventory(4, PAIRS, 0))
        self.given = given

    def scores(self, trees: TreeBatch, views: Views) -> Tensor:
        return self.given


@pytest.mark.parametrize("batch", [(), (2,), (3, 1)])
def test_a_table_has_the_scores_of_the_flat_form(batch: tuple[int, ...]) -> None:
    """A column for each row of the inventory, or for each pair of the relation; others are ignored."""
    inventory, some = Inventory(4, PAIRS, 0), trees()
    views = views_of(some.forest, random_surface(0), torch.tensor([0, 5, 5, 9, 15]))
    everything = torch.randn(*batch, len(views.node), len(inventory.rows))
    padded_table = torch.full((*batch, len(views.node), 5), torch.nan)
    expected = []
    for view, relation in enumerate(some.relation[views.node].tolist()):
        first, last = inventory.pair_start[relation : relation + 2]
        expected.append(everything[..., view, first:last])
        padded_table[..., view, : last - first] = everything[..., view, first:last]
    flat = torch.cat(expected, -1)
    for given in (everything, padded_table, flat):
        assert torch.equal(FixedScores(given).scorer(some)(views), flat)


def test_scores_that_are_no_numbers_of_pairs() -> None:
    some = trees()
    views = views_of(some.forest, random_surface(0), torch.tensor([0, 5]))
    with pytest.raises(
        VariantError, match=r"shape \(2, 3\), where \d+ .* 2 views by the 10 pairs .* or by 5"
    ):
        FixedScores(torch.zeros(2, 3)).scorer(some)(views)


class Neither(Attach):
    """A model that says nothing."""


def test_a_model_without_scores() -> None:
    model = Neither(Inventory(4, PAIRS, 0))
    with pytest.raises(NotImplementedError, match=r"^Neither does not override scores of Attach$"):
        model.scores(*seen(trees(), random_surface(0)))


def test_scores_of_a_model_that_looks_at_relations_alone() -> None:
    """The helpers of the base class find the rows of the inventory, for any views."""
    inventory, some = Inventory(4, PAIRS, 0), trees()
    model = PairFrequencies(inventory)
    model.table = torch.arange(10.0, 10 + len(inventory.rows))
    views = seen_several_times(some, [random_surface(0)] * 2)
    of_node = {0: [10, 11, 12, 13, 14], 1: [15, 16, 17, 18], 2: [19]}
    expected = [of_node[relation] for relation in some.relation[views.node].tolist()]
    assert model.scores(some, views).tolist() == list(itertools.chain.from_iterable(expected))
    nodes = model.scores(some, views_of(some.forest, random_surface(0)))
    assert torch.equal(model.of_views(nodes, some, views), model.scores(some, views))
    pairs = model.pairs_of(some, views)
    assert pairs.view.tolist() == [view for view, scores in enumerate(expected) for _ in scores]
