"""The state of one run of a story: what is given, T' and x, and what came out."""

from typing import Any

import torch
from pyro.ops.provenance import detach_provenance
from pyro.poutine.indep_messenger import IndepMessenger
from torch import Tensor

from pyropunct.inference.inventory import split
from pyropunct.inference.machines.evidence import EMPTY, SlotEvidence, as_wide, evidence_of
from pyropunct.inference.pairs import of_choices
from pyropunct.inference.pyro.posterior import Posterior
from pyropunct.inference.pyro.private import untraced
from pyropunct.inference.story_inputs import StoryInputs, Surface
from pyropunct.inference.strings import SurfaceStrings, Underlying
from pyropunct.inference.walk import walk

TREE, PAIRS, SURFACE = "tree", "pairs", "surface"
"""The names of the sites."""

SUMMED, BEST, DRAWN = "summed", "best", "drawn"
"""What becomes of a site that is left open: it is summed out, or decoded once x is known."""


class Open(Tensor):
    """The value of a site that is left open: a tensor without elements, for handlers that need a tensor.

    :ivar left: what becomes of the site.
    """

    left: str

    @staticmethod
    def to_be(left: str) -> "Open":
        """The value of a site that is to be summed out or decoded."""
        value = torch.empty(0, dtype=torch.long).as_subclass(Open)
        value.left = left
        return value


def is_open(value: Any) -> bool:
    """Whether the value of a site is left open."""
    return isinstance(detach_provenance(value), Open)


class UndecidedError(NotImplementedError):
    """The choices of constituents are wanted, but they are summed out and have no values."""


