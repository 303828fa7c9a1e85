"""Marks of a treebank that probably have a wrong head, each with a better one and its probability.

A head is compared with the one of `pyropunct.tasks.explain.guidelines`.  Where both are possible, the
guidelines decide, and then T'.  How often such a proposal is right depends on the rule, and on where the head
of the treebank stands: see `PRECISION`.
"""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import accumulate
from typing import NamedTuple

from pyropunct.fitted.fitted_story import FittedStory
from pyropunct.tasks import Advance
from pyropunct.tasks.explain.annotation import is_odd_period
from pyropunct.tasks.explain.attachment_conventions import NO_CONVENTION, Convention, Rule
from pyropunct.tasks.explain.guidelines import GuidedHead, guided_heads
from pyropunct.tasks.explain.hanging import Room, heads_of_words
from pyropunct.text.marks import PERIODS
from pyropunct.treebank.conllu_block import DEPREL
from pyropunct.treebank.sentence import Sentence


class Matter(StrEnum):
    """What is the matter with the head of a mark."""

    CROSSING = "arcs cross"
    SPLIT = "the two marks of a pair have two heads"
    ELSEWHERE = "the constituent of the head does not begin or end at the mark"
    BESIDE = "another head is better"


PRECISION = {
    Matter.CROSSING: {
        **{Rule.ENCLOSED: 0.99, Rule.FINAL: 0.97, Rule.CONJUNCT: 0.97, Rule.DEPENDENT: 0.94},
        **{Rule.ALONE: 0.9, Rule.OWN_DOT: 0.9, Rule.COPULA: 0.8, Rule.JOINED: 0.8, Rule.BOTH_SIDES: 0.6},
    },
    Matter.SPLIT: {Rule.ENCLOSED: 0.91, Rule.BOTH_SIDES: 0.6},
    Matter.ELSEWHERE: {Rule.CONJUNCT: 0.9, Rule.FINAL: 0.9, Rule.DEPENDENT: 0.75, Rule.BOTH_SIDES: 0.5},
    Matter.BESIDE: {Rule.FINAL: 0.94, Rule.CONJUNCT: 0.6, Rule.DEPENDENT: 0.3},
}
"""How often a proposal is right, by what is the matter with the head, and by the rule; see `probability`.

These are frequencies in five treebanks where 5 % of the marks got a wrong head
(``benchmarks/planted_heads.py``), with one change: the heads of treebanks are often wrong at the ends of
sentences, in pairs and before conjuncts, so 90 such proposals were read in English, German, French, Spanish
and Russian.
"""

DOUBTFUL, RARELY = 0.5, 0.1
"""Of marks that may belong to a clause, such as ``?``, or a word; and of what `PRECISION` does not list."""

LEAST = 0.9
"""The least probability of a proposal that is shown by default."""

NEAR, LONGEST = 5, 40
"""The most words of the context of a mark, on either side, and characters, as not all scripts have spaces."""

_WORD = re.compile(r"\s*\S+\s*$|\s*\S+")


class Proposal(NamedTuple):
    """A better head for a mark; ids are those of the original.

    :ivar probability: how often such a proposal is right, see `PRECISION`.
    """

    sentence: Sentence
    mark: int
    proposed: int
    rule: Rule
    probability: float

    @property
    def head(self) -> int:
        """The head that the mark has."""
        return self.sentence.layout.head(self.mark)

    @property
    def context(self) -> tuple[str, str, str]:
        """The text of a few words before the mark, of the mark, and of a few words behind it."""
        before, text, after = self.sentence.passage({self.mark}, 0)
        left, right = _WORD.findall(before)[::-1], _WORD.findall(after)
        left, right = left[: _near(left)][::-1], right[: _near(right)]
        return "".join(left)[-LONGEST:].lstrip(), text, "".join(right)[:LONGEST].rstrip()

    @property
    def pattern(self) -> str:
        """The mark, and for both heads their relation and where they stand; many proposals have the same."""
        form = self.sentence.layout.form(self.mark)
        return f"{form} hangs on {self._seen(self.head)}, better on {self._seen(self.proposed)}"

    def _seen(self, head: int) -> str:
        return f"{self.relation(head)} ({'left' if head < self.mark else 'right'})"

    def relation(self, token: int) -> str:
        """The relation of a token to its head."""
        return self.sentence.layout.block.tokens[token - 1].columns[DEPREL]


def _near(words: Sequence[str]) -> int:
    """How many words of a context, counted from the mark, are shown: at least one, even if it is cut."""
    ends = accumulate(map(len, words[:NEAR]))
    return max(1, sum(end <= LONGEST for end in ends))


def proposals(
    model: FittedStory,
    sentences: Sequence[Sentence],
    least: float = LEAST,
    advance: Advance = lambda done: None,
    convention: Convention = NO_CONVENTION,
) -> Iterator[list[Proposal]]:
    """Better heads for the marks of each sentence, if they are at least so probable.

    :param convention: of the treebank; its heads are right.
    """
    for sentence, (best,) in zip(sentences, model.underlying(sentences), strict=True):
        usual = guided_heads(sentence, best, convention) if convention else {}
        found = (
            Proposal(sentence, mark, head, rule, probability(sentence, mark, rule, matter))
            for mark, (head, rule), matter in doubtful(sentence, guided_heads(sentence, best))
            if not (mark in usual and usual[mark].head == sentence.layout.head(mark))
        )
        yield [one for one in found if one.probability >= least]
        advance(1)


def probability(sentence: Sentence, mark: int, rule: Rule, matter: Matter) -> float:
    """How often a proposal is right."""
    layout = sentence.layout
    if rule is Rule.OWN_DOT and is_odd_period(layout.block, mark):
        return DOUBTFUL
    if matter is Matter.BESIDE and rule is Rule.FINAL:
        is_own_dot = layout.head(mark) == mark - 1 and mark < layout.words[-1]  # as of an abbreviation
        if is_own_dot or layout.form(mark) not in PERIODS:
            return DOUBTFUL
    return PRECISION[matter].get(rule, RARELY)


def doubtful(sentence: Sentence, heads: dict[int, GuidedHead]) -> Iterator[tuple[int, GuidedHead, Matter]]:
    """The marks that have another head, each with the better one, and what is the matter."""
    layout, number, spans = sentence.layout, sentence.layout.numbers, sentence.tree.spans
    room = Room(heads_of_words(sentence))
    for slot, marks in enumerate(layout.marks):
        wrong = [mark for mark in marks if mark in heads and layout.head(mark) != heads[mark].head]
        if not wrong:
            continue
        possible = set(room.possible(slot))
        for mark in wrong:
            guided, word = heads[mark], number[layout.head(mark)]
            first, last = spans[word - 1]
            if word not in possible:
                matter = Matter.CROSSING
            elif _is_split(sentence, mark, heads):
                matter = Matter.SPLIT
            else:
                matter = Matter.BESIDE if slot in (first - 1, last) else Matter.ELSEWHERE
            yield mark, guided, matter


def _is_split(sentence: Sentence, mark: int, heads: dict[int, GuidedHead]) -> bool:
    """Whether the marks of a pair, which should have one head, have two."""
    others = (other for other, guided in heads.items() if guided == heads[mark] and other != mark)
    is_pair = heads[mark].rule in (Rule.ENCLOSED, Rule.BOTH_SIDES)
    return is_pair and any(sentence.layout.head(other) != sentence.layout.head(mark) for other in others)
