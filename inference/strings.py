"""Underlying strings of slots, and the distribution of the surface strings that they are rewritten to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.inference import forward
from pyropunct.inference.forest import Forest
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.machines.evidence import EMPTY, SlotEvidence, evidence_of, padded
from pyropunct.inference.machines.paths import Ways
from pyropunct.inference.machines.transducers import Transducer
from pyropunct.inference.parts import Shapes


@dataclass(frozen=True)
class Underlying:
    """The underlying strings u_i of slots, worked out on demand from (..., N) choices of punctemes.

    Reading them raises a ValueError if a choice is outside of its W_d.

    :param marks: (kinds, 2) the marks of parts of constituents, if there may be some.
    :param clause: (S,) in which slots a clause begins, if it is known.
    """

    forest: Forest
    inventory: Inventory
    relation: Tensor
    choices: Tensor
    slots: Tensor
    marks: Tensor | None = None
    clause: Tensor | None = None

    @cached_property
    def tokens(self) -> Tensor:
        """(..., slots, U) token ids, left to right, filled up with -1, in the order of `Forest.sprouting`.

        The start and end tokens of the inventory stand around each sentence.
        """
        nodes, batch = self.forest.num_nodes, self.choices.shape[:-1]
        trees, punctemes = arrays_of(self.forest, self.inventory, self.marks, self.clause)
        choices = self.choices.reshape(batch.numel(), nodes)
        columns = sprouted(self.forest, self.inventory, self.relation, choices, self.marks is not None)
        strings = np.full((len(choices), len(self.slots), forward.width_of(trees, punctemes)), EMPTY)
        forward.underlying(trees, punctemes, *columns, self.slots.numpy(), strings)
        return torch.from_numpy(strings).reshape(*batch, *strings.shape[1:])


def arrays_of(
    forest: Forest, inventory: Inventory, marks: Tensor | None, clause: Tensor | None
) -> tuple[forward.TreeArrays, forward.Punctemes]:
    """Trees and punctemes as the compiled loops see them; the arguments are those of `Underlying`."""
    known = forward.NO_MARKS if marks is None else marks.cpu().numpy()
    begins = None if clause is None else clause.numpy()
    return forward.trees_of(forest, len(known) > 0, begins), forward.punctemes_of(inventory, known)


def sprouted(
    forest: Forest, inventory: Inventory, relation: Tensor, choices: Tensor, has_parts: bool
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """(draws, N) choices as ``rows`` and ``parts`` of `pyropunct.inference.forward.DrawTables`."""
    row, part = inventory.sprouted(relation.cpu(), choices.cpu(), has_parts)
    rows = np.ascontiguousarray(row.T.numpy(), np.int32)
    if not has_parts:
        return rows, forward.NO_PARTS
    columns = torch.stack(Shapes(forest).columns(part)).where(part > 0, -1)
    return rows, np.ascontiguousarray(columns.transpose(1, 2).numpy(), np.int32)


class SurfaceStrings:
    """p(x | u) = prod_i p(x_i | u_i) over slots i, given (..., P) the channel's weights.

    Strings are (..., slots, L) token ids, filled up with -1, or
    `pyropunct.inference.machines.evidence.SlotEvidence`, whose probability is the sum over all strings that
    it allows.
    """

    def __init__(self, underlying: Underlying, transducer: Transducer, weights: Tensor) -> None:
        self.underlying, self.transducer, self.weights = underlying, transducer, weights

    def log_prob(self, value: Tensor | SlotEvidence) -> Tensor:
        """log p(x_i | u_i) of each slot, (..., slots), by reading u_i through the automaton of x_i."""
        evidence, tokens, weights = evidence_of(value), self.underlying.tokens, self.weights
        if weights.dim() == 1:
            return self._read(tokens, weights, evidence)
        batch = torch.broadcast_shapes(tokens.shape[:-2], weights.shape[:-1])
        joint = zip(_rows(tokens, batch, 2), _rows(weights, batch, 1), strict=True)
        return torch.stack([self._read(*values, evidence) for values in joint]).reshape(*batch, -1)

    def _read(self, tokens: Tensor, weights: Tensor, evidence: SlotEvidence) -> Tensor:
        """`log_prob` of underlying strings with one joint value of the weights."""
        automata, place = self.transducer.automata(evidence.distinct, weights), evidence.place
        initial, final = automata.end_vectors()
        matrices = automata.matrices()
        unmoved = torch.eye(initial.shape[-1]).to(matrices).expand_as(matrices[:, :1])
        matrices = torch.cat([matrices, unmoved], 1)  # where a string has ended, -1 reads this one
        state = initial[place]
        for column in range(tokens.shape[-1]):
            state = (state.unsqueeze(-2) @ matrices[place, tokens[..., column]]).squeeze(-2)
        total = (state * final[place]).sum(-1)
        possible = total > 0  # the logarithm of zero would spoil the gradients of the others
        log_total = total.where(possible, torch.ones_like(total)).log().masked_fill(~possible, -torch.inf)
        return log_total + torch.from_numpy(automata.log_scale).to(log_total)[place]

    @torch.no_grad()
    def complete(self, evidence: SlotEvidence, best: bool = False) -> Tensor:
        """(..., slots, L) surface strings that agree with evidence: draws, or those of the channel's best
        ways.

        :raises ValueError: if the evidence of a slot rules out all strings that its underlying string may
            become.
        """
        tokens, weights = self.underlying.tokens, self.weights
        batch = torch.broadcast_shapes(tokens.shape[:-2], weights.shape[:-1])
        joint = zip(_rows(tokens, batch, 2), _rows(weights, batch, 1), strict=True)
        strings = [string for values in joint for string in self._completed(*values, evidence, best)]
        return padded(strings, least=tokens.shape[-1]).reshape(*batch, len(evidence), -1)

    def _completed(
        self, tokens: Tensor, weights: Tensor, evidence: SlotEvidence, best: bool
    ) -> Iterator[Sequence[int]]:
        """The strings of the slots, for one joint value of underlying strings and weights."""
        ways, seed = ways_of(self.transducer, weights), int(torch.randint(2**63 - 1, ()))
        generator, rows = np.random.default_rng(seed), zip(tokens.tolist(), evidence.place, strict=True)
        for slot, (row, place) in enumerate(rows):
            u, known = [token for token in row if token != EMPTY], evidence.distinct[place]
            path = ways.path(u, known, None if best else generator)
            if path is None:
                raise ValueError(f"the underlying string {u} cannot become what is known of slot {slot}")
            yield path.surface


def _rows(values: Tensor, batch: torch.Size, dims: int) -> Tensor:
    """Flattens leading dimensions: (joint values, ...), where each joint value has ``dims`` dimensions."""
    own = values.shape[-dims:]
    return values.expand(*batch, *own).reshape(batch.numel(), *own)


def ways_of(transducer: Transducer, weights: Tensor) -> Ways:
    """The ways of a transducer with (P,) weights; the latest are cached, since draws ask for them again."""
    return _ways(transducer, weights.detach().cpu().double().numpy().tobytes())


@lru_cache(maxsize=8)
def _ways(transducer: Transducer, weights: bytes) -> Ways:
    return Ways(transducer, torch.from_numpy(np.frombuffer(weights).copy()))
