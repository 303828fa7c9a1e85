"""The kernels of many forward draws, each against a few lines of plain Python."""

import itertools

import numpy as np
import pytest
from brute_force import Pair, String, descendants, projective_trees, underlying_strings
from problems import PAIRS, inventory, walls

from pyropunct.inference import forward
from pyropunct.inference.forest import Forest, forest_of
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.machines.sampling import Sampler, sampler
from pyropunct.inference.numbering import Strings, renumber
from pyropunct.models.channel.noisy_channel import Identity

TREES = [heads for words in range(1, 5) for heads in projective_trees(words)]
NODES = sum(map(len, TREES))


def numbered(strings: Strings, some: list[String]) -> np.ndarray:
    lengths = np.array([len(string) for string in some], np.int64)
    return strings.number(lengths, np.array([token for string in some for token in string], np.int32))


def some_strings(size: int, seed: int) -> list[String]:
    rng = np.random.default_rng(seed)
    return [tuple(rng.integers(0, 3, rng.integers(0, 4)).tolist()) for _ in range(size)]


def test_equal_numbers_for_equal_strings_alone() -> None:
    strings, seen = Strings(), {(): 0}
    for seed in range(3):
        some = some_strings(40, seed)
        for string, number in zip(some, numbered(strings, some).tolist(), strict=True):
            assert seen.setdefault(string, number) == number
            assert strings.tokens(number) == string
    assert len(set(seen.values())) == len(seen) > 20
    assert max(seen.values()) < len(strings)
    assert numbered(strings, []).tolist() == []


def inside(heads: list[int], word: int) -> range:
    """The slots strictly inside the constituent of a word, counted within its tree."""
    below = descendants(heads, word)
    return range(min(below), max(below))


def test_marks_inside() -> None:
    forest, strings = forest_of(TREES), Strings()
    slots, draws = forest.num_slots, 3
    shown = some_strings(slots * draws, 1)
    numbers = numbered(strings, shown).reshape(slots, draws)
    node, draw = (axis.ravel() for axis in np.mgrid[:NODES, :draws])
    start, token, slot = strings.marks(forward.trees_of(forest), numbers, node, draw)
    for view in range(len(node)):
        tree = int(forest.tree[node[view]])
        first = int(forest.slot_start[tree])
        word = int(node[view] - forest.node_start[tree]) + 1
        expected = [
            (mark, first + place)
            for place in inside(TREES[tree], word)
            for mark in shown[(first + place) * draws + draw[view]]
        ]
        here = slice(start[view], start[view + 1])
        assert list(zip(token[here].tolist(), slot[here].tolist(), strict=True)) == expected


def empty_tables(forest: Forest, draws: int) -> forward.DrawTables:
    """So many draws of all trees, without chance."""
    nodes, slots = forest.num_nodes, forest.num_slots
    return forward.tables_for(
        np.full(nodes, draws),
        np.full(slots, draws),
        np.zeros((nodes, draws)),
        np.zeros((slots, draws), np.uint64),
    )


