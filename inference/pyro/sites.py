"""The sites of trees as arrays: marked sites, whose choices are summed out, and observed surface sites."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import torch
from pyro.ops.provenance import detach_provenance
from torch import Tensor

from pyropunct.inference.machines.automata import Automata, side_by_side
from pyropunct.inference.machines.evidence import SlotEvidence
from pyropunct.inference.pyro.pairs import PunctemePairs
from pyropunct.inference.pyro.surface import SurfaceStrings
from pyropunct.inference.ragged import starts_of

HANDLE = 1 << 40
"""Handles of undecided choices start here, far outside any table."""


class MarkedSite(NamedTuple):
    """A site marked ``infer={"enumerate": "tree"}``.

    :ivar fn: its distribution, `PunctemePairs` or a `Categorical`.
    :ivar numbers: its choices among those of all marked sites, of the shape of its value.
    :ivar log_pairs: (..., C) the log-probabilities of each choice's values, choice after choice.
    :ivar sizes: (choices,) how many values each choice has.
    """

    fn: Any
    numbers: Tensor
    log_pairs: Tensor
    sizes: Tensor


def marked_site(fn: Any, first: int) -> MarkedSite:
    """A marked site with a distribution.

    :param first: the number of its first choice.
    """
    if isinstance(fn, PunctemePairs):
        # Dimensions before that of the nodes belong to other sites: the same choices stand for all.
        shape, log_pairs, sizes = fn.batch_shape[-1:], fn.logits, fn.start.diff()
    else:
        shape, logits = fn.batch_shape, fn.logits.log_softmax(-1)
        log_pairs, sizes = logits.flatten(), torch.full((shape.numel(),), logits.shape[-1])
    return MarkedSite(fn, first + torch.arange(shape.numel()).reshape(shape), log_pairs, sizes)


def log_pairs_of(sites: Iterable[MarkedSite], order: Tensor) -> Tensor:
    """The log-probabilities of all nodes' pairs, node after node.

    :param order: (N,) the number of each node's choice.
    """
    sites = list(sites)
    log_pairs = torch.cat([site.log_pairs for site in sites], -1)
    if torch.equal(order, torch.arange(len(order))):
        return log_pairs
    start = torch.nn.functional.pad(torch.cat([site.sizes for site in sites]).cumsum(0), (1, 0))
    sizes = start.diff()[order]
    before = torch.repeat_interleave(start[order] - (sizes.cumsum(0) - sizes), sizes)
    return log_pairs[..., before + torch.arange(len(before))]


class SurfaceSite(NamedTuple):
    """An observed surface site.

    :ivar fn: its distribution.
    :ivar evidence: what is known of its strings.
    """

    fn: SurfaceStrings
    evidence: SlotEvidence


def slot_automata(sites: Sequence[SurfaceSite], num_slots: int) -> tuple[Automata, Tensor]:
    """The automata of all slots' evidence, and (num_slots,) which of them each slot has.

    :raises ValueError: if a slot is not observed exactly once.
    """
    slots = torch.cat([site.fn.underlying.slots.reshape(-1) for site in sites])
    if slots.sort().values.tolist() != list(range(num_slots)):
        raise ValueError(
            f"tree enumeration saw {len(slots)} surface slots, expected each of the {num_slots} slots "
            "of the trees exactly once; several stories are collapsed one by one"
        )
    weights = [detach_provenance(site.fn.weights) for site in sites]
    automata = [
        site.fn.transducer.automata(site.evidence.distinct, of_site)
        for site, of_site in zip(sites, weights, strict=True)
    ]
    shifts = starts_of([len(site.evidence.distinct) for site in sites]).tolist()
    places = [site.evidence.place + shift for site, shift in zip(sites, shifts, strict=False)]
    slot_automaton = torch.empty_like(slots)
    slot_automaton[slots] = torch.cat(places)
    return side_by_side(automata), slot_automaton
