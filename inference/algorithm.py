"""Algorithm 1 of Li, Wang & Eisner (2019), without matrices: the sum over all T' of a tree, or of all trees.

The paper gives every constituent w an N_i x N_k matrix ::

    IN(w) = sum_(l, r) p(l, r | w) M_i(l) (Mleft 1 Mright) M_k(r)

The matrix in the middle is a column times a row, and a head only multiplies a child's matrix by a vector.  So
the head h carries a row, its half R[h, m] up to slot m, and its next dependent d makes a longer half of it ::

    R[h, k]  +=  sum over l, r of  p(l, r | d)  (R[h, m] M_m(l) Mleft(d))  (Mright(d) M_k(r))

On the left of h it is the same with sides exchanged.  Mleft and Mright are the last halves of d, and
M_m(l) Mleft(d) for all l are its *table*: punctemes that share a part share the work of reading it
(`pyropunct.inference.inventory.Tries`).
"""

from typing import Any, NamedTuple

from numpy.typing import NDArray

from pyropunct.inference.circuit.tape import (
    ADDED,
    CELLS,
    DENSE,
    LEAVES,
    SPARSE,
    TRANSPOSED,
    new_vector,
    record,
    record_leaf,
    record_rescale,
)
from pyropunct.inference.compiling import compiled, spliced

Array = NDArray[Any]


class Chart(NamedTuple):
    """Trees as halves and items (see `pyropunct.inference.packed`), with their automata and punctemes.

    A given tree has one item for each word; a packed forest has many, of which each of its trees has one.

    :ivar item_start: (B + 1,) the first item of each tree; ``half_start``, its first half.
    :ivar outside: (B,) the half of the word outside of each tree, before the root; the next one has the root.
    :ivar near: (I,) the half of an item's dependent on the side of its head; ``far``, on the other side.
    :ivar source: (I,) the half of the head that grows; ``target``, the half that it becomes.
    :ivar meeting: (I,) items with the same source and near half have the same number.
    :ivar node: (I,) the number of an item in a `pyropunct.inference.problem.Problem`; ``pair_place``, (I,),
        where its weights start there.
    :ivar relation: (I,) whose pairs the item has.
    :ivar automaton: (H,) the automaton of the slot where each half ends; ``on_left``, its side of the word.
    :ivar trie: (H,) which trie of punctemes is read at each half, -1 for none.
    :ivar trie_start: (2, tries + 1) where the entries of each trie start, first at the right, then at the
        left; likewise the ``token`` and the ``parent`` of each entry, and ``of_pair``, the entry of each row.
    :ivar pair_start: (D + 1,) the first row of each relation; ``empty_left``, (D,), how many of its rows have
        no left puncteme.
    :ivar state_start: see `pyropunct.inference.machines.automata.Automata`, as for ``arc_start``.
    :ivar arcs: how many arcs there are.  Their weights are the first cells; then come initial and final
        weights, and the number 1.
    """

    item_start: Array
    half_start: Array
    outside: Array
    near: Array
    far: Array
    source: Array
    target: Array
    meeting: Array
    node: Array
    pair_place: Array
    relation: Array
    automaton: Array
    on_left: Array
    trie: Array
    trie_start: Array
    token: Array
    parent: Array
    of_pair: Array
    pair_start: Array
    empty_left: Array
    state_start: Array
    arc_start: Array
    arcs: int
    num_tokens: int
    start_token: int
    end_token: int


class Tables(NamedTuple):
    """Where the vectors of halves lie.

    :ivar cell: (H,) the table of each half; entry 0, for the empty puncteme, is the half itself.
    :ivar entries: (H,) how many entries it has; where nothing can be read, one.
    :ivar is_grown: (H,) whether the table is recorded.
    :ivar met: for each meeting, where s lies, -1 before.
    """

    cell: Array
    entries: Array
    is_grown: Array
    met: Array


@spliced
def _states(chart, half):
    """The number of states at a half: N_i."""
    return chart.state_start[chart.automaton[half] + 1] - chart.state_start[chart.automaton[half]]


@spliced
def _ends(chart, half, final):
    """The cell of the final, or of the initial weights of a half's slot."""
    return chart.arcs + chart.state_start[chart.automaton[half]] + (chart.state_start[-1] if final else 0)


@spliced
def _one(chart):
    """The cell of the number 1."""
    return chart.arcs + 2 * chart.state_start[-1]


@spliced
def _record_token(chart, tape, automaton, token, on_left, before, after):
    """M_i(token) v at the left of a word, v M_i(token) at the right."""
    block = automaton * chart.num_tokens + token
    begin, end = chart.arc_start[block], chart.arc_start[block + 1]
    record(tape, SPARSE, end - begin, begin if on_left else chart.arcs + begin, after, begin, before)


