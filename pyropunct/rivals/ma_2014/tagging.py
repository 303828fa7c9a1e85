"""A greedy perceptron tagger, compiled: it tags a word by its letters, its neighbours and the previous tags.

It tags the words of a sentence from left to right, and learns after each sentence from the words with wrong
tags (after Collins 2002, but greedily, without Viterbi search).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyropunct.inference.compiling import compiled, inner
from pyropunct.rivals.transitions.perceptron import Weights, add_scores, change, features_of, has_room

Array = NDArray[Any]

AROUND = 2
"""The number of words before and behind a word whose atoms are features."""

OF_WORD = ("w", "lower", "first", "last", "last2", "last3", "shape")
"""The atoms of a word: its form; the form in lower case; its first letter, its last letter, its last two and
last three letters; and its shape."""

TAG_ATOMS = (
    *(f"{place:+d}.{atom}" for place in range(-AROUND, AROUND + 1) for atom in OF_WORD),
    *("t-1", "t-2"),
)
"""All atoms: the atoms of five words, with the word to be tagged in the middle, and the two previous tags."""

TAG_TEMPLATES = """
+0.w | +0.lower | +0.first | +0.last | +0.last2 | +0.last3 | +0.shape | +0.shape +0.last3
-1.w | +1.w | -2.w | +2.w | -1.w +0.w | +0.w +1.w | -1.last3 | +1.last3 | -1.shape +0.shape
+0.shape +1.shape | t-1 | t-1 t-2 | t-1 +0.w | t-1 +0.last3 | t-1 +0.shape | t-1 +1.w | t-1 t-2 +0.last3
"""


@compiled
def tags_found(words: Array, templates: Array, weights: Weights, actions: int) -> Array:
    """The tags of a sentence.

    :param words: (n + 4, 7) the atoms of its words, and of two padding words on either side.
    :param templates: see `pyropunct.rivals.transitions.perceptron.features_of`.
    :param actions: the number of tags.
    """
    tags = np.zeros(len(words) - 2 * AROUND, np.int64)
    atoms, keys = _room(words, templates)
    scores = np.zeros(actions, np.int64)
    for word in range(len(tags)):
        number = _features(words, tags, word, templates, atoms, keys)
        scores[:] = 0
        add_scores(weights, keys, number, scores)
        for tag in range(1, actions):
            if scores[tag] > scores[tags[word]]:
                tags[word] = tag
    return tags


@compiled
def learn_tags(
    words: Array,
    templates: Array,
    weights: Weights,
    actions: int,
    found: Array,
    gold: Array,
    first: int,
    example: int,
) -> int:
    """Change weights so that the right tags of words score higher, and the wrong tags that were found lower.

    :param found: the tags that were found.
    :param gold: the right tags.
    :param first: the first word from which to learn.
    :param example: the number of the example.
    :returns: the first word for which there was no more room, or the number of words.
    """
    atoms, keys = _room(words, templates)
    for word in range(first, len(found)):
        if found[word] != gold[word]:
            if not has_room(weights, 2 * len(templates), actions):
                return word
            number = _features(words, found, word, templates, atoms, keys)
            change(weights, keys, number, gold[word], 1, example)
            change(weights, keys, number, found[word], -1, example)
    return len(found)


@inner
def _room(words, templates):
    return np.zeros((2 * AROUND + 1) * words.shape[1] + 2, np.int64), np.zeros(len(templates), np.int64)


@inner
def _features(words, tags, word, templates, atoms, keys):
    """Write the keys of the features of a word, and return the number of features."""
    width = words.shape[1]
    for place in range(2 * AROUND + 1):
        for atom in range(width):
            atoms[place * width + atom] = words[word + place, atom]
    for before in range(1, 3):  # 1 stands for the start of the sentence
        atoms[(2 * AROUND + 1) * width + before - 1] = 2 + tags[word - before] if word >= before else 1
    return features_of(atoms, templates, keys)
