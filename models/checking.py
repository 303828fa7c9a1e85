"""Checks that an attach model or a channel keeps the rules of the story, with weights from the priors.

`fit` runs them on a few sentences, for variants that are not the package's own. In a test::

    from pyropunct.models.checking import check_attach, check_channel

    def test_my_variants():
        check_channel(MyChannel(3, "right"))
        check_attach(my_attach_model, vocabulary.encode_trees(trees))
"""

import copy
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

import numpy as np
import torch
from pyro.nn import PyroModule
from torch import Tensor

from pyropunct.errors import VariantError
from pyropunct.inference.forest import forest_of
from pyropunct.inference.inside import log_evidence
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.machines.evidence import EMPTY, any_over
from pyropunct.inference.machines.moves import MachineError
from pyropunct.inference.problem import Problem
from pyropunct.inference.pyro.private import sites_of
from pyropunct.inference.views import Views, join_views, views_of
from pyropunct.models.attach.attach_model import Attach
from pyropunct.models.channel.noisy_channel import Channel
from pyropunct.models.learned import places
from pyropunct.models.trees import TreeBatch

T = TypeVar("T")
Module = TypeVar("Module", bound=PyroModule)

TOLERANCE = 1e-6
"""By how much the probabilities of all surface strings may miss 1."""


# Attach models


def check_attach(attach: Attach, trees: TreeBatch, seed: int = 0) -> None:
    """Check on trees with random marks that an attach model gives a probability p(l, r | w).

    Scores may depend only on the trees and on the marks strictly inside the constituent; otherwise the
    probabilities of all surface strings x do not add up to 1. So a view must have the same scores

    - alone and among other views, whatever marks these have inside;
    - in its tree alone and in a batch;
    - in training, whatever the other trees of the batch (no batch statistics);
    - each time, for the same weights: no random numbers outside of training;
    - whatever the marks, if ``reads_surface`` is false.

    Scores must be finite numbers, one for each pair of each view.

    :param attach: the model, after `Attach.learn`.
    :param trees: from `pyropunct.vocabulary.Vocabulary.encode_trees`. The model is called once for each word.
    :raises VariantError: if the model breaks a rule; the message names the word.
    """
    with _seeded(seed):
        model = _drawn(attach)
        forest, asked = trees.forest, _Asked(model, trees)
        marks, other_marks = (_random_marks(trees, model.inventory.num_tokens) for _ in range(2))
        views, other_views = views_of(forest, marks), views_of(forest, other_marks)
        scores, other_scores = asked(views), asked(other_views)
        asked.same(scores, asked(views), "differ when they are asked for again")
        if not model.reads_surface:
            asked.same(scores, other_scores, "change with the marks inside it, though reads_surface is False")
        together = asked(join_views([views, other_views]))
        asked.same(torch.cat([scores, other_scores]), together, _LOOKS_ELSEWHERE)
        for node in range(forest.num_nodes):
            alone = asked(views_of(forest, marks, torch.tensor([node])))
            asked.same(scores[asked.pairs(node)], alone, _LOOKS_ELSEWHERE, first=node)
        for number in range(len(trees)):
            tree, nodes, slots = trees.pick([number]), forest.nodes(number), forest.slots(number)
            alone = _Asked(model, tree)(views_of(tree.forest, marks[slots.start : slots.stop]))
            asked.same(scores[asked.pairs(nodes.start, nodes.stop)], alone, _OTHER_TREES, first=nodes.start)
        _check_training(model, trees)


