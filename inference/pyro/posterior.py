"""p(T' | T, x) and p(x | T) once x is known: which T' may have produced it?  (Section 3.)"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pyro.distributions as dist
import torch
from pyro.ops.provenance import detach_provenance, get_provenance, track_provenance
from torch import Tensor

from pyropunct.errors import UserError
from pyropunct.inference import inside
from pyropunct.inference.inventory import split
from pyropunct.inference.machines.automata import Automata, joined_groups
from pyropunct.inference.machines.evidence import Evidence, SlotEvidence, evidence_of
from pyropunct.inference.pairs import of_choices
from pyropunct.inference.parts import PartScores, shown_parts
from pyropunct.inference.problem import Problem
from pyropunct.inference.pyro.private import untraced
from pyropunct.inference.story_inputs import StoryInputs, Surface, row_at
from pyropunct.inference.views import join_views


class ImpossibleSurfaceError(UserError, ValueError):
    """No choice of punctemes explains some surface punctuation."""


class Posterior:
    """The posterior of T' once x is known; each quantity is computed on first use.

    :ivar log_pairs: (..., C) log p(l, r | w) given the marks of x inside.
    """

    @untraced
    def __init__(self, inputs: StoryInputs, surface: Surface) -> None:
        self.inputs, self.surface = inputs, surface
        if isinstance(surface, Tensor) and surface.dim() > 2:  # of several draws
            self.log_pairs = self._log_pairs_of_draws(surface)
        else:
            self.log_pairs = inputs.log_pairs(inputs.views(surface))

    def _log_pairs_of_draws(self, pages: Tensor) -> Tensor:
        batch, inputs = pages.shape[:-2], self.inputs
        log_pairs = inputs.log_pairs(join_views([inputs.views(page) for page in pages.flatten(0, -3)]))
        rows = log_pairs.unflatten(-1, (batch.numel(), -1))
        if rows.dim() > 2:  # each draw has scores of its own
            each = (
                row_at(rows[..., place, :], batch, index) for place, index in enumerate(np.ndindex(batch))
            )
            rows = torch.stack(list(each))
        return rows.reshape(*batch, -1)

    @cached_property
    def problem(self) -> Problem:
        """The sum over all T', as a problem of `pyropunct.inference.inside`."""
        return self.problem_with(self.inputs.transducer.automata)

    @untraced
    def problem_with(self, automata_of: Callable[[Sequence[Evidence], Tensor], Automata]) -> Problem:
        """The problem, given the automata of pieces of evidence under one joint value of the weights."""
        inputs, log_pairs = self.inputs, detach_provenance(self.log_pairs)
        if inputs.costs is not None:
            log_pairs = log_pairs - detach_provenance(inputs.costs).to(log_pairs)
        if inputs.is_latent:
            arcs = detach_provenance(inputs.trees.log_arcs).to(log_pairs.device)
            log_pairs = log_pairs + arcs.repeat_interleave(inputs.start.diff().to(arcs.device), -1)
        return problem_of(inputs, evidence_of(self.surface), log_pairs, automata_of)

    @cached_property
    @untraced
    def log_evidence(self) -> Tensor:
        """(..., B) log p(x | T) of each tree, in double precision."""
        if isinstance(self.surface, Tensor) and self.surface.dim() > 2:
            batch, pages = self.surface.shape[:-2], self.surface.flatten(0, -3)
            each = [Posterior(self.inputs, page).log_evidence for page in pages]
            rows = [row_at(each[place], batch, index) for place, index in enumerate(np.ndindex(batch))]
            return torch.stack(rows).reshape(*batch, -1)
        return track_provenance(inside.log_evidence(self.problem), self._sites)

    @property
    def _sites(self) -> frozenset[str]:
        """The sites that sums depend on, for Pyro's provenance: compiled code does not track it."""
        inputs = self.inputs
        none = None if inputs.parts is None else inputs.parts.log_none()
        return get_provenance([self.log_pairs, inputs.weights, inputs.costs, none])

    @untraced
    def expected(self, cost: Tensor) -> Tensor:
        """(..., B) E[sum_w cost(w, l_w, r_w)] of (C,) costs of pairs, under p(T' | T, x)."""
        numbers = detach_provenance(cost)
        numbers = numbers.index_select(-1, self.problem.base.to(numbers.device))
        evidence, expectation = inside.expected_cost(self.problem, numbers)
        self.log_evidence = track_provenance(evidence, self._sites)  # it was needed on the way
        return track_provenance(expectation, self._sites | get_provenance(cost))

    def log_sprouted(self, choices: Tensor) -> Tensor:
        """(..., B) log p(T' | T): the sum of log p(l, r | w) p(part | w) over the nodes of each tree."""
        inputs = self.inputs
        pair, part = split(choices, inputs.start.diff())
        if inputs.parts is None:
            pair = choices  # so that the choice of a part is refused
        chosen = of_choices(self.log_pairs, pair, inputs.start)
        if inputs.parts is not None:
            chosen = chosen + inputs.parts.log_prob_of(part).to(chosen)
        return inputs.forest.per_tree(chosen)

    @untraced
    def best(self) -> Tensor:
        """(..., N) T' of the best derivation: the choice of each node, -1 where nothing explains x."""
        return inside.best_derivation(self.problem)

    @untraced
    def draws(self, draws: int, generator: torch.Generator | None = None) -> Tensor:
        """(..., draws, N) draws of T' from p(T' | T, x)."""
        return inside.posterior_draws(self.problem, draws, generator)

    @untraced
    def marginals(self) -> dist.TorchDistribution:
        """The marginal posterior of each choice: a distribution of (N,) choices.

        Where trees are latent, nodes are items of a packed forest. The last category then says that an item
        is no part of the tree; the others add up to the probability of the item.  If the posterior depends on
        other enumerated sites, it is given for each of their values: the batch shape is (..., N).

        :raises ImpossibleSurfaceError: if no T' explains the surface of some tree.
        """
        problem, sizes = self.problem, self.inputs.start.diff()
        posterior = inside.posterior_pairs(problem)
        self.refuse_impossible()
        if problem.parts is not None:  # summed out
            folded = posterior.new_zeros((*posterior.shape[:-1], self.log_pairs.shape[-1]))
            posterior = folded.index_add(-1, problem.base, posterior)
        table = posterior.new_zeros(*posterior.shape[:-1], len(sizes), int(sizes.max()))
        node = torch.repeat_interleave(sizes)
        table[..., node, torch.arange(len(node)) - self.inputs.start[node]] = posterior
        if self.inputs.is_latent:
            absent = (1 - table.sum(-1, keepdim=True)).clamp(min=0)
            table = torch.cat([table, absent], -1)
        return dist.Categorical(probs=table)

    def refuse_impossible(self, counts: Any = True) -> None:
        """Refuse an x that no T' explains, in trees that count.

        :raises ImpossibleSurfaceError: with the tree and the slot.
        """
        impossible = ((self.log_evidence == -torch.inf) & torch.as_tensor(counts)).nonzero()
        if len(impossible):
            tree = int(impossible[0, -1])
            slot = inside.impossible_slot(self.problem, tree)
            where = f"slot {slot}" if slot >= 0 else "several slots"
            raise ImpossibleSurfaceError(
                f"no punctemes explain the surface punctuation of tree {tree} of the batch, {where}: add its "
                "strings to the inventory, or let the channel slip (pyropunct.models.channel.slip.Slip)"
            )


