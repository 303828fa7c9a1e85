"""Whether a comma stands on both sides of a constituent, as the middle of sentences shows it.

The page does not show the left comma of a constituent at the beginning of a sentence, or the right one at
the end: T' decides.  In the middle it shows both.  So training chooses the costs of commas on one side
(`pyropunct.models.economy`): T' shall have commas on both sides at the edge of sentences as often as the page
in the middle, for each relation and each side of the head.  This is a constraint on the posterior of T'
(Ganchev, Graça, Gillenwater & Taskar 2010), whose multipliers are the
costs.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import log

import numpy as np
import torch
from torch import Tensor

from pyropunct.inference.inside import posterior_pairs
from pyropunct.inference.problem import Problem
from pyropunct.treebank.clauses import opens_clause
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree
from pyropunct.vocabulary import Vocabulary

COMMAS = frozenset(",，、،")
SHRINKING = 4.0
"""How many constituents of its side count for a relation, besides its own."""

OF_LANGUAGES, SHRINKING_OF_SIDE = 0.65, 10.0
"""The share with both commas in the languages that we have seen, and how many constituents it counts as."""

RATE = 0.7
"""The part of a step that would meet the share of the page, if all constituents of a relation were alike."""

MOST = 30.0
"""The greatest cost of a comma on one side, or of commas on both."""

Counts = dict[tuple[str, bool, bool], float]
"""How many constituents of a relation, before their head or behind it, have both commas, or one; or are
expected to.
"""


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
    counts: Counts = defaultdict(float)
    for sentence in sentences:
        opens = [False, *opens_clause(sentence.tree)]
        for word, before, near, far, at_edge in _constituents(sentence.tree):
            strings = tuple(sentence.surface[near]), tuple(sentence.surface[far])
            if at_edge or len(strings[0]) != 1 or not COMMAS.issuperset(strings[0] + strings[1]):
                continue
            if not (before and opens[far]):  # a clause that begins there absorbs a comma
                counts[sentence.tree.relations[word - 1], before, bool(strings[1])] += 1
    return counts


@torch.no_grad()
def expected(problems: Iterable[tuple[Sequence[Sentence], Problem]], vocabulary: Vocabulary) -> Counts:
    """The commas of T' at the edges of sentences, in expectation under its posterior."""
    counts: Counts = defaultdict(float)
    sides = vocabulary.inventory.padded_rows
    commas = np.isin(np.array(vocabulary.tokens), [*COMMAS])
    left, right = (torch.from_numpy((commas[side] & (side >= 0)).any(-1)) for side in sides)
    for sentences, problem in problems:
        chances, row = posterior_pairs(problem).cpu(), problem.rows
        node = torch.repeat_interleave(torch.from_numpy(np.diff(problem.choice_start)))
        both, lone_left, lone_right = (
            torch.zeros(len(problem.relation), dtype=chances.dtype).index_add(0, node, chances * kind[row])
            for kind in (left & right, left & ~right, right & ~left)
        )
        for sentence, first in zip(sentences, problem.forest.node_start.tolist(), strict=False):
            for word, before, _, _, at_edge in _constituents(sentence.tree):
                if at_edge:
                    relation, place = sentence.tree.relations[word - 1], first + word - 1
                    counts[relation, before, True] += float(both[place])
                    counts[relation, before, False] += float((lone_right if before else lone_left)[place])
    return counts


def _share(counts: Counts, relation: str, before: bool, prior: float, weight: float) -> float:
    both, lone = (counts.get((relation, before, kind), 0.0) for kind in (True, False))
    return (both + weight * prior) / (both + lone + weight)


def _log_odds(share: float) -> float:
    """Of a share, between 1 in 50 and 49 in 50: nobody can tell it from greater ones."""
    share = min(max(share, 0.02), 0.98)
    return log(share / (1 - share))


def take_step(costs: Tensor, vocabulary: Vocabulary, page: Counts, edge: Counts, kappa: float) -> None:
    """Change (D, 2) the costs of commas on one side, behind and before heads, towards what the page shows."""
    for before in (False, True):
        total: Counts = defaultdict(float)
        for (_, side, both), count in page.items():
            total["", side, both] += count
        of_side = _share(total, "", before, OF_LANGUAGES, SHRINKING_OF_SIDE)
        for number, relation in enumerate(vocabulary.relations):
            wanted = _share(page, relation, before, of_side, SHRINKING)
            found = _share(edge, relation, before, wanted, 1.0)
            costs[number, int(before)] += RATE / kappa * (_log_odds(wanted) - _log_odds(found))
    costs.clamp_(-MOST, MOST)
