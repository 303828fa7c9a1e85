"""Where no page shows one side of a constituent, and how much the page tells of it elsewhere.

At the beginning of a sentence or a clause, and at the end of a sentence, another token absorbs the comma of a
constituent.  T' has it if constituents of the same relation have it in the middle, where the page shows both
sides.  Where they hardly ever stand there, little supports it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pyropunct.text.marks import CLAUSE, COMMAS, START
from pyropunct.treebank.functions import FINAL
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import opens_clause
from pyropunct.vocabulary import Vocabulary

BEGINNING, OPENER, END, OTHER_MARK, MIDDLE = "beginning", "opener", "end", "other mark", "middle"
"""Where a side of a constituent is: at the beginning or end of a sentence; behind a word that opens a clause;
where the page has another mark than a comma; in the middle, where the page shows whether it has a comma."""

SEEN = 4
"""In fewer places in the middle, the page says little about constituents of a relation."""


class Constituent(NamedTuple):
    """A constituent of a sentence that is on one side of its head.

    :ivar before: whether it is before its head.
    :ivar near: the slot on the side of the head; ``far`` is the one on the other side.
    :ivar place: where its far side is.
    """

    word: int
    before: bool
    near: int
    far: int
    place: str


def constituents(sentence: Sentence) -> Iterator[Constituent]:
    """The constituents of a sentence that are on one side of their head."""
    tree, opens = sentence.tree, [False, *opens_clause(sentence.tree)]
    for word, ((first, last), head) in enumerate(zip(tree.spans, tree.heads, strict=True), 1):
        before = last < head
        if before or 0 < head < first:
            near, far = (last, first - 1) if before else (first - 1, last)
            if far in (0, len(tree)):
                place = BEGINNING if before else END
            elif not COMMAS.issuperset(sentence.surface[far]):
                place = OTHER_MARK
            else:
                place = OPENER if before and opens[far] else MIDDLE
            yield Constituent(word, before, near, far, place)


def hardly_shown(sentences: Sequence[Sentence], vocabulary: Vocabulary) -> frozenset[tuple[str, str]]:
    """The pairs of a comma and the token that absorbs it for which the page has little evidence.

    A pair is one of these if most constituents there with a comma on their other side have a rare relation:
    with fewer than `SEEN` places in the middle, on the same side of the head.
    """
    counts = Counter[tuple[str, str, bool]]()
    for sentence in sentences:
        for word, before, near, _, place in constituents(sentence):
            if sentence.surface[near] and COMMAS.issuperset(sentence.surface[near]):
                counts[place, sentence.tree.relations[word - 1], before] += 1
    every, few = Counter[str](), Counter[str]()
    for (place, relation, before), count in counts.items():
        every[place] += count
        few[place] += count * (counts[MIDDLE, relation, before] < SEEN)
    doubtful = {place for place, count in every.items() if 2 * few[place] > count}
    commas = COMMAS.intersection(vocabulary.tokens)
    found = {(START, comma) for comma in commas if BEGINNING in doubtful}
    found |= {(CLAUSE, comma) for comma in commas if OPENER in doubtful}
    of_tokens = zip(vocabulary.tokens, vocabulary.functions, strict=False)
    finals = [token for token, function in of_tokens if function == FINAL and END in doubtful]
    return frozenset(found | {(comma, mark) for comma in commas for mark in finals})
