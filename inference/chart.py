"""Given trees and packed forests as one chart of halves and items, and Algorithm 1 recorded for it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyropunct.inference.algorithm import Chart, Tables, record_trees
from pyropunct.inference.circuit.program import Program, finished, room
from pyropunct.inference.inventory import Tries
from pyropunct.inference.items import OF_FOREST, list_halves
from pyropunct.inference.packed import PackedForest
from pyropunct.inference.problem import Problem

Array = NDArray[Any]

OF_ITEMS = ("near", "far", "source", "target", "meeting")
"""The columns of a `Chart` that say which halves items join."""


def chart_of(problem: Problem) -> Chart:
    """The chart of a problem."""
    inventory, automata, slots = problem.inventory, problem.automata, problem.slot_automaton.cpu().numpy()
    relation = problem.relation.cpu().numpy()
    columns: dict[str, Array]
    if isinstance(problem.forest, PackedForest):
        columns, tries = _of_packed(problem.forest), inventory.whole_tries
    else:
        columns, tries = _of_trees(problem.forest, relation), (inventory.left_tries, inventory.right_tries)
    node, half_slot = columns["node"], columns.pop("half_slot")
    left, right = tries
    return Chart(
        **columns,
        pair_place=problem.choice_start[node],
        relation=relation[node],
        automaton=slots[half_slot],
        **_side_by_side(right, left),
        pair_start=inventory.pair_start,
        empty_left=inventory.empty_left,
        state_start=automata.state_start,
        arc_start=automata.arc_start,
        arcs=len(automata.source),
        num_tokens=automata.num_tokens,
        start_token=-1 if inventory.start_token is None else inventory.start_token,
        end_token=-1 if inventory.end_token is None else inventory.end_token,
    )


def _of_packed(forest: PackedForest) -> dict[str, Array]:
    names = (*OF_ITEMS, "item_start", "half_start", "half_slot", "on_left")
    columns = {name: getattr(forest, name).cpu().numpy() for name in names}
    words = forest.node_start.diff().cpu().numpy()
    return {
        **columns,
        "outside": columns["half_start"][:-1] + 2 * words,
        "node": np.arange(forest.num_nodes),
        "trie": np.zeros(len(columns["on_left"]), np.int64),
    }


def _of_trees(forest: Any, relation: Array) -> dict[str, Array]:
    """A tree of n words has 3n + 1 halves: a word has two, and each but the root makes one of its head."""
    start, nodes = forest.node_start.cpu().numpy(), forest.num_nodes
    half_start = 3 * start + np.arange(len(start))
    items, halves = np.empty((6, nodes), np.int64), np.empty((3, half_start[-1]), np.int64)
    columns = tuple(getattr(forest, name).cpu().numpy() for name in OF_FOREST)
    list_halves(columns, start, half_start, relation, items, halves)
    return {
        "item_start": start,
        "half_start": half_start,
        "outside": half_start[:-1] + 2 * np.diff(start),
        **dict(zip((*OF_ITEMS, "node"), items, strict=True)),
        **dict(zip(("half_slot", "on_left", "trie"), halves, strict=True)),
    }


def _side_by_side(*tries: Tries) -> dict[str, Array]:
    """The tries of both sides as the fields of a `Chart`."""

    def stacked(rows: list[Array]) -> Array:
        longest = max(map(len, rows))
        return np.stack([np.pad(row, (0, longest - len(row))) for row in rows])

    return {
        "trie_start": np.stack([trie.start for trie in tries]),
        "token": stacked([trie.token for trie in tries]),
        "parent": stacked([trie.parent for trie in tries]),
        "of_pair": np.stack([trie.of_pair for trie in tries]),
    }


def recorded(problem: Problem, chart: Chart, first: int, last: int) -> Program:
    """Algorithm 1 for some trees: given are the weights of arcs, initial and final weights, and 1."""
    automata = problem.automata
    halves, items = slice(*chart.half_start[[first, last]]), slice(*chart.item_start[[first, last]])
    length = chart.trie_start[chart.on_left, chart.trie + 1] - chart.trie_start[chart.on_left, chart.trie]
    is_read = np.diff(chart.arc_start[:: chart.num_tokens]) > 0
    entries = np.where(is_read[chart.automaton] & (chart.trie >= 0), length, 1)
    near, far = entries[chart.near[items]], entries[chart.far[items]]
    pairs = np.where((near > 1) | (far > 1), np.diff(chart.pair_start)[chart.relation[items]], 1)
    # A step for each entry of a table, four to attach a dependent, four to begin and end a tree.
    steps = int(entries[halves].sum()) + 4 * len(near) + 4 * (last - first)
    rows, columns = (automata.source, automata.target), (automata.target, automata.source)
    tape = room(steps, int(pairs.sum()), np.concatenate(rows), np.concatenate(columns))
    count = len(entries)
    none = np.full(count, -1), entries, np.zeros(count, np.bool_), np.full(int(chart.meeting.max()) + 1, -1)
    totals = np.empty(last - first, np.int64)
    record_trees(chart, tape, Tables(*none), first, last, totals)
    return finished(tape, totals)
