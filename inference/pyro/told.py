"""A story of some trees, as far as it is told: what the sites of `pyropunct.inference.pyro.telling` say.

**Dimensions.**  A tree is an element of a plate with ``dim=-1``, so sites have log-probabilities (..., B).
Scores are (*batch, C) and the channel's weights (*batch, P).  The last dimension of a batch shape is that of
the trees: 1, or B for trees with weights of their own; plates and enumerated sites are to its left.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import torch
from pyro.infer.util import is_validation_enabled
from pyro.ops.provenance import detach_provenance, get_provenance
from pyro.poutine.runtime import get_plates
from torch import Tensor

from pyropunct.inference.inside import refuse_transforms
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.machines.automata import Automata, side_by_side
from pyropunct.inference.machines.evidence import EMPTY, Evidence, SlotEvidence, as_wide, evidence_of
from pyropunct.inference.machines.transducers import Transducer
from pyropunct.inference.packed import PackedForest
from pyropunct.inference.parts import PartScores, shown_parts
from pyropunct.inference.problem import Problem
from pyropunct.inference.pyro.pairs import draw_choices, log_probabilities, of_choices
from pyropunct.inference.pyro.strings import SurfaceStrings, Underlying
from pyropunct.inference.ragged import runs, starts_of

PAIRS, SURFACE = "pairs", "surface"
"""The names of the two sites."""

Surface = Tensor | SlotEvidence
"""(S, L) surface strings, filled up with -1, or evidence about them."""

Scores = Callable[[Surface, Tensor | None], Tensor]
"""Scores (*batch, C) of the pairs of some nodes, or of all (None), given the marks inside constituents."""


Cost = Tensor | Callable[[Tensor, Tensor], Tensor]
"""A cost of punctemes: a table, or a function.

