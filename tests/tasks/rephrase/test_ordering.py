"""Word orders that are learned from trees and drawn for trees."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from treebank_strategies import bare, head_lists

from pyropunct.embedded import embedded_treebank_path
from pyropunct.tasks.rephrase.ordering import HEAD, LARGEST, OrderItem, WordOrder, families, linearised
from pyropunct.treebank.projective import projectivise
from pyropunct.treebank.reading import read_treebank
from pyropunct.treebank.tree import Tree, is_projective


def tree_of(*words: tuple[str, str, str, int]) -> Tree:
    """A tree from the form, tag, relation and head of each word."""
    forms, tags, relations, heads = zip(*words, strict=True)
    return Tree(heads, relations, tags, forms)


SINGS = tree_of(
    ("She", "PRON", "nsubj", 2),
    ("sings", "VERB", "root", 0),
    ("old", "ADJ", "amod", 4),
    ("songs", "NOUN", "dobj", 2),
    ("today", "ADV", "advmod", 2),
)
COOKS = tree_of(
    ("He", "PRON", "nsubj", 2),
    ("cooks", "VERB", "root", 0),
    ("new", "ADJ", "amod", 4),
    ("soups", "NOUN", "dobj", 2),
    ("now", "ADV", "advmod", 2),
)


def test_families_are_those_of_nouns_and_verbs() -> None:
    verb, noun = families(SINGS)
    assert (verb.group, verb.words, verb.order) == ("verb", (2, 5, 4, 1), (3, 0, 2, 1))
    assert verb.items == (
        OrderItem(HEAD, "VERB"),
        OrderItem("advmod", "ADV"),
        OrderItem("dobj", "NOUN"),
        OrderItem("nsubj", "PRON"),
    )
    assert (noun.group, noun.words, noun.order) == ("noun", (4, 3), (1, 0))


def test_families_see_punctemes() -> None:
    punctemes: list[tuple[tuple[str, ...], tuple[str, ...]]] = [((), ())] * 5
    punctemes[4] = ((",",), ())
    assert next(families(SINGS, punctemes)).items[1] == OrderItem("advmod", "ADV", ((",",), ()))


def test_what_was_always_so_is_drawn_again() -> None:
    order = WordOrder.learn([*families(SINGS)] * 200, prior_scale=5.0)
    drawn = order.reorder([SINGS, COOKS] * 20, np.random.default_rng(0))
    assert Counter(drawn).most_common(1)[0] == ((1, 2, 3, 4, 5), 40)


def test_frequencies_are_those_of_the_treebank() -> None:
    """The adverb is first in a quarter of the sentences, and the model can tell it from its order alone."""
    moved = linearised(SINGS, {2: [5, 1, 2, 4]})
    other = tree_of(
        ("today", "ADV", "advmod", 3),
        ("She", "PRON", "nsubj", 3),
        ("sings", "VERB", "root", 0),
        ("old", "ADJ", "amod", 5),
        ("songs", "NOUN", "dobj", 3),
    )
    assert moved == (5, 1, 2, 3, 4)
    order = WordOrder.learn([*families(SINGS)] * 300 + [*families(other)] * 100, prior_scale=20.0)
    drawn = Counter(order.reorder([SINGS] * 2000, np.random.default_rng(0)))
    assert drawn[1, 2, 3, 4, 5] / 2000 == pytest.approx(0.75, abs=0.03)
    assert drawn[moved] / 2000 == pytest.approx(0.25, abs=0.03)


def test_unknown_words_stand_anywhere() -> None:
    order = WordOrder.learn([next(families(SINGS))])  # of nouns it knows nothing
    strange = tree_of(("a", "X", "r1", 2), ("b", "NOUN", "root", 0), ("c", "Y", "r2", 2))
    known = order.draw(list(families(strange)) * 6000, np.random.default_rng(0))
    counts = Counter(known)
    assert len(counts) == 6
    assert max(abs(count - 1000) for count in counts.values()) < 110  # 3.8 standard deviations


def test_punctemes_make_a_difference() -> None:
    """An adverb with a comma behind it is first, one without is last."""
    none: list[tuple[tuple[str, ...], tuple[str, ...]]] = [((), ())] * 3
    with_comma = [((), (",",)), ((), ()), ((), ())]
    first = tree_of(("now", "ADV", "advmod", 3), ("he", "PRON", "nsubj", 3), ("cooks", "VERB", "root", 0))
    last = tree_of(("he", "PRON", "nsubj", 2), ("cooks", "VERB", "root", 0), ("now", "ADV", "advmod", 2))
    seen = [*families(first, with_comma)] * 50 + [*families(last, none)] * 50
    order = WordOrder.learn(seen, prior_scale=5.0)
    generator = np.random.default_rng(0)
    assert set(order.reorder([last] * 20, generator, [none] * 20)) == {(1, 2, 3)}
    comma = [((), ()), ((), ()), ((), (",",))]
    assert set(order.reorder([last] * 20, generator, [comma] * 20)) == {(3, 1, 2)}


def test_nothing_to_learn_from() -> None:
    alone = tree_of(("Yes", "INTJ", "root", 0))
    large = tree_of(("x", "NOUN", "root", 0), *[("y", "ADJ", "amod", 1)] * LARGEST)
    for tree in (alone, large):
        with pytest.raises(ValueError, match="no order to be learned"):
            WordOrder.learn(families(tree))


@given(head_lists(), st.randoms(use_true_random=False))
def test_linearised_trees_are_projective(heads: list[int], random: object) -> None:
    tree, orders = bare(projectivise(heads)), {}
    for head, dependents in enumerate(tree.children[1:], start=1):
        family = [head, *dependents]
        random.shuffle(family)  # type: ignore[attr-defined]
        if len(family) % 2:
            orders[head] = family
    words = linearised(tree, orders)
    assert sorted(words) == list(range(1, len(tree) + 1))
    number = {0: 0} | {word: place for place, word in enumerate(words, start=1)}
    new_heads = [number[tree.heads[word - 1]] for word in words]
    assert is_projective(new_heads)
    for head, family in enumerate(tree.children):
        if head:
            wanted = orders.get(head, sorted([head, *family]))
            assert [word for word in words if word in wanted] == list(wanted)


def test_order_of_a_treebank() -> None:
    """Draws for the embedded treebank have its order more often than chance has, and are repeatable."""
    trees = [sentence.tree for sentence in read_treebank(embedded_treebank_path("dev"))][:60]
    order = WordOrder.learn(family for tree in trees for family in families(tree))
    drawn, again = (order.reorder(trees, np.random.default_rng(3)) for _ in range(2))
    assert drawn == again
    same = sum(words == tuple(range(1, len(words) + 1)) for words in drawn)
    assert same > 20