def _check_training(model: Attach, trees: TreeBatch) -> None:
    """Check that scores in training do not depend on the words and marks of other trees in the batch."""
    model.train()
    both = trees.pick([*range(len(trees)), *range(len(trees))])
    words, slots = trees.forest.num_nodes, trees.forest.num_slots
    word = torch.cat([torch.arange(words), torch.randint(words, (1,)).expand(words)])
    columns = {name: getattr(both, name)[word] for name in ("tag", "form", "shape")}
    others = replace(both, **columns, more={name: column[word] for name, column in both.more.items()})
    marks = _random_marks(both, model.inventory.num_tokens)
    other_marks = torch.where(marks == EMPTY, EMPTY, (marks + 1) % model.inventory.num_tokens)
    other_marks[:slots] = marks[:slots]
    seed = int(torch.randint(1 << 31, ()))

    def scores(batch: TreeBatch, surface: Tensor) -> Tensor:
        torch.manual_seed(seed)
        asked = _Asked(model, batch)
        return asked(views_of(batch.forest, surface))[asked.pairs(0, words)]

    _Asked(model, both).same(
        scores(both, marks),
        scores(others, other_marks),
        f"{_OTHER_TREES} in training: use no statistics of the batch",
    )


_OTHER_TREES = "depend on the other trees of the batch"
_LOOKS_ELSEWHERE = (
    "depend on marks that are not strictly inside its constituent, or on which other constituents are asked "
    "for: look at the trees, and at each view's own marks alone"
)


class _Asked:
    """The checked scores of a model for views of trees."""

    def __init__(self, model: Attach, trees: TreeBatch) -> None:
        self._name, self._model, self._trees = f"the attach model {type(model).__name__}", model, trees
        self._start = model.inventory.choice_start(trees.relation)
        self._scorer = self._try(lambda: model.scorer(trees))

    def __call__(self, views: Views) -> Tensor:
        """(C,) the scores of the pairs of views."""
        scores = self._try(lambda: self._scorer(views))
        for place in (~scores.isfinite()).nonzero()[:1, 0].tolist():
            view = int(self._model.pairs_of(self._trees, views).view[place])
            where = self._word(int(views.node[view]))
            raise VariantError(f"{self._name}: a score of {where} is {float(scores[place])}")
        return scores

    def pairs(self, first: int, last: int | None = None) -> slice:
        """The places of the pairs of a node, or of consecutive nodes."""
        return slice(int(self._start[first]), int(self._start[first + 1 if last is None else last]))

    def same(self, one: Tensor, other: Tensor, otherwise: str, first: int = 0) -> None:
        """Raise an error if scores differ by more than rounding; they are of the nodes from ``first`` on."""
        tolerance = 10 * torch.finfo(one.dtype).eps ** 0.75 * (1 + float(one.abs().max()))
        for place in ((one - other).abs() > tolerance).nonzero()[:1, 0].tolist():
            place = (int(self._start[first]) + place) % int(self._start[-1])
            node = int(np.searchsorted(self._start, place, "right")) - 1
            raise VariantError(f"{self._name}: the scores of {self._word(node)} {otherwise}")

    def _word(self, node: int) -> str:
        tree = int(self._trees.forest.tree[node])
        word = node - int(self._trees.forest.node_start[tree])
        return f"word {word + 1} of tree {tree + 1}"

    def _try(self, call: Callable[[], T]) -> T:
        try:
            return call()
        except VariantError as error:
            raise VariantError(f"{self._name}: {error}") from error
        except Exception as error:  # a foreign class can raise anything
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise VariantError(f"{self._name}: cannot score constituents: {reason}") from error


def _random_marks(trees: TreeBatch, num_tokens: int) -> Tensor:
    """(S, 2) up to two marks in each slot."""
    marks = torch.randint(num_tokens, (trees.forest.num_slots, 2))
    marks[torch.rand(len(marks)) < 0.4, 1] = EMPTY
    marks[torch.rand(len(marks)) < 0.4] = EMPTY
    return marks


# Channels