@spliced
def _leaf(chart, tape, tables, half):
    """A half without dependents: final weights at the left of a word, initial ones at the right."""
    states, ends = _states(chart, half), _ends(chart, half, chart.on_left[half])
    if tables.entries[half] == 1:
        tables.cell[half] = ends
    else:
        tables.cell[half] = new_vector(tape, tables.entries[half] * states)
        record(tape, TRANSPOSED, 1, states, tables.cell[half], ends, _one(chart))


@spliced
def _grow(chart, tape, tables, half):
    """The table of a half: M_i(l) Mleft for each l, or Mright M_k(r) for each r."""
    side, states, cell = chart.on_left[half], _states(chart, half), tables.cell[half]
    first = chart.trie_start[side, chart.trie[half]]
    for entry in range(1, tables.entries[half]):
        token, parent = chart.token[side, first + entry], chart.parent[side, first + entry]
        before, after = cell + parent * states, cell + entry * states
        _record_token(chart, tape, chart.automaton[half], token, side, before, after)
    tables.is_grown[half] = True


@spliced
def _pairs(chart, tape, tables, item):
    """p(l, r | d) for all pairs that can be read: a sparse matrix from near to far punctemes."""
    near, far, relation = chart.near[item], chart.far[item], chart.relation[item]
    on_left, first = chart.on_left[near], chart.pair_start[relation]
    nears, fars = tables.entries[near], tables.entries[far]
    rows = chart.pair_start[relation + 1] - first
    if (nears if on_left else fars) == 1:
        rows = 1 if nears == fars else chart.empty_left[relation]
    cell, count = tape.used[CELLS], tape.used[LEAVES]
    for row in range(first, first + rows):
        x, y = chart.of_pair[on_left, row], chart.of_pair[1 - on_left, row]
        if x < nears and y < fars:
            record_leaf(tape, y, x, chart.pair_place[item] + row - first, chart.node[item])
    return cell, tape.used[LEAVES] - count


@spliced
def _attach(chart, tape, tables, item):
    """Attach a dependent to its head: the formula above."""
    near, far, source, target = chart.near[item], chart.far[item], chart.source[item], chart.target[item]
    for half in (near, far):
        if not tables.is_grown[half]:
            _grow(chart, tape, tables, half)
    s = tables.met[chart.meeting[item]]
    if s < 0:
        s = new_vector(tape, tables.entries[near])
        tables.met[chart.meeting[item]] = s
        record(
            tape, DENSE, tables.entries[near], _states(chart, near), s, tables.cell[near], tables.cell[source]
        )
    place = tape.leaf_place + tape.used[LEAVES]
    pairs, count = _pairs(chart, tape, tables, item)
    t = new_vector(tape, tables.entries[far])
    record(tape, SPARSE, count, place, t, pairs, s)
    kind = ADDED
    if tables.cell[target] < 0:
        kind = TRANSPOSED
        tables.cell[target] = new_vector(tape, tables.entries[target] * _states(chart, target))
    record(tape, kind, tables.entries[far], _states(chart, far), tables.cell[target], tables.cell[far], t)


@spliced
def _tree(chart, tape, tables, tree):
    """Algorithm 1; returns the cell of the total."""
    outside, items = chart.outside[tree], chart.item_start[tree + 1]
    for half in range(chart.half_start[tree], outside + 1):
        _leaf(chart, tape, tables, half)
    if chart.start_token >= 0:
        initial, states = _ends(chart, outside, False), _states(chart, outside)
        tables.cell[outside] = new_vector(tape, states)
        _record_token(
            chart, tape, chart.automaton[outside], chart.start_token, 0, initial, tables.cell[outside]
        )
    for item in range(chart.item_start[tree], items):
        target = chart.target[item]
        parts = tables.cell[chart.near[item]], tables.cell[chart.far[item]], tables.cell[chart.source[item]]
        if min(parts) >= 0:  # else no item has made a part: it has been pruned
            _attach(chart, tape, tables, item)
        is_last = item + 1 == items or chart.target[item + 1] != target
        if is_last and tables.cell[target] >= 0:
            record_rescale(tape, tables.cell[target], _states(chart, target))
    top = outside + 1
    end, states = _ends(chart, top, True), _states(chart, top)
    if chart.end_token >= 0:
        past = new_vector(tape, states)
        _record_token(chart, tape, chart.automaton[top], chart.end_token, 1, end, past)
        end = past
    total = new_vector(tape, 1)
    if tables.cell[top] >= 0:
        record(tape, DENSE, 1, states, total, tables.cell[top], end)
    return total


@compiled
def record_trees(chart, tape, tables, first_tree, last_tree, totals):
    """Record Algorithm 1 for some trees; writes the cells of their totals."""
    tape.used[CELLS] = _one(chart) + 1
    for tree in range(first_tree, last_tree):
        totals[tree - first_tree] = _tree(chart, tape, tables, tree)
