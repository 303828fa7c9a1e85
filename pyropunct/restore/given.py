"""What is known of the marks of a sentence, as evidence about its slots."""

from collections.abc import Collection, Sequence

from pyropunct.inference.machines.evidence import Evidence, exactly, with_hidden
from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN, Surface
from pyropunct.vocabulary import Vocabulary

Known = Evidence | Sequence[str] | None
"""What is known of a slot: evidence, its marks, or nothing."""

LONGEST_OPEN = 8
"""A slot of more marks than this has no hidden ones: an automaton has states for each place."""

OF_WORDS = frozenset({START, ABBREVIATION_DOT})
"""Tokens that no constituent sprouts: a slot that has no others counts as empty."""


def evidence_about(
    vocabulary: Vocabulary, known: Sequence[Known], hidden: Collection[str] = ()
) -> list[Evidence]:
    """Evidence about the slots 0..n of a sentence.

    :param known: for each slot its marks, those that are hidden left out or not; evidence in numbers of
        tokens, see `Vocabulary.token_number`; or None, if nothing is known.
    :param hidden: marks that may stand anywhere in slots whose marks are given, besides these.
    :raises ValueError: if the model has no such hidden mark.
    """
    unseen = _numbers(vocabulary, hidden)
    return [
        marks if isinstance(marks, Evidence) else _evidence(vocabulary, slot, marks, unseen)
        for slot, marks in enumerate(known)
    ]


def _evidence(
    vocabulary: Vocabulary, slot: int, marks: Sequence[str] | None, unseen: Collection[int]
) -> Evidence:
    start = [vocabulary.token_number[START]] * (slot == 0)
    if marks is None:
        return with_hidden(start, _printable(vocabulary))
    numbers = [number for number in vocabulary.encode_string(marks) if number not in unseen]
    numbers = numbers if numbers[:1] == start else start + numbers
    return exactly(numbers) if len(numbers) > LONGEST_OPEN else with_hidden(numbers, unseen)


def _numbers(vocabulary: Vocabulary, marks: Collection[str]) -> frozenset[int]:
    lacking = [mark for mark in marks if mark not in vocabulary.token_number]
    if lacking:
        raise ValueError(f"the model has no mark {lacking[0]}: nothing is known of where it stands")
    return frozenset(vocabulary.token_number[mark] for mark in marks)


def _printable(vocabulary: Vocabulary) -> frozenset[int]:
    """The tokens of which restored strings may consist."""
    return _numbers(vocabulary, set(vocabulary.tokens) - {START, UNKNOWN})


def evidence_of_marks(
    vocabulary: Vocabulary,
    surface: Surface,
    *,
    hidden: Collection[str] = (),
    keep: bool = False,
    closed: Collection[int] = (),
) -> list[Evidence]:
    """The evidence of the marks of a sentence about its slots.

    If marks are hidden, all other marks are known, and so is their absence.  Otherwise the marks of slots
    that have some are known, and nothing is known of empty slots; an abbreviation dot does not fill a slot.

    :param surface: the marks of the slots 0..n.
    :param hidden: marks that may be lacking.
    :param keep: whether slots that have hidden marks are known, so that they lack no marks.
    :param closed: slots inside of written words, where no mark can stand.
    """
    unseen, evidence = set(hidden), list[Evidence]()
    for slot, marks in enumerate(surface):
        sprouted = set(marks) - OF_WORDS
        if slot in closed or (sprouted if not hidden else keep and sprouted & unseen):
            evidence += [exactly(vocabulary.encode_string(marks))]
        elif hidden:
            evidence.append(_evidence(vocabulary, slot, marks, _numbers(vocabulary, unseen)))
        else:
            dot = [vocabulary.token_number[mark] for mark in marks if mark == ABBREVIATION_DOT]
            start = [vocabulary.token_number[mark] for mark in marks if mark == START]
            evidence.append(with_hidden(start + dot, _printable(vocabulary) - {*start, *dot}))
    return evidence
