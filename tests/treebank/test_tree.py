"""What a tree tells of itself, against the definitions."""

from dataclasses import replace

from hypothesis import given
from treebank_strategies import bare, head_lists

from pyropunct.treebank.tree import Tree, projectivise


def ancestors(tree: Tree, word: int) -> list[int]:
    """The words above a word, up to the root."""
    above = []
    while tree.heads[word - 1]:
        word = tree.heads[word - 1]
        above.append(word)
    return above


@given(head_lists())
def test_a_tree_and_its_words(heads: list[int]) -> None:
    tree = bare(projectivise(heads))
    words = range(1, len(tree) + 1)
    assert tree.heads[tree.root - 1] == 0
    assert tree.children == tuple(
        tuple(word for word in words if tree.heads[word - 1] == head) for head in (0, *words)
    )
    assert tree.depths == tuple(len(ancestors(tree, word)) for word in words)
    assert list(tree.top_down) == sorted(words, key=lambda word: (tree.depths[word - 1], word))
    for word, (first, last) in zip(words, tree.spans, strict=True):
        below = {one for one in words if word in (one, *ancestors(tree, one))}
        assert below == set(range(first, last + 1))


def test_what_is_worked_out_does_not_make_a_tree_another() -> None:
    tree = bare([2, 0])
    assert tree.children == ((2,), (), (1,))
    assert (tree, hash(tree)) == (bare([2, 0]), hash(bare([2, 0])))
    assert replace(tree, heads=(0, 1)).children == ((1,), (2,), ())
