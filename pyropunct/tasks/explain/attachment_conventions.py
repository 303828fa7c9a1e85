"""How a treebank hangs its marks, learned from its own heads.

Treebanks differ in what the guidelines of Universal Dependencies leave open, and some contradict them.  For
each `Situation`, a kind of mark and place, the heads of a treebank are compared with those of each `Way` to
hang marks.  A way is taken if it has the treebank's head significantly more often than T' and the guidelines,
first for all places of a rule, and then for those between certain constituents.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from pyropunct.tasks.explain.annotation import Finding
from pyropunct.treebank.sentence import Sentence


class Rule(StrEnum):
    """Why a mark hangs where it does."""

    ENCLOSED = "brackets and quotation marks hang on what they enclose"
    ALONE = "a bracket or quotation mark that encloses no word hangs on the side that it faces"
    EMPTY = "brackets that enclose no word hang on the word or the constituent beside them"
    FINAL = "a final mark hangs on the sentence that it ends"
    CONJUNCT = "a mark before a conjunct hangs on it"
    DEPENDENT = "a mark beside a dependent hangs on it"
    BOTH_SIDES = "the model: this constituent has a mark on both sides"
    JOINED = "a mark within a name or a written word hangs on a part of it"
    OWN_DOT = "a dot within a sentence belongs to the word before"
    COPULA = "a dash in place of a copula hangs on the predicate"


class Way(StrEnum):
    """What a treebank hangs a kind of mark on."""

    UNDERLYING = "the word that the guidelines and the model name"
    GUIDELINES = "the word that the guidelines name"
    BEFORE = "the largest constituent before the mark"
    BEHIND = "the largest constituent behind the mark"
    WORD_BEFORE = "the word before the mark"
    WORD_BEHIND = "the word behind the mark"
    NEAR = "the word that the guidelines name, if no other mark stands before it"
    LAST = "the last dependent of the word that the guidelines name"
    ABOVE = "the head of the constituent before the mark"
    ABOVE_BEHIND = "the head of the constituent behind the mark"


class Situation(NamedTuple):
    """A kind of mark at a kind of place.

    :ivar mark: what the mark does, as `mark_function` has it.
    :ivar beside: the sides on which constituents end or begin at the mark, and the relation of the one that
        the rule names, or of the last one in a sentence; empty for all such places.
    """

    mark: str
    rule: Rule
    beside: str = ""


Convention = Mapping[Situation, Way]
"""How a treebank hangs marks where it does not follow the guidelines and T'."""

NO_CONVENTION: Convention = MappingProxyType({})
"""That of a treebank that follows both, or of which nothing is known."""


class Choice(NamedTuple):
    """Where a mark stands, and the word that it has by each way."""

    situation: Situation
    words: dict[Way, int]

    def way(self, convention: Convention) -> Way:
        """How the mark hangs by a convention."""
        usual = convention.get(self.situation._replace(beside=""), Way.UNDERLYING)
        return convention.get(self.situation, usual)


DEVIATIONS = 2.5
"""By how many standard deviations a way must be better, by the sign test (a level of 0.6 %).

The guidelines alone need only be better than T', since neither is more usual.
"""

LEAST_USUAL = 0.4
"""A treebank says nothing if fewer of its marks follow the guidelines, but for those on the root.

In 33 treebanks these are 44 to 99 %; with each mark on the root 0 to 6 %, on the word before it 2 to 37 %.
"""

_USUAL = frozenset([Way.UNDERLYING, Way.GUIDELINES])


class Seen(NamedTuple):
    """A mark, and the ways that give the head that it has."""

    sentence: Sentence
    mark: int
    choice: Choice
    right: frozenset[Way]

    @property
    def root(self) -> int:
        """The root of the sentence."""
        return self.sentence.tree.heads.index(0) + 1


def convention_of(marks: Sequence[Seen]) -> Convention:
    """The convention of a treebank; empty if it follows the guidelines and T'."""
    convention: dict[Situation, Way] = {}
    own = [one for one in marks if one.choice.words[Way.GUIDELINES] != one.root]
    if sum(not _USUAL.isdisjoint(one.right) for one in own) < LEAST_USUAL * len(own):
        return convention
    for is_fine in (False, True):
        groups = defaultdict[Situation, list[Seen]](list)
        for one in marks:
            situation = one.choice.situation
            groups[situation if is_fine else situation._replace(beside="")].append(one)
        better = {key: _better(group, convention, is_fine) for key, group in groups.items()}
        convention |= {key: way for key, way in better.items() if way is not None}
    return convention


def habits(marks: Sequence[Seen], convention: Convention) -> Iterator[Finding]:
    """The marks that contradict the guidelines as the convention has it."""
    found = [(one, one.choice.situation, one.choice.way(convention)) for one in marks]
    places = Counter((situation.mark, situation.rule, way) for _, situation, way in found)
    for one, (mark, rule, _), way in found:
        if way in one.right and _USUAL.isdisjoint(one.right):
            number = places[mark, rule, way]
            what = f"{mark}: of {number} with the rule “{rule}”, these hang on {way}"
            yield Finding(what, one.sentence.layout.block, one.mark)


def _better(group: Sequence[Seen], convention: Convention, is_fine: bool) -> Way | None:
    """The way that is best for marks, if it is significantly better than a convention."""
    before = [one.choice.way(convention) in one.right for one in group]
    best, most = None, 0
    for way in Way:
        gained = sum(way in one.right and not was for one, was in zip(group, before, strict=True))
        lost = sum(way not in one.right and was for one, was in zip(group, before, strict=True))
        deviations = 0 if way is Way.GUIDELINES and not is_fine else DEVIATIONS
        if gained - lost > max(most, deviations * (gained + lost) ** 0.5):
            best, most = way, gained - lost
    return best
