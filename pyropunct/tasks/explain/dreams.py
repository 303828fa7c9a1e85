"""Drawn sentences as text, in which tags stand for words that the vocabulary does not have."""

from pyropunct.inference.pyro.told import Told
from pyropunct.text.marks import displayed
from pyropunct.vocabulary import Vocabulary, in_shape


def surface_texts(drawn: Told, vocabulary: Vocabulary) -> list[str]:
    """Each sentence with its surface punctuation, such as ``The NOUN , who came , left .``.

    A known word is shown with the capitals of its shape, another as its tag, and `OTHER` as ``_``.

    :param drawn: B trees and their punctuation, as a `pyropunct.models.story.Story` draws them.
    :param vocabulary: the vocabulary that the story was made for.
    """
    words = _words(drawn, vocabulary)
    slots = [displayed(vocabulary.decode_string(row)) for row in drawn.surface.tolist()]
    forest = drawn.trees.forest
    texts = []
    for tree in range(forest.num_trees):
        first, *behind = forest.slots(tree)
        pieces = slots[first][:]
        for word, slot in zip(forest.nodes(tree), behind, strict=True):
            pieces += [words[word], *slots[slot]]
        texts.append(" ".join(pieces))
    return texts


def underlying_brackets(drawn: Told, vocabulary: Vocabulary) -> list[str]:
    """T' of each sentence, such as ``[root [advmod ADV ,] VERB [obj DET NOUN] .]``.

    A bracket holds a constituent: its relation, its left puncteme, its left dependents, its head word,
    its right dependents and its right puncteme.

    :param drawn: B trees and their punctemes, as a `pyropunct.models.story.Story` draws them.
    :param vocabulary: the vocabulary that the story was made for.
    """
    forest, words, relations = drawn.trees.forest, _words(drawn, vocabulary), drawn.trees.relation.tolist()
    choices = drawn.choices.tolist()
    brackets = [""] * len(words)
    for node in forest.bottom_up.tolist():
        opening, closing = vocabulary.inventory.pairs[relations[node]][choices[node]]
        pieces = [vocabulary.relations[relations[node]] or "_", *displayed(vocabulary.decode_string(opening))]
        pieces += [brackets[child] for child in forest.left_children(node)]
        pieces.append(words[node])
        pieces += [brackets[child] for child in forest.right_children(node)]
        pieces += displayed(vocabulary.decode_string(closing))
        brackets[node] = f"[{' '.join(pieces)}]"
    return [brackets[root] for root in forest.root.tolist()]


def _words(drawn: Told, vocabulary: Vocabulary) -> list[str]:
    trees = drawn.trees
    columns = zip(trees.form.tolist(), trees.shape.tolist(), trees.tag.tolist(), strict=True)
    return [
        in_shape(vocabulary.forms[form], shape) or vocabulary.tags[tag] or "_" for form, shape, tag in columns
    ]