class StoryState:
    """The state of one run of a story: what is given, T' and x, as far as they are known.

    With ``story``, ``trees`` and ``surface`` of the page "A first Pyro program"::

        >>> state = story(trees)
        >>> state.choices.shape == (trees.forest.num_nodes,), len(state.surface) == trees.forest.num_slots
        (True, True)

    :param plate: the plate of the trees, ``dim=-1``, or the name of a new one.
    :param surface: x, if it is known before the sites are made: then so are the weights that scores need.
    :raises ValueError: if the plate has another size than the number of trees, or another ``dim``.

    :ivar inputs: what the story is made of; once latent trees are decoded, with these trees.
    :ivar left: what becomes of T' if its site was left open, so that "surface" has p(x | T); it stays when
        T' is decoded.
    """

    def __init__(self, inputs: StoryInputs, plate: Any = "trees", surface: Surface | None = None) -> None:
        self.inputs, self.plate = inputs, plate_of(plate, inputs.forest.num_trees)
        self._pairs: Tensor | None = None
        self.left: str | None = None
        self._posteriors: list[Posterior] = []
        self._walked: tuple[Tensor, Tensor] | None = None
        self._drawn: Tensor | None = None
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
        return self.inputs.trees

    @property
    def choices(self) -> Tensor:
        """(..., N) T': each node's choice from its W_d. Raises UndecidedError if all are summed out."""
        if self._pairs is None:
            raise UndecidedError(
                "the choices of constituents are summed out over trees and have no values: use infer_trees "
                "to draw them, or tree_expectation for what depends on them"
            )
        return self._pairs

    @property
    def is_decided(self) -> bool:
        """Whether T' has a value: it was drawn, given or decoded."""
        return self._pairs is not None

    @property
    def is_drawn(self) -> bool:
        """Whether x was drawn for its site."""
        return self._drawn is not None

    @property
    def surface(self) -> Any:
        """(..., S, L) x, padded with -1; or evidence about it, where nothing more is known."""
        return self.posterior.surface if self._completed is None else self._completed

    @property
    def posterior(self) -> Posterior:
        """p(T' | T, x), once x is known. Raises UndecidedError before."""
        if not self._posteriors:
            raise UndecidedError("the surface of this story is not known yet")
        return self._posteriors[-1]

    def posterior_of(self, inputs: StoryInputs, surface: Surface) -> Posterior:
        """The posterior for any x: that of this run if the story was told with the same.

        :raises ValueError: for an x that does not fit the trees.
        """
        for known in self._posteriors:
            if known.inputs is inputs and is_same(known.surface, surface):
                return known
        refuse_foreign(inputs, surface)
        return Posterior(inputs, surface)

    def cost(self, numbers: Tensor) -> Tensor:
        """(..., B) the sum of (C,) costs of pairs over T'."""
        pair, _ = split(self.choices, self.inputs.start.diff())
        return self.inputs.forest.per_tree(of_choices(numbers, pair, self.inputs.start))

    # The story as it is told

    @untraced
    def draw_pairs(self, batch: torch.Size) -> Tensor:
        """(*batch, N) a draw of T'; an x is drawn on the way."""
        self._walked = walk(self.inputs, batch)
        return self._walked[0]

    @untraced
    def draw_surface(self, batch: torch.Size) -> Tensor:
        """(*batch, S, L) x: at first the x drawn with T'; later draws given T', or with a new T'."""
        known = None if self._pairs is None else detach_provenance(self._pairs)
        is_first = self._walked is not None and not self.is_drawn
        _, self._drawn = self._walked if is_first and self._walked else walk(self.inputs, batch, known)
        return self._drawn

    def sprout(self, pairs: Tensor) -> None:
        """Let T' be the value of its site, or left open.

        :raises ValueError: if it has another number of nodes than the trees, or another type than integers.
        """
        nodes, value = self.inputs.forest.num_nodes, detach_provenance(pairs)
        if isinstance(value, Open):
            self.left = value.left
            return
        if pairs.shape[-1:] != (nodes,):
            raise ValueError(f"site '{PAIRS}' has values of shape {tuple(pairs.shape)} for {nodes} nodes")
        if pairs.is_floating_point():
            raise ValueError(
                f"site '{PAIRS}' has values of the type {pairs.dtype}: choices are whole numbers"
            )
        if self._walked is not None and not is_same(value, self._walked[0]):
            self._walked = None  # a handler has given T' another value
        self._pairs, self.left = pairs, None

    def show(self, surface: Surface) -> None:
        """Let x be the value of its site, and with it p(l, r | w).

        :raises ValueError: for a NaN score, or an x that does not fit the trees.
        :raises NotImplementedError: if T' was drawn with another x inside its constituents, or decoded from
            another x.
        """
        is_known = bool(self._posteriors) and is_same(self.posterior.surface, surface)
        if self._drawn is None or not is_same(surface, self._drawn):
            if not is_known:
                refuse_misfit(self.inputs, surface)
            self._refuse_choices_of_another(is_known)
        if not is_known:
            self._posteriors.append(Posterior(self.inputs, surface))

    def _refuse_choices_of_another(self, is_known: bool) -> None:
        is_walked = self._walked is not None and self.inputs.looks_inside
        is_decoded = self.left is not None and self.is_decided and not is_known
        if is_decoded or (is_walked and self.is_drawn):
            raise NotImplementedError(
                f"site '{SURFACE}' was drawn, and then given another value, which its punctemes do not know: "
                "use poutine.condition in place of poutine.do"
            )
        if is_walked:
            raise NotImplementedError(
                "a surface is given, but its punctemes were drawn from their prior with other marks inside: "
                "use collapse_trees(model) or infer_trees(model)"
            )

    def grow(self, trees: Any) -> None:
        """Let T be given, where it was latent."""
        self.inputs = self.inputs.with_trees(trees)
        self._posteriors.append(Posterior(self.inputs, self.posterior.surface))

    def decide(self, pairs: Tensor) -> None:
        """Let T' be decoded, where it was left open."""
        self._pairs = pairs

    def complete(self, best: bool) -> Tensor:
        """Put strings that agree with T' in the place of evidence: draws of them, or the best ones."""
        evidence, rows = evidence_of(self.posterior.surface), []
        for weights, some in self.inputs.channels(torch.arange(self.inputs.forest.num_slots)):
            strings = surface_strings(self.inputs, self.choices, weights, some)
            rows.append(strings.complete(evidence.of(some), best))
        self._completed = torch.cat(as_wide(rows), -2)
        return self._completed


