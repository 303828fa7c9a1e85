"""Where constituents stand in the clause of their head, and nominal clauses without a copula."""

from pyropunct.text.marks import DASHES
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree, base

INITIAL, MEDIAL, LAST = POSITIONS = ("initial", "medial", "final")
"""Where a constituent stands among its head and the other dependents of the head."""

OUTSIDE = {"cc", "conj", "discourse", "mark", "parataxis", "punct", "vocative"}
"""Dependents that a clause may have before its first and behind its last constituent."""

NOMINAL = {"NOUN", "PROPN", "PRON", "NUM", "ADJ"}
"""The tags of predicates that may have a copula."""


def positions(tree: Tree) -> list[int]:
    """For each word the number of its constituent's place, one of `POSITIONS`.

    It is initial if nothing of its head's clause stands before it, final if nothing stands behind it.
    """
    first, last = (list(range(len(tree) + 1)) for _ in range(2))
    for word, (head, relation) in enumerate(zip(tree.heads, tree.relations, strict=True), 1):
        if head and base(relation) not in OUTSIDE:
            first[head], last[head] = min(first[head], word), max(last[head], word)
    return [
        POSITIONS.index(INITIAL if word <= first[head] else LAST if word >= last[head] else MEDIAL)
        for word, head in enumerate(tree.heads, 1)
    ]


def bare_predicates(tree: Tree) -> dict[int, int]:
    """The nominal predicates without ``cop``, each with its first subject."""
    found = {}
    for word, tag in enumerate(tree.tags, 1):
        own = {one: base(tree.relations[one - 1]) for one in tree.children[word]}
        subjects = [one for one, relation in own.items() if relation in ("nsubj", "csubj")]
        if tag in NOMINAL and subjects and not {"cop", "aux"}.intersection(own.values()):
            found[word] = subjects[0]
    return found


def bare_clauses(sentence: Sentence) -> dict[int, bool]:
    """The predicates of `bare_predicates`; whether a dash is between each and its subject.

    The dash stands on the page, beside the subject, the predicate, or what stands between them.
    """
    tree, surface = sentence.tree, sentence.surface
    return {
        word: any(DASHES.issuperset(mark) for slot in _between(tree, subject, word) for mark in surface[slot])
        for word, subject in bare_predicates(tree).items()
    }


def _between(tree: Tree, subject: int, predicate: int) -> list[int]:
    """The slots between the subject and the predicate that are inside no dependent of the predicate."""
    first, last = tree.spans[subject - 1]
    slots = range(last, predicate) if subject < predicate else range(predicate, first)
    spans = (tree.spans[one - 1] for one in tree.children[predicate])
    inside = {slot for span in spans for slot in range(*span)}
    return [slot for slot in slots if slot not in inside]
