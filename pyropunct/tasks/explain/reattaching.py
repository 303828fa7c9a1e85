"""Heads for the marks of a treebank: each mark depends on the constituent that sprouted it.

According to the underlying tree T', each surface mark is a token that some constituent sprouted (Li, Wang &
Eisner 2019, section 2).  Its head is the head word of that constituent, unless arcs would cross.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pyropunct.tasks.explain.derivations import SlotDerivation, sprouted_marks
from pyropunct.treebank.conllu_block import DEPREL, DEPS, HEAD
from pyropunct.treebank.sentence import PUNCTUATION, Sentence


def mark_attachments(sentence: Sentence, derivations: Sequence[SlotDerivation]) -> dict[int, int]:
    """The head of each mark that the underlying tree explains, both as token ids of the original sentence.

    A mark's head is the head word of the constituent that sprouted the mark.  If a mark stands among those of
    another constituent, as a period that moved inside a quotation mark, its arc would cross theirs.  Then its
    head is that of the constituent into which it moved.  So the arcs of marks do not cross each other or the
    arcs of a projective tree.

    :param derivations: of the slots 0..n, see `pyropunct.tasks.explain.derivations.Derivations.of`.
    :returns: the head of each mark, by the mark.
    """
    attachments = {}
    for slot, derivation in enumerate(derivations):
        explained = sprouted_marks(sentence, slot, derivation)
        heads = uncrossed([sprouted.word for _, sprouted in explained], slot)
        for (mark, _), word in zip(explained, heads, strict=True):
            attachments[mark] = sentence.layout.words[word - 1]
    return attachments


def uncrossed(words: Sequence[int], slot: int) -> list[int]:
    """Heads for the marks of a slot whose arcs do not cross.

    Arcs do not cross if and only if the marks that depend on words before the slot come first, and heads do
    not increase from left to right among these marks and among the others.

    :param words: the head of the constituent that sprouted each mark, from left to right; words up to
        ``slot`` stand before the slot.
    :returns: the same, except that marks between those of another constituent get its head.
    """
    heads = list(words)
    before = [place for place, word in enumerate(words) if word <= slot]
    border = before[-1] + 1 if before else 0
    innermost = 0
    for place in reversed(range(border)):
        innermost = max(innermost, words[place]) if words[place] <= slot else innermost
        heads[place] = innermost
    for place in range(border + 1, len(words)):
        heads[place] = min(heads[place - 1], words[place])
    return heads


def reattached(sentence: Sentence, attachments: Mapping[int, int]) -> Sentence:
    """The sentence with other heads of some of its marks, and relation ``punct`` for these.

    If the enhanced graph has the same arc, it is changed too.

    :param attachments: the new head of each of these marks, both as token ids of the original sentence.
    :raises ValueError: if a word would get a new head, or if a mark would become a head.
    """
    block = sentence.layout.block
    words, marks = set(sentence.layout.words), {mark for slot in sentence.layout.marks for mark in slot}
    if not (marks.issuperset(attachments) and words.issuperset(attachments.values())):
        raise ValueError("marks hang on words, and words are not reattached")
    hung = {mark: _hung(block.tokens[mark - 1].columns, head) for mark, head in attachments.items()}
    return replace(sentence, layout=replace(sentence.layout, block=block.changed(hung)))


def _hung(columns: Sequence[str], head: int) -> dict[int, str]:
    """The columns of a mark that another head changes."""
    old, new = f"{columns[HEAD]}:{columns[DEPREL]}", f"{head}:{PUNCTUATION}"
    arcs = {new if arc == old else arc for arc in columns[DEPS].split("|")}
    return {HEAD: str(head), DEPREL: PUNCTUATION, DEPS: "|".join(sorted(arcs, key=_by_head))}


def _by_head(arc: str) -> tuple[list[int], str]:
    """The order of arcs in DEPS: by head, where 5.1 comes after 5."""
    head, _, relation = arc.partition(":")
    return [int(part) for part in head.split(".") if part.isdigit()], relation
