"""What is known of the marks of a sentence, as evidence about its slots."""

from collections.abc import Collection, Sequence

from pyropunct.inference.machines.evidence import Evidence, exactly, with_hidden
from pyropunct.treebank.marks import ABBREVIATION_DOT, START, UNKNOWN, Surface
from pyropunct.vocabulary import Vocabulary

Known = Evidence | Sequence[str] | None
"""What is known of a slot: evidence, its marks, or nothing."""

LONGEST_OPEN = 8
"""Among more marks than this no hidden ones are looked for: an automaton has states for each place."""

OF_WORDS = frozenset({START, ABBREVIATION_DOT})
"""What no constituent sprouts: a slot that has nothing else counts as empty."""


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
        one if isinstance(one, Evidence) else _evidence(vocabulary, slot, one, unseen)
        for slot, one in enumerate(known)
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
    """What the marks of a sentence say of its slots.

    With hidden marks, all other marks are known, and slots without any too.  Without, marks are known where
    there are some, and nothing is known of empty slots; an abbreviation dot alone does not fill a slot.

    :param surface: the marks of the slots 0..n.
    :param hidden: marks that may be lacking.
    :param keep: whether slots that have hidden marks are known, so that none are lacking there.
    :param closed: slots inside of written words, where no mark can stand.
    """
    unseen, found = set(hidden), list[Evidence]()
    for slot, marks in enumerate(surface):
        own = set(marks) - OF_WORDS
        if slot in closed or (own if not hidden else keep and own & unseen):
            found += [exactly(vocabulary.encode_string(marks))]
        elif hidden:
            found.append(_evidence(vocabulary, slot, marks, _numbers(vocabulary, unseen)))
        else:
            dot = [vocabulary.token_number[mark] for mark in marks if mark == ABBREVIATION_DOT]
            start = [vocabulary.token_number[mark] for mark in marks if mark == START]
            found.append(with_hidden(start + dot, _printable(vocabulary) - {*start, *dot}))
    return found
