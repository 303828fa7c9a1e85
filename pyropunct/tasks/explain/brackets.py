"""Underlying trees T' as text."""

from collections.abc import Sequence

from pyropunct.inference.pyro.told import Told
from pyropunct.text.marks import display, displayed
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree
from pyropunct.vocabulary import Vocabulary, in_shape

Puncteme = Sequence[str]


def bracketed(sentence: Tree | Sentence, punctemes: Sequence[tuple[Puncteme, Puncteme]]) -> str:
    """A tree with its underlying punctuation as a string of words, marks and brackets.

    Only constituents that sprout something get brackets, which follow their relation:
    ``root[nsubj[“ Dale ”] means dobj[“ river valley ”] .]``.  Words that a `Sentence` writes together are
    shown together, unless a bracket parts them.
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


def surface_texts(drawn: Told, vocabulary: Vocabulary) -> list[str]:
    """Each drawn sentence, such as ``The NOUN , who came , left .``; unknown words are tags."""
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
    """T' of each drawn sentence, such as ``[root [advmod ADV ,] VERB [obj DET NOUN] .]``."""
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
