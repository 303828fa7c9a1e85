"""Where marks can hang in a tree by the guidelines of Universal Dependencies, so that no arcs cross."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from pyropunct.treebank.projective import preorder
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree, base, dependents_of


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


def heads_outside(tree: Tree, first: int, last: int) -> list[int]:
    """The words of a stretch whose heads are not among them."""
    return [word for word in range(first, last + 1) if not first <= tree.heads[word - 1] <= last]


def uncrossed(words: Sequence[int], slot: int) -> list[int]:
    """Heads for the marks of a slot, so that their arcs do not cross.

    Arcs do not cross if and only if the marks that depend on words before the slot come first, and heads do
    not increase from left to right among these marks and among the others.

    :param words: the head of the constituent that sprouted each mark, from left to right; words up to
        ``slot`` stand before the slot.
    :returns: the same, except that marks between those of another constituent get its head.
    """
    heads = list(words)
    before = [place for place, word in enumerate(words) if word <= slot]
    border = before[-1] + 1 if before else 0
    innermost = 0
    for place in reversed(range(border)):
        innermost = max(innermost, words[place]) if words[place] <= slot else innermost
        heads[place] = innermost
    for place in range(border + 1, len(words)):
        heads[place] = min(heads[place - 1], words[place])
    return heads


def hung(
    heads: Sequence[int],
    marks: Sequence[Sequence[int]],
    wanted: Mapping[int, int],
    barred: Collection[int] = (),
) -> dict[int, int]:
    """A head for each mark of the slots of a tree: the wanted one, or its lowest possible ancestor.

    :param wanted: for each mark a word, or 0 if none is wanted.
    :param barred: words that are heads only where no other can be; see `Room`.
    """
    room, found = Room(heads), dict[int, int]()
    for slot, some in enumerate(marks):
        words = uncrossed(room.nearest(slot, [wanted[mark] for mark in some], barred), slot)
        room.take(slot, words)
        found |= zip(some, words, strict=True)
    return found


class Room:
    """Where marks can hang in a tree, projective or not, by the guidelines of Universal Dependencies.

    A mark is attached projectively: its head dominates all that stands between the two.  It causes no
    nonprojectivity: no arc leads from between the two to the other side of the mark.  An arc may cross that
    of the mark only if it passes over the head, and then it would not be projective without the mark either.
    The word before a slot and the word behind it are always possible.
    """

    def __init__(self, heads: Sequence[int]) -> None:
        self._heads, (_, self._rank, self._below) = heads, preorder(heads)
        dependents = dependents_of(heads)
        self._ends: list[list[float]] = [
            [heads[word - 1], *dependents[word]] for word in range(1, len(heads) + 1)
        ]
        self._taken: dict[int, list[int]] = {}

    def take(self, slot: int, words: Sequence[int]) -> None:
        """Hang marks of a slot on words; marks of further slots are to stand behind it."""
        self._taken[slot] = list(words)
        for word in words:
            self._ends[word - 1].append(slot + 0.5)

    def possible(self, slot: int) -> Iterator[int]:
        """The words on which a mark in a slot can depend."""
        border = slot + 0.5
        for side in (range(slot, 0, -1), range(slot + 1, len(self._heads) + 1)):
            lowest, highest = len(self._heads), -1  # of the ranks of what stands between
            for word in side:
                first = self._rank[word]
                if first <= lowest and highest < first + self._below[word]:
                    yield word
                marks = self._taken.get(word - 1, [])
                if any((end > border) != (word > border) for end in (*self._ends[word - 1], *marks)):
                    break
                ranks = [self._rank[one] for one in (word, *marks)]
                lowest, highest = min(lowest, *ranks), max(highest, *ranks)

    def nearest(self, slot: int, words: Sequence[int], barred: Collection[int] = ()) -> list[int]:
        """For each word the head of a mark: the word, its first possible ancestor, or the highest word."""
        if not words:
            return []
        found = set(self.possible(slot))
        found = found.difference(barred) or found
        highest = min(found, key=self._rank.__getitem__)
        return [self._raised(word, found) or highest for word in words]

    def _raised(self, word: int, possible: Collection[int]) -> int:
        """The first of the possible words on the way from a word to the root, or 0."""
        while word and word not in possible:
            word = self._heads[word - 1]
        return word
