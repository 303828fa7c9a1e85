"""Given trees and packed forests as one chart of halves and items, and Algorithm 1 recorded for it."""

from typing import Any

import numpy as np

from pyropunct.inference.algorithm import LABEL, Chart, HalfTables, record_trees
from pyropunct.inference.circuit.program import Program, finished, room
from pyropunct.inference.inventory import Tries
from pyropunct.inference.items import OF_FOREST, list_halves
from pyropunct.inference.packed import PackedForest
from pyropunct.inference.parts import Parts
from pyropunct.inference.problem import Problem
from pyropunct.inference.ragged import Array

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
    half_slot, (left, right) = columns.pop("half_slot"), tries
    return Chart(
        **columns,
        **_pairs(problem, relation, columns, np.stack([right.of_pair, left.of_pair])),
        automaton=slots[half_slot],
        **_joined_tries(right, left),
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


def _pairs(problem: Problem, relation: Array, columns: dict[str, Array], of_pair: Array) -> dict[str, Array]:
    """The columns of a `Chart` about pairs and labels.

    The pairs of nodes that may have parts stand behind all others in ``of_pair``, with these parts.
    """
    inventory, parts, node = problem.inventory, problem.parts, columns["node"]
    pair_first, pair_count = inventory.pair_start[relation[node]], problem.sizes[node]
    halves, items = len(columns["on_left"]), len(node)
    made_by = np.full(halves, -1)
    made_by[columns["target"]] = np.arange(items)
    label = np.zeros((0, 3), np.int64)
    if parts is not None and len(parts.node):
        item = np.argsort(node)
        near, far = (columns[name][item][parts.node.numpy()] for name in ("near", "far"))
        label, at_left, at_right = _labels(parts, near, far, columns["on_left"])
        for place, own in zip(item[list(parts.of_node)], parts.of_node.values(), strict=True):
            first, size = pair_first[place], pair_count[place]
            more = np.stack([at_right[own], at_left[own]]) * LABEL
            blocks = of_pair[:, None, first : first + size] + np.pad(more, ((0, 0), (1, 0)))[:, :, None]
            pair_first[place], pair_count[place] = of_pair.shape[1], blocks[0].size
            of_pair = np.concatenate([of_pair, blocks.reshape(2, -1)], axis=1)
    return {
        "label_start": np.searchsorted(label[:, 0], np.arange(halves + 1)),
        "label_token": label[:, 1],
        "label_out": label[:, 2],
        "made_by": made_by,
        "of_pair": of_pair,
        "pair_place": problem.choice_start[node],
        "pair_first": pair_first,
        "pair_count": pair_count,
        "empty_left": inventory.empty_left[relation[node]],
    }


def _labels(parts: Parts, near: Array, far: Array, on_left: Array) -> tuple[Array, Array, Array]:
    """(labels, 3) the half, the mark and the dependents outside of each label, sorted by halves.

    Also returns the number of each part's left and of its right label among those of its half, from 1.

    :param near: for each part, the half of its node on the side of the head; ``far``, on the other side.
    """
    is_near = on_left[near] == 1
    left_mark, right_mark = parts.marks.numpy()[parts.kind.numpy()].T
    sides = (
        [np.where(is_near, near, far), left_mark, parts.left_out.numpy()],
        [np.where(is_near, far, near), right_mark, parts.right_out.numpy()],
    )
    label, place = np.unique(np.concatenate(sides, 1).T, axis=0, return_inverse=True)
    number = 1 + place - np.searchsorted(label[:, 0], label[place, 0])
    at_left, at_right = number.reshape(2, -1)
    return label, at_left, at_right


def _joined_tries(*tries: Tries) -> dict[str, Array]:
    """The tries of both sides as the fields of a `Chart`."""

    def stacked(rows: list[Array]) -> Array:
        longest = max(map(len, rows))
        return np.stack([np.pad(row, (0, longest - len(row))) for row in rows])

    return {
        "trie_start": np.stack([trie.start for trie in tries]),
        "token": stacked([trie.token for trie in tries]),
        "parent": stacked([trie.parent for trie in tries]),
    }


def recorded(problem: Problem, chart: Chart, first: int, last: int) -> Program:
    """Algorithm 1 for some trees: given are the weights of arcs, initial and final weights, and 1."""
    automata = problem.automata
    halves, items = slice(*chart.half_start[[first, last]]), slice(*chart.item_start[[first, last]])
    length = chart.trie_start[chart.on_left, chart.trie + 1] - chart.trie_start[chart.on_left, chart.trie]
    is_read = np.diff(chart.arc_start[:: chart.num_tokens]) > 0
    entries = np.where(is_read[chart.automaton] & (chart.trie >= 0), length, 1)
    labels = np.diff(chart.label_start)
    rows = entries * (1 + labels)
    near, far = rows[chart.near[items]], rows[chart.far[items]]
    pairs = np.where((near > 1) | (far > 1), chart.pair_count[items], 1)
    # A step for each row of a table, four to attach a dependent, four to begin and end a tree.
    steps = int(rows[halves].sum()) + 4 * len(near) + 4 * (last - first)
    of_labels = chart.label_out[slice(*chart.label_start[[halves.start, halves.stop]])]
    steps += int((1 + 4 * of_labels).sum())
    forward, backward = (automata.source, automata.target), (automata.target, automata.source)
    tape = room(steps, int(pairs.sum()), np.concatenate(forward), np.concatenate(backward))
    count = len(entries)
    met, of_items = np.full(int(chart.meeting.max()) + 1, -1), np.empty((len(chart.node), 3), np.int64)
    tables = HalfTables(np.full(count, -1), entries, np.zeros(count, np.bool_), met, of_items)
    totals = np.empty(last - first, np.int64)
    record_trees(chart, tape, tables, first, last, totals)
    return finished(tape, totals)
