"""Best derivations and posterior draws in tensor operations, for whole batches on a GPU.

The way down after `pyropunct.inference.tensors.evidence` has gone up, in maxima for the best derivation, in
sums for draws.  A node is decided once its *leaving state* is known: the state of its slot's automaton at
the edge where its vector leaves it, the left one for left children and roots.  In turn one picks

- its choice, with weight p(l, r | w) s[r] left[l][state];
- its *entering state* at the other edge, with weight right[r][state'] v[state'];
- an arc for each token of its two punctemes, from the edges inward, with weight arc * left[parent][target]
  or right[parent][source]: these lead to the states at the outer edges of its children

(or the same with the sides exchanged).  An entering state is the leaving state of the next sibling
towards the head word, and what the arcs lead to is that of the outermost child.  So nodes whose results
have the same level, in all trees and all draws, are decided together, the last level first.

To pick is to take the first of the greatest weights; for a draw, of the weights divided by exponential
noise, since the greatest of w_i / e_i is the i-th with probability w_i / sum_j w_j.

Source: Li, Wang & Eisner (2019, section 3.1); the noise is that of the Gumbel-max trick.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.inference.inventory import Tries
from pyropunct.inference.problem import Problem
from pyropunct.inference.ragged import Ints
from pyropunct.inference.tensors.evidence import add, evaluate, keep_greatest, leaves_of
from pyropunct.inference.tensors.program import (
    Shape,
    Side,
    choices_of,
    patterns_of,
    program_of,
    shape_of,
)

TERMS = 1 << 22
"""About how many weights are looked at together: more draws than that allows are made in parts."""


def best_derivation(problem: Problem) -> Tensor:
    """The choice of each node in the most probable derivation, (N,).

    The same as `pyropunct.inference.inside.best_derivation`, ties included, on the device of
    ``problem.log_pairs``, and in the greatest precision that pairs and weights have.

    :raises NotImplementedError: if pairs or weights have leading dimensions.
    """
    return _decide(_guide(problem, maximise=True), 1)[0]


def posterior_draws(problem: Problem, draws: int) -> Tensor:
    """Independent draws of T' from p(T' | T, x), (draws, N).

    From the same distribution as `pyropunct.inference.inside.posterior_draws`, with random numbers from
    torch's generator of the device of ``problem.log_pairs``.

    :raises NotImplementedError: if pairs or weights have leading dimensions.
    """
    guide = _guide(problem, maximise=False)
    parts = torch.arange(draws).split(guide.together)
    return torch.cat([_decide(guide, len(part)) for part in parts])


# What there is to be known, on the device.


class _Nodes(NamedTuple):
    """What is to be known of every node, (N,) each.

    :ivar pair: where the weights of its pairs start.
    :ivar first: where the triples of its pairs start.
    :ivar choices: how many of these there are.
    :ivar s: where its vector s starts.
    :ivar vector: where its vector v starts.
    :ivar enter: where the table of the side starts where v enters.
    :ivar enter_states: how many states there are at that side.
    :ivar leave: where the table of the other side starts.
    :ivar leave_states: how many states there are at that other side.
    :ivar leftward: whether it leaves its vector on its left.
    :ivar inner: the next sibling towards the head word, -1 if none.
    """

    pair: Tensor
    first: Tensor
    choices: Tensor
    s: Tensor
    vector: Tensor
    enter: Tensor
    enter_states: Tensor
    leave: Tensor
    leave_states: Tensor
    leftward: Tensor
    inner: Tensor


class _Edge(NamedTuple):
    """One side of every node, (N,) each, and how to get through its puncteme from the edge inward.

    Arcs are sorted by *rows*: an automaton, a token, and a state where one comes from, which is an arc's
    source on the left, its target on the right.

    :ivar table: where the table starts.
    :ivar states: how many states there are.
    :ivar entry: where the entries of the node's relation start in the trie.
    :ivar row: where the rows of its automaton start.
    :ivar outer: the outermost child, -1 if none.
    :ivar token: the token of each entry of the trie.
    :ivar parent: the parent of each entry, counted from the start of the relation.
    :ivar arc_start: where the arcs of each row start, and where the last ones end.
    :ivar arc: the arcs.
    :ivar beyond: the states that they lead to.
    """

    table: Tensor
    states: Tensor
    entry: Tensor
    row: Tensor
    outer: Tensor
    token: Tensor
    parent: Tensor
    arc_start: Tensor
    arc: Tensor
    beyond: Tensor


class _Roots(NamedTuple):
    """The roots of possible trees: their nodes, results, what these are multiplied by, numbers of states."""

    node: Tensor
    top: Tensor
    wall: Tensor
    states: Tensor


class _Guide(NamedTuple):
    """All that is needed to decide.

    :ivar values: all numbers of the problem: sums, or maxima.
    :ivar maximise: which of them.
    :ivar arc: where the weights of arcs start.
    :ivar triples: those of the patterns.
    :ivar waves: nodes that are decided together, in order; none of impossible trees.
    :ivar together: how many derivations can be decided together.
    """

    values: Tensor
    maximise: bool
    arc: int
    triples: Tensor
    nodes: _Nodes
    left: _Edge
    right: _Edge
    roots: _Roots
    waves: Sequence[Tensor]
    together: int


def _guide(problem: Problem, maximise: bool) -> _Guide:
    shape = shape_of(problem)
    patterns, device = patterns_of(shape), problem.log_pairs.device
    leaves = tuple(leaf.detach() for leaf in leaves_of(problem))
    program = program_of(shape, patterns, device)
    (values,), _ = evaluate(program, leaves, put=keep_greatest if maximise else add)
    possible = (values[shape.at.totals] > 0).cpu().numpy()
    root, tries = shape.structure.root, shape.inventory
    roots = [column[possible] for column in (root, shape.at.top, shape.at.wall, shape.left.states[root])]
    first, choices = choices_of(shape, patterns)
    waves = _waves(shape, possible)
    terms = max(int((choices + shape.enter.states)[wave].sum()) for wave in waves)
    return _Guide(
        values,
        maximise,
        shape.at.arc,
        torch.from_numpy(patterns.triples).to(device),
        _nodes(shape, first, choices, device),
        _edge(shape, shape.left, shape.chains.outer_left, tries.left_tries, True, device),
        _edge(shape, shape.right, shape.chains.outer_right, tries.right_tries, False, device),
        _Roots(*_moved(roots, device)),
        torch.from_numpy(np.concatenate(waves)).to(device).split([len(wave) for wave in waves]),
        max(1, TERMS // max(1, terms)),
    )


def _moved(columns: Iterable[NDArray[Any]], device: torch.device) -> list[Tensor]:
    return [torch.from_numpy(column).to(device) for column in columns]


def _waves(shape: Shape, possible: NDArray[np.bool_]) -> list[Ints]:
    """The nodes of possible trees by the level of their results, the last level first."""
    nodes = np.flatnonzero(np.repeat(possible, np.diff(shape.structure.node_start)))
    level = shape.level.out[nodes]
    order = np.argsort(-level, kind="stable")
    return np.split(nodes[order], np.flatnonzero(np.diff(level[order])) + 1)


def _nodes(shape: Shape, first: Ints, choices: Ints, device: torch.device) -> _Nodes:
    at, enter, leave, chains = shape.at, shape.enter, shape.leave, shape.chains
    pair = at.pair + shape.structure.choice_start[:-1]
    columns = [pair, first, choices, at.s, at.vector, enter.table, enter.states, leave.table, leave.states]
    return _Nodes(*_moved([*columns, chains.leftward, chains.inner], device))


def _edge(shape: Shape, side: Side, outer: Ints, tries: Tries, on_left: bool, device: torch.device) -> _Edge:
    structure = shape.structure
    states, tokens = np.diff(structure.state_start), structure.num_tokens
    block = np.repeat(np.arange(len(structure.arc_start) - 1), np.diff(structure.arc_start))
    automaton, token = block // tokens, block % tokens
    ends = (structure.source, structure.target) if on_left else (structure.target, structure.source)
    row = tokens * structure.state_start[automaton] + token * states[automaton] + ends[0]
    arc = np.argsort(row, kind="stable")
    columns = [
        side.table,
        side.states,
        tries.start[structure.relation],
        tokens * structure.state_start[structure.slot_automaton[side.slot]],
        outer,
        tries.token,
        tries.parent,
        np.searchsorted(row[arc], np.arange(tokens * structure.state_start[-1] + 1)),
        arc,
        ends[1][arc],
    ]
    return _Edge(*_moved(columns, device))


# The way down.


def _decide(guide: _Guide, derivations: int) -> Tensor:
    """The choices of all nodes in some derivations, (derivations, N)."""
    choices = guide.nodes.pair.new_full((len(guide.nodes.pair), derivations), -1)
    # The leaving states of all nodes.  What is handed on to no node goes to the last row.
    leaving = choices.new_zeros((len(choices) + 1, derivations))
    leaving[guide.roots.node] = _root_states(guide, derivations)
    for wave in guide.waves:
        node, state = wave.repeat_interleave(derivations), leaving[wave].flatten()
        own = _Nodes(*(column[node] for column in guide.nodes))
        choice, leave, enter = _choose(guide, own, state)
        entered = _enter(guide, own, enter)
        size = len(wave), derivations
        choices[wave] = choice.view(size)
        leaving[guide.nodes.inner[wave]] = entered.view(size)
        for edge, is_left in ((guide.left, own.leftward), (guide.right, ~own.leftward)):
            reached = _walk(guide, edge, node, leave.where(is_left, enter), state.where(is_left, entered))
            leaving[edge.outer[wave]] = reached.view(size)
    return choices.T.contiguous()


def _root_states(guide: _Guide, derivations: int) -> Tensor:
    """The leaving states of the roots, (possible trees, derivations)."""
    _, top, wall, states = (column.repeat_interleave(derivations) for column in guide.roots)
    cell, state = _terms(states)
    picked = _pick(
        guide, cell, len(states), guide.values[top[cell] + state], guide.values[wall[cell] + state]
    )
    return state[picked].view(len(guide.roots.node), derivations)


def _choose(guide: _Guide, own: _Nodes, state: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Choices given leaving states, and their entries in the tables where nodes are left and entered."""
    cell, rank = _terms(own.choices)
    leave, choice, enter = guide.triples[:, own.first[cell] + rank]
    column = (own.leave + state)[cell] + leave * own.leave_states[cell]
    picked = _pick(
        guide,
        cell,
        len(state),
        guide.values[own.pair[cell] + choice],
        guide.values[own.s[cell] + enter],
        guide.values[column],
    )
    return choice[picked], leave[picked], enter[picked]


