"""The posterior of surface strings given evidence, for any attach model: importance sampling.

If no score depends on marks inside, sums are exact (`pyropunct.inference.machines.evidence`). Otherwise
trees, punctemes and strings are drawn from the exact posterior of a *blind* story, whose probabilities ignore
marks, with the weight p(x | T) / p_blind(x | T) (self-normalised importance sampling: Owen 2013, chapter 9).

The blind probabilities are at first the story's given only known marks, then its averages over the draws so
far, which keeps weights proper (Cappé and others 2004, "Population Monte Carlo").
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from pyropunct.inference.inside import impossible_slot, log_evidence, posterior_draws
from pyropunct.inference.machines.evidence import Evidence, SlotEvidence, evidence_of, padded, with_first
from pyropunct.inference.machines.paths import Ways
from pyropunct.inference.machines.sampling import Sampler, rewrite_all
from pyropunct.inference.numbering import Strings
from pyropunct.inference.pairs import log_probabilities
from pyropunct.inference.problem import Problem
from pyropunct.inference.pyro.posterior import ImpossibleSurfaceError, problem_of
from pyropunct.inference.pyro.story_state import surface_strings
from pyropunct.inference.ragged import Floats, Ints, starts_of
from pyropunct.inference.story_inputs import StoryInputs, Trees
from pyropunct.inference.strings import ways_of
from pyropunct.inference.views import Views, views_of
from pyropunct.inference.walk import machines

TRIES = 3
"""How often the channel is run forward for a string that evidence allows, before the exact posterior of the
string is worked out, which takes longer.  Both have the same distribution."""

WEIGHED_AT_ONCE = 300
"""The most work on draws (`Conditioned.weighed`) done together; a unit may take a quarter of a megabyte."""

SLOTS = 10
"""So many slots are as much work as a mark."""

Numbers = NDArray[np.int32]


class Pickable(Trees, Protocol):
    """Trees of which some can be picked, as from a `pyropunct.models.trees.TreeBatch`."""

    def __len__(self) -> int:
        """How many trees there are."""

    def pick(self, trees: Sequence[int], /) -> "Pickable":
        """The trees with these numbers, in this order."""


class WeightedDraws(NamedTuple):
    """M draws of a tree and of the surface strings of its S slots, by numbers: see `Conditioned.strings`.

    :ivar log_weight: (M,) log weights; the mean weight estimates p(evidence).
    """

    tree: Ints
    numbers: Numbers
    log_weight: Floats


class Conditioned:
    """p(T, x | evidence) of trees of the same n words and their surface strings, as weighted draws.

    :param inputs_of: what the story of some trees is made of, such as `pyropunct.models.story.Story.inputs`.
    :param weights: p(T) of each tree.
    :param evidence: of each of the slots 0..n, without the token for the beginning of a clause.
    :ivar weighed: the work on all different draws so far: their marks, and a tenth of their slots.  A unit
        takes up to half a millisecond.
    :raises ImpossibleSurfaceError: by `draw`, if no tree can explain the evidence.
    """

    @torch.no_grad()
    def __init__(
        self,
        inputs_of: Callable[[Any], StoryInputs],
        trees: Pickable,
        weights: Sequence[float],
        evidence: Sequence[Evidence],
        generator: np.random.Generator,
    ) -> None:
        self._inputs_of, self._trees, self._generator = inputs_of, trees, generator
        self._inputs = inputs_of(trees)
        self._clause_token = token = self._inputs.inventory.clause_token
        self._log_prior = np.log(np.array(weights))
        known = zip([*evidence] * len(trees), self._inputs.clause.tolist(), strict=True)
        self._evidence = SlotEvidence(
            with_first(token, slot) if begins and token is not None else slot for slot, begins in known
        )
        self._sets = np.array([distinct.is_set for distinct in self._evidence.distinct])
        self.weighed = 0
        self._allowed: dict[tuple[int, int], bool] = {}
        self._choice_start = self._inputs.inventory.choice_start(trees.relation)
        settled = self._evidence.settled()
        self._first = self._blind = self._log_pairs(
            views_of(trees.forest, settled, skipped=self._clause_token)
        )
        self.strings = Strings(self._clause_token)
        lengths = (settled >= 0).sum(-1).numpy()
        self._settled = self.strings.number(lengths, settled[settled >= 0].numpy())

    def _log_pairs(self, views: Views) -> Floats:
        """log p(l, r | w) of the pairs of views, in double precision."""
        scores, sizes = self._inputs.pair_scores(views).cpu().double(), self._inputs.start.diff()[views.node]
        return log_probabilities(scores, torch.from_numpy(starts_of(sizes.numpy()))).numpy()

    @torch.no_grad()
    def draw(self, number: int) -> WeightedDraws:
        """A round of draws; the next one has a better proposal."""
        problem = problem_of(self._inputs, self._evidence, torch.from_numpy(self._blind))
        log_joint = self._log_prior + log_evidence(problem).numpy()
        best = log_joint.max()
        if best == -np.inf:
            slot = impossible_slot(problem, 0)
            where = f"slot {slot}" if slot >= 0 else "several slots"
            raise ImpossibleSurfaceError(f"no punctemes explain what is known of {where}")
        log_total = best + np.log(np.exp(log_joint - best).sum())
        counts = self._allotted(np.exp(log_joint - log_total), number)
        tree = np.repeat(np.arange(len(counts)), counts)
        parts = [self._of_tree(which, draws, problem) for which, draws in enumerate(counts.tolist()) if draws]
        numbers = np.concatenate(parts)
        distinct, place = np.unique(np.column_stack([tree, numbers]), axis=0, return_inverse=True)
        place = place.reshape(-1)
        log_pairs, log_ratio = self._weigh(distinct[:, 0], distinct[:, 1:])
        weight = np.bincount(place) * np.exp(log_ratio - log_ratio.max())
        self._adapt(distinct[:, 0], log_pairs, weight, counts)
        return WeightedDraws(tree, numbers, log_total + log_ratio[place])

    def _allotted(self, share: Floats, number: int) -> Ints:
        """The number of draws of each tree: its share in expectation, and less than one draw off."""
        edges = np.floor(np.cumsum(share / share.sum()) * number + self._generator.random())
        edges[-1] = number
        return np.diff(np.minimum(edges, number), prepend=0).astype(np.int64)

    # Draws from the blind story

    def _of_tree(self, which: int, draws: int, problem: Problem) -> Numbers:
        """(draws, S) the numbers of strings drawn from p_blind(x | T, evidence) of one tree.

        :param problem: of all trees.
        """
        inputs, slots = self._inputs, self._trees.forest.slots(which)
        if len(self._trees) > 1:
            inputs, nodes = self._inputs_of(self._trees.pick([which])), self._trees.forest.nodes(which)
            first, last = self._choice_start[[nodes.start, nodes.stop]]
            evidence = self._evidence.of(torch.arange(slots.start, slots.stop))
            problem = problem_of(inputs, evidence, torch.from_numpy(self._blind[first:last]))
        random = torch.Generator().manual_seed(int(self._generator.integers(1 << 62)))
        choices = posterior_draws(problem, draws, random)
        [(weights, own)] = inputs.channels(torch.arange(inputs.forest.num_slots))  # there is one tree
        underlying = surface_strings(inputs, choices, weights, own).underlying.tokens.numpy()
        [(machine, _)] = machines(inputs)
        return self._rewritten(slots, underlying, machine, ways_of(inputs.transducer, weights))

    def _rewritten(self, of_tree: range, underlying: Ints, machine: Sampler, ways: Ways) -> Numbers:
        """(draws, S) the numbers of strings drawn from p(x | u, evidence), given (draws, S, U) tokens."""
        own = slice(of_tree.start, of_tree.stop)
        numbers = np.tile(self._settled[own], (len(underlying), 1))
        slots = np.flatnonzero(self._evidence.open.numpy()[own])
        rows = np.ascontiguousarray(underlying[:, slots].reshape(-1, underlying.shape[-1]))
        place = np.tile(self._evidence.place.numpy()[own][slots], len(underlying))
        of_rows = np.zeros(len(rows), np.int32)
        waiting = np.arange(len(rows))
        for _ in range(TRIES):
            bits = self._generator.integers(1 << 64, size=len(waiting), dtype=np.uint64)
            drawn = self.strings.number(*rewrite_all(machine, rows[waiting], bits))
            kept = self._are_allowed(place[waiting], drawn)
            of_rows[waiting[kept]] = drawn[kept]
            waiting = waiting[~kept]
        for row in waiting:
            of_rows[row] = self._completed(rows[row], self._evidence.distinct[place[row]], ways)
        numbers[:, slots] = of_rows.reshape(len(numbers), -1)
        return numbers

    def _are_allowed(self, place: Ints, numbers: Numbers) -> NDArray[np.bool_]:
        """Whether the evidence at each place gives each string the weight 1; False unless it `is_set`."""
        keys, back = np.unique(place * len(self.strings) + numbers, return_inverse=True)
        pairs = [divmod(key, len(self.strings)) for key in keys.tolist()]
        for at, number in set(pairs) - self._allowed.keys():
            weight = self._evidence.distinct[at].weight(self.strings.tokens(number)) if self._sets[at] else 0
            self._allowed[at, number] = weight == 1
        return np.array([self._allowed[pair] for pair in pairs], np.bool_)[back]

    def _completed(self, underlying: Ints, evidence: Evidence, ways: Ways) -> int:
        path = ways.path([token for token in underlying.tolist() if token >= 0], evidence, self._generator)
        assert path is not None  # for the punctemes were drawn given the evidence
        return int(self.strings.number(np.array([len(path.surface)]), np.array(path.surface, np.int64))[0])

    # Their probabilities in the story

    def _weigh(self, tree: Ints, numbers: Ints) -> tuple[Floats, Floats]:
        """The weights of D different draws: (D,) log p(x | T) - log p_blind(x | T).

        Also returns log p(l, r | w, x) of all pairs, draw after draw.  Draws are weighed in pieces, so that
        memory is bounded.
        """
        size = self.strings.lengths(numbers).sum(1) + numbers.shape[1] // SLOTS
        before = np.cumsum(size) - size
        self.weighed += int(size.sum())
        pieces = np.flatnonzero(np.diff(before // WEIGHED_AT_ONCE)) + 1
        parts = map(self._weigh_piece, np.split(tree, pieces), np.split(numbers, pieces))
        log_pairs, log_ratio = zip(*parts, strict=True)
        return np.concatenate(log_pairs), np.concatenate(log_ratio)

    def _weigh_piece(self, tree: Ints, numbers: Ints) -> tuple[Floats, Floats]:
        """`_weigh` for a piece."""
        trees, forest = self._trees.pick(tree.tolist()), self._trees.forest
        surface = padded([self.strings.tokens(number) for number in numbers.reshape(-1).tolist()])
        views = views_of(trees.forest, surface, skipped=self._clause_token)
        node = torch.from_numpy(forest.nodes_of(tree.tolist()))
        slot = torch.add(forest.slot_start[tree][:, None], torch.arange(numbers.shape[1])).flatten()
        views = Views(node[views.node], views.start, views.token, slot[views.slot])
        log_pairs = self._log_pairs(views)
        first, last = (self._choice_start[forest.node_start.numpy()[tree + after]] for after in (0, 1))
        blind = np.concatenate([self._blind[a:b] for a, b in zip(first, last, strict=True)])
        both = torch.from_numpy(np.stack([log_pairs, blind]))
        problem = problem_of(self._inputs_of(trees), evidence_of(surface), both)
        looking, blindly = log_evidence(problem).numpy()
        return log_pairs, looking - blindly

    def _adapt(self, tree: Ints, log_pairs: Floats, weight: Floats, counts: Ints) -> None:
        """Set the blind probabilities to the story's, averaged over draws and the first guess."""
        blind, at = self._first.copy(), 0
        for which, first in enumerate(self._trees.forest.node_start.numpy()[:-1]):
            of_tree = weight[tree == which]
            if not len(of_tree):
                continue
            start, end = self._choice_start[[first, self._trees.forest.node_start[which + 1]]]
            of_draws = log_pairs[at : at + len(of_tree) * (end - start)].reshape(len(of_tree), -1)
            at += of_draws.size
            if of_tree.sum() > 0:
                share = of_tree / of_tree.sum() * counts[which]
                mean = (np.exp(self._first[start:end]) + share @ np.exp(of_draws)) / (1 + counts[which])
                with np.errstate(divide="ignore"):
                    blind[start:end] = np.log(mean)
        self._blind = blind
