"""Drawn sentences for people to read: tags stand for the words that the syntax model does not draw."""

from collections.abc import Sequence
from itertools import pairwise

from pyropunct.models.story import Punctuated
from pyropunct.treebank.marks import displayed
from pyropunct.vocabulary import Vocabulary


def surface_texts(told: Punctuated, vocabulary: Vocabulary) -> list[str]:
    """Each sentence with its surface punctuation, such as ``DET NOUN , PRON VERB , VERB .``.

    A known word is shown as its lower-cased form, another as its tag, and `OTHER` as ``_``.

    :param told: B trees and their punctuation, drawn by a `pyropunct.models.story.Story` or not.
    :param vocabulary: the vocabulary that the story was made for.
    """
    words = _words(told, vocabulary)
    slots = [_marks(vocabulary.decode_string(row)) for row in told.surface.tolist()]
    forest = told.trees.forest
    texts = []
    for tree, (first, last) in enumerate(pairwise(forest.node_start.tolist())):
        # Each tree before this one has one slot more than it has words.
        pieces = slots[first + tree][:]
        for word in range(first, last):
            pieces += [words[word], *slots[word + tree + 1]]
        texts.append(" ".join(pieces))
    return texts


def underlying_brackets(told: Punctuated, vocabulary: Vocabulary) -> list[str]:
    """T' of each sentence, such as ``[root [advmod ADV ,] VERB [obj DET NOUN] .]``.

    A bracket holds a constituent: its relation, its left puncteme, its left dependents, its head word,
    its right dependents and its right puncteme.

    :param told: B trees and their punctemes, drawn by a `pyropunct.models.story.Story` or not.
    :param vocabulary: the vocabulary that the story was made for.
    """
    forest, words, relations = told.trees.forest, _words(told, vocabulary), told.trees.relation.tolist()
    left = _children(forest.left_child_start.tolist(), forest.left_child.tolist())
    right = _children(forest.right_child_start.tolist(), forest.right_child.tolist())
    choices = told.choices.tolist()
    brackets = [""] * len(words)
    for node in forest.bottom_up.tolist():
        opening, closing = vocabulary.inventory.pairs[relations[node]][choices[node]]
        pieces = [vocabulary.relations[relations[node]] or "_", *_marks(vocabulary.decode_string(opening))]
        pieces += [brackets[child] for child in left[node]]
        pieces.append(words[node])
        pieces += [brackets[child] for child in right[node]]
        pieces += _marks(vocabulary.decode_string(closing))
        brackets[node] = f"[{' '.join(pieces)}]"
    return [brackets[root] for root in forest.root.tolist()]


def _words(told: Punctuated, vocabulary: Vocabulary) -> list[str]:
    columns = zip(told.trees.form.tolist(), told.trees.tag.tolist(), strict=True)
    return [vocabulary.forms[form] or vocabulary.tags[tag] or "_" for form, tag in columns]


def _marks(tokens: Sequence[str]) -> list[str]:
    """What is shown of a slot or puncteme; the start of a sentence needs no mark."""
    return displayed(tokens)


def _children(starts: list[int], child: list[int]) -> list[list[int]]:
    return [child[first:last] for first, last in pairwise(starts)]
