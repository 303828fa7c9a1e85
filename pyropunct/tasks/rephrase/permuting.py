"""The three rephrasings of Table 6 of Li, Wang & Eisner (2019, section 6.3): sentences in new orders."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from pyropunct.tasks import BASE, FULL, VARIANTS
from pyropunct.tasks.explain.reattaching import hung
from pyropunct.tasks.rephrase.ordering import WordOrder, families
from pyropunct.tasks.rephrase.rephrasing import Rephraser, sentence_of
from pyropunct.tasks.rephrase.underlying_tree import UnderlyingTree
from pyropunct.text.conventions import Conventions
from pyropunct.treebank.conllu_block import DEPREL, FORM, HEAD, UPOS
from pyropunct.treebank.repunctuate import Item
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree


def learn_surface_order(sentences: Iterable[Sentence]) -> WordOrder:
    """Learn the order of all tokens, marks too, for base and half; raises `ValueError` without dependents."""
    return WordOrder.learn(family for sentence in sentences for family in families(surface_tree(sentence)))


def learn_underlying_order(trees: Iterable[UnderlyingTree]) -> WordOrder:
    """Learn the order of words of underlying trees with their punctemes, for full; raises `ValueError`."""
    return WordOrder.learn(family for tree in trees for family in families(tree.tree, tree.punctemes))


def permuted(
    variant: str,
    order: WordOrder,
    rephraser: Rephraser,
    trees: Sequence[UnderlyingTree],
    generator: np.random.Generator,
    *,
    best: bool = False,
) -> Iterator[Sentence]:
    """Yields each sentence with the dependents of its nouns and verbs in a drawn order.

    Equal generators give base and half the same order of words.

    :param variant: one of `VARIANTS`.
    :param rephraser: makes the punctuation, except for base; of all slots if it regenerates, as in the paper.
    :param trees: the unedited underlying trees of the sentences.
    :raises ValueError: if there is no such variant.
    """
    if variant not in VARIANTS:
        raise ValueError(f"permutations are {', '.join(VARIANTS)}, not {variant}")
    if variant == FULL:
        words = order.reorder([tree.tree for tree in trees], generator, [tree.punctemes for tree in trees])
    else:
        tokens = order.reorder([surface_tree(tree.sentence) for tree in trees], generator)
        words = [words_among(tree.sentence, places) for tree, places in zip(trees, tokens, strict=True)]
    for number, tree in enumerate(trees):
        if variant == BASE:
            yield _with_tokens(tree.sentence, tokens[number], rephraser.conventions)
        else:
            edited = tree.reordered(words[number])
            yield rephraser.best(edited) if best else rephraser.draw(edited, generator)


def surface_tree(sentence: Sentence) -> Tree:
    """The tree of all tokens, marks too; a mark whose arc crosses another gets a higher head."""
    layout, tree = sentence.layout, sentence.tree
    number = layout.numbers
    wanted = {mark: number[layout.head(mark)] for slot in layout.marks for mark in slot}
    heads = dict(zip(layout.words, tree.heads, strict=True)) | hung(tree.heads, layout.marks, wanted)
    columns = [token.columns for token in layout.block.tokens]
    return Tree(
        tuple(layout.words[heads[token] - 1] if heads[token] else 0 for token in sorted(heads)),
        tuple(column[DEPREL] for column in columns),
        tuple(column[UPOS] for column in columns),
        tuple(column[FORM] for column in columns),
        treebank=tree.treebank,
    )


def words_among(sentence: Sentence, tokens: Sequence[int]) -> tuple[int, ...]:
    """The words among the tokens of a sentence, in their order, numbered as words."""
    number = sentence.layout.numbers
    return tuple(number[token] for token in tokens if token in number)


def _with_tokens(sentence: Sentence, tokens: Sequence[int], conventions: Conventions) -> Sentence:
    """The sentence with all its tokens in another order, with the heads of the surface tree."""
    layout, tree = sentence.layout, surface_tree(sentence)
    if list(tokens) == sorted(tokens):
        return sentence
    mark = dict(layout.directed())
    heads = {token: {HEAD: str(head)} for token, head in enumerate(tree.heads, start=1)}
    new = layout.changed(heads)
    items = [Item(layout.form(token), token, 0, mark.get(token, "")) for token in tokens]
    return sentence_of(sentence, new, items, [], conventions)
