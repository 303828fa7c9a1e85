"""What a tree tells of itself, and how it is made projective, against the definitions."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from brute_force import descendants
from hypothesis import given
from limits import within
from sentences import annotated
from treebank_strategies import bare, head_lists

from pyropunct.treebank.projective import projectivise
from pyropunct.treebank.tree import Tree, is_projective, opens_clause, spans


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


@pytest.mark.parametrize(
    ("heads", "lifted"),
    [
        ([0], [0]),
        ([2, 0, 2], [2, 0, 2]),
        # the arc from 1 to 3 passes over the root
        ([2, 0, 1], [2, 0, 2]),
        # 6 climbs twice, from 4 over 2 to 1, because of 5
        ([0, 1, 2, 2, 1, 4], [0, 1, 2, 2, 1, 1]),
        # the short arc from 3 to 1 goes first; the long one first would give 2, 0, 2, 3
        ([3, 0, 2, 1], [2, 0, 2, 2]),
        # of two short arcs the left one goes first; the right one first would give 2, 3, 0, 3, 3
        ([2, 5, 0, 1, 3], [2, 3, 0, 5, 3]),
    ],
)
def test_lifting(heads: list[int], lifted: list[int]) -> None:
    assert projectivise(heads) == tuple(lifted)


@given(head_lists())
def test_spans_are_those_of_the_descendants(heads: list[int]) -> None:
    for word, (first, last, size) in enumerate(spans(heads), 1):
        below = descendants(heads, word)
        assert (first, last, size) == (min(below), max(below), len(below))


@given(head_lists())
def test_every_constituent_is_one_span_after_lifting(heads: list[int]) -> None:
    lifted = projectivise(heads)
    for word in range(1, len(heads) + 1):
        below = descendants(lifted, word)
        assert sorted(below) == list(range(min(below), max(below) + 1))


@given(head_lists())
def test_a_lifted_tree_is_a_tree_whose_new_heads_are_old_ancestors(heads: list[int]) -> None:
    lifted = projectivise(heads)
    assert descendants(lifted, lifted.index(0) + 1) == set(range(1, len(heads) + 1))
    assert lifted.index(0) == heads.index(0)
    for word, head in enumerate(lifted, 1):
        assert head == 0 or word in descendants(heads, head)


@given(head_lists())
def test_a_projective_tree_is_left_alone(heads: list[int]) -> None:
    lifted = projectivise(heads)
    assert projectivise(lifted) == lifted
    if is_projective(heads):
        assert list(lifted) == heads


def lifted_one_by_one(heads: Sequence[int]) -> tuple[int, ...]:
    """As the definition says."""
    lifted = list(heads)
    while not is_projective(lifted):
        crossed = [
            (abs(word - head), min(word, head), word)
            for word, head in enumerate(lifted, 1)
            if head and not set(range(min(word, head), max(word, head))) <= descendants(lifted, head) | {word}
        ]
        *_, word = min(crossed)
        lifted[word - 1] = lifted[lifted[word - 1] - 1]
    return tuple(lifted)


@given(head_lists())
def test_the_shortest_arc_goes_first(heads: list[int]) -> None:
    assert projectivise(heads) == lifted_one_by_one(heads)


@pytest.mark.parametrize("chains", [2, 7])
def test_many_interleaved_words(chains: int) -> None:
    """Chains of words of which each hangs on that before it in its chain, or behind it."""
    size = 3000
    heads = [0, *(max(1, word - chains) for word in range(2, size + 1))]
    with within(5):
        assert set(projectivise(heads)) == {0, 1}
        assert set(projectivise([size + 1 - head if head else 0 for head in reversed(heads)])) == {0, size}


@pytest.mark.parametrize(
    ("words", "openers"),
    [
        ("and/5/cc if/3/mark asked/5/advcl we/5/nsubj go/0/root", "and if"),
        ("cats/3/nsubj and/1/cc purr/0/root", ""),
        ("feed/0/root cats/1/obj and/4/cc dogs/2/conj", ""),
        ("rains/0/root and/4/cc sun/4/nsubj shines/1/conj", "and"),
        ("rains/0/root but/4/cc is/4/cop warm/1/conj", "but"),
        ("came/0/root as/4/mark if/2/fixed asked/1/advcl:cmp", ""),
        ("says/0/root that/3/mark left/1/ccomp", "that"),
    ],
)
def test_where_clauses_begin(words: str, openers: str) -> None:
    """Behind conjunctions and subordinators of clauses, not of noun phrases, and outside of *as if*."""
    tree = annotated(words).tree
    found = [form for form, opens in zip(tree.forms, opens_clause(tree), strict=True) if opens]
    assert found == openers.split()
