"""Automata written down as lists, and plain ways to read strings through automata and channels."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from brute_force import String
from torch import Tensor

from pyropunct.inference.machines.automata import Acceptor, Arcs, Automata, Ends, Packed, pack
from pyropunct.inference.machines.evidence import Evidence, exactly
from pyropunct.inference.machines.moves import END, START, Move, Pass
from pyropunct.inference.machines.products import Name, TokenEdit
from pyropunct.inference.machines.sampling import draw_strings, sampler
from pyropunct.models.channel.noisy_channel import Channel


class Arc(NamedTuple):
    token: int
    source: int
    target: int
    weight: int


class End(NamedTuple):
    state: int
    weight: int
    factor: float = 1.0


class Topology(NamedTuple):
    """An automaton whose weights are places in a list of numbers."""

    num_states: int
    initial: tuple[End, ...]
    final: tuple[End, ...]
    arcs: tuple[Arc, ...]

    def acceptor(self) -> Acceptor:
        def ends(some: tuple[End, ...]) -> Ends:
            state, weight, factor = zip(*some, strict=True)
            return Ends(np.array(state), np.array(weight), np.array(factor, np.float64))

        columns = np.array(self.arcs, np.int64).reshape(-1, 4).T
        arcs = Arcs(*columns, np.ones(len(self.arcs)))
        return Acceptor(self.num_states, ends(self.initial), ends(self.final), arcs)

    def packed(self, num_tokens: int) -> Packed:
        return pack(self.acceptor(), num_tokens)


def read(automata: Automata, string: String) -> Tensor:
    """The weight with which each automaton accepts a string, (..., automata)."""
    state, final = automata.end_vectors()
    matrices = automata.matrices()
    for token in string:
        state = (state.unsqueeze(-2) @ matrices[..., token, :, :]).squeeze(-2)
    return (state * final).sum(-1)


def chances(channel: Channel, evidence: Sequence[String | Evidence], underlying: String) -> Tensor:
    """p(evidence | u) of some evidence, or surface strings, as the automata have it."""
    known = [one if isinstance(one, Evidence) else exactly(one) for one in evidence]
    return read(channel.transducer.automata(known, channel.probabilities()), underlying)


def draws(channel: Channel, underlying: String, number: int) -> Counter[String]:
    """How often surface strings come up in some draws."""
    machine = sampler(channel.transducer, channel.probabilities())
    rows = torch.tensor(underlying, dtype=torch.long).expand(number, -1)
    return Counter(map(tuple, draw_strings(machine, rows)))


def edit_counts(channel: Channel, underlying: String, surface: String) -> Tensor:
    """How often each edit was made on the way from one string to the other, (V, V, 4)."""
    weights, evidence = channel.probabilities().detach(), [exactly(surface)]
    channel.transducer.automata(evidence, weights)  # which makes the products
    values = channel.transducer.products.values(weights).requires_grad_()
    chance = read(channel.transducer.automata_with(evidence, values), underlying)
    (gradient,) = torch.autograd.grad(chance.log().sum(), values)
    counts = channel.transducer.edit_counts(gradient * values.detach())
    assert counts is not None
    return counts


class Way(NamedTuple):
    """A way of a channel from an underlying string: what it writes, its probability and its edits."""

    surface: String
    chance: float
    edits: tuple[TokenEdit, ...]


def ways(channel: Channel, underlying: String, longest: int) -> list[Way]:
    """All ways of a channel from a string, one move after the other, without those that write too much."""
    values = {name: value.tolist() for name, value in channel.weights().items()}
    found = []
    for branch in channel.branches():
        reached = [Way(underlying, worth(branch.weight, values), ())]
        for one in branch.passes:
            reached = [
                Way(after.surface, before.chance * after.chance, before.edits + after.edits)
                for before in reached
                for after in pass_ways(one, before.surface, values, longest)
            ]
        found += reached
    return [way for way in found if way.chance > 0]


def worth(names: Iterable[Name], values: Mapping[str, Any]) -> float:
    """The product of some weights."""
    product = 1.0
    for name, *index in names:
        value = values[str(name)]
        for place in index:
            value = value[place]
        product *= value
    return product


def pass_ways(one: Pass, string: String, values: Mapping[str, Any], longest: int) -> Iterator[Way]:
    moves: dict[tuple[Any, int], list[Move]] = {}
    for move in one.moves:
        moves.setdefault((move.source, move.token), []).append(move)
    read = string[::-1] if one.from_right else string
    starts = moves.get((None, START), [Move(None, START, target=one.moves[0].source)])

    def onward(state: Any, left: String, way: Way) -> Iterator[Way]:
        for move in moves[state, left[0] if left else END]:
            more = way_on(way, move)
            if len(more.surface) > longest or more.chance == 0:
                continue
            if move.target is None:
                yield more
            else:
                yield from onward(move.target, left[1:], more)

    def way_on(way: Way, move: Move) -> Way:
        edit = () if move.edit is None else (move.edit.mirrored() if one.from_right else move.edit,)
        chance = way.chance * worth(move.weight, values) * move.factor
        return Way(way.surface + move.written, chance, way.edits + edit)

    for start in starts:
        for way in onward(start.target, read, way_on(Way((), 1.0, ()), start)):
            yield way._replace(surface=way.surface[::-1]) if one.from_right else way