@pytest.mark.parametrize("draws", [1, 7, 64])
def test_groups_of_draws(draws: int) -> None:
    """In the order of their first draws."""
    forest = forest_of(TREES)
    numbers = np.random.default_rng(draws).integers(0, 3, (forest.num_slots, draws), dtype=np.int32)
    own = np.where(np.arange(NODES) < NODES // 2, draws, draws // 2 + 1)  # trees are drawn more or less often
    own = own[forest.root.numpy()][forest.tree.numpy()]
    groups, sizes = np.full((NODES, draws), 99, np.int32), np.ones(NODES, np.int64)
    tables = empty_tables(forest, draws)._replace(
        node_draws=own, numbers=numbers, groups=groups, group_sizes=sizes
    )
    for height in range(5):
        nodes = np.flatnonzero(forest.height.numpy() == height)
        middle = len(nodes) // 2
        for first, last in ((0, middle), (middle, len(nodes))):
            forward.group_draws(forward.trees_of(forest), tables, nodes[first:last])
    firsts = []
    for tree, heads in enumerate(TREES):
        for word in range(1, len(heads) + 1):
            slots = [int(forest.slot_start[tree]) + place for place in inside(heads, word)]
            seen: dict[tuple[int, ...], int] = {}
            node = int(forest.node_start[tree]) + word - 1
            keys = [tuple(column) for column in numbers[slots, : own[node]].T.tolist()]
            expected = [seen.setdefault(key, len(seen)) for key in keys]
            assert groups[node].tolist() == expected + [99] * (draws - own[node])
            assert sizes[node] == len(seen)
            firsts += [keys.index(key) for key in seen]
    assert forward.first_draws(tables, np.arange(NODES)).tolist() == firsts


def test_pairs_are_chosen_by_their_sums() -> None:
    """Node 0 has three pairs and one group, node 1 has four and two, the last of them impossible."""
    rng, draws = np.random.default_rng(0), 500
    scores = [3 * rng.standard_normal(3), 3 * rng.standard_normal(4), 3 * rng.standard_normal(4)]
    scores[1][2] = scores[2][3] = -np.inf
    uniform = rng.random((2, draws))
    uniform[:, :2] = 0, np.nextafter(1, 0)
    groups = rng.integers(0, [[1], [2]], (2, draws), dtype=np.int32)
    tables = empty_tables(forest_of([[2, 0]]), draws)
    tables = tables._replace(uniform=uniform, groups=groups, node_draws=np.array([draws, draws - 1]))
    starts = np.array([0, 3, 7, 11]), np.array([0, 1, 3])
    forward.choose(tables, forward.Scores(np.concatenate(scores), *starts, np.array([10, 20])), np.arange(2))
    rows = tables.rows
    assert rows[1, -1] == 0  # is no draw
    for node, draw in [*itertools.product(range(2), range(draws))][:-1]:
        weights = np.exp(scores[node + groups[node, draw]])
        sums = np.cumsum(weights / weights.sum())
        chosen = rows[node, draw] - 10 * (node + 1)
        assert weights[chosen] > 0
        assert sums[chosen] >= uniform[node, draw] - 1e-12
        assert chosen == 0 or sums[chosen - 1] <= uniform[node, draw] + 1e-12


def machine(num_tokens: int) -> Sampler:
    """Shows the underlying string."""
    channel = Identity(num_tokens)
    return sampler(channel.transducer, channel.probabilities())


def shown(some: Inventory, trees: list[list[int]], rows: np.ndarray, parts: int) -> list[list[String]]:
    """The surface strings of each draw, drawn in several parts."""
    forest, draws = forest_of(trees), rows.shape[1]
    tables = empty_tables(forest, draws)._replace(rows=rows)
    borders = [forest.num_slots * part // parts for part in range(parts + 1)]
    result: list[String] = []
    for first, last in itertools.pairwise(borders):
        lengths, tokens = forward.rewrite(
            forward.trees_of(forest),
            forward.punctemes_of(some),
            machine(some.num_tokens),
            tables,
            np.arange(first, last),
        )
        ends = np.cumsum(lengths)
        assert ends[-1] == len(tokens)
        result += [
            tuple(tokens[end - length : end].tolist()) for length, end in zip(lengths, ends, strict=True)
        ]
    return [result[draw::draws] for draw in range(draws)]


@pytest.mark.parametrize("ends", [(0, None), (None, None), (1, 2), (None, 0)])
@pytest.mark.parametrize("parts", [1, 3])
def test_underlying_strings(ends: tuple[int | None, int | None], parts: int) -> None:
    some, draws = inventory(*ends), 4
    rng = np.random.default_rng(1)
    rows = rng.integers(0, len(some.rows), (NODES, draws)).astype(np.int32)
    found = shown(some, TREES, rows, parts)
    for draw in range(draws):
        pairs: list[Pair] = [some.rows[row] for row in rows[:, draw]]
        expected, first = [], 0
        for heads in TREES:
            expected += underlying_strings(heads, pairs[first : first + len(heads)], *walls(some))
            first += len(heads)
        assert found[draw] == expected


def test_long_strings() -> None:
    """There is always room."""
    long = tuple(np.random.default_rng(0).integers(0, 3, 700).tolist())
    some = Inventory(3, [[*PAIRS[0], (long, long[::-1])]])
    rows = np.array([[1, 2, 2], [2, 2, 0]], np.int32)
    pairs = [[some.rows[row] for row in column] for column in rows.T]
    assert shown(some, [[0, 1]], rows, 1) == [underlying_strings([0, 1], column) for column in pairs]


def test_numbers_by_first_occurrence() -> None:
    numbers, old = renumber(np.array([[5, 5, 0], [2, 0, 5]], np.int32), 6)
    assert old.tolist() == [5, 2, 0]
    assert numbers.tolist() == [[0, 1], [0, 2], [2, 0]]
    assert numbers.dtype == np.int32
