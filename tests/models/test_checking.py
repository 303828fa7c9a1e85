"""The checks of variants: what they let through, and what they catch."""

import copy
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import torch
from command_line import complaint
from problems import inventory, tree_batch
from torch import Tensor
from variants import (
    BatchStatistics,
    Endless,
    Leaky,
    LooksAround,
    OneAtATime,
    PairFrequencies,
    Stutter,
    TagNetwork,
)

from pyropunct.errors import VariantError
from pyropunct.inference.machines.moves import END, MachineError, Move
from pyropunct.inference.views import Views
from pyropunct.models.attach.attach_model import Attach
from pyropunct.models.channel.noisy_channel import Channel
from pyropunct.models.checking import check_attach, check_channel
from pyropunct.models.trees import TreeBatch

MARKS = ("^", "(", ")")
TREES = tree_batch([[2, 0, 2, 3], [0], [2, 0]], [0, 1, 2, 0, 0, 1, 2], tag=[0, 1, 0, 1, 0, 1, 0])


class Scores(PairFrequencies):
    """The scores of `PairFrequencies`, changed."""

    def scores(self, trees: TreeBatch, views: Views) -> Tensor:
        return self.changed(super().scores(trees, views), trees, views)

    def changed(self, scores: Tensor, trees: TreeBatch, views: Views) -> Tensor:
        raise NotImplementedError


class TooFew(Scores):
    def changed(self, scores: Tensor, trees: TreeBatch, views: Views) -> Tensor:
        return scores[1:]


class None_(Scores):  # noqa: N801
    def changed(self, scores: Tensor, trees: TreeBatch, views: Views) -> Tensor:
        return None  # type: ignore[return-value]


class NoNumber(Scores):
    def changed(self, scores: Tensor, trees: TreeBatch, views: Views) -> Tensor:
        _, row = self.pairs_of(trees, views)
        return scores.masked_fill(row == row.max(), torch.inf)


class Chance(Scores):
    def changed(self, scores: Tensor, trees: TreeBatch, views: Views) -> Tensor:
        return scores + torch.rand(len(scores))


class Fails(Scores):
    def changed(self, scores: Tensor, trees: TreeBatch, views: Views) -> Tensor:
        return scores + {}["bias"]


class OtherTrees(Scores):
    def changed(self, scores: Tensor, trees: TreeBatch, views: Views) -> Tensor:
        return scores * len(trees)


class LooksInside(Scores):
    reads_surface = True

    def changed(self, scores: Tensor, trees: TreeBatch, views: Views) -> Tensor:
        view, row = self.pairs_of(trees, views)
        return scores + views.sizes[view] * (row % 2)


class Secretly(LooksInside):
    reads_surface = False


class OncePerNode(LooksInside):
    def changed(self, scores: Tensor, trees: TreeBatch, views: Views) -> Tensor:
        view, row = self.pairs_of(trees, views)
        of_node = dict(zip(views.node.tolist(), views.sizes.tolist(), strict=True))
        inside = torch.tensor([of_node[node] for node in views.node[view].tolist()])
        return scores + inside * (row % 2)


def attach_of(kind: type[Attach]) -> Attach:
    return kind(inventory(), MARKS, *([2] if issubclass(kind, TagNetwork) else []))  # type: ignore[call-arg, arg-type, list-item]


@pytest.mark.parametrize("kind", [PairFrequencies, TagNetwork, LooksInside])
def test_an_attach_model_that_is_right(kind: type[Attach]) -> None:
    attach = attach_of(kind)
    before, state = copy.deepcopy(attach.state_dict()), torch.get_rng_state()
    check_attach(attach, TREES)
    assert torch.equal(torch.get_rng_state(), state)
    assert attach.training
    for name, value in attach.state_dict().items():
        assert torch.equal(value, before[name])
    assert not hasattr(attach, "table") or "table" in attach._pyro_samples


ELSEWHERE = "depend on marks that are not strictly inside its constituent, or on which other constituents"


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        (TooFew, "its scores are numbers of shape (19,), where 20 numbers are needed: one for each pair"),
        (None_, "its scores are None, where 20 numbers are needed"),
        (NoNumber, "a score of word 3 of tree 1 is inf"),
        (Chance, "the scores of word 1 of tree 1 differ when they are asked for again"),
        (Fails, "cannot score constituents: KeyError: 'bias'"),
        (OtherTrees, "the scores of word 1 of tree 1 depend on the other trees of the batch"),
        (BatchStatistics, "the scores of word 1 of tree 1 depend on the other trees of the batch in train"),
        (Secretly, "the scores of word 3 of tree 1 change with the marks inside it, though reads_surface"),
        (OncePerNode, f"the scores of word 3 of tree 1 {ELSEWHERE}"),
        (LooksAround, f"the scores of word 4 of tree 1 {ELSEWHERE}"),
    ],
)
def test_an_attach_model_that_is_wrong(kind: type[Attach], what: str) -> None:
    attach = attach_of(kind).eval()
    before = copy.deepcopy(attach.state_dict())
    with pytest.raises(VariantError) as error:
        check_attach(attach, TREES)
    assert not attach.training
    assert all(torch.equal(value, before[name]) for name, value in attach.state_dict().items())
    assert str(error.value).startswith(f"the attach model {kind.__name__}: {what}")
    assert "\n" not in str(error.value)


