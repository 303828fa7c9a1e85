"""The head of each mark by the guidelines of Universal Dependencies, and by T' where they leave a choice.

A mark stands between two chains of constituents: those that end before it, and those that begin behind it.
The guidelines [1] name one of them: brackets and quotation marks hang on what they enclose, a final mark on
its sentence, a mark between conjuncts on the one that follows, any other on the dependent beside it, as high
as possible.  They do not say how large the dependent is: in "Ann, whom you know, came" the second comma ends
both the clause and the subject.  T' does: the clause sprouted both commas (Li, Wang & Eisner 2019, section
2.1).

[1] https://universaldependencies.org/u/dep/punct.html
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from pyropunct.tasks.explain.clauses import bare_predicates
from pyropunct.tasks.explain.hanging import hung
from pyropunct.text.marks import (
    CLOSERS,
    DASHES,
    EXCLAMATION_MARKS,
    PAIRED,
    PERIODS,
    QUESTION_MARKS,
    STRAIGHT,
    is_emoticon,
    paired,
)
from pyropunct.treebank.conllu_block import FORM, Token
from pyropunct.treebank.repunctuate import original_spaces
from pyropunct.treebank.sentence import Puncteme, Sentence
from pyropunct.treebank.tree import Tree, base


class Rule(StrEnum):
    """Why a mark hangs where it does."""

    ENCLOSED = "brackets and quotation marks hang on what they enclose"
    ALONE = "a bracket or quotation mark that encloses no word hangs on the side that it faces"
    FINAL = "a final mark hangs on the sentence that it ends"
    CONJUNCT = "a mark before a conjunct hangs on it"
    DEPENDENT = "a mark beside a dependent hangs on it"
    BOTH_SIDES = "the model: this constituent has a mark on both sides"
    JOINED = "a mark within a name or a written word hangs on a part of it"
    OWN_DOT = "a dot within a sentence belongs to the word before"
    COPULA = "a dash in place of a copula hangs on the predicate"


class GuidedHead(NamedTuple):
    """The head of a mark, a token id of the original, and the rule that gives it."""

    head: int
    rule: Rule


Punctemes = Sequence[tuple[Puncteme, Puncteme]]
"""T': what the constituent of each word sprouts at its left and at its right."""


def guided_heads(sentence: Sentence, punctemes: Punctemes) -> dict[int, GuidedHead]:
    """The head of each mark, by token ids of the original, but for those that are like words.

    If a head is impossible because arcs would cross, its first possible ancestor is the head, see
    `pyropunct.tasks.explain.hanging`.  A function word is a head only if no other word can be, or if a mark
    of the sentence joins it to its neighbour without spaces, as in "on-site".
    """
    layout, guide = sentence.layout, _Guide(sentence, punctemes)
    chosen, number, tokens = dict(guide.choices()), layout.numbers, layout.block.tokens
    own = {mark for mark in chosen if is_word(tokens[mark - 1])}
    wanted = {mark: number[layout.head(mark)] if mark in own else word for mark, (word, _) in chosen.items()}
    joined = {wanted[mark] for mark in chosen if guide.joins(mark)}
    found = hung(heads_of_words(sentence), layout.marks, wanted, function_words(sentence.tree) - joined)
    return {
        mark: GuidedHead(layout.words[word - 1], chosen[mark][1])
        for mark, word in found.items()
        if mark not in own
    }


def is_word(token: Token) -> bool:
    """Whether a token that counts as a mark is like a word: by its relation, or as an emoticon."""
    return token.relation != "punct" or is_emoticon(token.columns[FORM])


def heads_of_words(sentence: Sentence) -> list[int]:
    """The heads of the words before the tree was made projective, counted among the words."""
    layout, number = sentence.layout, sentence.layout.numbers
    return [number[layout.head(token)] for token in layout.words]


FUNCTION_WORDS = frozenset(
    ["aux", "case", "cc", "clf", "cop", "det", "fixed", "goeswith", "mark", "auxpass", "mwe"]
)
"""Relations of words that marks do not depend on if they can depend on another; the last two are of UD 1."""


def function_words(tree: Tree) -> frozenset[int]:
    """The function words among the words."""
    return frozenset(word for word, name in enumerate(tree.relations, 1) if base(name) in FUNCTION_WORDS)


class _Place(NamedTuple):
    """Where a mark stands: behind word ``slot``, in a pair that encloses the words ``first`` to ``last``."""

    mark: int
    token: str
    slot: int
    first: int
    last: int


