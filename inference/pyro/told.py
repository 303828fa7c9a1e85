"""The state of one run of a story: what is given, T' and x, and what came out."""

from typing import Any

import torch
from pyro.ops.provenance import detach_provenance
from pyro.poutine.indep_messenger import IndepMessenger
from torch import Tensor

from pyropunct.inference.given import Given, Surface
from pyropunct.inference.inventory import split
from pyropunct.inference.machines.evidence import EMPTY, SlotEvidence, as_wide, evidence_of
from pyropunct.inference.pairs import of_choices
from pyropunct.inference.pyro.posterior import Posterior
from pyropunct.inference.strings import SurfaceStrings, Underlying
from pyropunct.inference.walk import walk

TREE, PAIRS, SURFACE = "tree", "pairs", "surface"
"""The names of the sites."""

SUMMED, BEST, DRAWN = -1, -2, -3
"""The value of a site that is left open: to be summed out, or to be decoded once x is known."""


def is_open(value: Tensor) -> bool:
    """Whether the value of a site is left open."""
    return bool((detach_provenance(value) < 0).all())


class UndecidedError(NotImplementedError):
    """The choices of constituents are wanted, but they are summed out and have no values."""


class Told:
    """The state of one run of a story: what is given, T' and x, as far as they are known.

    :param plate: the plate of the trees, ``dim=-1``, or the name of a new one.
    :param surface: x, if it is known before the sites are made: then so are the weights that scores need.
    :raises ValueError: if the plate has another size than the number of trees, or another ``dim``.

    :ivar given: what the story is made of; of the trees that were decoded, where they were latent.
    :ivar is_drawn: whether x was drawn for its site.
    :ivar is_summed: whether "surface" has p(x | T), also if T' was decoded then.
    """

    def __init__(self, given: Given, plate: Any = "trees", surface: Surface | None = None) -> None:
        self.given, self.plate = given, plate_of(plate, given.forest.num_trees)
        self._pairs: Tensor | None = None
        self.is_summed = False
        self._posterior: Posterior | None = None
        self._walked: tuple[Tensor, Tensor] | None = None
        self.is_drawn = False
        self._completed: Tensor | None = None
        if surface is not None:
            self.show(surface)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Raises NotImplementedError: `pyro.infer.Predictive` wants a model to return tensors."""
        raise NotImplementedError(
            f"{func.__name__} needs tensors, but what a story returns has trees, choices and a surface: take "
            f"the sites '{PAIRS}' and '{SURFACE}'"
        )

    # What came out

    @property
    def trees(self) -> Any:
        """T: the trees that were given or decoded."""
        return self.given.trees

    @property
    def choices(self) -> Tensor:
        """(..., N) T': each node's choice from its W_d. Raises UndecidedError if all are summed out."""
        if self._pairs is None or not self.is_decided:
            raise UndecidedError(
                "the choices of constituents are summed out over trees and have no values: use infer_trees "
                "to draw them, or tree_expectation for what depends on them"
            )
        return self._pairs

    @property
    def is_decided(self) -> bool:
        """Whether T' has a value: it was drawn or given, and is not summed out."""
        return self._pairs is not None and not is_open(self._pairs)

    def is_left(self, value: int) -> bool:
        """Whether T' is left open with this value."""
        return self._pairs is not None and bool((detach_provenance(self._pairs) == value).all())

    @property
    def surface(self) -> Any:
        """(..., S, L) x, padded with -1; or evidence about it, where nothing more is known."""
        return self.posterior.surface if self._completed is None else self._completed

    @property
    def posterior(self) -> Posterior:
        """p(T' | T, x), once x is known. Raises UndecidedError before."""
        if self._posterior is None:
            raise UndecidedError("the surface of this story is not known yet")
        return self._posterior

    def cost(self, numbers: Tensor) -> Tensor:
        """(..., B) the sum of (C,) costs of pairs over T'."""
        pair, _ = split(self.choices, self.given.start.diff())
        return self.given.forest.per_tree(of_choices(numbers, pair, self.given.start))

    # The story as it is told

    def draw_pairs(self, batch: torch.Size) -> Tensor:
        """(*batch, N) a draw of T'; an x is drawn on the way."""
        self._walked = walk(self.given, batch)
        return self._walked[0]

    def draw_surface(self, batch: torch.Size) -> Tensor:
        """(*batch, S, L) x: that of the walk that has drawn T'; or a draw given T', or of both."""
        self.is_drawn = True
        if self._pairs is None or not self._is_walked(self._pairs, 0):
            self._walked = walk(
                self.given, batch, detach_provenance(self.choices) if self.is_decided else None
            )
        assert self._walked is not None
        return self._walked[1]

    def _is_walked(self, value: Any, which: int) -> bool:
        """Whether this is the T' (0) or the x (1) of the walk: handlers may have detached it."""
        if self._walked is None or not isinstance(value, Tensor):
            return False
        drawn, value = self._walked[which], detach_provenance(value)
        return value.data_ptr() == drawn.data_ptr() and value.shape == drawn.shape

    def sprout(self, pairs: Tensor) -> None:
        """Let T' be the value of its site, or left open.

        :raises ValueError: if it has another number of nodes than the trees, or another type than integers.
        """
        nodes = self.given.forest.num_nodes
        if pairs.shape[-1:] != (nodes,):
            raise ValueError(f"site '{PAIRS}' has values of shape {tuple(pairs.shape)} for {nodes} nodes")
        if pairs.is_floating_point():
            raise ValueError(
                f"site '{PAIRS}' has values of the type {pairs.dtype}: choices are whole numbers"
            )
        self._pairs, self.is_summed = pairs, is_open(pairs)

    def show(self, surface: Surface) -> None:
        """Let x be the value of its site, and with it p(l, r | w).

        :raises ValueError: for a NaN score, or an x that does not fit the trees.
        :raises NotImplementedError: if x was given, but T' was drawn; or if both were drawn, and
            `pyro.poutine.do` gives another x.
        """
        is_known = self._posterior is not None and self._posterior.surface is surface
        if not self._is_walked(surface, 1):
            if not is_known:
                refuse_misfit(self.given, surface)
            if self.is_drawn:
                raise NotImplementedError(
                    f"site '{SURFACE}' was drawn, and then given another value, which its punctemes do not "
                    "know: use poutine.condition in place of poutine.do"
                )
            if self._is_walked(self._pairs, 0):
                raise NotImplementedError(
                    "a surface is given, but its punctemes were drawn from their prior, since nothing sums "
                    "out the trees: use collapse_trees(model) or infer_trees(model)"
                )
        if not is_known:
            self._posterior = Posterior(self.given, surface)

    def grow(self, trees: Any) -> None:
        """Let T be given, where it was latent."""
        self.given = self.given.with_trees(trees)
        self._posterior = Posterior(self.given, self.posterior.surface)

    def decide(self, pairs: Tensor) -> None:
        """Let T' be decoded, where it was left open."""
        self._pairs = pairs

    def complete(self, best: bool) -> Tensor:
        """Put strings that agree with T' in the place of evidence: draws of them, or the best ones."""
        evidence, rows = evidence_of(self.posterior.surface), []
        for weights, some in self.given.channels(torch.arange(self.given.forest.num_slots)):
            strings = surface_strings(self.given, self.choices, weights, some)
            rows.append(strings.complete(evidence.of(some), best))
        self._completed = torch.cat(as_wide(rows), -2)
        return self._completed