def problem_of(
    inputs: StoryInputs,
    evidence: SlotEvidence,
    log_pairs: Tensor,
    automata_of: Callable[[Sequence[Evidence], Tensor], Automata] | None = None,
) -> Problem:
    """The sum over T', given log p(l, r | w) of all pairs and evidence about all slots."""
    automata_of = automata_of or inputs.transducer.automata
    automata, place, count = [], torch.empty_like(evidence.place), 0
    for weights, slots in inputs.channels(torch.arange(inputs.forest.num_slots)):
        known = evidence.of(slots)
        # Evidence that is used both where a clause begins and elsewhere has two automata.
        pieces, number = torch.unique(2 * known.place + inputs.clause[slots], return_inverse=True)
        each = [known.distinct[piece // 2] for piece in pieces.tolist()]
        found = automata_of(each, detach_provenance(weights))
        token = inputs.inventory.clause_token
        automata.append(found if token is None else found.behind(token, (pieces % 2 == 1).numpy()))
        place[slots] = number + count
        count += len(pieces)
    problem = Problem(
        inputs.forest, inputs.inventory, inputs.trees.relation, log_pairs, joined_groups(automata), place
    )
    return problem if inputs.parts is None else _with_parts(problem, inputs.parts, evidence.settled())


def _with_parts(problem: Problem, scores: PartScores, surface: Tensor) -> Problem:
    """The problem with the parts that the page shows; all others are left out of its sums."""
    parts, none = shown_parts(problem.forest, surface, scores.marks), scores.log_none()
    shown = scores.log_prob(parts.node, parts.kind, parts.left_out, parts.right_out)
    problem = replace(problem, parts=parts)
    # The choices of a node: without a part, then with each of its parts.
    node = np.concatenate([np.arange(len(none)), parts.node.numpy()])
    order = np.argsort(node, kind="stable")
    part = torch.from_numpy(np.repeat(order, problem.sizes[node[order]]))
    log_pairs, log_parts = problem.log_pairs, detach_provenance(torch.cat([none, shown], -1))
    columns = (log_pairs, problem.base), (log_parts.to(log_pairs), part)
    spread = (values.index_select(-1, place.to(log_pairs.device)) for values, place in columns)
    return replace(problem, log_pairs=next(spread) + next(spread))
