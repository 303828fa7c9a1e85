"""Upper and lower case of raw text that has only one of them."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from torch import Tensor

from pyropunct.nets.reader.case import OTHER, case_of, in_case
from pyropunct.nets.reader.reader import RunningReader
from pyropunct.restore.raw_words import RawSentence, Together
from pyropunct.restore.settings import CaseMode


def loses_case(words: Sequence[str], mode: CaseMode) -> bool:
    """Whether the case of some neighbouring words is to be restored, whatever it is.

    With "auto" it is if none of them has a capital letter, or if several words consist of capital letters
    and no letter is another one.
    """
    if mode != "auto":
        return mode == "restore"
    letters = [letter for letter in chain.from_iterable(words) if letter.lower() != letter.upper()]
    if not any(map(str.isupper, letters)):
        return bool(letters)
    return all(map(str.isupper, letters)) and sum(word.isupper() for word in words) > 1


def lowered(words: Sequence[str]) -> list[str]:
    """The words without capital letters."""
    return [word.lower() for word in words]


def recased(source: RawSentence, reader: RunningReader, cases: Tensor, capital: bool) -> RawSentence:
    """A sentence in its probable case.

    :param cases: (n, 4) the logits of the cases of its words: see `pyropunct.nets.reader.reader.Reading`.
    :param capital: whether its first word begins with a capital letter for that reason alone.
    """
    starts = [capital, *[False] * (len(source.words) - 1)]
    words = tuple(reader.in_cases(lowered(source.words), cases, starts))
    together = tuple(_together(one, source.words, words) for one in source.together)
    return replace(source, words=words, together=together)


def _together(one: Together, before: Sequence[str], words: Sequence[str]) -> Together:
    """A written word of several words, which it is made of or at least begins like."""
    if not one.contracted(before):
        return one._replace(text="".join(words[one.first - 1 : one.last]))
    case = case_of(words[one.first - 1])
    text = one.text.lower()
    return one._replace(text=text if case in (None, OTHER) else in_case(text, case or 0))


def in_their_cases(
    sources: Sequence[RawSentence], reader: RunningReader, mode: CaseMode, capital: bool
) -> list[RawSentence]:
    """Sentences, each read by itself: those whose case is to be restored are in it."""
    chosen = [number for number, source in enumerate(sources) if loses_case(source.words, mode)]
    found = list(sources)
    readings = reader.read_all([lowered(sources[number].words) for number in chosen])
    for number, reading in zip(chosen, readings, strict=True):
        found[number] = recased(sources[number], reader, reading.cases, capital)
    return found