def refuse_misfit(given: Given, surface: Any) -> None:
    """Raises ValueError unless a surface is evidence, or a tensor of one string for each slot."""
    refuse_foreign(given, surface)
    slots, shape = given.forest.num_slots, tuple(surface.shape)
    if len(shape) != 2 or shape[0] != slots:
        raise ValueError(
            f"site '{SURFACE}' is given strings of shape {shape}, but the trees have {slots} slots: it "
            f"needs the shape ({slots}, longest string), without further dimensions"
        )


def refuse_foreign(given: Given, surface: Any) -> None:
    """Raises ValueError unless a surface is evidence, or a tensor of tokens, filled up with -1."""
    if not isinstance(surface, (Tensor, SlotEvidence)):
        raise ValueError(
            f"site '{SURFACE}' is given a {type(surface).__name__}: make it a tensor of token numbers, "
            "(slots, longest string), filled up with -1, or a SlotEvidence"
        )
    if isinstance(surface, Tensor):
        last = given.inventory.num_tokens - 1
        wrong = surface[(surface < EMPTY) | (surface > last) | (surface != surface.long())]
        if len(wrong):
            raise ValueError(f"site '{SURFACE}' is given the token {wrong[0].item()}: tokens are 0 to {last}")


def surface_strings(given: Given, choices: Tensor, weights: Tensor, slots: Tensor) -> SurfaceStrings:
    """p(x_i | u_i) of slots, with one of `Given.channels`."""
    marks = None if given.parts is None else given.parts.marks.cpu()
    underlying = Underlying(
        given.forest, given.inventory, given.trees.relation, choices, slots, marks, given.clause
    )
    return SurfaceStrings(underlying, given.transducer, weights)


def log_rewritten(given: Given, choices: Tensor, surface: Surface) -> Tensor:
    """(..., B) log p(x | u(T')) of each tree. Raises NotImplementedError if there are several surfaces."""
    if isinstance(surface, Tensor) and surface.dim() > 2:
        raise NotImplementedError(
            f"{surface.shape[:-2].numel()} surfaces were drawn at once: score them one after the other"
        )
    evidence, total = evidence_of(surface), None
    for weights, some in given.channels(torch.arange(given.forest.num_slots)):
        each = surface_strings(given, choices, weights, some).log_prob(evidence.of(some))
        sums = each.new_zeros((*each.shape[:-1], given.forest.num_trees))
        sums = sums.index_add(-1, given.forest.slot_tree[some].to(each.device), each)
        total = sums if total is None else total + sums
    assert total is not None
    return total


def plate_of(plate: Any, trees: int) -> Any:
    """The plate of the trees, or a new one of a name.

    :raises ValueError: if it has another size than the number of trees, or another ``dim`` than -1.
    """
    if isinstance(plate, str):
        return IndepMessenger(plate, trees, dim=-1)  # without a site for its subsample
    if plate.subsample_size != trees or plate.dim not in (None, -1):
        raise ValueError(
            f"the plate '{plate.name}' has {plate.subsample_size} elements in dim={plate.dim}, but its "
            f"elements are to be {trees} trees in dim=-1"
        )
    return plate
