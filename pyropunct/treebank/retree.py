"""A sentence of a treebank with another tree."""

from dataclasses import replace

from pyropunct.treebank.conllu_block import DEPREL, DEPS, HEAD, UPOS
from pyropunct.treebank.reading import read_sentences
from pyropunct.treebank.sentence import Sentence, mark_heads
from pyropunct.treebank.tree import Tree

PUNCTUATION = "punct"
"""The relation of a mark to its head in Universal Dependencies."""


def with_tree(sentence: Sentence, tree: Tree) -> Sentence:
    """The sentence with the heads, relations and universal tags of another tree of its words.

    Each mark depends on the highest word from which its arc crosses no other arc.  The
    enhanced graph, which describes the old tree, is dropped; all else stays as it is.

    :raises ValueError: if the tree is not of the same words.
    """
    if tree.forms != sentence.tree.forms:
        raise ValueError("the tree is not of the words of the sentence")
    layout, words = sentence.layout, (0, *sentence.layout.words)
    columns = {}
    for token, head, relation, tag in zip(words[1:], tree.heads, tree.relations, tree.tags, strict=True):
        old = layout.block.tokens[token - 1].columns[UPOS]
        columns[token] = {HEAD: str(words[head]), DEPREL: relation, UPOS: tag or old, DEPS: "_"}
    for marks, head in zip(layout.marks, mark_heads(tree), strict=True):
        columns |= {mark: {HEAD: str(words[head]), DEPREL: PUNCTUATION, DEPS: "_"} for mark in marks}
    return replace(sentence, tree=tree, lifted=0, layout=replace(layout, block=layout.block.changed(columns)))


def read_again(written: str, tree: Tree) -> Sentence | None:
    """The one sentence of a CoNLL-U text that was written for a tree.

    :returns: None, if it is read otherwise: a word that is also a mark may be.
    """
    for sentence in read_sentences(written.split("\n"), "<string>"):
        if isinstance(sentence, Sentence) and sentence.tree == tree:
            return sentence
    return None
