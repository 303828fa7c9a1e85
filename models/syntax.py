"""SYNTAX: p_syn(T), the source of unpunctuated trees (Li, Wang & Eisner 2019, section 2).

Trees grow head-outward, as in Model C of Eisner, "Three new probabilistic models for dependency parsing"
(COLING 1996), with part-of-speech tags for words.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, ClassVar, NamedTuple

import pyro
import torch
from pyro.distributions import TorchDistribution, constraints
from pyro.nn import PyroModule
from torch import Tensor

from pyropunct.errors import FailureError
from pyropunct.inference.forest import forest_of
from pyropunct.models.learned import require_rows
from pyropunct.models.trees import TreeBatch

Shape = torch.Size | list[int] | tuple[int, ...]

LEFT, RIGHT = range(2)

BASE_STOP = 0.75
"""The probability of STOP without any counts: high enough that trees stay small."""


class Decisions(TorchDistribution):
    """Independent draws from rows of one (contexts, D) table of probabilities, which is not copied.

    Batch shape of ``context``, the row of each draw; event shape ().
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"probabilities": constraints.simplex}
    support = constraints.nonnegative_integer

    def __init__(self, probabilities: Tensor, context: Tensor) -> None:
        self.probabilities, self.context = probabilities, context
        super().__init__(context.shape, validate_args=False)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> "Decisions":
        """The same draws repeated along new dimensions on the left."""
        return Decisions(self.probabilities, self.context.expand(batch_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """Log-probabilities of decisions 0..D-1."""
        return self.probabilities[self.context, value].log()

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        """Draw decisions, of shape ``sample_shape + batch_shape``."""
        rows = self.probabilities[self.context]
        return torch.distributions.Categorical(rows, validate_args=False).sample(torch.Size(sample_shape))


class HeadOutward(PyroModule):
    """A generator of dependency trees: each head makes its dependents one by one, outward (Eisner 1996, Model
    C).

    The wall generates the root. Then each word, with tag h, generates its dependents on the left and on the
    right, the nearest first, until it decides to STOP::

        p_syn(T) = p(relation, tag of the root | ROOT)
                   prod over words and sides s, over k = 1, 2, ...
                   p(relation, tag of the k-th dependent, or STOP | h, s, tag of dependent k - 1 or START)

    The 3n decisions of n words are independent given their contexts. New trees grow in waves: in each wave
    every word generates its next dependent on both sides. A decision is relation * ``num_tags`` + tag; the
    last is STOP.

    Drawn trees have form and shape 0, "unknown".

    :param max_words: a larger drawn tree is an error. It is not drawn again, since this would change the
        probabilities of all other trees.

    :ivar probabilities: (contexts, decisions) a buffer; before `fit_counts` every word stops with probability
        `BASE_STOP`, and all dependents have the same probability.
    """

    def __init__(self, num_relations: int, num_tags: int, max_words: int = 10_000) -> None:
        super().__init__()
        self.num_relations, self.num_tags, self.max_words = num_relations, num_tags, max_words
        self.stop = num_relations * num_tags
        self.root_context = num_tags * 2 * (num_tags + 1)
        counts = torch.zeros(self.table_shape(num_relations, num_tags), dtype=torch.double)
        self.register_buffer("probabilities", self._smooth(counts, 0.0))

    @staticmethod
    def table_shape(num_relations: int, num_tags: int) -> tuple[int, int]:
        """The shape of ``probabilities``."""
        return num_tags * 2 * (num_tags + 1) + 1, num_relations * num_tags + 1

    def forward(self, trees: TreeBatch | None = None, num_trees: int = 1) -> TreeBatch:
        """Score given trees, or draw ``num_trees`` trees.

        :raises FailureError: if a drawn tree has more than ``max_words`` words.
        :raises ValueError: if a given tree has an unknown relation or tag.
        """
        if trees is None:
            return self._grow(num_trees)
        self._decide("", *self.decisions(trees))
        return trees

    @torch.no_grad()
    def log_prob(self, trees: TreeBatch) -> Tensor:
        """(trees,) log p_syn(T) of relations and tags, not words. Raises ValueError as `decisions` does."""
        forest, (contexts, decisions) = trees.forest, self.decisions(trees)
        logs = Decisions(self.probabilities, contexts).log_prob(decisions)
        sides = (forest.left_child_start, forest.right_child_start)
        of_sides = [torch.repeat_interleave(forest.tree, start.diff() + 1) for start in sides]
        tree = torch.cat([forest.tree[forest.root], *of_sides])
        return logs.new_zeros(len(forest.root)).index_add_(0, tree, logs)

    def decisions(self, trees: TreeBatch) -> tuple[Tensor, Tensor]:
        """(3N,) the contexts and the decisions of trees. Raises ValueError for unknown relations or tags."""
        for name, known in (("relation", self.num_relations), ("tag", self.num_tags)):
            greatest = int(getattr(trees, name).max())
            if greatest >= known:
                raise ValueError(
                    f"a tree has {name} {greatest}, but the syntax model knows 0 to {known - 1}: "
                    "encode the trees with the vocabulary that it was made for"
                )
        root = trees.forest.root
        roots = torch.full_like(root, self.root_context), self._dependent(trees, root)
        parts = zip(roots, self._side(trees, LEFT), self._side(trees, RIGHT), strict=True)
        contexts, decisions = (torch.cat(part) for part in parts)
        return contexts, decisions

    @torch.no_grad()
    def fit_counts(self, batches: Iterable[TreeBatch], smoothing: float = 1.0) -> None:
        """Set the probabilities from the counts c of decisions in a treebank, in closed form.

        Contexts back off: (h, s, previous tag) to (h, s), then to s alone, then to the base distribution, in
        which STOP has probability `BASE_STOP` and all dependents are equally probable. ROOT backs off to the
        base distribution without STOP. At each level::

            p(d | context) = (c(d, context) + a p(d | shorter context)) / (c(context) + a)

        with a = ``smoothing`` times the number of distinct decisions seen in the context. Given a, this is
        the maximum a posteriori under a Dirichlet prior with parameters 1 + a p(d | shorter context);
        ``smoothing`` 1 is the interpolation of Witten and Bell (1991). With positive ``smoothing``, every
        tree has a positive probability.

        :param smoothing: 0 for relative frequencies; unseen contexts then use their shorter context.
        :raises ValueError: if there is no tree, or ``smoothing`` is negative.
        """
        if smoothing < 0:
            raise ValueError(f"smoothing must not be negative, but it is {smoothing}")
        counts = torch.zeros_like(self.probabilities)
        for trees in batches:
            contexts, decisions = self.decisions(trees)
            cells = contexts * counts.shape[1] + decisions
            counts += torch.bincount(cells, minlength=counts.numel()).reshape(counts.shape)
        if not counts.any():
            raise ValueError("there is no tree to count decisions in")
        self.probabilities.copy_(self._smooth(counts, smoothing))

    def check_buffers(self) -> None:
        """Check that the probabilities are distributions. Raises ValueError if a row is not."""
        require_rows("the syntax model", self.probabilities)

    def mean_length(self) -> float:
        """The expected number of words of a drawn tree, in closed form.

        If words of tag h have M[h, t] dependents of tag t on average, constituents have m = 1 + M m words;
        infinitely many if the largest eigenvalue of M is 1 or more.
        """
        tags = self.num_tags
        by_tag = self.probabilities[:, : self.stop].unflatten(1, (self.num_relations, tags)).sum(1)
        # A side is a Markov chain of tags; how often it visits them is the row START of 1 / (1 - chain).
        chain = by_tag[: self.root_context].reshape(tags, 2, tags + 1, tags)
        unit = torch.eye(tags).to(chain)
        visits = torch.linalg.solve(unit - chain[:, :, :tags], chain[:, :, tags:], left=False)
        dependents, root = visits.sum((1, 2)), by_tag[self.root_context]
        if torch.linalg.eigvals(dependents).abs().max() >= 1:
            return torch.inf
        return float(root @ torch.linalg.solve(unit - dependents, torch.ones_like(root)))

    def _decide(self, name: str, contexts: Tensor, decisions: Tensor | None = None) -> Tensor:
        with pyro.plate(f"decisions{name}", len(contexts)):
            return pyro.sample(f"decision{name}", Decisions(self.probabilities, contexts), obs=decisions)

    def _context(self, head_tag: Tensor, side: Tensor | int, before: Tensor) -> Tensor:
        """The row of a context; ``before`` is the decision before this one, STOP standing for START."""
        previous = torch.where(before == self.stop, self.num_tags, before % self.num_tags)
        return (head_tag * 2 + side) * (self.num_tags + 1) + previous

    def _dependent(self, trees: TreeBatch, words: Tensor) -> Tensor:
        """The decisions that generate these words."""
        return trees.relation[words] * self.num_tags + trees.tag[words]

    def _side(self, trees: TreeBatch, side: int) -> tuple[Tensor, Tensor]:
        """The contexts and decisions of all words on one side: each word's dependents, then STOP."""
        forest = trees.forest
        start, child = forest.right_child_start, forest.right_child
        if side == LEFT:
            start, child = forest.left_child_start, forest.left_child
        head, place = forest.head[child], torch.arange(len(child), device=child.device)
        if side == LEFT:
            child = child[start[head] + start[head + 1] - 1 - place]
        decisions = start.new_full((len(child) + forest.num_nodes,), self.stop)
        decisions[place + head] = self._dependent(trees, child)
        heads = torch.repeat_interleave(start.diff() + 1)
        before = torch.nn.functional.pad(decisions[:-1], (1, 0), value=self.stop)
        return self._context(trees.tag[heads], side, before), decisions

    def _smooth(self, counts: Tensor, smoothing: float) -> Tensor:
        """The probabilities of all contexts, shorter ones first."""
        base = torch.full_like(counts[0], (1 - BASE_STOP) / self.stop)
        base[self.stop] = BASE_STOP
        full = counts[: self.root_context].unflatten(0, (self.num_tags, 2, self.num_tags + 1))
        probabilities = base
        for level in (full.sum((0, 2), keepdim=True), full.sum(2, keepdim=True), full):
            probabilities = _interpolate(level, probabilities, smoothing)
        no_stop = base.clone()
        no_stop[self.stop] = 0
        root = _interpolate(counts[self.root_context :], no_stop / no_stop.sum(), smoothing)
        return torch.cat([probabilities.flatten(0, 2), root])

    def _grow(self, num_trees: int) -> TreeBatch:
        device = self.probabilities.device
        roots = self._decide(" root", torch.full((num_trees,), self.root_context, device=device))
        words = [_Word(tree, -1, root, ([], [])) for tree, root in enumerate(roots.tolist())]
        sizes = [1] * num_trees
        # Sides that may get another dependent: the word, the side, and the decision before, at first STOP.
        open_sides = [(root, side, self.stop) for root in range(num_trees) for side in (LEFT, RIGHT)]
        wave = 0
        while open_sides:
            if max(sizes) > self.max_words:
                raise FailureError(
                    f"a tree has grown to {max(sizes)} words, more than {self.max_words} (max_words), and "
                    f"still grows; the trees of this model have {self.mean_length():.4g} words on average"
                )
            asked = [(words[head].decision % self.num_tags, *side) for head, *side in open_sides]
            contexts = self._context(*torch.tensor(asked, device=device).unbind(1))
            drawn = self._decide(f" {wave}", contexts).tolist()
            waiting, open_sides = open_sides, []
            for (head, side, _), decision in zip(waiting, drawn, strict=True):
                if decision != self.stop:
                    new, tree = len(words), words[head].tree
                    sizes[tree] += 1
                    words[head].dependents[side].append(new)
                    words.append(_Word(tree, head, decision, ([], [])))
                    open_sides += [(head, side, decision), (new, LEFT, self.stop), (new, RIGHT, self.stop)]
            wave += 1
        return self._batch(words, num_trees)

    def _batch(self, words: Sequence["_Word"], num_trees: int) -> TreeBatch:
        """Trees that have grown; their roots are the first words."""
        orders = [_in_order(words, root) for root in range(num_trees)]
        heads = []
        for order in orders:
            number = {word: place for place, word in enumerate(order, 1)} | {-1: 0}
            heads.append([number[words[word].head] for word in order])
        decisions = torch.tensor([words[word].decision for word in chain(*orders)])
        unknown = torch.zeros_like(decisions)
        relation, tag = decisions // self.num_tags, decisions % self.num_tags
        return TreeBatch(forest_of(heads), relation, tag, form=unknown, shape=unknown.clone())


def _interpolate(counts: Tensor, shorter: Tensor, smoothing: float) -> Tensor:
    """p(d | context), (..., D), from counts (..., D) and p(d | shorter context)."""
    weight = smoothing * (counts > 0).sum(-1, keepdim=True)
    total = counts.sum(-1, keepdim=True) + weight
    return torch.where(total > 0, (counts + weight * shorter) / total.clamp(min=1e-300), shorter)


class _Word(NamedTuple):
    """A word of a growing tree; dependents are listed on the left and on the right, the nearest first."""

    tree: int
    head: int
    decision: int
    dependents: tuple[list[int], list[int]]


def _in_order(words: Sequence[_Word], root: int) -> list[int]:
    """The words of a tree from left to right."""
    order, agenda = [], [(root, False)]
    while agenda:
        word, is_left_done = agenda.pop()
        if is_left_done:
            order.append(word)
            continue
        left, right = words[word].dependents
        agenda += [(child, False) for child in reversed(right)]
        agenda += [(word, True), *((child, False) for child in left)]
    return order
