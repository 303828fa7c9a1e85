"""The log-linear model without what hardly matters."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from pyropunct.inference.pairs import log_probabilities
from pyropunct.inference.views import views_of
from pyropunct.models.attach.log_linear import LogLinearAttach
from pyropunct.models.attach.pruning import KEY_BITS, LEAST, STEP, Pruned, pruned, rounded
from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN
from pyropunct.treebank.tree import Tree
from pyropunct.vocabulary import Vocabulary

NOTHING = ((), ())
VOCABULARY = Vocabulary(
    tokens=(START, ABBREVIATION_DOT, UNKNOWN, ",", "."),
    relations=("", "a", "b"),
    tags=("", "X", "Y"),
    forms=("",),
    pairs=((NOTHING,), (NOTHING, ((), (3,)), ((4,), ())), (NOTHING, ((3,), (4,)), ((), (4, 3)))),
)
TREES = VOCABULARY.encode_trees(
    [
        Tree(heads, ("a", "b", "a")[: len(heads)], ("X", "Y", "Y")[: len(heads)], ("w",) * len(heads))
        for heads in ((0,), (2, 0), (2, 0, 2), (3, 1, 0))
    ]
)
VIEWS = views_of(TREES.forest, torch.full((TREES.forest.num_slots, 1), -1))


def attach_model(weights: Tensor | None = None) -> LogLinearAttach:
    attach = LogLinearAttach(VOCABULARY.inventory, VOCABULARY.tokens, ("symmetry", "head", "spans"), least=1)
    attach.learn([(TREES, VIEWS)])
    if weights is None:
        size = int(attach.starts[-1])
        weights = torch.where(torch.rand(size) < 0.1, torch.randn(size), LEAST * 0.9 * torch.rand(size))
    attach.weights = weights
    return attach


def put(attach: LogLinearAttach, **tensors: Tensor) -> LogLinearAttach:
    """The model with other tensors."""
    for name in ("keys", "kinds", "starts", "weights"):
        if name in tensors:
            setattr(attach, name, tensors[name])
    return attach


def log_chances(attach: LogLinearAttach) -> Tensor:
    start = torch.from_numpy(VOCABULARY.inventory.choice_start(TREES.relation))
    return log_probabilities(attach.scores(TREES, VIEWS), start)


def test_moving_all_weights_of_a_context_changes_no_probability() -> None:
    """Weights are zero or eighths, with a number added that each context has of its own: nothing is lost."""
    attach = attach_model()
    size, contexts = len(attach.weights), len(attach.keys)
    eighths = torch.where(torch.rand(size) < 0.2, torch.randint(-16, 16, (size,)) / 8, 0.0)
    added = torch.repeat_interleave(torch.randn(contexts), attach.starts.diff())
    attach.weights = eighths + added
    expected = log_chances(attach)
    left = pruned(attach)
    assert left.weights.count_nonzero() < 0.5 * size
    torch.testing.assert_close(log_chances(put(attach, **left._asdict())), expected, rtol=0, atol=1e-12)
    attach.check_buffers()


def test_what_is_left_out_hardly_matters() -> None:
    attach = attach_model(0.3 * torch.randn(int(attach_model().starts[-1])))
    expected = log_chances(attach)
    found = log_chances(put(attach, **pruned(attach)._asdict()))
    most = len(attach.templates) * 2 * (2 * LEAST + 2**-11 * float(attach.weights.abs().max() + 2 * LEAST))
    assert 0 < (found - expected).abs().max() < most


def test_every_context_that_is_left_has_a_weight() -> None:
    left = pruned(attach_model())
    weights = zip(left.starts.tolist(), left.starts[1:].tolist(), strict=False)
    assert all(bool(left.weights[first:last].any()) for first, last in weights)
    assert int(left.starts[-1]) == len(left.weights)
    assert left.weights[left.weights != 0].abs().min() >= LEAST


@pytest.mark.parametrize("prune", [pruned, rounded])
def test_pruning_twice_is_pruning_once(prune: Callable[[LogLinearAttach], Pruned]) -> None:
    attach = attach_model()
    once = prune(attach)
    twice = prune(put(attach, **once._asdict()))
    assert all(torch.equal(*pair) for pair in zip(once, twice, strict=True))


def test_rounded_weights_and_shortened_keys() -> None:
    """Contexts are found by what is left of their keys, and none is found that is not there."""
    attach = attach_model(0.3 * torch.randn(int(attach_model().starts[-1])))
    expected, full = log_chances(attach), attach.keys
    left = rounded(attach)
    assert torch.equal(left.keys, full >> (64 - KEY_BITS) << (64 - KEY_BITS))
    assert torch.equal((left.weights / STEP).round() * STEP, left.weights)
    found = log_chances(put(attach, **left._asdict()))
    assert 0 < (found - expected).abs().max() < len(attach.templates) * 2 * 2 * STEP
    half = (full.argsort() % 2).bool()  # every other context
    widths = left.starts.diff()
    starts = torch.nn.functional.pad(widths[half].cumsum(0), (1, 0))
    weights = left.weights[torch.repeat_interleave(half, widths)]
    shown = put(attach, keys=left.keys[half], kinds=left.kinds[half], starts=starts, weights=weights)
    some = log_chances(shown)
    shown.keys = full[half]
    assert torch.equal(log_chances(shown), some)


def test_keys_stay_apart() -> None:
    attach = attach_model()
    attach.keys = torch.arange(1, len(attach.keys) + 1) << 10
    attach.weights = torch.ones_like(attach.weights)
    attach.weights[::2] = 0
    assert torch.equal(rounded(attach).keys, attach.keys)


@pytest.mark.parametrize("prune", [pruned, rounded])
def test_nothing_may_be_left(prune: Callable[[LogLinearAttach], Pruned]) -> None:
    attach = attach_model()
    attach.weights = torch.zeros_like(attach.weights)
    left = prune(attach)
    assert [len(tensor) for tensor in left] == [0, 0, 1, 0]
    scores = put(attach, **left._asdict()).scores(TREES, VIEWS)
    assert not scores.any()
    attach.check_buffers()


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("keys", lambda keys: keys.flip(0), "the keys of the contexts are not in order"),
        ("keys", lambda keys: keys[:1].expand(len(keys)), "the keys of the contexts are not in order"),
        ("keys", lambda keys: keys[1:], "not equally many"),
        ("keys", lambda keys: keys[:, None], "not equally many"),
        ("keys", lambda keys: keys.double(), "not stored as whole numbers"),
        ("kinds", lambda kinds: kinds + 6, "contexts of an unknown kind"),
        ("kinds", lambda kinds: kinds - 7, "contexts of an unknown kind"),
        ("kinds", lambda kinds: kinds.long(), "not stored as whole numbers"),
        ("starts", lambda starts: starts + 1, "too many or too few weights"),
        ("starts", lambda starts: starts * 0, "too many or too few weights"),
        ("starts", lambda starts: starts.flip(0), "too many or too few weights"),
        ("starts", lambda starts: starts * 1000, "too many or too few weights"),
    ],
)
def test_contexts_and_weights_that_do_not_belong_together(name: str, change: object, problem: str) -> None:
    attach = attach_model()
    assert callable(change)
    with pytest.raises(ValueError, match=problem):
        put(attach, **{name: change(getattr(attach, name))}).check_buffers()
