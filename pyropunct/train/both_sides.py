"""Whether a comma stands on both sides of a constituent, as the middle of sentences shows it.

The page does not show the left comma of a constituent at the beginning of a sentence, or the right one at
the end: T' decides.  In the middle it shows both.  So training chooses the costs of commas on one side
(`pyropunct.models.economy`): T' shall have commas on both sides at the edge of sentences as often as the page
in the middle, for each relation and each side of the head.  This is a constraint on the posterior of T'
(Ganchev, Graça, Gillenwater & Taskar 2010), whose multipliers are the costs.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, product
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from pyropunct.fitted.fitted_story import FittedStory
from pyropunct.inference.inside import best_derivation, posterior_pairs
from pyropunct.inference.problem import Problem
from pyropunct.models.story import Story
from pyropunct.text.marks import COMMAS
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import MAIN_TREEBANK, opens_clause
from pyropunct.vocabulary import Vocabulary

SHRINKING = 4.0
"""How many constituents of its side count for a relation, besides its own."""

OF_LANGUAGES, SHRINKING_OF_SIDE = 0.65, 10.0
"""The share with both commas in the languages that we have seen, and how many constituents it counts as."""

RATE = 0.7
"""The part of a step that would meet the share of the page, if all constituents of a relation were alike."""

MOST = 30.0
"""The greatest cost of a comma on one side, or of commas on both, in training."""

READ, READ_OF_EACH, STEPS = 1000, 200, 2
"""How many sentences, and of several treebanks of each, are compared with the page after each epoch, and how
often."""

AROUND, HALVINGS = 30.0, 7
"""How far the costs of a trained story may be changed, and how often this interval is halved."""

SIDES = (False, True)
"""Behind the head, and before it: the columns of costs and shares."""

Counts = dict[tuple[str, str, bool, bool], float]
"""How many constituents of a treebank with a relation, before their head or behind it, have both commas, or
one; or are expected to.
"""


class Constituent(NamedTuple):
    """A constituent of a sentence, but not the root.

    :ivar before: whether it is before its head.
    :ivar near: the slot on the side of the head; ``far`` is the one on the other side.
    :ivar place: where its far side is: at the "edge" of the sentence, where no page shows a comma; behind an
        "opener", where a clause begins and may absorb it; where the page has an "other mark"; or in the
        "middle", where the page shows whether there is a comma.
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
                place = "edge"
            elif not COMMAS.issuperset(sentence.surface[far]):
                place = "other mark"
            else:
                place = "opener" if before and opens[far] else "middle"
            yield Constituent(word, before, near, far, place)


def shown(sentences: Iterable[Sentence]) -> Counts:
    """The commas of the page, in the middle of sentences."""
    counts: Counts = defaultdict(float)
    for sentence in sentences:
        for word, before, near, far, place in constituents(sentence):
            near_string = tuple(sentence.surface[near])
            if place == "middle" and len(near_string) == 1 and COMMAS.issuperset(near_string):
                relation = sentence.tree.relations[word - 1]
                counts[sentence.tree.treebank, relation, before, bool(sentence.surface[far])] += 1
    return counts


@torch.no_grad()
def sprouted(
    problems: Iterable[tuple[Sequence[Sentence], Problem]], vocabulary: Vocabulary, best: bool = False
) -> tuple[Counts, Counts]:
    """The constituents with a comma towards their head in T', at the edges of sentences and in the middle.

    :param best: count in the best T', not in expectation under the posterior.
    """
    edges: Counts = defaultdict(float)
    middles: Counts = defaultdict(float)
    commas = np.isin(np.array(vocabulary.tokens), [*COMMAS])
    left, right = (
        torch.from_numpy((commas[side] & (side >= 0)).any(-1)) for side in vocabulary.inventory.padded_rows
    )
    for sentences, problem in problems:
        nodes = torch.arange(len(problem.relation))
        if best:
            row, _ = vocabulary.inventory.sprouted(problem.relation.cpu(), best_derivation(problem).cpu())
            node, chances = nodes, torch.ones(len(nodes), dtype=torch.double)
        else:
            row, chances = problem.rows, posterior_pairs(problem).cpu().double()
            node = nodes.repeat_interleave(torch.from_numpy(np.diff(problem.choice_start)))
        both, lone_left, lone_right = (
            torch.zeros(len(nodes), dtype=torch.double).index_add(0, node, chances * kind[row]).tolist()
            for kind in (left & right, left & ~right, right & ~left)
        )
        for sentence, first in zip(sentences, problem.forest.node_start.tolist(), strict=False):
            for word, before, _, _, place in constituents(sentence):
                if place in ("edge", "middle"):
                    key = sentence.tree.treebank, sentence.tree.relations[word - 1], before
                    counts = edges if place == "edge" else middles
                    counts[*key, True] += both[first + word - 1]
                    counts[*key, False] += (lone_right if before else lone_left)[first + word - 1]
    return edges, middles


