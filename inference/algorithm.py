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

from typing import NamedTuple

from pyropunct.inference.circuit.tape import (
    ADDED,
    CELLS,
    DENSE,
    LEAVES,
    SPARSE,
    TRANSPOSED,
    Tape,
    new_vector,
    record,
    record_align,
    record_leaf,
    record_rescale,
)
from pyropunct.inference.compiling import compiled, inner, spliced
from pyropunct.inference.ragged import Ints


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
    :ivar automaton: (H,) the automaton of the slot where each half ends; ``on_left``, its side of the word.
    :ivar trie: (H,) which trie of punctemes is read at each half, -1 for none.
    :ivar trie_start: (2, tries + 1) where the entries of each trie start, at the right and at the left.
    :ivar token: the token of each entry, at the right and at the left; ``parent``, the entry before it.
    :ivar of_pair: the entry of each pair, plus `LABEL` times its label, at the right and at the left.
    :ivar pair_first: (I,) where the pairs of an item start in ``of_pair``; ``pair_count``, (I,), how many it
        has; ``empty_left``, (I,), how many of them have no left puncteme: these are the first.
    :ivar label_start: (H + 1,) the first mark of each half around a part of the constituent, see
        `pyropunct.inference.parts`; ``label_token``, the mark; ``label_out``, how many dependents stand
        outside.
    :ivar made_by: (H,) the item whose target a half is; used where there are labels, of given trees.
    :ivar state_start: see `pyropunct.inference.machines.automata.Automata`, as for ``arc_start``.
    :ivar arcs: how many arcs there are.  Their weights are the first cells; then come initial and final
        weights, and the number 1.
    """

    item_start: Ints
    half_start: Ints
    outside: Ints
    near: Ints
    far: Ints
    source: Ints
    target: Ints
    meeting: Ints
    node: Ints
    pair_place: Ints
    automaton: Ints
    on_left: Ints
    trie: Ints
    trie_start: Ints
    token: Ints
    parent: Ints
    of_pair: Ints
    pair_first: Ints
    pair_count: Ints
    empty_left: Ints
    label_start: Ints
    label_token: Ints
    label_out: Ints
    made_by: Ints
    state_start: Ints
    arc_start: Ints
    arcs: int
    num_tokens: int
    start_token: int
    end_token: int


class HalfTables(NamedTuple):
    """Where the vectors of halves lie.

    :ivar cell: (H,) the table of each half; entry 0, for the empty puncteme, is the half itself.  Behind it
        is a table for each label.
    :ivar entries: (H,) how many entries a table has; where nothing can be read, one.
    :ivar is_grown: (H,) whether the tables are recorded.
    :ivar met: for each meeting, where s lies, -1 before.
    :ivar pairs: (I, 3) the cell, the number and the place of the pairs of each item.
    """

    cell: Ints
    entries: Ints
    is_grown: Ints
    met: Ints
    pairs: Ints


LABEL = 1 << 16
"""A pair whose puncteme has entry e behind label k has the number e + k LABEL."""


@spliced
def _rows(chart: Chart, tables: HalfTables, half: int) -> int:
    """How many rows the tables of a half have together."""
    return tables.entries[half] * (1 + chart.label_start[half + 1] - chart.label_start[half])


@spliced
def _states(chart: Chart, half: int) -> int:
    """The number of states at a half: N_i."""
    return chart.state_start[chart.automaton[half] + 1] - chart.state_start[chart.automaton[half]]


@spliced
def _ends(chart: Chart, half: int, final: int) -> int:
    """The cell of the final, or of the initial weights of a half's slot."""
    return chart.arcs + chart.state_start[chart.automaton[half]] + (chart.state_start[-1] if final else 0)


@spliced
def _one(chart: Chart) -> int:
    """The cell of the number 1."""
    return chart.arcs + 2 * chart.state_start[-1]


@spliced
def _record_token(
    chart: Chart, tape: Tape, automaton: int, token: int, on_left: int, before: int, after: int
) -> None:
    """M_i(token) v at the left of a word, v M_i(token) at the right."""
    block = automaton * chart.num_tokens + token
    begin, end = chart.arc_start[block], chart.arc_start[block + 1]
    record(tape, SPARSE, end - begin, begin if on_left else chart.arcs + begin, after, begin, before)


@spliced
def _leaf(chart: Chart, tape: Tape, tables: HalfTables, half: int) -> None:
    """A half without dependents: final weights at the left of a word, initial ones at the right."""
    states, ends = _states(chart, half), _ends(chart, half, chart.on_left[half])
    if _rows(chart, tables, half) == 1:
        tables.cell[half] = ends
    else:
        tables.cell[half] = new_vector(tape, _rows(chart, tables, half) * states)
        record(tape, TRANSPOSED, 1, states, tables.cell[half], ends, _one(chart))


@spliced
def _read_trie(chart: Chart, tape: Tape, tables: HalfTables, half: int, cell: int) -> None:
    """The table behind its entry 0: M_i(l) v for each l at the left of a word, v M_i(r) at the right."""
    side, states, first = chart.on_left[half], _states(chart, half), 0
    if tables.entries[half] > 1:
        first = chart.trie_start[side, chart.trie[half]]
    for entry in range(1, tables.entries[half]):
        token, parent = chart.token[side, first + entry], chart.parent[side, first + entry]
        before, after = cell + parent * states, cell + entry * states
        _record_token(chart, tape, chart.automaton[half], token, side, before, after)