OPENERS = frozenset(CLOSERS).union("¿¡")
FINAL = PERIODS | QUESTION_MARKS | EXCLAMATION_MARKS
HYPHENS = frozenset("-‐‑")
JOINING = DASHES.union("/·&")
NAMES = frozenset(["flat", "name"])
"""Relations of the later words of a name, whose head is the first; the second is of UD 1."""


def heads_outside(tree: Tree, first: int, last: int) -> list[int]:
    """The words of a stretch whose heads are not among them."""
    return [word for word in range(first, last + 1) if not first <= tree.heads[word - 1] <= last]


class _Guide:
    """Chooses the head of each mark of a sentence, before it is known whether arcs would cross."""

    def __init__(self, sentence: Sentence, punctemes: Punctemes) -> None:
        self._sentence, self._tree, self._punctemes = sentence, sentence.tree, punctemes
        self._relations = list(map(base, sentence.tree.relations))
        self._space = original_spaces(sentence.layout.block)
        self._root = self._tree.heads.index(0) + 1
        self._places = [_Place(*placed, 1, len(self._tree)) for placed in sentence.layout.placed()]
        self._enclosed = dict[int, int]()
        for opener, closer in reversed(paired([place.token for place in self._places])):  # outer ones first
            first, last = self._places[opener].slot + 1, self._places[closer].slot
            for inside in range(opener + 1, closer):
                self._places[inside] = self._places[inside]._replace(first=first, last=last)
            if tops := heads_outside(self._tree, first, last):
                self._enclosed[self._places[opener].mark] = tops[0]
                self._enclosed[self._places[closer].mark] = tops[-1]
        self._shown = {place[1:] for place in self._places}

    def choices(self) -> Iterator[tuple[int, tuple[int, Rule]]]:
        """The marks, each with a word and the rule."""
        for place in self._places:
            word = self._enclosed.get(place.mark)
            yield place.mark, self._choice(place) if word is None else (word, Rule.ENCLOSED)

    def _choice(self, place: _Place) -> tuple[int, Rule]:
        """The head of a mark other than those of a pair that encloses words."""
        tree, token = self._tree, place.token
        ending, left_head = self._chain(place, before=True)
        beginning, right_head = self._chain(place, before=False)
        left, right = (chain[-1] if chain else 0 for chain in (ending, beginning))
        some = left or right or self._root
        if place.slot == len(tree) == place.last and place.first == 1 and token not in PAIRED:
            return self._root, Rule.FINAL
        if token == "." and self._goes_on(place):
            return place.slot, Rule.OWN_DOT
        if token in PERIODS or (FINAL.issuperset(token) and not PERIODS.issuperset(token)):  # no ellipsis
            return (left_head if place.first <= left_head <= place.slot else some), Rule.FINAL
        if token in OPENERS:
            return (right_head if place.slot < right_head <= place.last else right or some), Rule.ALONE
        if token in PAIRED or (token in STRAIGHT and not self._space[place.mark - 1]):
            return (left_head if place.first <= left_head <= place.slot else some), Rule.ALONE
        if self._is_copula(token, left):
            return tree.heads[left - 1], Rule.COPULA
        usual = right if right and not (left and tree.heads[left - 1] > place.slot) else some
        delimited = self._delimited(place, ending, beginning, usual)
        if delimited:
            return delimited, Rule.BOTH_SIDES
        if self._is_dangling(place):
            return place.slot, Rule.JOINED
        if self.joins(place.mark):
            in_name = usual == right and self._relations[usual - 1] in NAMES
            return tree.heads[usual - 1] if in_name else usual, Rule.JOINED
        is_conjunct = usual == right and usual and self._relations[usual - 1] == "conj"
        return usual, Rule.CONJUNCT if is_conjunct else Rule.DEPENDENT

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
        return glued and (forms[slot][:1].islower() or forms[slot][:1].isdigit())

    def _is_copula(self, token: str, subject: int) -> bool:
        """Whether a dash stands behind a subject whose predicate has no copula: "Ann -- a doctor"."""
        predicate = self._tree.heads[subject - 1] if subject else 0
        is_dash = predicate > subject and DASHES.issuperset(token)
        return is_dash and bare_predicates(self._tree).get(predicate) == subject

    def _delimited(self, place: _Place, ending: Sequence[int], beginning: Sequence[int], usual: int) -> int:
        """The smallest constituent that sprouted the mark on both sides, if the page shows both.

        It is 0 if there is none, or if the usual one sprouted the mark here.
        """
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
