"""A sentence of a treebank with another tree."""

from collections.abc import Iterator
from dataclasses import replace

from pyropunct.treebank.conllu_block import DEPREL, DEPS, HEAD, UPOS, Token
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
    layout = sentence.layout
    tokens, lines = list(layout.block.tokens), list(layout.block.lines)
    for number, head, relation, tag in _arcs(sentence, tree):
        old = tokens[number - 1]
        columns = list(old.columns)
        columns[HEAD], columns[DEPREL], columns[DEPS] = str(head), relation, "_"
        columns[UPOS] = tag or columns[UPOS]
        tokens[number - 1] = Token(tuple(columns), head, old.row)
        lines[old.row] = "\t".join(columns)
    block = replace(layout.block, tokens=tuple(tokens), lines=tuple(lines))
    return replace(sentence, tree=tree, lifted=0, layout=replace(layout, block=block))


def _arcs(sentence: Sentence, tree: Tree) -> Iterator[tuple[int, int, str, str]]:
    """Token ids, those of their heads, relations and tags, of words and marks; a mark's tag stays."""
    words = (0, *sentence.layout.words)
    for word, (head, relation, tag) in enumerate(zip(tree.heads, tree.relations, tree.tags, strict=True), 1):
        yield words[word], words[head], relation, tag
    for marks, head in zip(sentence.layout.marks, mark_heads(tree), strict=True):
        for mark in marks:
            yield mark, words[head], PUNCTUATION, ""


def read_again(written: str, tree: Tree) -> Sentence | None:
    """The one sentence of a CoNLL-U text that was written for a tree.

    :returns: None, if it is read otherwise: a word that is also a mark may be.
    """
    for sentence in read_sentences(written.split("\n"), "<string>"):
        if isinstance(sentence, Sentence) and sentence.tree == tree:
            return sentence
    return None
