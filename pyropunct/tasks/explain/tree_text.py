"""Underlying trees T' as text."""

from collections.abc import Sequence

from pyropunct.tasks.explain.derivations import underlying_strings
from pyropunct.text.marks import display, displayed
from pyropunct.treebank.sentence import Puncteme, Sentence, part_of
from pyropunct.treebank.tree import Tree


def bracketed(sentence: Tree | Sentence, punctemes: Sequence[tuple[Puncteme, Puncteme]]) -> str:
    """A tree with its underlying punctuation as a string of words, marks and brackets.

    Only constituents that sprout something get brackets, which follow their relation:
    ``root[nsubj[“ Dale ”] means dobj[“ river valley ”] .]``.  Marks around a part of a constituent stand
    within its brackets: ``obl[the “ special place ”]``.  Words that a `Sentence` writes together are shown
    together, unless a bracket or such a mark parts them.
    """
    tree = sentence if isinstance(sentence, Tree) else sentence.tree
    forms: Sequence[str] = tree.forms
    if isinstance(sentence, Sentence):
        forms = sentence.words_apart(bracket_slots(tree, punctemes))
    pieces: dict[int, list[str]] = {}
    for word in reversed(tree.top_down):
        members: list[list[str]] = []
        for member in sorted([word, *tree.children[word]]):
            members.append(list(filter(None, [forms[word - 1]])) if member == word else pieces.pop(member))
        part = part_of(punctemes[word - 1])
        if part:
            members.insert(len(members) - part.right_out, [display(part.right)])
            members.insert(part.left_out, [display(part.left)])
        inner = [piece for member in members for piece in member]
        left, right = (displayed(side) for side in punctemes[word - 1])
        if left or right or part:
            inner = [*left, *inner, *right]
            inner[0] = f"{tree.relations[word - 1]}[{inner[0]}"
            inner[-1] = f"{inner[-1]}]"
        pieces[word] = inner
    return " ".join(pieces[tree.root])


def bracket_slots(tree: Tree, punctemes: Sequence[tuple[Puncteme, Puncteme]]) -> set[int]:
    """The slots at the edges of the constituents that sprout something, and those of marks around parts."""
    spans = zip(tree.spans, punctemes, strict=True)
    bracketed = (span for span, pair in spans if any(pair) or part_of(pair))
    slots = {slot for first, last in bracketed for slot in (first - 1, last)}
    strings = underlying_strings(tree, punctemes) if any(map(part_of, punctemes)) else ()
    return slots | {slot for slot, string in enumerate(strings) if any(one.word for one in string)}


ENTRIES: dict[str, str | None] = dict.fromkeys(("PunctLeft", "PunctRight", "PunctPart"))
"""The names of `puncteme_entries`, with which those of another T' are removed."""


def puncteme_entries(punctemes: Sequence[tuple[Puncteme, Puncteme]]) -> list[dict[str, str]]:
    """The entries of each word's MISC column, with tokens joined by "+".

    ``PunctLeft`` and ``PunctRight`` are its punctemes.  If there is a ``PunctPart``, the innermost mark on
    each side encloses only a part: so many dependents stand outside on the left, and so many on the right.
    """
    entries = []
    for pair in punctemes:
        part, (left, right) = part_of(pair), pair
        if part:
            left, right = (*left, part.left), (part.right, *right)
        own = {"PunctLeft": left, "PunctRight": right}
        entries.append({name: "+".join(map(display, tokens)) for name, tokens in own.items() if tokens})
        if part:
            entries[-1]["PunctPart"] = f"{part.left_out}+{part.right_out}"
    return entries
