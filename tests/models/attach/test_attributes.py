import pytest
from problems import attributes_of, padded, tree_batch

from pyropunct.models.attach.features import (
    COLUMNS,
    MARK_INSIDE,
    NOTHING,
    PLACES,
    SEVERAL,
    SURFACE,
    Attributes,
    ViewAttributes,
)
from pyropunct.models.trees import TreeBatch

X = NOTHING
SHOWN = [(9,), (), (1, 2), (3,), (), (4, 5), (6,), (8,), (2,), (7, 7)]
"""Of two trees: slots 0 to 6 of a tree of six words, slots 0 to 2 of a tree of two words."""


def trees() -> TreeBatch:
    """Words 1 to 6 with the heads 2 0 5 5 2 5, and words 7 and 8 with the heads 0 1."""
    return tree_batch(
        [[2, 0, 5, 5, 2, 5], [0, 1]],
        [11, 12, 13, 14, 15, 16, 17, 18],
        tag=[21, 22, 23, 24, 25, 26, 27, 28],
        form=[31, 32, 33, 34, 35, 36, 37, 38],
        shape=[41, 42, 43, 44, 45, 46, 47, 48],
    )


def example() -> ViewAttributes:
    return attributes_of(trees(), padded(SHOWN))


TAGS: dict[str, list[int]] = {
    "": [21, 22, 23, 24, 25, 26, 27, 28],
    "head": [22, X, 25, 25, 22, 25, X, 27],
    "grandhead": [X, X, 22, 22, X, 22, X, X],
    "before": [X, X, 22, 23, 22, 25, X, 27],
    "second before": [X, X, 21, 22, 21, 24, X, X],
    "first": [21, 21, 23, 24, 23, 26, 27, 28],
    "last": [21, 26, 23, 24, 26, 26, 28, 28],
    "after": [22, X, 24, 25, X, X, X, X],
    "second after": [23, X, 25, 26, X, X, X, X],
    "left sibling": [X, X, X, 23, 21, 24, X, X],
    "right sibling": [25, X, 24, 26, X, X, X, X],
    "first child": [X, 21, X, X, 23, X, X, X],
    "last child": [X, 25, X, X, 26, X, 28, X],
}
"""For each place the tags to be found there."""

VALUES: dict[str, list[int]] = {
    "relation": [11, 12, 13, 14, 15, 16, 17, 18],
    "tag": [21, 22, 23, 24, 25, 26, 27, 28],
    "form": [31, 32, 33, 34, 35, 36, 37, 38],
    "shape": [41, 42, 43, 44, 45, 46, 47, 48],
    "side": [1, 0, 1, 1, 2, 2, 0, 2],
    "edges": [1, 3, 0, 0, 2, 2, 3, 2],
    "length": [0, 4, 0, 0, 3, 0, 1, 0],
    "distance": [0, X, 1, 0, 0, 0, X, 0],
    "words_before": [0, 0, 1, 2, 1, 3, 0, 0],
    "words_after": [3, 0, 2, 1, 0, 0, 0, 0],
    "first_mark": [X, 1, X, X, 3, X, 2, X],
    "last_mark": [X, 5, X, X, 5, X, 2, X],
    "until_mark": [0, 1, 0, 0, 0, 0, 0, 0],
    "marks": [0, 5, 0, 0, 3, 0, 1, 0],
}
"""For each column the values at the words themselves."""

APART = {"path", MARK_INSIDE, "since_mark"}
"""What has no value known in advance, or several, or is zero here: there are tests of their own below."""


@pytest.mark.parametrize("place", PLACES)
def test_places(place: str) -> None:
    assert example().single(f"{place} tag".strip()).tolist() == TAGS[place]


@pytest.mark.parametrize("column", sorted({*COLUMNS, *SURFACE} - APART))
def test_columns(column: str) -> None:
    assert example().single(column).tolist() == VALUES[column]


@pytest.mark.parametrize("column", ["relation", "form", "shape", "side", "edges", "length"])
def test_columns_at_another_place(column: str) -> None:
    heads = [2, None, 5, 5, 2, 5, None, 7]
    expected = [X if head is None else VALUES[column][head - 1] for head in heads]
    assert example().single(f"head {column}").tolist() == expected


