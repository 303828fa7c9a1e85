"""The head of each mark by the guidelines of Universal Dependencies, and by T' where they leave a choice.

A mark stands between two chains of constituents: those that end before it, and those that begin behind it.
The guidelines [1] name one of them: brackets and quotation marks hang on what they enclose, a final mark on
its sentence, a mark between conjuncts on the one that follows, any other on the dependent beside it, as high
as possible.  They do not say how large the dependent is: in "Ann, whom you know, came" the second comma ends
both the clause and the subject.  T' does: the clause sprouted both commas (Li, Wang & Eisner 2019, section
2.1).  A treebank may do otherwise: its `Convention` is learned in
`pyropunct.tasks.explain.attachment_conventions`.

[1] https://universaldependencies.org/u/dep/punct.html
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pyropunct.fitted.fitted_story import FittedStory
from pyropunct.tasks.explain.attachment_conventions import (
    NO_CONVENTION,
    Choice,
    Convention,
    Rule,
    Seen,
    Situation,
    Way,
)
from pyropunct.tasks.explain.hanging import function_words, heads_of_words, heads_outside, hung
from pyropunct.tasks.explain.kinds import bare_predicates
from pyropunct.tasks.explain.mark_functions import ENDS, SEEN, mark_function
from pyropunct.text.marks import (
    CLOSERS,
    DASHES,
    PAIRED,
    PERIODS,
    STRAIGHT,
    paired,
)
from pyropunct.text.prose import EMOTICON
from pyropunct.treebank.conllu_block import FORM, Token
from pyropunct.treebank.layout import original_spaces
from pyropunct.treebank.sentence import Puncteme, Sentence
from pyropunct.treebank.tree import base

SENTENCES = 1000
"""The most sentences of a treebank from which its convention is learned."""


class GuidedHead(NamedTuple):
    """The head of a mark, a token id of the original, and the rule that gives it."""

    head: int
    rule: Rule


Punctemes = Sequence[tuple[Puncteme, Puncteme]]
"""T': what the constituent of each word sprouts at its left and at its right."""


def guided_heads(
    sentence: Sentence, punctemes: Punctemes, convention: Convention = NO_CONVENTION
) -> dict[int, GuidedHead]:
    """The head of each mark, by token ids of the original, but for those that are like words.

    If a head is impossible because arcs would cross, its first possible ancestor is the head, see
    `pyropunct.tasks.explain.hanging`.  A function word is a head only if no other word can be, or if a mark
    of the sentence joins it to its neighbour without spaces, as in "on-site".
    """
    guide = Guide(sentence, punctemes)
    heads = guide.heads({mark: one.way(convention) for mark, one in guide.choices.items()})
    return {mark: GuidedHead(head, guide.choices[mark].situation.rule) for mark, head in heads.items()}


def is_word(token: Token) -> bool:
    """Whether a token that counts as a mark is like a word: by its relation, or as an emoticon."""
    return token.relation != "punct" or EMOTICON.has(token.columns[FORM])


class _Place(NamedTuple):
    """Where a mark stands: behind word ``slot``, in a pair that encloses the words ``first`` to ``last``."""

    mark: int
    token: str
    slot: int
    first: int
    last: int


OPENERS = frozenset(CLOSERS).union("¿¡")
DOTS = frozenset(".…")
HYPHENS = frozenset("-‐‑")
_FREE = frozenset([Rule.JOINED, Rule.CONJUNCT, Rule.DEPENDENT])
"""Rules before which T' is asked."""

JOINING = DASHES.union("/·&")
NAMES = frozenset(["flat", "name"])
"""Relations of the later words of a name, whose head is the first; the second is of UD 1."""


class _Beside(NamedTuple):
    """The heads of constituents that end before a mark or begin behind it, the smallest first.

    :ivar left: the head of the largest that ends before the mark; ``right`` of that which begins behind it.
    """

    ending: list[int]
    left: int
    beginning: list[int]
    right: int


