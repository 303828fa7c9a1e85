"""Constituents as an attach model sees them in many draws."""

import itertools

import numpy as np
import pytest
import torch
from problems import NOTHING, padded, tree_batch
from torch import Tensor

from pyropunct.inference.inventory import Inventory
from pyropunct.inference.problem import choice_start
from pyropunct.models.attach.attributes import (
    COLUMNS,
    SEVERAL,
    SURFACE,
    Attributes,
    ViewAttributes,
    Views,
    views_of,
)
from pyropunct.models.attach.log_linear import FAMILIES, LogLinearAttach, Template
from pyropunct.models.attach.scores import PAIR, SYMMETRY
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


def seen_several_times(some: TreeBatch, surfaces: list[Tensor]) -> Views:
    """The views of all nodes in several surface strings, node after node."""
    each = [views_of(some.forest, surface) for surface in surfaces]
    shifts = np.cumsum([0] + [len(views.token) for views in each])
    first, last = (
        np.stack([getattr(views, name) + shift for views, shift in zip(each, shifts, strict=False)], -1)
        for name in ("first", "last")
    )
    node = np.repeat(np.arange(some.forest.num_nodes), len(surfaces))
    token, slot = (np.concatenate([getattr(views, name) for views in each]) for name in ("token", "slot"))
    return Views(node, first.ravel(), last.ravel(), token, slot)


def values(attributes: Attributes | ViewAttributes, name: str, place: int) -> list[int]:
    if name in SEVERAL:
        places, found = attributes.several(name)
        return found[places == place].tolist()
    return [int(attributes.single(name)[place])]


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes_of_views_are_those_of_the_nodes(name: str) -> None:
    some, surfaces = trees(), [random_surface(seed) for seed in range(4)]
    of_nodes = [Attributes(some, surface) for surface in surfaces]
    blank = Attributes(some, padded([()] * 20))
    of_views = ViewAttributes(blank, seen_several_times(some, surfaces))
    assert of_views.relation.tolist() == np.repeat(some.relation.numpy(), 4).tolist()
    for view in range(4 * some.forest.num_nodes):
        node, surface = divmod(view, 4)
        assert values(of_views, name, view) == values(of_nodes[surface], name, node)


def test_surface_attributes_are_those_that_change_with_the_surface() -> None:
    some = trees()
    changing = {
        name
        for name in {*COLUMNS, *SEVERAL}
        for node in range(some.forest.num_nodes)
        if values(Attributes(some, random_surface(1)), name, node)
        != values(Attributes(some, random_surface(2)), name, node)
    }
    assert changing == SURFACE


def attach_of(*families: str) -> LogLinearAttach:
    attach = LogLinearAttach(Inventory(4, PAIRS, 0), MARKS, families, least=1)
    attach.learn_contexts([(trees(), random_surface(seed)) for seed in range(6)])
    attach.weights = torch.randn(int(attach.starts[-1]))
    return attach


MIXED = [Template(PAIR, ("child relation", "last_mark")), Template(SYMMETRY, ("mark inside", "tag"))]


@pytest.mark.parametrize("families", [*((name,) for name in FAMILIES), tuple(FAMILIES), ("mixed", "head")])
def test_scores_of_views_are_those_of_the_nodes(
    families: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FAMILIES, "mixed", MIXED)
    attach, some = attach_of(*families), trees()
    surfaces = [random_surface(seed) for seed in range(3, 9)]
    found = attach.view_scores(some)(seen_several_times(some, surfaces))
    start = choice_start(attach._inventory, some.relation)
    each = [attach(some, surface) for surface in surfaces]
    expected = [scores[a:b] for a, b in itertools.pairwise(start) for scores in each]
    np.testing.assert_allclose(found, torch.cat(expected).numpy(), rtol=1e-12, atol=1e-12)
    differ = any(not torch.equal(each[0], scores) for scores in each)
    assert differ == attach.reads_surface == bool({"inside", "rhythm", "mixed"}.intersection(families))