def wanted_shares(page: Counts, middle: Counts, vocabulary: Vocabulary) -> Tensor:
    """(treebanks x D, 2) the wanted shares of both commas, of each relation behind and before its head.

    A comma on the page may belong to another constituent, and T' depends on the costs, so both count.  For
    rare relations the share of all relations of the treebank counts too, and for these that of other
    languages.
    """
    seen = {key: page.get(key, 0.0) + middle.get(key, 0.0) for key in {**page, **middle}}
    total: Counts = defaultdict(float)
    for (treebank, _, before, both), count in seen.items():
        total[treebank, "", before, both] += count
    shares = []
    for treebank in vocabulary.treebanks:
        of_side = [_share(total, (treebank, "", side), OF_LANGUAGES, SHRINKING_OF_SIDE) for side in SIDES]
        shares += [
            [_share(seen, (treebank, relation, side), of_side[side], SHRINKING) for side in SIDES]
            for relation in vocabulary.relations
        ]
    return torch.tensor(shares)


def found_shares(edge: Counts, vocabulary: Vocabulary, wanted: Tensor) -> Tensor:
    """The shares of both commas in T'; those that are wanted, where T' has no comma."""
    keys = product(vocabulary.treebanks, vocabulary.relations)
    return torch.tensor(
        [
            [_share(edge, (*key, side), priors[side], 0.1) for side in SIDES]
            for key, priors in zip(keys, wanted.tolist(), strict=True)
        ]
    )


def _share(counts: Counts, key: tuple[str, str, bool], prior: float, weight: float) -> float:
    both, lone = (counts.get((*key, kind), 0.0) for kind in (True, False))
    return (both + weight * prior) / (both + lone + weight)


def take_step(costs: Tensor, wanted: Tensor, found: Tensor, kappa: float) -> None:
    """Change costs of commas on one side so that shares come nearer to those that are wanted."""
    # Between 1 in 50 and 49 in 50, since nobody can tell these from greater ones.
    change = wanted.clamp(0.02, 0.98).logit() - found.clamp(0.02, 0.98).logit()
    costs += RATE / kappa * change.to(costs)
    costs.clamp_(-MOST, MOST)


def level(costs: Tensor, gap: Callable[[], Tensor]) -> None:
    """Choose the costs whose best T' has shares nearest to those that are wanted, by bisection.

    In training, expectations meet them; but where constituents are alike, the best T' are all alike.

    :param gap: how much greater the shares are than wanted, with the present costs.
    """
    low, high = costs - AROUND, costs + AROUND
    best, least = costs.clone(), gap().to(costs).abs()
    for _ in range(HALVINGS):
        costs.copy_((low + high) / 2)
        now = gap().to(costs)
        best, least = best.where(now.abs() >= least, costs), least.minimum(now.abs())
        low, high = low.where(now > 0, costs), high.where(now <= 0, costs)
    costs.copy_(best)


class CommasOfThePage:
    """What the training sentences show about commas on both sides, and the T' that are compared with it."""

    def __init__(self, train: Sequence[Sentence], vocabulary: Vocabulary) -> None:
        self._vocabulary, self._page = vocabulary, shown(train)
        of = sorted(train, key=lambda one: one.tree.treebank)  # which keeps their order
        parts = {name: list(some) for name, some in groupby(of, lambda one: one.tree.treebank)}
        most = READ if len(parts) == 1 else READ_OF_EACH
        self._read = {name: (some, max(1, len(some) // most)) for name, some in parts.items()}

    def take_step(self, model: FittedStory, kappa: float) -> None:
        """Change the story's costs of commas on one side towards what the middle of sentences shows."""
        take_step(_costs(model.story), *self._shares(model), kappa)

    def level(self, model: FittedStory) -> None:
        """Choose the costs of a trained story by its best T': see `level`."""
        model.story.one_sided = costs = _costs(model.story).clone()

        def gap() -> Tensor:
            wanted, found = self._shares(model, best=True)
            return found - wanted

        level(costs, gap)
        if len(self._read) > 1 and MAIN_TREEBANK not in self._read:  # it stands for unknown languages
            common, *others = costs.chunk(len(self._vocabulary.treebanks))
            common.copy_(torch.stack(others).mean(0))

    def _shares(self, model: FittedStory, best: bool = False) -> tuple[Tensor, Tensor]:
        """The wanted and the found shares of both commas in T', of some sentences."""
        read = [one for some, every in self._read.values() for one in some[::every]]
        edges, middles = sprouted(model.problems(read), self._vocabulary, best)
        middles = {key: self._read[key[0]][1] * count for key, count in middles.items()}
        wanted = wanted_shares(self._page, middles, self._vocabulary)
        return wanted, found_shares(edges, self._vocabulary, wanted)


def _costs(story: Story) -> Tensor:
    assert story.one_sided is not None  # because the page decides
    return story.one_sided