def is_same(one: Any, other: Any) -> bool:
    """Whether two values of a site are the same."""
    one, other = detach_provenance(one), detach_provenance(other)
    are_tensors = isinstance(one, Tensor) and isinstance(other, Tensor) and one.shape == other.shape
    return one is other or (are_tensors and torch.equal(one, other.to(one.device)))


def refuse_misfit(inputs: StoryInputs, surface: Any) -> None:
    """Raises ValueError unless a surface is evidence, or a tensor of one string for each slot."""
    refuse_foreign(inputs, surface)
    slots, shape = inputs.forest.num_slots, tuple(surface.shape)
    if len(shape) != 2 or shape[0] != slots:
        raise ValueError(
            f"site '{SURFACE}' is given strings of shape {shape}, but the trees have {slots} slots: it "
            f"needs the shape ({slots}, longest string), without further dimensions"
        )


def refuse_foreign(inputs: StoryInputs, surface: Any) -> None:
    """Raises ValueError unless a surface is evidence, or a tensor of tokens, filled up with -1."""
    if not isinstance(surface, (Tensor, SlotEvidence)):
        raise ValueError(
            f"site '{SURFACE}' is given a {type(surface).__name__}: make it a tensor of token numbers, "
            "(slots, longest string), filled up with -1, or a SlotEvidence"
        )
    if isinstance(surface, Tensor):
        last = inputs.inventory.num_tokens - 1
        wrong = surface[(surface < EMPTY) | (surface > last) | (surface != surface.long())]
        if len(wrong):
            raise ValueError(f"site '{SURFACE}' is given the token {wrong[0].item()}: tokens are 0 to {last}")


def surface_strings(inputs: StoryInputs, choices: Tensor, weights: Tensor, slots: Tensor) -> SurfaceStrings:
    """p(x_i | u_i) of slots, with one of `StoryInputs.channels`."""
    marks = None if inputs.parts is None else inputs.parts.marks.cpu()
    underlying = Underlying(
        inputs.forest, inputs.inventory, inputs.trees.relation, choices, slots, marks, inputs.clause
    )
    return SurfaceStrings(underlying, inputs.transducer, weights)


@untraced
def log_rewritten(inputs: StoryInputs, choices: Tensor, surface: Surface) -> Tensor:
    """(..., B) log p(x | u(T')) of each tree; T' may be (..., N) and x (..., S, L)."""
    if isinstance(surface, Tensor) and surface.dim() > 2:
        batch = torch.broadcast_shapes(surface.shape[:-2], choices.shape[:-1])
        pages = surface.expand(*batch, *surface.shape[-2:]).flatten(0, -3)
        rows = choices.expand(*batch, -1).reshape(len(pages), -1)
        parts = [log_rewritten(inputs, row, page) for row, page in zip(rows, pages, strict=True)]
        return torch.stack(parts).reshape(*batch, -1)
    evidence, total = evidence_of(surface), None
    for weights, some in inputs.channels(torch.arange(inputs.forest.num_slots)):
        each = surface_strings(inputs, choices, weights, some).log_prob(evidence.of(some))
        sums = each.new_zeros((*each.shape[:-1], inputs.forest.num_trees))
        sums = sums.index_add(-1, inputs.forest.slot_tree[some].to(each.device), each)
        total = sums if total is None else total + sums
    assert total is not None
    return total


def plate_of(plate: Any, trees: int) -> Any:
    """The plate of the trees, or a new one of a name.

    :raises ValueError: if it has another size than the number of trees, or another ``dim`` than -1.
    """
    if isinstance(plate, str):
        return IndepMessenger(plate, trees, dim=-1)  # without a site for its subsample
    size = getattr(plate, "subsample_size", plate.size)
    if size != trees or plate.dim not in (None, -1):
        raise ValueError(
            f"the plate '{plate.name}' has {size} elements in dim={plate.dim}, but its "
            f"elements are to be {trees} trees in dim=-1"
        )
    return plate