@spliced
def _enter(chart: Chart, tape: Tape, tables: HalfTables, near: int, vector: int) -> int:
    """s[l] = R[h, m] M_m(l) Mleft(d), for a vector R[h, m] and all rows of the near half."""
    s = new_vector(tape, _rows(chart, tables, near))
    record(tape, DENSE, _rows(chart, tables, near), _states(chart, near), s, tables.cell[near], vector)
    return s


@spliced
def _leave(chart: Chart, tape: Tape, tables: HalfTables, item: int, s: int, kind: int, out: int) -> None:
    """t[r] = sum over l of p(l, r | d) s[l]; the sum over r of t[r] Mright(d) M_k(r) goes to a target."""
    far, pairs = chart.far[item], tables.pairs[item]
    t = new_vector(tape, _rows(chart, tables, far))
    record(tape, SPARSE, pairs[1], pairs[2], t, pairs[0], s)
    record(tape, kind, _rows(chart, tables, far), _states(chart, far), out, tables.cell[far], t)


@inner
def _label(chart: Chart, tape: Tape, tables: HalfTables, half: int, label: int, cell: int) -> None:
    """Record a half with a mark inside, so that its outermost dependents stand outside of the mark."""
    side, outside, source = chart.on_left[half], chart.label_out[label], half
    for _ in range(outside):
        source = chart.source[chart.made_by[source]]
    vector = cell if outside == 0 else new_vector(tape, _states(chart, source))
    automaton = chart.automaton[source]
    _record_token(chart, tape, automaton, chart.label_token[label], side, tables.cell[source], vector)
    for number in range(outside - 1, -1, -1):
        target = half
        for _ in range(number):
            target = chart.source[chart.made_by[target]]
        item, states = chart.made_by[target], _states(chart, target)
        s = _enter(chart, tape, tables, chart.near[item], vector)
        vector = cell if number == 0 else new_vector(tape, states)
        _leave(chart, tape, tables, item, s, TRANSPOSED, vector)
        record_align(tape, vector, states, tables.cell[target])


@spliced
def _grow(chart: Chart, tape: Tape, tables: HalfTables, half: int) -> None:
    """The tables of a half."""
    size = tables.entries[half] * _states(chart, half)
    _read_trie(chart, tape, tables, half, tables.cell[half])
    for number in range(chart.label_start[half + 1] - chart.label_start[half]):
        cell = tables.cell[half] + (number + 1) * size
        _label(chart, tape, tables, half, chart.label_start[half] + number, cell)
        _read_trie(chart, tape, tables, half, cell)
    tables.is_grown[half] = True


@spliced
def _pairs(chart: Chart, tape: Tape, tables: HalfTables, item: int) -> None:
    """p(l, r | d) for all pairs that can be read: a sparse matrix from near to far punctemes."""
    near, far, first = chart.near[item], chart.far[item], chart.pair_first[item]
    on_left, nears, fars = chart.on_left[near], tables.entries[near], tables.entries[far]
    count, cell, leaves = chart.pair_count[item], tape.used[CELLS], tape.used[LEAVES]
    has_labels = _rows(chart, tables, near) > nears or _rows(chart, tables, far) > fars
    if not has_labels and (nears if on_left else fars) == 1:
        count = 1 if nears == fars else chart.empty_left[item]
    for choice in range(count):
        x, y = chart.of_pair[on_left, first + choice], chart.of_pair[1 - on_left, first + choice]
        if x % LABEL < nears and y % LABEL < fars:
            row, column = y // LABEL * fars + y % LABEL, x // LABEL * nears + x % LABEL
            record_leaf(tape, row, column, chart.pair_place[item] + choice, chart.node[item])
    pairs = tables.pairs[item]
    pairs[0], pairs[1], pairs[2] = cell, tape.used[LEAVES] - leaves, tape.leaf_place + leaves


@spliced
def _attach(chart: Chart, tape: Tape, tables: HalfTables, item: int) -> None:
    """Attach a dependent to its head: the formula above."""
    near, far, source, target = chart.near[item], chart.far[item], chart.source[item], chart.target[item]
    for half in (near, far):
        if not tables.is_grown[half]:
            _grow(chart, tape, tables, half)
    _pairs(chart, tape, tables, item)
    s = tables.met[chart.meeting[item]]
    if s < 0:
        s = _enter(chart, tape, tables, near, tables.cell[source])
        tables.met[chart.meeting[item]] = s
    kind = ADDED
    if tables.cell[target] < 0:
        kind = TRANSPOSED
        tables.cell[target] = new_vector(tape, _rows(chart, tables, target) * _states(chart, target))
    _leave(chart, tape, tables, item, s, kind, tables.cell[target])


@spliced
def _tree(chart: Chart, tape: Tape, tables: HalfTables, tree: int) -> int:
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
def record_trees(
    chart: Chart, tape: Tape, tables: HalfTables, first_tree: int, last_tree: int, totals: Ints
) -> None:
    """Record Algorithm 1 for some trees; writes the cells of their totals."""
    tape.used[CELLS] = _one(chart) + 1
    for tree in range(first_tree, last_tree):
        totals[tree - first_tree] = _tree(chart, tape, tables, tree)