def _enter(guide: _Guide, own: _Nodes, entry: Tensor) -> Tensor:
    """Entering states, given the entries of the choices there."""
    cell, state = _terms(own.enter_states)
    row = own.enter + entry * own.enter_states
    picked = _pick(
        guide, cell, len(entry), guide.values[row[cell] + state], guide.values[own.vector[cell] + state]
    )
    return state[picked]


def _walk(guide: _Guide, edge: _Edge, node: Tensor, entry: Tensor, state: Tensor) -> Tensor:
    """The states behind punctemes, from their entries and the states at the edges of their nodes."""
    state, reading = state.clone(), torch.arange(len(node), device=node.device)
    while len(reading := reading[entry[reading] > 0]):
        table, states, first, rows, _ = (column[node[reading]] for column in edge[:5])
        place = first + entry[reading]
        parent, row = edge.parent[place], rows + edge.token[place] * states + state[reading]
        start = edge.arc_start[row]
        cell, rank = _terms(edge.arc_start[row + 1] - start)
        number = start[cell] + rank
        arc, beyond = edge.arc[number], edge.beyond[number]
        column = guide.values[(table + parent * states)[cell] + beyond]
        picked = _pick(guide, cell, len(reading), guide.values[guide.arc + arc], column)
        entry = entry.index_copy(0, reading, parent)
        state[reading] = beyond[picked]
    return state


def _terms(count: Tensor) -> tuple[Tensor, Tensor]:
    """Cell and rank of each term, of some cells that have so many terms."""
    cell = torch.repeat_interleave(count)
    return cell, torch.arange(len(cell), device=count.device) - (count.cumsum(0) - count)[cell]


def _pick(guide: _Guide, cell: Tensor, cells: int, *factors: Tensor) -> Tensor:
    """For each cell one of its terms, (cells,): the first of the greatest weight, or a draw.

    :param cell: the cell of each term.
    :param factors: the weights of all terms are the products of these.
    """
    # Of single precision, a product may be too small for it though no factor is zero.
    weight = factors[0].double()
    for factor in factors[1:]:
        weight = weight * factor
    if not guide.maximise:
        weight = weight / torch.empty_like(weight).exponential_()
    greatest = weight.new_zeros(cells).scatter_reduce_(0, cell, weight, "amax")
    place = torch.arange(len(cell), device=cell.device)
    place = place.where(weight == greatest[cell], len(cell))
    return place.new_full((cells,), len(cell)).scatter_reduce_(0, cell, place, "amin")
