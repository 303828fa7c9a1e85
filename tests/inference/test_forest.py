import itertools
from collections.abc import Sequence

import pytest
import torch
from brute_force import descendants, is_projective_tree, projective_trees

from pyropunct.inference.forest import Forest, forest_of


@pytest.mark.parametrize(("words", "count"), [(1, 1), (2, 2), (3, 7), (4, 30), (5, 143)])
def test_number_of_projective_trees(words: int, count: int) -> None:
    assert len(projective_trees(words)) == count


@pytest.mark.parametrize("words", [1, 2, 3, 4])
def test_exactly_the_projective_trees_make_a_forest(words: int) -> None:
    for heads in itertools.product(range(words + 1), repeat=words):
        if is_projective_tree(heads):
            assert forest_of([heads]).num_nodes == words
        else:
            with pytest.raises(ValueError, match=r"root|cycle|span"):
                forest_of([heads])


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([], "exactly one root"),
        ([0, 0], "exactly one root, this one of 2 words has 2"),
        ([2, 1], "exactly one root, this one of 2 words has 0"),
        ([0, 3, 2], "cycle"),
        ([0, 2], "cycle"),
        ([0, 3], "word 2 has head 3, but the tree has 2 words"),
        ([-1, 0], "word 1 has head -1"),
        ([3, 4, 0, 3], "word 4 is not one span"),
        ([3, 0, 2, 1], "constituent of word 1 is not one span"),
    ],
)
def test_what_is_no_tree(heads: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        forest_of([[0], heads])


@pytest.mark.parametrize("words", [1, 2, 3, 4, 5])
def test_shapes_of_all_trees(words: int) -> None:
    for heads in projective_trees(words):
        check_shape(forest_of([heads]), heads)


def check_shape(forest: Forest, heads: Sequence[int]) -> None:
    """Compare a forest of one tree with the definitions."""
    words = range(1, len(heads) + 1)
    below = [descendants(heads, word) for word in words]
    height = [max(distance(heads, word, other) for other in below[word - 1]) for word in words]
    children = [[child - 1 for child in words if heads[child - 1] == word] for word in words]
    assert forest.head.tolist() == [head - 1 for head in heads]
    assert forest.root.tolist() == [list(heads).index(0)]
    assert forest.left_slot.tolist() == [min(some) - 1 for some in below]
    assert forest.word_slot.tolist() == list(words)
    assert forest.right_slot.tolist() == [max(some) for some in below]
    assert forest.height.tolist() == height
    assert forest.depth.tolist() == [distance(heads, list(heads).index(0) + 1, word) for word in words]
    assert of_each(forest.left_child_start, forest.left_child) == [
        [child for child in some if child < word] for word, some in enumerate(children)
    ]
    assert of_each(forest.right_child_start, forest.right_child) == [
        [child for child in some if child > word] for word, some in enumerate(children)
    ]
    order = forest.bottom_up.tolist()
    assert sorted(order) == list(range(len(heads)))
    assert all(
        order.index(child) < order.index(word) for word in range(len(heads)) for child in children[word]
    )
    holders = [
        [height[word] for word, some in enumerate(below) if min(some) <= slot < max(some)]
        for slot in range(len(heads) + 1)
    ]
    assert forest.closing_height.tolist() == [min(some, default=max(height) + 1) for some in holders]


def distance(heads: Sequence[int], ancestor: int, word: int) -> int:
    """The number of arcs from an ancestor down to a word."""
    steps = 0
    while word != ancestor:
        word, steps = heads[word - 1], steps + 1
    return steps


def of_each(start: torch.Tensor, values: torch.Tensor) -> list[list[int]]:
    return [values[a:b].tolist() for a, b in itertools.pairwise(start.tolist())]


def test_trees_side_by_side_keep_their_shapes() -> None:
    trees = [heads for words in (3, 1, 4, 2) for heads in projective_trees(words)]
    together = forest_of(trees)
    assert (together.num_trees, together.num_nodes, together.num_slots) == (40, 146, 186)
    for number, heads in enumerate(trees):
        check_shape(one_of(together, number), heads)


def one_of(forest: Forest, number: int) -> Forest:
    """Cut one tree out of a forest."""
    first, last = forest.node_start[number : number + 2].tolist()
    slot, last_slot = forest.slot_start[number : number + 2].tolist()
    assert forest.tree[first:last].eq(number).all()
    left = forest.left_child_start[first : last + 1]
    right = forest.right_child_start[first : last + 1]
    head = forest.head[first:last]
    return Forest(
        node_start=torch.tensor([0, last - first]),
        slot_start=torch.tensor([0, last_slot - slot]),
        tree=torch.zeros(last - first, dtype=torch.long),
        head=torch.where(head < 0, head, head - first),
        root=forest.root[number : number + 1] - first,
        left_slot=forest.left_slot[first:last] - slot,
        word_slot=forest.word_slot[first:last] - slot,
        right_slot=forest.right_slot[first:last] - slot,
        height=forest.height[first:last],
        depth=forest.depth[first:last],
        left_child_start=left - left[0],
        left_child=forest.left_child[left[0] : left[-1]] - first,
        right_child_start=right - right[0],
        right_child=forest.right_child[right[0] : right[-1]] - first,
        bottom_up=forest.bottom_up[first:last] - first,
        closing_height=forest.closing_height[slot:last_slot],
    )


def test_picked_trees() -> None:
    trees = [[0], [2, 0, 2], [0, 1], [3, 1, 0]]
    picked, wanted = (
        forest_of(trees).pick([3, 0, 1, 3]),
        forest_of([trees[number] for number in (3, 0, 1, 3)]),
    )
    assert all(torch.equal(a, b) for a, b in zip(vars(picked).values(), vars(wanted).values(), strict=True))


def test_nodes_slots_and_children() -> None:
    forest = forest_of([[0], [3, 3, 0, 3], [0, 1]])
    assert forest.nodes_of([2, 0]).tolist() == [5, 6, 0]
    assert [forest.nodes(tree) for tree in range(3)] == [range(1), range(1, 5), range(5, 7)]
    assert [forest.slots(tree) for tree in range(3)] == [range(2), range(2, 7), range(7, 10)]
    assert (forest.left_children(3), forest.right_children(3)) == ([1, 2], [4])
    assert (forest.left_children(5), forest.right_children(5)) == ([], [6])


def test_deep_and_wide_trees() -> None:
    deep, wide = forest_of([range(2000)]), forest_of([[0, *[1] * 1999]])
    assert deep.depth.tolist() == list(range(2000))
    assert deep.height.tolist() == list(range(1999, -1, -1))
    assert wide.height.tolist() == [1] + [0] * 1999
    assert wide.right_child.tolist() == list(range(1, 2000))


def test_sums_within_trees() -> None:
    forest = forest_of([[0], [2, 0, 2], [0, 1]])
    values = torch.tensor([[1.0, 2, 3, 4, 5, 6], [0, 1, 0, 1, 0, 1]])
    assert forest.per_tree(values).tolist() == [[1, 9, 11], [0, 2, 1]]