def check_channel(channel: Channel, trees: TreeBatch | None = None, seed: int = 0) -> None:
    """Check that p(x | u) is a distribution, and that weights may have a batch.

    - The probabilities of the moves of each state and token add up to 1 (`Channel.check`).
    - Weights have exactly the dimensions that moves name.
    - The probabilities p(x | T) of all surface strings x of small trees with up to three kinds of marks add
      up to 1. (A machine that may never halt loses probability.)
    - Joint values of the sites, with dimensions on the left, give the weights of each value.
    - The weights of ``trees``, if given, are those of each tree alone, and the same holds for them.

    :raises VariantError: if the channel breaks a rule.
    """
    name = f"the channel {channel.kind}"
    try:
        channel.check()
    except MachineError as error:
        raise VariantError(str(error)) from error
    with _seeded(seed):
        for tensor, values in _drawn(channel).weights().items():
            named = len(channel.transducer.products.places.shapes[tensor])
            if values.dim() > named:
                raise VariantError(
                    f"{name}: the weights {tensor!r} have {values.dim()} dimensions, moves name {named}: a "
                    "weight has a number for each dimension, as ('w', 0, 1)"
                )
        _check_joint_values(channel, name)
        _check_totals(_drawn(channel), name)
        if trees is not None:
            _check_trees(_drawn(channel), trees, name)


def _check_trees(channel: Channel, trees: TreeBatch, name: str) -> None:
    """Compare the weights of a batch of trees with those of each tree."""
    channel.check()  # makes the machine of this copy, with the weights of all trees
    together = channel.probabilities(trees)
    shape = len(trees), together.shape[-1]
    if together.shape not in (shape, (1, *shape[1:]), shape[1:]):
        raise VariantError(
            f"{name}: the weights of {len(trees)} trees have the shape {tuple(together.shape)}, not {shape}: "
            "in weights_of(trees), the trees are the last dimension on the left"
        )
    try:
        channel.transducer.check(together)
    except MachineError as error:
        raise VariantError(f"{name}: in weights_of(trees), {error}") from error
    alone = [channel.probabilities(trees.pick([number])).reshape(-1) for number in range(len(trees))]
    if not torch.allclose(together.expand(shape), torch.stack(alone), rtol=1e-4, atol=1e-6):
        raise VariantError(f"{name}: weights_of(trees) gives a tree other weights among others than alone")


def _check_totals(channel: Channel, name: str) -> None:
    """Sum p(x | T) over all x, where each node of two small trees sprouts up to three kinds of marks."""
    punctemes = [(), *((token,) for token in sorted({0, channel.num_tokens // 2, channel.num_tokens - 1}))]
    inventory = Inventory(channel.num_tokens, [[(left, right) for left in punctemes for right in punctemes]])
    forest, weights = forest_of([[2, 0, 2], [0]]), channel.probabilities()
    relation, pairs = torch.zeros(forest.num_nodes, dtype=torch.long), len(inventory.rows)
    everything = channel.transducer.automata([any_over(range(channel.num_tokens))], weights)
    uniform = weights.new_full((forest.num_nodes * pairs,), -math.log(pairs))
    slots = torch.arange(forest.num_slots)
    problem = Problem(forest, inventory, relation, uniform, everything, torch.zeros_like(slots))
    for total in log_evidence(problem).exp().tolist():
        if abs(total - 1) > TOLERANCE:
            raise VariantError(
                f"{name}: the probabilities p(x | T) of all surface strings x of a tree add up to "
                f"{total:.6g}, not 1: it may go on for ever"
            )


def _check_joint_values(channel: Channel, name: str) -> None:
    one, other, both = (_drawn(channel) for _ in range(3))
    sites = places(channel, sites_of)
    for path, _, site in (name.rpartition(".") for name in sites):
        values = [getattr(model.get_submodule(path), site) for model in (one, other)]
        setattr(both.get_submodule(path), site, torch.stack(values))
    wanted = torch.stack([one.probabilities(), other.probabilities()])
    try:
        found = both.probabilities()
    except Exception:  # a foreign class can raise anything
        found = wanted.new_zeros(0)
    if sites and (found.shape != wanted.shape or not torch.allclose(found, wanted, rtol=1e-4, atol=1e-6)):
        raise VariantError(
            f"{name}: for two joint values of its sites at once weights() are not those of each: count their "
            "dimensions from the right, and give an index ... in front"
        )


# Variants whose weights have been drawn


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        yield


def _drawn(module: Module) -> Module:
    """A copy that is not in training, with values from the prior in place of sites."""
    drawn = copy.deepcopy(module).eval()
    for place in places(drawn, sites_of).values():
        setattr(*place, getattr(*place))
    return drawn
