"""Gives text that has only one case its upper and lower case back, by the reader of running text."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from torch import Tensor

from pyropunct.nets.reader import RunningReader
from pyropunct.nets.running_text import CAPITAL, OTHER, case_of, in_case
from pyropunct.restore.settings import CaseMode
from pyropunct.text.raw_sentence import Multiword, RawSentence


def loses_case(words: Sequence[str], mode: CaseMode) -> bool:
    """Whether to restore case; "auto": if there is no capital, or several words are all in capitals."""
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
    """A sentence in its probable case by the (n, 4) logits; ``capital`` capitalises its first word."""
    starts = [capital, *[False] * (len(source.words) - 1)]
    recased = reader.in_cases(lowered(source.words), cases, starts)
    words = tuple(
        old if number in source.fixed or _is_odd(old, new) else new
        for number, (old, new) in enumerate(zip(source.words, recased, strict=True), 1)
    )
    multiwords = tuple(
        multiword if multiword.first in source.fixed else _recased(multiword, source.words, words)
        for multiword in source.multiwords
    )
    return replace(source, words=words, multiwords=multiwords)


SMALL = frozenset({"a.k.a", "a.m", "e.g", "i.e", "p.m", "w.r.t"})
"""Abbreviations that are not written in capitals, unlike "U.S"."""


def _is_odd(old: str, new: str) -> bool:
    """Whether a word would get a capital letter in an odd place ("A.m", "5Pm"), or other letters ("İ")."""
    odd = case_of(new) == CAPITAL and ("." in new or not new[0].isalpha())
    return odd or len(old) != len(new) or (new != old and old.lower() in SMALL)


def _recased(multiword: Multiword, before: Sequence[str], words: Sequence[str]) -> Multiword:
    """A written word in the case of its words: made of them, or with a beginning like theirs."""
    if not multiword.contracted(before):
        return multiword._replace(text="".join(words[multiword.first - 1 : multiword.last]))
    case = case_of(words[multiword.first - 1])
    text = multiword.text.lower()
    return multiword._replace(text=text if case in (None, OTHER) else in_case(text, case or 0))


def in_their_cases(sources: Sequence[Any], reader: RunningReader, mode: CaseMode, capital: bool) -> list[Any]:
    """The sentences; raw ones in their case, each read on its own, where `loses_case` says so.

    Those of running text have got their case when they were found.
    """
    raw = [source for source in sources if isinstance(source, RawSentence) and not source.from_running_text]
    lost = [source for source in raw if loses_case(source.words, mode)]
    readings = reader.read_all([lowered(source.words) for source in lost])
    cased = {
        id(source): recased(source, reader, reading.cases, capital)
        for source, reading in zip(lost, readings, strict=True)
    }
    return [cased.get(id(source), source) for source in sources]
