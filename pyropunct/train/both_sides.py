"""Whether a comma stands on both sides of a constituent, as the middle of sentences shows it.

The page does not show the left comma of a constituent at the beginning of a sentence, or the right one at
the end: T' decides.  In the middle it shows both.  So training chooses the costs of commas on one side
(`pyropunct.models.economy`): T' shall have commas on both sides at the edge of sentences as often as the page
in the middle, for each relation and each side of the head.  This is a constraint on the posterior of T'
(Ganchev, Graça, Gillenwater & Taskar 2010), whose multipliers are the costs.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from torch import Tensor

from pyropunct.treebank.clauses import opens_clause
from pyropunct.treebank.sentence import Sentence, Sprouts
from pyropunct.treebank.tree import Tree
from pyropunct.vocabulary import Vocabulary

COMMAS = frozenset(",，、،")
SHRINKING = 4.0
"""How many constituents of its side count for a relation, besides its own."""

OF_LANGUAGES, SHRINKING_OF_SIDE = 0.65, 10.0
"""The share with both commas in the languages that we have seen, and how many constituents it counts as."""

FIRST_STEP, SMALLER, LARGER = 0.4, 0.5, 1.2
"""The first change of a cost, in natural logarithms of odds; the factor of the next one if the last one went
too far, and if it did not (Riedmiller & Braun 1993, "Rprop").
"""

NEAR = 0.1
"""Shares that differ by less are taken for equal: where all T' are alike, they cannot be met."""

MOST = 20.0
"""The greatest cost of a lone comma, or of a pair."""

Counts = Counter[tuple[str, bool, bool]]
"""How many constituents of a relation, before their head or behind it, have both commas, or one."""


def _constituents(tree: Tree) -> Iterator[tuple[int, bool, int, int, bool]]:
    """Of each constituent but the root: its word, whether it is before its head, the slots on the side of the
    head and on the other side, and whether that is at the edge of the sentence.
    """
    for word, ((first, last), head) in enumerate(zip(tree.spans, tree.heads, strict=True), 1):
        if last < head:
            yield word, True, last, first - 1, first == 1
        elif 0 < head < first:
            yield word, False, first - 1, last, last == len(tree)


def shown(sentences: Iterable[Sentence]) -> Counts:
    """The commas of the page, in the middle of sentences."""
    counts = Counts()
    for sentence in sentences:
        opens = [False, *opens_clause(sentence.tree)]
        for word, before, near, far, at_edge in _constituents(sentence.tree):
            strings = tuple(sentence.surface[near]), tuple(sentence.surface[far])
            if at_edge or len(strings[0]) != 1 or not COMMAS.issuperset(strings[0] + strings[1]):
                continue
            if not (before and opens[far]):  # a clause that begins there absorbs a comma
                counts[sentence.tree.relations[word - 1], before, bool(strings[1])] += 1
    return counts


def sprouted(sentences: Sequence[Sentence], underlying: Iterable[Sequence[Sprouts]]) -> Counts:
    """The commas of T' at the edges of sentences."""
    counts = Counts()
    for sentence, punctemes in zip(sentences, underlying, strict=True):
        for word, before, _, _, at_edge in _constituents(sentence.tree):
            left, right = punctemes[word - 1]
            near, far = (right, left) if before else (left, right)
            if at_edge and COMMAS.intersection(near):
                counts[sentence.tree.relations[word - 1], before, bool(COMMAS.intersection(far))] += 1
    return counts


def _share(counts: Counts, relation: str, before: bool, prior: float, weight: float) -> float:
    both, lone = (counts[relation, before, kind] for kind in (True, False))
    return (both + weight * prior) / (both + lone + weight)


def take_step(
    costs: Tensor, steps: Tensor, vocabulary: Vocabulary, page: Counts, edge: Counts, kappa: float
) -> None:
    """Change (D, 2) the costs of commas on one side, behind and before heads, towards what the page shows.

    :param steps: (D, 2) the last changes, zeros before the first one; they are overwritten.
    """
    for before in (False, True):
        total = Counts()
        for (_, side, both), count in page.items():
            total["", side, both] += count
        of_side = _share(total, "", before, OF_LANGUAGES, SHRINKING_OF_SIDE)
        for number, relation in enumerate(vocabulary.relations):
            wanted = _share(page, relation, before, of_side, SHRINKING)
            gap = wanted - _share(edge, relation, before, wanted, 1.0)
            last = float(steps[number, int(before)])
            if abs(gap) > NEAR:
                size = abs(last) * (LARGER if last * gap > 0 else SMALLER) or FIRST_STEP / kappa
                steps[number, int(before)] = size if gap > 0 else -size
                costs[number, int(before)] += steps[number, int(before)]
    costs.clamp_(-MOST, MOST)
