"""The attach model of correction: what it sees of the wrong sentence, and its weights of what stays."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from problems import NOTHING, attributes_of, padded, scores_of, seen, tree_batch
from torch import Tensor

from pyropunct.inference.inventory import Inventory
from pyropunct.inference.views import views_of
from pyropunct.models.attach.features import Attributes
from pyropunct.models.trees import TreeBatch, string_number
from pyropunct.papers.li_2019.tree_corrector import CORRECTION, ERROR_COLUMNS, STAYING, CorrectingAttach

MARKS = ("^", ",", "(", ")")
PAIRS = [
    [NOTHING, ((), (1,)), ((1,), ()), ((1,), (1,)), ((2,), (3,))],
    [NOTHING, ((), (1,)), ((2,), (3,)), ((2, 1), (3,))],
    [NOTHING],
]
INVENTORY = Inventory(4, PAIRS, 0)
HEADS = [[2, 0, 5, 5, 2, 5], [0, 1, 1]]
WORDS = 9


def trees() -> TreeBatch:
    """Two trees with random T'_e: pairs of the inventory, and others."""
    generator = torch.Generator().manual_seed(3)

    def some(most: int) -> list[int]:
        return torch.randint(0, most, (WORDS,), generator=generator).tolist()

    batch = tree_batch(HEADS, some(3), tag=some(2), form=some(3), shape=some(2))
    strings = [(), (1,), (2,), (3,), (2, 1), (3, 3)]
    more = {name: torch.tensor([string_number(strings[n]) for n in some(6)]) for name in ERROR_COLUMNS}
    return replace(batch, more=more)


def surface(seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(0, 3, (WORDS + 2,), generator=generator).tolist()
    return padded([tuple(torch.randint(1, 4, (n,), generator=generator).tolist()) for n in lengths])


@pytest.fixture
def attach() -> CorrectingAttach:
    torch.manual_seed(0)
    made = CorrectingAttach(INVENTORY, MARKS, ("symmetry", "inside"), least=1)
    made.learn([seen(trees(), surface(seed)) for seed in range(5)])
    made.weights = torch.randn(int(made.starts[-1]))
    made.staying = torch.randn(3, 4, 4)
    return made


def test_scores_of_what_stays(attach: CorrectingAttach) -> None:
    """kappa[d, m, s] by its definition, pair by pair."""
    batch, kappa = trees(), attach.staying
    had = list(zip(*(batch.more[name].tolist() for name in ("error_left", "error_right")), strict=True))
    expected = []
    for relation, (left_e, right_e) in zip(batch.relation.tolist(), had, strict=True):
        for left, right in PAIRS[relation]:
            where = (left_e != 0) + 2 * (right_e != 0)
            stays = (string_number(left) == left_e) + 2 * (string_number(right) == right_e)
            expected.append(kappa[relation, where, stays])
    with_kappa = scores_of(attach, batch, surface(0))
    attach.staying = torch.zeros(3, 4, 4)
    torch.testing.assert_close(with_kappa - scores_of(attach, batch, surface(0)), torch.stack(expected))


def test_it_looks_at_the_wrong_sentence(attach: CorrectingAttach) -> None:
    """Each of the four columns changes scores, those of the wrong strings by features alone."""
    batch, x = trees(), surface(0)
    attach.staying = torch.zeros(3, 4, 4)
    before = scores_of(attach, batch, x)
    for name in ERROR_COLUMNS:
        other = replace(batch, more={**batch.more, name: batch.more[name].roll(1)})
        assert not torch.equal(scores_of(attach, other, x), before), name


def test_columns_are_found_where_they_are_looked_for() -> None:
    batch = trees()
    attributes = Attributes(batch)
    first, last = attributes.first_word, attributes.last_word
    before, after = (batch.more[name].numpy() for name in ("wrong_before", "wrong_after"))
    assert attributes.single("error_left").tolist() == batch.more["error_left"].tolist()
    assert attributes.single("first wrong_before").tolist() == before[first].tolist()
    assert attributes.single("last wrong_after").tolist() == after[last].tolist()
    assert attributes.single("tag").tolist() == batch.tag.tolist()


def test_views_have_the_scores_of_nodes(attach: CorrectingAttach) -> None:
    """Views of some nodes, with marks and without, beside those of all nodes that bring their contexts."""
    batch, start = trees(), INVENTORY.choice_start(trees().relation)
    for seed in range(4):
        views = views_of(batch.forest, surface(seed))
        known = views._replace(contexts=attach.contexts(batch, views))
        expected = attach.scores(batch, known)
        some = views_of(batch.forest, surface(seed), torch.arange(3, 5))
        torch.testing.assert_close(
            attach.scores(batch, some), expected[start[3] : start[5]], rtol=1e-12, atol=1e-12
        )


def test_gradient_of_what_stays(attach: CorrectingAttach) -> None:
    """The scores are linear in kappa: the gradient of their sum counts the pairs of each class."""
    attach.staying = kappa = torch.zeros(3, 4, 4, requires_grad=True)
    (counts,) = torch.autograd.grad(scores_of(attach, trees(), surface(0)).sum(), kappa)
    assert float(counts.sum()) == sum(len(PAIRS[relation]) for relation in trees().relation.tolist())
    assert torch.equal(counts, counts.round())


def test_training_begins_with_what_stays(attach: CorrectingAttach) -> None:
    """Nothing else has a preference: a pair of W_d that w_e had is the most probable."""
    fresh = CorrectingAttach(INVENTORY, MARKS, ("symmetry",), least=1)
    fresh.learn([seen(trees(), surface(0))])
    start = fresh.starting_point()
    assert float(start["weights"].abs().sum()) == 0
    fresh.weights, fresh.staying = start["weights"], STAYING * torch.tensor([0, 0.5, 0.5, 1]).expand(3, 4, 4)
    wrong = {"error_left": 2, "error_right": 3}
    more = {
        name: torch.tensor([string_number([wrong[name]]) if name in wrong else 0]) for name in ERROR_COLUMNS
    }
    scores = scores_of(fresh, replace(tree_batch([[0]], [0]), more=more), padded([(), ()]))
    assert scores.tolist() == [0, 0, 0, 0, STAYING]


def test_numbers_of_strings() -> None:
    strings = [(), *((a,) for a in range(50)), *((a, b) for a in range(50) for b in range(50))]
    assert string_number(()) == 0
    assert len({string_number(string) for string in strings}) == len(strings)


@pytest.mark.parametrize(
    "change",
    [lambda batch: batch.to("cpu"), lambda batch: batch.pick([0, 1])],
)
def test_batches_keep_what_they_know_more(change: Callable[[TreeBatch], TreeBatch]) -> None:
    batch = trees()
    again = change(batch)
    assert {name: column.tolist() for name, column in again.more.items()} == {
        name: column.tolist() for name, column in batch.more.items()
    }
    assert [batch.pick([1]).more[name].tolist() for name in ERROR_COLUMNS] == [
        batch.more[name][6:].tolist() for name in ERROR_COLUMNS
    ]


def test_every_template_has_a_context(attach: CorrectingAttach) -> None:
    """Each of the features that look at w_e is there in the trees above."""
    assert attach.templates[-len(CORRECTION) :] == CORRECTION
    found = list(attach._all_contexts(attributes_of(trees(), surface(0)), range(len(attach.templates))))
    assert all(len(contexts.key) == WORDS for contexts in found if contexts.template >= 10)