class NamedInPart(Stutter):
    """Its weights have a dimension more than moves name."""

    def weights(self):  # type: ignore[no-untyped-def]
        return {name: values.expand(3, *values.shape) for name, values in super().weights().items()}


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        (NamedInPart, "the weights 'twice' have 1 dimensions, moves name 0: a weight has a number for each"),
        (
            Leaky,
            "the probabilities of the machine's moves in state 'copying'",
        ),
        (Endless, "the probabilities p(x | T) of all surface strings x of a tree add up to 0.316406, not 1"),
        (OneAtATime, "for two joint values of its sites at once weights() are not those of each"),
    ],
)
def test_a_channel_that_is_wrong(kind: type[Channel], what: str) -> None:
    with pytest.raises(VariantError) as error:
        check_channel(kind(3))
    assert str(error.value).startswith(f"the channel {kind.__name__}: {what}")


class BySize(Channel):
    """It drops marks more often in long sentences."""

    def __init__(self, num_tokens: int) -> None:
        super().__init__(num_tokens)
        self.logits = self.normal_site("prior_mean", torch.full((num_tokens,), -4.0), 1.0)

    def weights(self) -> dict[str, Tensor]:
        return {"dropped": self.logits.sigmoid(), "kept": (-self.logits).sigmoid()}

    def weights_of(self, trees: TreeBatch) -> dict[str, Tensor]:
        logits = self.logits + self.sizes(trees).log()[:, None]
        return {"dropped": logits.sigmoid(), "kept": (-logits).sigmoid()}

    def sizes(self, trees: TreeBatch) -> Tensor:
        return trees.forest.node_start.diff()

    def moves(self) -> Iterator[Move]:
        for token in range(self.num_tokens):
            yield Move("reading", token, (("dropped", token),), (), "reading")
            yield Move("reading", token, (("kept", token),), (token,), "reading")
        yield Move("reading", END)


class OfOtherTrees(BySize):
    def sizes(self, trees: TreeBatch) -> Tensor:
        return super().sizes(trees).flip(0)


class OnTheRight(BySize):
    def weights_of(self, trees: TreeBatch) -> dict[str, Tensor]:
        return {name: values.expand(2, *values.shape) for name, values in super().weights_of(trees).items()}


class Leaking(BySize):
    def weights_of(self, trees: TreeBatch) -> dict[str, Tensor]:
        found = super().weights_of(trees)
        return {**found, "kept": 1.2 * found["kept"]}


class ClashingMeans(BySize):
    def __init__(self, num_tokens: int) -> None:
        super().__init__(num_tokens)
        self.others = self.normal_site("prior_mean", torch.zeros(1), 1.0)


class NamedLikeItsMean(BySize):
    def __init__(self, num_tokens: int) -> None:
        super().__init__(num_tokens)
        self.prior_mean = self.normal_site("more", torch.zeros(1), 1.0)


class NoTuple(BySize):
    def moves(self) -> Iterator[Move]:
        yield Move("reading", 0, ("kept", 0), (0,), "reading")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        (OfOtherTrees, "weights_of.trees. gives a tree other weights among others than alone"),
        (OnTheRight, r"the weights of 3 trees have the shape \(2, 3, 6\), not \(3, 6\)"),
        (Leaking, r"in weights_of.trees., the probabilities of the machine's moves in state 'reading'"),
        (ClashingMeans, "two sites have the prior mean 'prior_mean': give each a name of its own"),
        (NamedLikeItsMean, "the prior mean 'prior_mean' has the name of a site: choose another"),
        (NoTuple, "is not a tuple of tuples"),
    ],
)
def test_a_channel_that_looks_at_trees(kind: type[Channel], what: str) -> None:
    check_channel(BySize(3), TREES)
    with pytest.raises((VariantError, MachineError), match=what):
        check_channel(kind(3), TREES)


def arguments(small: Path, out: Path, part: str, name: str) -> Sequence[object]:
    return "fit", small / "train.conllu", f"--{part}", f"variants:{name}", "--out", out


@pytest.mark.parametrize(
    ("part", "name", "what"),
    [("attach", "LooksAround", ELSEWHERE), ("channel", "Endless", "of a tree add up to 0.")],
)
def test_a_fit_checks_variants_before_it_trains(
    small: Path, tmp_path: Path, part: str, name: str, what: str
) -> None:
    told = complaint(2, *arguments(small, tmp_path / "m", part, name))
    assert told.startswith(f"the {part}" if part == "channel" else "the attach model")
    assert what in told
    assert not (tmp_path / "m").exists()
