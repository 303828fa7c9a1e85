"""How a treebank hangs its marks, learned from its own heads.

Treebanks differ in what the guidelines of Universal Dependencies leave open, and some contradict them.  For
each kind of mark and place, the heads of a treebank are compared with those of each `Way` to hang marks.  A
way is taken if it has the treebank's head significantly more often than T' and the guidelines, first for all
places of a rule, and then for those between certain constituents.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pyropunct.fitted.fitted_story import FittedStory
from pyropunct.tasks.explain.annotation import Finding
from pyropunct.tasks.explain.guidelines import Choice, Convention, Guide, Situation, Way
from pyropunct.treebank.sentence import Sentence

SENTENCES = 1000
"""The most sentences of a treebank from which its convention is learned."""

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


def seen(model: FittedStory, sentences: Sequence[Sentence]) -> list[Seen]:
    """The marks of the first `SENTENCES`, but for those that are like words."""
    found, some = [], sentences[:SENTENCES]
    for sentence, (punctemes,) in zip(some, model.underlying(some), strict=True):
        guide, layout = Guide(sentence, punctemes), sentence.layout
        by_way = {way: guide.heads(dict.fromkeys(guide.choices, way)) for way in Way}
        for mark in by_way[Way.UNDERLYING]:
            right = frozenset(way for way in Way if by_way[way][mark] == layout.head(mark))
            found.append(Seen(sentence, mark, guide.choices[mark], right))
    return found


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
