"""The underlying tree T' of a sentence, and edits of the tree.

An edit reorders or deletes constituents; the others keep their punctemes (Li, Wang & Eisner 2019, section
6.3).
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile

from pyropunct.errors import InputError
from pyropunct.tasks import FIRST, PLACES
from pyropunct.tasks.explain.derivations import (
    CLAUSE_BEGINS,
    SlotDerivation,
    SproutedToken,
    underlying_strings,
)
from pyropunct.tasks.rephrase.ordering import linearised
from pyropunct.text.marks import ABBREVIATION_DOT, UNKNOWN
from pyropunct.treebank.sentence import MarkedPart, Puncteme, Sentence, Sprouts, part_of
from pyropunct.treebank.tree import Tree, base, spans

INTRODUCING = ("cc", "mark")
"""Relations of words that open a clause; nothing is moved in front of them."""

COORDINATED = ("cc", "conj")
"""Relations of conjunctions and conjuncts; nothing is moved after them."""


@dataclass(frozen=True)
class UnderlyingTree:
    """The underlying tree of a sentence, original or edited.

    :ivar sentence: the original sentence of n words.
    :ivar punctemes: for each word of it the left and right puncteme of its constituent, without abbreviation
        dots.
    :ivar words: the words of the tree, from left to right, with their numbers 1..n in the sentence.
    :raises InputError: if a word occurs twice or without its head, or a constituent is not contiguous.
    """

    sentence: Sentence
    punctemes: tuple[tuple[Puncteme, Puncteme], ...]
    words: tuple[int, ...]

    def __post_init__(self) -> None:
        heads, there = self.sentence.tree.heads, set(self.words)
        foreign = there.difference(range(1, len(heads) + 1))
        if foreign:
            raise self._error(f"there is no word {min(foreign)}: it has {len(heads)} words")
        if len(there) < len(self.words):
            twice = next(word for word in self.words if self.words.count(word) > 1)
            raise self._error(f"{self._named(twice)} is there twice")
        if not there:
            raise self._error("the edit leaves no word")
        for word in self.words:
            if heads[word - 1] not in {0, *there}:
                head = self._named(heads[word - 1])
                raise self._error(f"{self._named(word)} is there, but its head, {head}, is not")
        for word, (first, last, size) in zip(self.words, spans(self.tree.heads), strict=True):
            if last - first + 1 != size:
                raise self._error(f"the constituent of {self._named(word)} is torn apart")

    @classmethod
    def of(
        cls,
        sentence: Sentence,
        punctemes: Sequence[tuple[Puncteme, Puncteme]],
        derivations: Sequence[SlotDerivation],
    ) -> "UnderlyingTree":
        """The underlying tree of a sentence with the marks of the surface in place of unknown ones."""
        sides = [[list(side) for side in pair] for pair in punctemes]
        for slot, derivation in enumerate(derivations):
            for token, origin in zip(derivation.surface, derivation.origins, strict=True):
                if origin is not None and derivation.underlying[origin].token == UNKNOWN:
                    word = derivation.underlying[origin].word
                    number = sum(sprouted.word == word for sprouted in derivation.underlying[:origin])
                    part, ends = part_of(punctemes[word - 1]), word <= slot
                    if part and ends and not part.right_out:
                        number -= 1  # the mark of the part comes before the right puncteme
                    # A constituent ends after its head word and starts before it.
                    sides[word - 1][int(ends)][number] = token
        pairs = tuple(
            Sprouts(_without_dots(left), _without_dots(right), part_of(pair))
            for (left, right), pair in zip(sides, punctemes, strict=True)
        )
        return cls(sentence, pairs, tuple(range(1, len(sentence.tree) + 1)))

    @cached_property
    def original(self) -> "UnderlyingTree":
        """The tree before all edits."""
        return replace(self, words=tuple(range(1, len(self.sentence.tree) + 1)))

    @cached_property
    def tree(self) -> Tree:
        """The words as an unpunctuated tree, renumbered from 1."""
        whole = self.sentence.tree
        number = {0: 0} | {word: place for place, word in enumerate(self.words, start=1)}
        return Tree(
            tuple(number[whole.heads[word - 1]] for word in self.words),
            tuple(whole.relations[word - 1] for word in self.words),
            tuple(whole.tags[word - 1] for word in self.words),
            tuple(whole.forms[word - 1] for word in self.words),
            treebank=whole.treebank,
        )

    @cached_property
    def strings(self) -> list[tuple[SproutedToken, ...]]:
        """The underlying string of each slot; a boundary comes first, then the abbreviation dot."""
        pairs = [self._of_word(word) for word in self.words]
        strings = [
            tuple(
                sprouted._replace(word=self.words[sprouted.word - 1] if sprouted.word else 0)
                for sprouted in string
            )
            for string in underlying_strings(self.tree, pairs, clauses=True)
        ]
        for place, word in enumerate(self.words, start=1):
            if ABBREVIATION_DOT in self.sentence.surface[word]:
                begins, dot = (
                    strings[place][:1] == (CLAUSE_BEGINS,),
                    SproutedToken(ABBREVIATION_DOT, word, -1),
                )
                strings[place] = (*strings[place][:begins], dot, *strings[place][begins:])
        return strings

    def _of_word(self, word: int) -> tuple[Puncteme, Puncteme]:
        """What a word sprouts; outside of its part stand the outermost dependents that always did."""
        pair, part = self.punctemes[word - 1], part_of(self.punctemes[word - 1])
        if part is None:
            return pair
        children = self.sentence.tree.children[word]
        before = [child for child in children if child < word]
        after = [child for child in children if child > word]
        outside = {*before[: part.left_out], *after[len(after) - part.right_out :]}
        family = [one for one in self.words if one == word or one in children]
        place = family.index(word)
        sides = family[:place], family[:place:-1]
        left_out, right_out = (len(list(takewhile(outside.__contains__, side))) for side in sides)
        return Sprouts(*pair, MarkedPart(part.left, part.right, left_out, right_out))

    def with_relation(self, relation: str) -> list[int]:
        """The words whose relation to their head is this one or a subtype of it."""
        relations = self.sentence.tree.relations
        return [word for word in self.words if is_relation(relations[word - 1], relation)]

    def conjunctions(self, words: Collection[int]) -> list[int]:
        """The conjunctions that would join nothing without the given words.

        In UD version 1 a conjunction depends on the first conjunct, so it is not deleted with the others.  A
        conjunction before the first conjunct is kept, unless it is one such as "both", ``cc:preconj``.
        """
        heads, relations = self.sentence.tree.heads, self.sentence.tree.relations
        conjunctions = []
        for place, word in enumerate(self.words):
            head, relation = heads[word - 1], relations[word - 1]
            if is_relation(relation, "cc") and (head in self.words[:place] or relation == "cc:preconj"):
                siblings = [other for other in self.words[place:] if heads[other - 1] == head]
                behind = {other for other in siblings if is_relation(relations[other - 1], "conj")}
                if behind and behind.issubset(words):
                    conjunctions.append(word)
        return conjunctions

    def without(self, words: Collection[int]) -> "UnderlyingTree":
        """The tree without the constituents of words; raises `InputError` for the root or missing words."""
        self._check_there(words)
        heads, gone = self.sentence.tree.heads, set(words)
        root = next(word for word in self.words if not heads[word - 1])
        if root in gone:
            raise self._error(f"{self._named(root)} is the root: nothing would be left")
        for word in (self.words[place - 1] for place in self.tree.top_down):
            if heads[word - 1] in gone:
                gone.add(word)
        return replace(self, words=tuple(word for word in self.words if word not in gone))

    def moved(self, words: Iterable[int], place: str) -> "UnderlyingTree":
        """The tree with the constituents of some words moved among the dependents of their heads.

        They keep their order.  Words that open a clause (`INTRODUCING`) stay first, conjunctions and
        conjuncts (`COORDINATED`) last.  Raises `InputError` for the root or a missing word.

        :param place: one of `PLACES`.
        """
        if place not in PLACES:
            raise ValueError(f"a constituent can be moved to be {' or '.join(PLACES)}, not {place}")
        moving = list(words)
        self._check_there(moving)
        heads = self.sentence.tree.heads
        families: dict[int, list[int]] = {word: [] for word in (0, *self.words)}
        for word in self.words:
            families[word].append(word)
            families[heads[word - 1]].append(word)
        for head in {heads[word - 1] for word in moving}:
            if not head:
                root = next(word for word in moving if not heads[word - 1])
                raise self._error(f"{self._named(root)} is the root: there is nowhere to move it")
            moved = [word for word in families[head] if word in moving]
            rest = [word for word in families[head] if word not in moving]
            border = self._border(rest, place)
            families[head] = [*rest[:border], *moved, *rest[border:]]
        return replace(self, words=linearised(self.sentence.tree, families))

    def reordered(self, words: Iterable[int]) -> "UnderlyingTree":
        """The tree in another order; raises `InputError` for other words, or split constituents."""
        order = tuple(words)
        if sorted(order) != sorted(self.words):
            raise self._error("a new order has to have the same words, each once")
        return replace(self, words=order)

    def _border(self, family: Sequence[int], place: str) -> int:
        """The index in a head's family at which to insert moved constituents."""
        relations = [self.sentence.tree.relations[word - 1] for word in family]
        if place == FIRST:
            opening = [any(is_relation(relation, name) for name in INTRODUCING) for relation in relations]
            return next(number for number, opens in enumerate([*opening, False]) if not opens)
        behind = [any(is_relation(relation, name) for name in COORDINATED) for relation in relations]
        return next(number for number in range(len(family), -1, -1) if not number or not behind[number - 1])

    def _check_there(self, words: Iterable[int]) -> None:
        for word in words:
            if word not in self.words:
                raise self._error(f"word {word} is not there")

    def _named(self, word: int) -> str:
        return f"word {word} ({self.sentence.tree.forms[word - 1]})"

    def _error(self, problem: str) -> InputError:
        return InputError(f"sentence {self.sentence.identifier!r}: {problem}")


def is_relation(relation: str, wanted: str) -> bool:
    """Whether a relation is the wanted one or a subtype of it."""
    return wanted in (relation, base(relation))


def _without_dots(puncteme: Sequence[str]) -> Puncteme:
    return tuple(token for token in puncteme if token != ABBREVIATION_DOT)
