"""Sentences with other heads of their marks: changed, or proposed in MISC for an annotator to accept."""

from collections.abc import Mapping
from dataclasses import replace

from pyropunct.tasks.explain.attachment_conventions import NO_CONVENTION, Convention
from pyropunct.tasks.explain.guidelines import Punctemes, guided_heads
from pyropunct.treebank.columns import misc_entries, with_misc
from pyropunct.treebank.conllu_block import DEPREL, DEPS, HEAD, MISC
from pyropunct.treebank.sentence import Sentence

ACCEPTED, PROPOSED, PROBABILITY = "PunctAccept", "PunctHead", "PunctProb"
"""Entries in MISC of a mark: whether an annotator accepts a head, this head, and its probability."""

_NO_PROPOSAL: dict[str, str | None] = dict.fromkeys((ACCEPTED, PROPOSED, PROBABILITY))


def by_guidelines(
    sentence: Sentence, punctemes: Punctemes, convention: Convention = NO_CONVENTION
) -> Sentence:
    """The sentence with the heads of `pyropunct.tasks.explain.guidelines` for its marks."""
    guided = guided_heads(sentence, punctemes, convention)
    return reattached(sentence, {mark: head for mark, (head, _) in guided.items()})


def reattached(sentence: Sentence, heads: Mapping[int, int]) -> Sentence:
    """The sentence with other heads of some of its marks, by token ids of the original.

    If the enhanced graph has the same arc, it is changed too.  Relations stay.

    :raises ValueError: if a word would get a new head, or if a mark would become a head.
    """
    block = sentence.layout.block
    words, marks = set(sentence.layout.words), set(sentence.layout.all_marks)
    if not (marks.issuperset(heads) and words.issuperset(heads.values())):
        raise ValueError("marks hang on words, and words are not reattached")
    changed = {}
    for mark, head in heads.items():
        columns = block.tokens[mark - 1].columns
        if head == int(columns[HEAD]):
            continue
        old, new = (f"{one}:{columns[DEPREL]}" for one in (columns[HEAD], head))
        arcs = {new if arc == old else arc for arc in columns[DEPS].split("|")}
        changed[mark] = {HEAD: str(head), DEPS: "|".join(sorted(arcs, key=_by_head))}
    return _rewritten(sentence, changed)


def _by_head(arc: str) -> tuple[list[int], str]:
    """The order of arcs in DEPS: by head, where 5.1 comes after 5."""
    head, _, relation = arc.partition(":")
    return [int(part) for part in head.split(".") if part.isdigit()], relation


def with_proposals(sentence: Sentence, proposals: Mapping[int, tuple[int, float]]) -> Sentence:
    """The sentence with proposed heads and their probabilities in the MISC of marks, and no others.

    :raises TreebankError: if an annotator has accepted proposals, which would be lost.
    """
    for mark in sentence.layout.all_marks:
        if ACCEPTED in _entries(sentence, mark):
            row = sentence.layout.block.tokens[mark - 1].row
            raise sentence.layout.block.error(
                f"an annotator has set {ACCEPTED} (apply these proposals first)", row
            )
    changed = _without_proposals(sentence)
    of_marks = {
        mark: _NO_PROPOSAL | {PROPOSED: str(head), PROBABILITY: f"{probability:.2f}"}
        for mark, (head, probability) in proposals.items()
    }
    return with_entries(_rewritten(sentence, changed), of_marks)


def with_entries(sentence: Sentence, entries: Mapping[int, Mapping[str, str | None]]) -> Sentence:
    """The sentence with new entries, None for no entry, in the MISC of some tokens, in alphabetical order."""
    columns = {token: with_misc(_misc(sentence, token), new) for token, new in entries.items()}
    ordered = {token: {MISC: "|".join(sorted(misc_entries(misc)))} for token, misc in columns.items()}
    return _rewritten(sentence, ordered)


def with_accepted(sentence: Sentence) -> Sentence:
    """The sentence with the proposed heads where MISC says ``PunctAccept=Yes``, and no proposals in MISC."""
    block, heads = sentence.layout.block, {}
    for mark in sentence.layout.all_marks:
        entries = _entries(sentence, mark)
        accepted, head, row = entries.get(ACCEPTED, "No"), entries.get(PROPOSED), block.tokens[mark - 1].row
        if accepted not in ("Yes", "No"):
            raise block.error(f"{ACCEPTED}={accepted} is neither Yes nor No", row)
        if accepted == "Yes":
            if head is None:
                raise block.error(f"{ACCEPTED}=Yes has no {PROPOSED} beside it", row)
            if head not in map(str, sentence.layout.words):
                raise block.error(f"{PROPOSED}={head} is not the id of a word", row)
            heads[mark] = int(head)
    return _rewritten(reattached(sentence, heads), _without_proposals(sentence))


def _without_proposals(sentence: Sentence) -> dict[int, dict[int, str]]:
    """The columns of the marks in whose MISC there is a proposal, without it."""
    columns = {mark: with_misc(_misc(sentence, mark), _NO_PROPOSAL) for mark in sentence.layout.all_marks}
    return {mark: {MISC: misc} for mark, misc in columns.items() if misc != _misc(sentence, mark)}


def _entries(sentence: Sentence, mark: int) -> dict[str, str]:
    return dict(one.partition("=")[::2] for one in misc_entries(_misc(sentence, mark)))


def _misc(sentence: Sentence, mark: int) -> str:
    return sentence.layout.block.tokens[mark - 1].columns[MISC]


def _rewritten(sentence: Sentence, columns: Mapping[int, Mapping[int, str]]) -> Sentence:
    """The sentence with other columns of some tokens."""
    return replace(sentence, layout=sentence.layout.changed(columns))
