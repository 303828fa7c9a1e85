"""Phrase-structure trees for tests: written out, random for hypothesis, and back from CoNLL-U."""

import re
from collections import defaultdict
from dataclasses import replace

from hypothesis import strategies as st

from pyropunct.treebank.columns import misc_entries
from pyropunct.treebank.conllu_block import FORM, MISC, XPOS, Block
from pyropunct.treebank.phrase_trees import PhraseTree

PHRASES = [
    "NP",
    "VP",
    "S",
    "SBAR",
    "PP",
    "UNKNOWN",
    "NP-SBJ",
    "PP-LOC-CLR-1",
    "ADVP|PRT",
    "NP=2",
    "ADVP",
    "NML",
]
WORDS = [
    "DT the",
    "NN dog",
    "VBD saw",
    "IN in",
    "CC and",
    "PRP$ my",
    "$ $",
    "CD 5",
    "JJ a\\/b",
    "FOO etc.",
    "POS 's",
]
MARKS = [", ,", ". .", "`` ``", "'' ''", "-LRB- -LRB-", "-RRB- -RRB-", ": --", "PU 、"]
EMPTY = ["-NONE- *T*-1", "-NONE- 0"]


def written(tree: PhraseTree) -> str:
    """A tree in brackets, on one line."""
    inside = tree.word or "".join(map(written, tree.daughters))
    return f"({tree.label} {inside})"


def leaf(tag: str, word: str) -> PhraseTree:
    return PhraseTree(tag, 1, word)


def phrase(label: str, *daughters: PhraseTree) -> PhraseTree:
    return PhraseTree(label, 1, "", daughters)


def phrases(leaves: list[str], most_leaves: int = 15) -> st.SearchStrategy[PhraseTree]:
    """Random trees of some leaves, each written as its tag and its word."""

    def grown(daughters: st.SearchStrategy[PhraseTree]) -> st.SearchStrategy[PhraseTree]:
        some = st.lists(daughters, min_size=1, max_size=4)
        return st.builds(lambda label, some: phrase(label, *some), st.sampled_from(PHRASES), some)

    words = st.sampled_from(leaves).map(lambda text: leaf(*text.split()))
    return grown(st.recursive(words, grown, max_leaves=most_leaves))


def of_leaves(tree: PhraseTree, keep: "set[str]") -> PhraseTree | None:
    """A tree without the leaves that are not to be kept, and without the phrases that become empty."""
    if tree.word:
        return tree if f"{tree.label} {tree.word}" in keep else None
    daughters = tuple(filter(None, (of_leaves(daughter, keep) for daughter in tree.daughters)))
    return replace(tree, daughters=daughters) if daughters else None


def spans(tree: PhraseTree, start: int = 0) -> list[tuple[PhraseTree, range]]:
    """Each node with the positions of its leaves, itself first."""
    below: list[tuple[PhraseTree, range]] = []
    end = start + bool(tree.word)
    for daughter in tree.daughters:
        some = spans(daughter, end)
        end = some[0][1].stop
        below += some
    return [(tree, range(start, end)), *below]


def unescaped(value: str) -> str:
    """A value of MISC as it was."""
    return re.sub(r"\\(.)", lambda found: {"p": "|"}.get(found[1], found[1]), value)


def phrase_structure(block: Block) -> PhraseTree:
    """The phrase-structure tree from which a sentence was converted, without its empty elements."""
    entries = [
        dict(entry.split("=", 1) for entry in misc_entries(token.columns[MISC])) for token in block.tokens
    ]
    daughters: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, (token, entry) in enumerate(zip(block.tokens, entries, strict=True), start=1):
        if token.head:
            daughters[token.head, int(entry["Level"])].append(number)

    def projected(number: int) -> PhraseTree:
        token, entry = block.tokens[number - 1], entries[number - 1]
        tree = leaf(token.columns[XPOS], unescaped(entry.get("Leaf", token.columns[FORM])))
        for level, label in enumerate(filter(None, entry.get("Phrase", "").split(">")), start=1):
            others = daughters[number, level]
            left = [projected(other) for other in others if other < number]
            right = [projected(other) for other in others if other > number]
            tree = phrase(unescaped(label), *left, tree, *right)
        return tree

    return projected(next(number for number, token in enumerate(block.tokens, start=1) if token.head == 0))