class Guide:
    """The heads that marks of a sentence can have by the guidelines, by T' and by other conventions.

    :ivar choices: the ways to hang each mark, before it is known whether arcs would cross.
    """

    def __init__(self, sentence: Sentence, punctemes: Punctemes) -> None:
        self._sentence, self._tree, self._punctemes = sentence, sentence.tree, punctemes
        self._relations = list(map(base, sentence.tree.relations))
        self._space = original_spaces(sentence.layout.block)
        self._root = self._tree.heads.index(0) + 1
        self._places = [_Place(*placed, 1, len(self._tree)) for placed in sentence.layout.placed()]
        self._enclosed, self._empty, self._elided = dict[int, int](), dict[int, int](), set[int]()
        for opener, closer in reversed(paired([place.token for place in self._places])):  # outer ones first
            first, last = self._places[opener].slot + 1, self._places[closer].slot
            inner = range(opener + 1, closer)
            for inside in inner if first <= last else ():
                self._places[inside] = self._places[inside]._replace(first=first, last=last)
            if tops := heads_outside(self._tree, first, last):
                self._enclosed[self._places[opener].mark] = tops[0]
                self._enclosed[self._places[closer].mark] = tops[-1]
            elif last and not self._space[self._places[opener].mark - 1]:
                self._empty |= {self._places[end].mark: last for end in (opener, closer)}
            elif inner and all(DOTS.issuperset(self._places[inside].token) for inside in inner):
                self._elided |= {self._places[one].mark for one in (opener, *inner, closer)}
        self._shown = {place[1:] for place in self._places}
        self.choices = {place.mark: self._choice(place) for place in self._places}

    def heads(self, ways: Mapping[int, Way]) -> dict[int, int]:
        """The head of each mark that is not like a word, by token ids of the original."""
        layout = self._sentence.layout
        number, tokens = layout.numbers, layout.block.tokens
        own = {mark for mark in ways if is_word(tokens[mark - 1])}
        wanted = {
            mark: number[layout.head(mark)] if mark in own else self.choices[mark].words[way]
            for mark, way in ways.items()
        }
        beside = {Way.WORD_BEFORE, Way.WORD_BEHIND, Way.NEAR}
        kept = {wanted[mark] for mark, way in ways.items() if way in beside or self.joins(mark)}
        barred = function_words(self._tree) - kept
        found = hung(heads_of_words(self._sentence), layout.marks, wanted, barred)
        return {mark: layout.words[word - 1] for mark, word in found.items() if mark not in own}

    def _choice(self, place: _Place) -> Choice:
        """The ways to hang a mark."""
        beside = _Beside(*self._chain(place, before=True), *self._chain(place, before=False))
        ending, left, beginning, right = beside
        guided, rule = self._guided(place, beside)
        both = self._delimited(place, beside) if rule in _FREE else 0
        rule = Rule.BOTH_SIDES if both else rule
        last = ending[-2] if len(ending) > 1 and ending[-1] == guided else guided
        side = SEEN * (place.token in OPENERS), SEEN * (place.token in PAIRED.difference(OPENERS))
        near = self._near(place, beginning) if guided in beginning else guided
        name = f"{'<' * bool(ending)}{'>' * bool(beginning)}{self._relations[(both or last) - 1]}"
        words = {
            Way.UNDERLYING: both or guided,
            Way.GUIDELINES: guided,
            Way.BEFORE: ending[-1] if ending else guided,
            Way.BEHIND: beginning[-1] if beginning else guided,
            Way.WORD_BEFORE: ending[0] if ending else guided,
            Way.WORD_BEHIND: beginning[0] if beginning else guided,
            Way.NEAR: near,
            Way.LAST: last,
            Way.ABOVE: left or self._root,
            Way.ABOVE_BEHIND: right if 0 < right <= len(self._tree) else self._root,
        }
        return Choice(Situation(mark_function(place.token, *side), rule, name), words)

    def _guided(self, place: _Place, beside: _Beside) -> tuple[int, Rule]:
        """The head of a mark by the guidelines alone."""
        if enclosed := self._enclosed.get(place.mark):
            return enclosed, Rule.ENCLOSED
        if empty := self._empty.get(place.mark):
            return empty, Rule.EMPTY
        if place.mark in self._elided:
            return self._usual(place, beside), Rule.EMPTY
        tree, token, (ending, left_head, beginning, right_head) = self._tree, place.token, beside
        left, right = (chain[-1] if chain else 0 for chain in (ending, beginning))
        some = left or right or self._root
        if place.slot == len(tree) == place.last and place.first == 1 and token not in PAIRED:
            return self._root, Rule.FINAL
        if token == "." and self._goes_on(place):
            return place.slot, Rule.OWN_DOT
        if token in PERIODS or (ENDS.issuperset(token) and not PERIODS.issuperset(token)):  # no ellipsis
            return (left_head if place.first <= left_head <= place.slot else some), Rule.FINAL
        if token in OPENERS:
            return (right_head if place.slot < right_head <= place.last else right or some), Rule.ALONE
        if token in PAIRED or (token in STRAIGHT and not self._space[place.mark - 1]):
            return (left_head if place.first <= left_head <= place.slot else some), Rule.ALONE
        if self._is_copula(token, left):
            return tree.heads[left - 1], Rule.COPULA
        usual = self._usual(place, beside)
        if self._is_dangling(place):
            return place.slot, Rule.JOINED
        if self.joins(place.mark):
            in_name = usual == right and self._relations[usual - 1] in NAMES
            return tree.heads[usual - 1] if in_name else usual, Rule.JOINED
        is_conjunct = usual == right and usual and self._relations[usual - 1] == "conj"
        return usual, Rule.CONJUNCT if is_conjunct else Rule.DEPENDENT

    def _near(self, place: _Place, beginning: Sequence[int]) -> int:
        """The largest constituent behind a mark with no lone mark between the mark and its head."""
        lone = (one.slot for one in self._places if one.mark not in self._enclosed)
        border = next((slot for slot in lone if slot > place.slot), len(self._tree))
        return max((word for word in beginning if word <= border), default=beginning[0])

    def _usual(self, place: _Place, beside: _Beside) -> int:
        """The dependent of the two constituents beside a mark."""
        left, right = (chain[-1] if chain else 0 for chain in (beside.ending, beside.beginning))
        depends = right and not (left and self._tree.heads[left - 1] > place.slot)
        return right if depends else left or right or self._root

    def _chain(self, place: _Place, *, before: bool) -> tuple[list[int], int]:
        """The heads of constituents that end before a mark or begin behind it, the smallest first.

        :returns: also the head of the largest, which is not among them.
        """
        slot, spans = place.slot, self._tree.spans
        word, chain = (slot if before else slot + 1), list[int]()
        while place.first <= word <= place.last and (word <= slot) == before:
            first, last = spans[word - 1]
            if (last if before else first - 1) != slot:
                break
            chain.append(word)
            word = self._tree.heads[word - 1]
        return chain, word

    def joins(self, mark: int) -> bool:
        """Whether a mark joins two tokens to one written word."""
        inside = 1 < mark < len(self._sentence.layout.block.tokens)
        is_joining = self._sentence.layout.form(mark) in JOINING
        return inside and is_joining and not (self._space[mark - 1] or self._space[mark])

    def _is_dangling(self, place: _Place) -> bool:
        """Whether a mark is a hyphen at the end of a word that goes on elsewhere: "Lohn- und Nebenkosten"."""
        is_hyphen = self._sentence.layout.form(place.mark) in HYPHENS and place.slot > 0
        return is_hyphen and self._space[place.mark] and not self._space[place.mark - 1]

    def _goes_on(self, place: _Place) -> bool:
        """Whether the sentence goes on after a dot: with a word in small letters, or with a number."""
        forms, slot = self._tree.forms, place.slot
        glued = 0 < slot < len(forms) and not self._space[place.mark - 1]
        if not glued or forms[slot][:1].islower():
            return glued
        is_next = self._sentence.layout.words[slot] == place.mark + 1  # unlike a note: "in Rome. [17]"
        return is_next and forms[slot][:1].isdigit()

    def _is_copula(self, token: str, subject: int) -> bool:
        """Whether a dash stands behind a subject whose predicate has no copula: "Ann -- a doctor"."""
        predicate = self._tree.heads[subject - 1] if subject else 0
        is_dash = predicate > subject and DASHES.issuperset(token)
        return is_dash and bare_predicates(self._tree).get(predicate) == subject

    def _delimited(self, place: _Place, beside: _Beside) -> int:
        """The smallest constituent that sprouted the mark on both sides, if the page shows both.

        It is 0 if there is none, or if the usual one sprouted the mark here.
        """
        (ending, _, beginning, _), usual = beside, self._usual(place, beside)
        if place.token in self._punctemes[usual - 1][0 if usual in beginning else 1]:
            return 0
        # A conjunct has its mark in front; what stands behind it belongs to the next.
        words = [word for word in ending if self._relations[word - 1] != "conj"] + list(beginning)
        found = (
            word
            for word in words
            if all(place.token in side for side in self._punctemes[word - 1][:2])
            and self._has_partner(place, word)
        )
        return next(found, 0)

    def _has_partner(self, place: _Place, word: int) -> bool:
        """Whether the page has the same mark at the other side of a constituent, within the same pair."""
        first, last = self._tree.spans[word - 1]
        other = last if place.slot == first - 1 else first - 1
        return place._replace(slot=other)[1:] in self._shown


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
