"""Channels as finite-state transducers (Li, Wang & Eisner 2019, section 2.2), made of machines' moves.

From these follow the automata of u given evidence (`Transducer.automata`, by composition), draws
(`pyropunct.inference.machines.sampling`), best moves and distributions of x
(`pyropunct.inference.machines.paths`), and how probable and frequent edits are (`Transducer.edit_table`,
`Transducer.edit_counts`).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from pyropunct.inference.machines.automata import Acceptor, Automata, Packed, join_automata, pack, unite
from pyropunct.inference.machines.composition import Lattice, as_acceptor, compose, preimage
from pyropunct.inference.machines.evidence import Evidence, Step, String
from pyropunct.inference.machines.moves import (
    END,
    TOLERANCE,
    Branch,
    Machine,
    MachineError,
    check_sums,
    machine_of,
)
from pyropunct.inference.machines.products import EDITS, Places, Products
from pyropunct.inference.ragged import Floats, Ints


class Cascade(NamedTuple):
    """A `Branch` as machines."""

    machines: tuple[Machine, ...]
    product: int
    name: str


class Transducer:
    """A mixture of cascades of machines: p(x | u) for all underlying strings u and surface strings x.

    :param branches: the ways in which the channel may work.
    :param num_tokens: the number V of token types.
    :param shapes: the shapes of the channel's named weights; see
        `pyropunct.inference.machines.products.Places`.
    :raises MachineError: if a move names an unknown token, state or weight, if a state lacks moves for a
        token, or if a machine goes on behind the last token by anything but fixed chances.
    """

    def __init__(
        self, branches: Sequence[Branch], num_tokens: int, shapes: Mapping[str, tuple[int, ...]]
    ) -> None:
        self.num_tokens, self.products = num_tokens, Products(Places(shapes))
        try:
            self.branches = [self._cascade(branch) for branch in branches]
        except ValueError as error:
            raise error if isinstance(error, MachineError) else MachineError(str(error)) from None
        self._known: dict[String | Evidence, Packed] = {}

    def _cascade(self, branch: Branch) -> Cascade:
        machines = tuple(machine_of(one, self.num_tokens, self.products) for one in branch.passes)
        (product,) = self.products.named([(branch.weight, None)]).tolist()
        return Cascade(machines, product, branch.name)

    @property
    def machines(self) -> list[Machine]:
        """The machines of all passes of all branches."""
        return [machine for branch in self.branches for machine in branch.machines]

    def check(self, weights: Tensor, *, sums: bool = True) -> None:
        """Check that the machines are probabilistic with these weights.

        :param sums: whether to check that probabilities add up to 1, which takes longer.
        :raises MachineError: if there is another number of weights, if one is negative or NaN, or if the
            probabilities of the moves of a state and token, of the starts or of the branches, do not add up
            to 1.
        """
        size = self.products.places.size
        if weights.shape[-1:] != (size,):
            raise MachineError(f"the channel has {size} weights, not the shape {tuple(weights.shape)}")
        possible = weights >= 0  # NaN is not
        if not possible.all():
            name = self.products.places.name(int((~possible).nonzero()[0, -1]))
            raise MachineError(f"the channel's weight {name} is {float(weights[~possible][0])}")
        if not sums:
            return
        values = self.products.values(weights.detach().double())
        products = torch.tensor([branch.product for branch in self.branches], device=values.device)
        total = values[..., products].sum(-1)
        # Probabilities in half precision miss a sum of 1 by more.
        tolerance = max(TOLERANCE, 4 * torch.finfo(weights.dtype).eps)
        if ((total - 1).abs() > tolerance).any():
            raise MachineError(
                f"the probabilities of the channel's branches add up to {total.tolist()}, not 1"
            )
        for machine in self.machines:
            check_sums(machine, values, tolerance)

    def lattices(self, evidence: Evidence, branch: Cascade) -> tuple[list[Lattice], Acceptor]:
        """The lattice of each pass of a branch with what later passes may read given the evidence, first pass
        first; and the acceptor of strings that the first pass may read, without the branch's weight.
        """
        acceptor, lattices = as_acceptor(evidence), []
        for machine in reversed(branch.machines):
            lattices.append(compose(machine, acceptor, self.products))
            acceptor = preimage(lattices[-1], self.products)
        return lattices[::-1], acceptor

    def acceptor(self, evidence: Evidence) -> Acceptor:
        """Accepts each underlying string u with the weight p(evidence | u)."""
        parts = [(branch.product, self.lattices(evidence, branch)[1]) for branch in self.branches]
        return unite(parts, self.products)

    def automata(self, evidence: Sequence[Evidence], weights: Tensor) -> Automata:
        """The automaton of each evidence: it accepts each u with weight p(evidence | u)."""
        packed = [self._packed(of_slot) for of_slot in evidence]  # which may make products
        return join_automata(packed, self.products.values(weights))

    def automata_with(self, evidence: Sequence[Evidence], values: Tensor) -> Automata:
        """`automata`, given (..., products) values of all products, after a call of `automata` with this
        evidence.
        """
        return join_automata([self._packed(of_slot) for of_slot in evidence], values)

    def _packed(self, evidence: Evidence) -> Packed:
        key = evidence if evidence.string is None else evidence.string
        if key not in self._known:
            whole, log_scale = scaled(evidence, self.machines)
            self._known[key] = pack(self.acceptor(whole), self.num_tokens, log_scale)
        return self._known[key]

    @property
    def _editing(self) -> Machine | None:
        """The machine whose moves are edits, if there is one alone."""
        machines = [machine for machine in self.machines if any(machine.edits)]
        return machines[0] if len(machines) == 1 else None

    def edit_table(self, weights: Tensor) -> Tensor | None:
        """(..., V, V, 4) the probability of each edit, if the moves of one machine alone are edits."""
        machine = self._editing
        if machine is None:
            return None
        moves = [move for move, edit in enumerate(machine.edits) if edit is not None]
        shape = self.num_tokens, self.num_tokens, len(EDITS)
        where = np.ravel_multi_index(np.array([machine.edits[move] for move in moves]).T, shape)
        product, factor = (
            torch.from_numpy(array[moves]).to(weights.device) for array in (machine.product, machine.factor)
        )
        values = self.products.values(weights)[..., product] * factor.to(weights)
        table = values.new_zeros((*values.shape[:-1], int(np.prod(shape))))
        return table.index_add(-1, torch.from_numpy(where).to(table.device), values).unflatten(-1, shape)

    def edit_counts(self, uses: Tensor) -> Tensor | None:
        """(..., V, V, 4) the number of uses of each edit, if the moves of one machine alone are edits."""
        return None if self._editing is None else self.products.by_edit(uses, self.num_tokens)


SHORT = 16
"""Strings of up to so many tokens have probabilities far from the least number of double precision."""


def scaled(evidence: Evidence, machines: Iterable[Machine]) -> tuple[Evidence, float]:
    """Scales evidence of one long string, also with hidden tokens, so that no probability underflows.

    Each token gets a weight above 1, about the inverse of its probability, so all paths to the string get the
    same factor. Other evidence stays as it is.

    :returns: the evidence, and the logarithm that restores the weights of the string.
    """
    line = _line(evidence)
    if len(line) <= SHORT:
        return evidence, 0.0
    string = tuple(step.token for step in line)
    least = min((_costs(string, machine) for machine in machines), key=np.sum, default=np.zeros(len(string)))
    if not np.isfinite(least).all():
        return evidence, 0.0
    factor = dict(zip(line, np.exp(least).tolist(), strict=True))
    steps = tuple(step._replace(weight=step.weight * factor.get(step, 1.0)) for step in evidence.steps)
    return evidence._replace(steps=steps, string=None), float(-least.sum())


def _line(evidence: Evidence) -> list[Step]:
    """The steps that all paths take, each once, if there is one way from state to state; else no steps."""
    onward = {step.source: step for step in evidence.steps if step.source != step.target}
    moves = sum(step.source != step.target for step in evidence.steps)
    if len(evidence.initial) != 1 or len(evidence.final) != 1 or len(onward) != moves:
        return []
    line, state = list[Step](), evidence.initial[0][0]
    while state in onward and len(line) < moves:
        line.append(onward[state])
        state = line[-1].target
    return line if len(line) == moves and state == evidence.final[0][0] else []


def _costs(string: String, machine: Machine) -> Floats:
    """(L,) -log probability of each token, written in the best way after the end; infinite if impossible.

    The first token may be a boundary, which is written when it is read.
    """
    moves, size = _moves_by_token(machine), len(machine.states)
    best, table = np.zeros(len(string) + 1), np.zeros(size)
    for place, token in reversed(list(enumerate(string[::-1] if machine.from_right else string))):
        further = np.full(size, -np.inf)
        if token in moves:
            source, target, log_factor = moves[token]
            np.maximum.at(further, source, log_factor + table[target])
        table, best[place] = further, further.max()
        if best[place] == -np.inf:
            if place:
                return np.full(len(string), np.inf)
            best[0] = best[1]
    costs = best[1:] - best[:-1]
    return costs[::-1] if machine.from_right else costs


def _moves_by_token(machine: Machine) -> Mapping[int, tuple[Ints, Ints, Floats]]:
    """The moves behind the end that write one token and go on: source, target, logarithm of the factor."""
    goes_on = (machine.token == END) & (machine.target >= 0) & (machine.factor > 0)
    moves = {}
    for number, written in enumerate(machine.strings):
        writing = goes_on & (machine.written == number)
        if len(written) == 1 and writing.any():
            factor = np.log(machine.factor[writing])
            moves[written[0]] = machine.source[writing], machine.target[writing], factor
    return moves