def test_paths_are_told_apart() -> None:
    """Two nodes have the same path if and only if the relations up to the root are the same."""
    heads = [[2, 0, 2, 3], [0, 1, 1, 3], [0, 1, 2]]
    relations = [1, 0, 1, 2, 0, 1, 1, 2, 0, 2, 1]
    path = Attributes(tree_batch(heads, relations)).single("path").tolist()
    above = [(1, 0), (0,), (1, 0), (2, 1, 0), (0,), (1, 0), (1, 0), (2, 1, 0), (0,), (2, 0), (1, 2, 0)]
    for one, first in zip(path, above, strict=True):
        for other, second in zip(path, above, strict=True):
            assert (one == other) == (first == second)


def groups(name: str) -> dict[int, list[int]]:
    """The values of an attribute that gives a node several, node by node."""
    found: dict[int, list[int]] = {}
    for node, value in zip(*(column.tolist() for column in example().several(name)), strict=True):
        found.setdefault(node, []).append(value)
    return found


def test_marks_inside() -> None:
    assert groups("mark inside") == {1: [1, 2, 3, 4, 5], 4: [3, 4, 5], 6: [2]}


@pytest.mark.parametrize("name", sorted(name for name in SEVERAL if name.startswith("child")))
def test_children(name: str) -> None:
    """One value for each child, the same if and only if side and columns of the children are."""
    trees = tree_batch([[2, 0, 2, 2, 2]], [1, 0, 1, 1, 2], tag=[5, 5, 5, 6, 5], form=[7, 7, 7, 7, 8])
    node, value = Attributes(trees).several(name)
    assert node.tolist() == [1, 1, 1, 1]
    kind = {
        "child relation": [0, 1, 1, 2],
        "child relation and tag": [0, 1, 2, 3],
        "child relation and form": [0, 1, 1, 2],
    }[name]
    for i in range(4):
        for j in range(4):
            assert (value[i] == value[j]) == (kind[i] == kind[j])
    assert {node: len(values) for node, values in groups(name).items()} == {1: 2, 4: 3, 6: 1}


def test_classes_of_lengths() -> None:
    """1, 2, 3, 4-5, 6-8, 9-13, 14-21, 22 and more words."""
    sizes = [1, 2, 3, 4, 5, 6, 8, 9, 13, 14, 21, 22, 50]
    some = tree_batch([[0] + [1] * (size - 1) for size in sizes], [0] * sum(sizes))
    roots = Attributes(some).length[some.forest.node_start[:-1].numpy()]
    assert roots.tolist() == [0, 1, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7]


def test_surface_inside_is_read() -> None:
    for slot in range(1, 6):
        shown = [*SHOWN]
        shown[slot] = (10, 11)
        marks = attributes_of(trees(), padded(shown)).several("mark inside")
        assert {1} | ({4} if slot > 2 else set()) == set(marks[0][marks[1] == 10].tolist())


def test_many_marks_are_counted_as_five() -> None:
    shown = [*SHOWN]
    shown[3] = (3, 3, 3, 3)
    assert attributes_of(trees(), padded(shown)).single("marks").tolist() == [0, 5, 0, 0, 5, 0, 1, 0]


def test_rhythm_counts_words_up_to_the_marks_inside() -> None:
    root_first = tree_batch([[0, 1, 1, 1, 1, 1, 1]], [0] * 7, tag=[0] * 7, form=[0] * 7, shape=[0] * 7)
    one_mark = attributes_of(root_first, padded([(), (), (1,), (), (), (), (), (2,)]))
    assert one_mark.single("until_mark").tolist() == [1, 0, 0, 0, 0, 0, 0]
    assert one_mark.single("since_mark").tolist() == [3, 0, 0, 0, 0, 0, 0]
    no_mark = attributes_of(root_first, padded([(1,), (), (), (), (), (), (), (2,)]))
    assert no_mark.single("until_mark")[0] == no_mark.single("since_mark")[0] == no_mark.single("length")[0]


def test_the_nearest_word_of_a_constituent_tells_its_distance() -> None:
    column = Attributes(tree_batch([[2, 4, 2, 0, 4, 5]], [0] * 6)).single("distance")
    assert column.tolist() == [0, 0, 0, X, 0, 0]