A table, (R,), has a number for each row of the inventory: for each pair (l, r) that a relation may sprout.  A
function is given the nodes, (C,), and the rows, (C,), of all pairs that the nodes may sprout; it returns (C,)
numbers.
"""


class UndecidedError(NotImplementedError):
    """The choices of constituents are wanted, but they are summed out and have no values."""


class Trees(Protocol):
    """B unpunctuated trees with N nodes."""

    @property
    def forest(self) -> Any:
        """Their shapes: a `pyropunct.inference.forest.Forest`, or a `PackedForest` where they are latent."""

    @property
    def relation(self) -> Tensor:
        """(N,) the relation of each node."""


class Told:
    """A story of some trees, as far as it is told: p(T', x | T), and what is known of T' and x.

    :param scores: (*batch, C) the scores of all pairs of all nodes; or a function that gives those of the
        pairs of some nodes, node after node, with the marks of a surface strictly inside them.
    :param transducer: the channel that rewrites underlying strings, with (*batch, P) its ``weights``.
    :param cost: a cost of punctemes: the story then is p(T', x | T) exp(-cost(T')).  It counts as a constant.
    :param parts: the parts of constituents between marks, `pyropunct.inference.parts`; none of latent trees.
    :raises ValueError: if there are no trees, or if the shape of weights or costs does not fit them; if the
        channel has other tokens than the inventory; or, as `MachineError`, if the weights are not
        probabilities. That they add up to 1 is checked only while Pyro validates.

    :ivar known: x, or the evidence about it, when it is known.
    :ivar log_pairs: (..., C) log p(l, r | w) given the marks inside, when x is known.
    :ivar sum: the sum over T', a `pyropunct.inference.pyro.collapse.Sum`, where T' is summed out.
    :ivar sentences: how many of the trees each sentence has, where these are mixed.
    :ivar walked: (..., N) T' and (..., S, L) x, as `walk` has drawn them.
    :ivar mask: that of the surface's site, if some trees are left out.
    :ivar given: where trees are latent, a function from trees to the story of these.
    """

    def __init__(
        self,
        trees: Trees,
        inventory: Inventory,
        scores: Tensor | Scores,
        transducer: Transducer,
        weights: Tensor,
        cost: Cost | None = None,
        parts: PartScores | None = None,
    ) -> None:
        if not trees.forest.num_trees:
            raise ValueError("there are no trees to tell the story of")
        refuse_transforms(weights)
        if transducer.num_tokens != inventory.num_tokens:
            raise ValueError(
                f"the channel has {transducer.num_tokens} tokens, the inventory {inventory.num_tokens}: make "
                "both for the same vocabulary"
            )
        if len(trees.relation) != trees.forest.num_nodes:
            raise ValueError(f"there are {len(trees.relation)} relations for {trees.forest.num_nodes} nodes")
        transducer.check(weights, sums=is_validation_enabled())
        self.trees: Any = trees  # whatever else they have
        self.inventory = inventory
        self.start = torch.from_numpy(inventory.choice_start(trees.relation))
        self._scores, self.transducer, self.weights = scores, transducer, weights
        self._is_by_tree = weights.dim() > 1 and weights.shape[-2] > 1
        if not self._is_by_tree and weights.dim() > 1:
            self.weights = weights.squeeze(-2)
        elif self._is_by_tree:
            self._refuse_other_size(weights, "the channel's weights")
        self.parts = None if isinstance(trees.forest, PackedForest) else parts
        self._choices: Tensor | None = None
        self._completed: Tensor | None = None
        self.known: Any = None
        self.log_pairs: Any = None
        self.sum: Any = None
        self.sentences: Sequence[int] | None = None
        self.cost = None if cost is None else self.of_pairs(cost)
        self.walked: tuple[Tensor, ...] | None = None
        self.given: Any = None
        self.plate: Any = None
        self.mask: Any = None

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Raises NotImplementedError: `pyro.infer.Predictive` wants a model to return tensors."""
        raise NotImplementedError(
            f"{func.__name__} needs tensors, but what a story returns has trees, choices and a surface: take "
            f"the sites '{PAIRS}' and '{SURFACE}'"
        )

    @property
    def forest(self) -> Any:
        """The shapes of the trees."""
        return self.trees.forest

    @property
    def is_latent(self) -> bool:
        """Whether T is summed out: nodes then are items of a packed forest."""
        return isinstance(self.forest, PackedForest)

    @property
    def choices(self) -> Tensor:
        """(..., N) T': each node's choice from its W_d. Raises UndecidedError if all are summed out."""
        if self._choices is None:
            raise UndecidedError(
                "the choices of constituents are summed out over trees and have no values: use infer_trees "
                "to draw them, or tree_expectation and tree_factor for what depends on them"
            )
        return self._choices

    @property
    def is_decided(self) -> bool:
        """Whether T' has a value: it was drawn or given, and is not summed out."""
        return self._choices is not None

    def decide(self, choices: Tensor) -> None:
        """Let T' have a value. Raises ValueError if it has another number of nodes than the trees."""
        nodes = self.forest.num_nodes
        if choices.shape[-1:] != (nodes,):
            raise ValueError(f"site '{PAIRS}' has values of shape {tuple(choices.shape)} for {nodes} nodes")
        self._choices = choices

    @property
    def surface(self) -> Any:
        """x, (S, L) strings filled up with -1; or evidence about it, where nothing more is known."""
        return self.known if self._completed is None else self._completed

    def show(self, surface: Surface, is_drawn: bool = False) -> None:
        """Let x be known, and with it p(l, r | w). A NaN score raises a ValueError.

        :param is_drawn: whether x was drawn: then there may be several, and nothing is learned from them.
        """
        self.known = surface
        if not is_drawn:
            self.log_pairs = self.log_probabilities(surface)
            return
        assert isinstance(surface, Tensor)
        batch, nodes, rows = surface.shape[:-2], torch.arange(self.forest.num_nodes), []
        for index in np.ndindex(*batch):
            rows.append(row_at(self.log_probabilities(surface[index], nodes), batch, index))
        self.log_pairs = torch.stack(rows).reshape(*batch, -1)

    def complete(self, best: bool) -> Tensor:
        """Put strings that agree with T' in the place of evidence: draws of them, or the best ones."""
        evidence, rows = evidence_of(self.known), []
        for weights, some in self.channels(torch.arange(self.forest.num_slots)):
            rows.append(self.strings(self.choices, weights, some).complete(evidence.of(some), best))
        self._completed = torch.cat(as_wide(rows), -2)
        return self._completed

    def refuse_misfit(self, surface: Any) -> None:
        """Raises ValueError unless a surface is evidence, or a tensor of one string for each slot."""
        slots = self.forest.num_slots
        if not isinstance(surface, (Tensor, SlotEvidence)):
            raise ValueError(
                f"site '{SURFACE}' is given a {type(surface).__name__}: make it a tensor of token numbers, "
                "(slots, longest string), filled up with -1, or a SlotEvidence"
            )
        shape = tuple(surface.shape)
        if len(shape) != 2 or shape[0] != slots:
            raise ValueError(
                f"site '{SURFACE}' is given strings of shape {shape}, but the trees have {slots} slots: it "
                f"needs the shape ({slots}, longest string), without further dimensions"
            )
        if isinstance(surface, Tensor) and surface.numel():
            least, greatest = map(int, surface.aminmax())
            last = self.inventory.num_tokens - 1
            if least < EMPTY or greatest > last:
                wrong = least if least < EMPTY else greatest
                raise ValueError(f"site '{SURFACE}' is given the token {wrong}: tokens are 0 to {last}")

    def log_probabilities(self, surface: Surface, nodes: Tensor | None = None) -> Tensor:
        """(..., C) log p(l, r | w) of the pairs of some nodes, or of all, given the marks inside them."""
        start, tree = self.start, self.forest.tree
        if nodes is not None:
            first, sizes = start[nodes], start.diff()[nodes]
            start, tree = torch.from_numpy(starts_of(sizes.numpy())), tree[nodes]
        if not isinstance(self._scores, Tensor):
            scores = self._scores(surface, nodes)
        elif nodes is None:
            scores = self._scores
        else:
            places = torch.from_numpy(runs(first.numpy(), sizes.numpy()))
            scores = self._scores[..., places.to(self._scores.device)]
        refuse_transforms(scores)
        if scores.dtype == torch.bfloat16:
            raise ValueError(f"site '{PAIRS}': sums over trees do not take scores in bfloat16, use float32")
        impossible = scores.isnan() | scores.isposinf()
        if impossible.any():
            raise ValueError(f"site '{PAIRS}': {int(impossible.sum())} scores of pairs are NaN or infinite")
        if scores.dim() > 1 and scores.shape[-2] == 1:
            scores = scores.squeeze(-2)
        elif scores.dim() > 1:
            self._refuse_other_size(scores, "scores of pairs")
            own = torch.repeat_interleave(tree, start.diff()).to(scores.device)
            scores = scores[..., own, torch.arange(len(own), device=scores.device)]
        return log_probabilities(scores, start)

    def _refuse_other_size(self, values: Tensor, what: str) -> None:
        if values.shape[-2] != self.forest.num_trees:
            raise ValueError(
                f"{what} have the batch shape {tuple(values.shape[:-1])}, whose last dimension is that of "
                f"the {self.forest.num_trees} trees: give it the size 1, or one for each tree"
            )

    def of_pairs(self, cost: Cost) -> Tensor:
        """(C,) the cost of each pair of each node. Raises ValueError if it has another shape."""
        rows = self.inventory.choice_rows(self.trees.relation)
        if isinstance(cost, Tensor):
            wanted, found = (len(self.inventory.rows),), tuple(cost.shape)
            numbers = cost[rows.to(cost.device)] if found == wanted else cost
        else:
            numbers = cost(torch.repeat_interleave(self.start.diff()), rows)
            wanted, found = (len(rows),), tuple(numbers.shape)
        if found != wanted:
            what = "row of the inventory" if isinstance(cost, Tensor) else "pair of each node"
            raise ValueError(f"a cost has shape {found}: it needs {wanted}, a number for each {what}")
        return numbers

    def cost_of_choices(self, numbers: Tensor) -> Tensor:
        """(..., B) the sum of (C,) numbers over the pairs of each tree."""
        return self.forest.per_tree(of_choices(numbers, self.pairs_of(self.choices), self.start))

    def pairs_of(self, choices: Tensor) -> Tensor:
        """(..., N) which pair each choice has, without its part."""
        return choices if self.parts is None else choices.where(choices < 0, choices % self.start.diff())

    def log_sprouted(self, choices: Tensor) -> Tensor:
        """(..., N) log p(l, r | w) p(part | w) of choices, given x."""
        chosen = of_choices(self.log_pairs, self.pairs_of(choices), self.start)
        if self.parts is None:
            return chosen
        return chosen + self.parts.log_prob_of(choices // self.start.diff()).to(chosen)

    def draw_sprouted(self, batch: torch.Size) -> Tensor:
        """(..., N) choices given x, for all elements of plates."""
        chosen = draw_choices(self.log_pairs.expand(*batch, -1), self.start)
        return chosen if self.parts is None else chosen + self._draw_parts(batch)

    def _draw_parts(self, batch: torch.Size) -> Tensor:
        """What drawn parts add to choices, (..., N)."""
        assert self.parts is not None
        numbers = torch.stack([self.parts.draw() for _ in range(batch.numel())])
        return numbers.reshape(*batch, -1) * self.start.diff()

    # p(x | u)

    def channels(self, slots: Tensor) -> list[tuple[Tensor, Tensor]]:
        """The channel's weights, (..., P), each with the slots that it rewrites, tree by tree if need be."""
        if not self._is_by_tree:
            return [(self.weights, slots)]
        tree = self.forest.slot_tree[slots]
        parts = [(self.weights[..., b, :], slots[tree == b]) for b in range(self.forest.num_trees)]
        return [part for part in parts if len(part[1])]

    def strings(self, choices: Tensor, weights: Tensor, slots: Tensor) -> SurfaceStrings:
        """p(x_i | u_i) of slots, with one of `channels`."""
        marks = None if self.parts is None else self.parts.marks.cpu()
        underlying = Underlying(self.forest, self.inventory, self.trees.relation, choices, slots, marks)
        return SurfaceStrings(underlying, self.transducer, weights)

    @property
    def problem(self) -> Problem:
        """The inference problem that x poses: which T' may have produced it?"""
        return self.problem_with(self.transducer.automata)

    def problem_with(self, automata_of: Callable[[Sequence[Evidence], Tensor], Automata]) -> Problem:
        """The problem, given the automata of pieces of evidence under one joint value of the weights."""
        evidence, slots = evidence_of(self.known), torch.arange(self.forest.num_slots)
        automata, place, count = [], torch.empty_like(evidence.place), 0
        for weights, some in self.channels(slots):
            known = evidence.of(some) if self._is_by_tree else evidence
            automata.append(automata_of(known.distinct, detach_provenance(weights)))
            place[some] = known.place + count
            count += len(known.distinct)
        log_pairs = detach_provenance(self.log_pairs)
        if self.cost is not None:
            log_pairs = log_pairs - detach_provenance(self.cost).to(log_pairs)
        if self.is_latent:
            arcs = detach_provenance(self.trees.log_arcs).to(log_pairs.device)
            log_pairs = log_pairs + arcs.repeat_interleave(self.start.diff().to(arcs.device), -1)
        problem = Problem(
            self.forest, self.inventory, self.trees.relation, log_pairs, side_by_side(automata), place
        )
        if self.parts is None:
            return problem
        return with_parts(
            problem, self.parts, self.known if isinstance(self.known, Tensor) else self.known.settled()
        )

    @property
    def provenance(self) -> frozenset[str]:
        """The sites that the sums depend on: compiled code does not pass them on by itself."""
        none = None if self.parts is None else self.parts.log_none()
        return get_provenance([self.log_pairs, self.weights, self.cost, none])

    # Draws

    @torch.no_grad()
    def walk(self) -> None:
        """Draw T' and x bottom-up, one height of constituents at a time; in plates, for each element.

        So a choice may depend on the marks inside (Li, Wang & Eisner 2019, section 2.1, d). Runs outside of
        the plate of trees, for all trees together.
        """
        sizes = {frame.dim: frame.size for frame in get_plates() if frame.dim is not None}
        batch = torch.Size(sizes.get(dim, 1) for dim in range(min(sizes, default=-1), -1))
        choices, surfaces = zip(*(self._climb(batch, index) for index in np.ndindex(*batch)), strict=True)
        drawn = torch.stack(choices), torch.stack(as_wide(surfaces))
        self.walked = tuple(each.reshape(*batch, *each.shape[1:]) for each in drawn)

    def _climb(self, batch: torch.Size, index: tuple[int, ...]) -> tuple[Tensor, Tensor]:
        """One draw: with the weights at an index of the batch."""
        surface = torch.full((self.forest.num_slots, 1), EMPTY)
        choices = torch.zeros(self.forest.num_nodes, dtype=torch.long)
        if self.parts is not None:  # they stand inside of constituents, so that they come first
            choices = self._draw_parts(torch.Size())
        for nodes, slots in self.forest.heights():
            log_pairs = row_at(self.log_probabilities(surface, nodes), batch, index)
            choices[nodes] += draw_choices(
                log_pairs, torch.from_numpy(starts_of(self.start.diff()[nodes].numpy()))
            )
            surface = self.rewrite(surface, choices, slots, batch, index)
        return choices, surface

    @torch.no_grad()
    def rewrite(
        self, surface: Tensor, choices: Tensor, slots: Tensor, batch: torch.Size, index: tuple[int, ...]
    ) -> Tensor:
        """The surface with other strings in some slots, drawn from p(x_i | u_i)."""
        for weights, some in self.channels(slots):
            drawn = self.strings(choices, row_at(weights, batch, index), some).sample()
            surface, drawn = as_wide([surface, drawn])
            surface = surface.index_copy(0, some, drawn)
        return surface


def row_at(values: Tensor, batch: torch.Size, index: tuple[int, ...]) -> Tensor:
    """The row of (..., C) values at an index of a batch."""
    try:
        return values.expand(*batch, -1)[index]
    except RuntimeError:
        raise NotImplementedError(
            f"the weights of the story have the dimensions {tuple(values.shape[:-1])} on the left, the "
            f"plates around it {tuple(batch)}: where sites are enumerated, a story is summed out, not drawn"
        ) from None


def with_parts(problem: Problem, scores: PartScores, surface: Tensor) -> Problem:
    """The problem with the parts that the page shows; all others are left out of its sums."""
    parts, none = shown_parts(problem.forest, surface, scores.marks), scores.log_none()
    shown = scores.log_prob(parts.node, parts.kind, parts.left_out, parts.right_out)
    problem = replace(problem, parts=parts)
    # The choices of a node: without a part, then with each of its parts.
    node = np.concatenate([np.arange(len(none)), parts.node.numpy()])
    order = np.argsort(node, kind="stable")
    part = torch.from_numpy(np.repeat(order, problem.sizes[node[order]]))
    log_pairs, log_parts = problem.log_pairs, detach_provenance(torch.cat([none, shown], -1))
    columns = (log_pairs, problem.base), (log_parts.to(log_pairs), part)
    spread = (values.index_select(-1, place.to(log_pairs.device)) for values, place in columns)
    return replace(problem, log_pairs=next(spread) + next(spread))
