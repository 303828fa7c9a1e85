"""Underlying trees T' as text."""

from collections.abc import Sequence

from pyropunct.text.marks import display, displayed
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree

Puncteme = Sequence[str]


def bracketed(sentence: Tree | Sentence, punctemes: Sequence[tuple[Puncteme, Puncteme]]) -> str:
    """A tree with its underlying punctuation as a string of words, marks and brackets.

    Only constituents that sprout something get brackets, which follow their relation, as in
    ``root[nsubj[“ Dale ”] means dobj[“ river valley ”] .]``.

    Of a sentence, words that it writes together are shown so, unless a bracket parts them.

    :param sentence: the sentence, or its tree.
    :param punctemes: the left and right puncteme of each word's constituent.
    """
    tree = sentence if isinstance(sentence, Tree) else sentence.tree
    forms: Sequence[str] = tree.forms
    if isinstance(sentence, Sentence):
        forms = sentence.words_apart(bracket_slots(tree, punctemes))
    pieces: dict[int, list[str]] = {}
    for word in reversed(tree.top_down):
        inner: list[str] = []
        for part in sorted([word, *tree.children[word]]):
            inner += filter(None, [forms[word - 1]]) if part == word else pieces.pop(part)
        left, right = (displayed(side) for side in punctemes[word - 1])
        if left or right:
            inner = [*left, *inner, *right]
            inner[0] = f"{tree.relations[word - 1]}[{inner[0]}"
            inner[-1] = f"{inner[-1]}]"
        pieces[word] = inner
    return " ".join(pieces[tree.root])


def bracket_slots(tree: Tree, punctemes: Sequence[tuple[Puncteme, Puncteme]]) -> set[int]:
    """The slots at the edges of the constituents that sprout something."""
    spans = zip(tree.spans, punctemes, strict=True)
    return {slot for (first, last), pair in spans if any(pair) for slot in (first - 1, last)}


def misc_entries(punctemes: Sequence[tuple[Puncteme, Puncteme]]) -> list[dict[str, str]]:
    """The entries ``PunctLeft`` and ``PunctRight`` of each word's MISC column, with tokens joined by "+"."""
    return [
        {
            name: "+".join(display(token) for token in side)
            for name, side in (("PunctLeft", left), ("PunctRight", right))
            if side
        }
        for left, right in punctemes
    ]
