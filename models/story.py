"""The generative story of a punctuated sentence (Li, Wang & Eisner 2019, section 2, equation 1)::

    p(x) = sum over T, T' of  p_syn(T)  p_theta(T' | T)  p_phi(x | u(T'))

First, an unpunctuated dependency tree T is drawn from p_syn.  Second, each constituent sprouts punctemes at
its left and right edges, by p_theta.  Third, the punctuated tree T' yields the underlying string u = u(T'),
which a noisy channel p_phi edits, slot by slot, into the surface string x.
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple, cast

import pyro
import torch
from pyro.nn import PyroModule
from pyro.nn.module import pyro_method
from torch import Tensor

from pyropunct.inference.forest import Forest
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.machines.evidence import EMPTY, SlotEvidence
from pyropunct.inference.problem import choice_rows, choice_start
from pyropunct.inference.pyro.pairs import PunctemePairs, sample_pairs, tree_expectation, tree_factor
from pyropunct.inference.pyro.private import belongs_to, sites_of
from pyropunct.inference.pyro.surface import Underlying
from pyropunct.models.attach.base import Attach, Scorer
from pyropunct.models.attach.views import Views, views_of
from pyropunct.models.channel.base import Channel
from pyropunct.models.symmetry import Economy, unmatched_rows
from pyropunct.models.trees import TreeBatch, join_surfaces

Syntax = Callable[..., TreeBatch]
"""A model of trees: called without arguments, it draws trees; called with trees, it observes them."""


class Punctuated(NamedTuple):
    """A told story: (T, T', x).

    :ivar trees: the unpunctuated trees T, N nodes and S slots.
    :ivar choices: (N,) the puncteme pair of each node, as a choice from its relation's W_d.
    :ivar surface: (S, L) the surface strings x.
    """

    trees: TreeBatch
    choices: Tensor
    surface: Tensor


class Story(PyroModule):
    """Tree -> punctemes -> channel edits, as a Pyro model.

    Its sites are the weights that have a prior, the pair (l, r) that each constituent w sprouts, and the
    surface string x_i of each slot i.  Where a treebank is seen in batches,
    `pyropunct.inference.pyro.elbo.scale_likelihood` multiplies all terms but those of the priors.

    :param inventory: the sets W_d.
    :param attach: p_theta(l, r | w), see `pyropunct.models.attach.base`.
    :param channel: p_phi(x_i | u_i), see `pyropunct.models.channel.base`.
    :param syntax: p_syn(T), see `pyropunct.models.syntax`; needed only to draw or to score trees.
    :param marks: the tokens of the inventory, for symmetry and economy.
    :param symmetry_weight: xi of equation (5), the weight of the posterior regulariser.
    :param economy_weight: kappa, the weight of the economy regulariser (`pyropunct.models.symmetry.Economy`),
        which counts only in training mode.
    :param empty_score: a number added to the score of the empty pair of every constituent.  Most constituents
        sprout nothing.  From equal scores, training tends to explain a final period by several constituents,
        and lets the channel absorb all periods but one: a local optimum.
    """

    def __init__(
        self,
        inventory: Inventory,
        attach: Attach,
        channel: Channel,
        syntax: Syntax | None = None,
        marks: tuple[str, ...] = (),
        symmetry_weight: float = 0.0,
        empty_score: float = 0.0,
        economy_weight: float = 0.0,
    ) -> None:
        super().__init__()
        self.inventory, self.empty_score = inventory, empty_score
        self.symmetry_weight, self.economy_weight = symmetry_weight, economy_weight
        self.attach, self.channel, self.syntax = attach, channel, syntax
        self._unmatched = unmatched_rows(inventory, marks) if symmetry_weight else None
        self._marks = marks

    @cached_property
    def _economy(self) -> Economy:
        """The counts behind n(T'), made when training first needs them: loading a model need not wait."""
        return Economy(self.inventory, self._marks)

    def forward(
        self,
        trees: TreeBatch | None = None,
        surface: Tensor | SlotEvidence | None = None,
        views: Views | None = None,
    ) -> Punctuated:
        """Tell the story: p(T, T', x), or p(T', x | T) of trees that are given.

        :param trees: T; by default drawn from the syntax model.
        :param surface: (S, L) x, or evidence about it; drawn by default.
        :param views: all nodes with the marks of ``surface`` inside them; computed by default.  Training
            passes views that hold the contexts which the attach model has looked up.
        :raises ValueError: if trees are to be drawn without a syntax model; if views are given without a
            surface; if the attach model reads marks inside constituents that the evidence leaves open; or if
            a part with sites or parameters has been given to another module.
        :raises NotImplementedError: if p(T', x | T) is to be inferred by a handler that knows nothing of
            trees, see `pyropunct.inference.pyro.pairs.is_prior_draw`.
        """
        self._refuse_parts_of_others()
        if trees is None:
            trees = self._syntax("give it trees")()
        if surface is not None:
            told = self._observe(trees, surface, self._views(trees, surface) if views is None else views)
        elif views is None:
            told = self._tell(trees)
        else:
            raise ValueError("these are views of a surface that is not given")
        self._regularise(told)
        return told

    @pyro_method
    def joint(self, trees: TreeBatch, surface: Tensor) -> Punctuated:
        """Tell the story of given trees, and score the trees too: p(T, T', x) rather than p(T', x | T).

        :raises ValueError: if there is no syntax model.
        """
        return self(self._syntax("it cannot score trees jointly")(trees), surface)

    def scorer(self, trees: TreeBatch) -> Scorer:
        """`Attach.scorer` for these trees, with the score of the empty pair raised."""
        scorer = self.attach.scorer(trees)
        return lambda views: self._raised(scorer(views), trees.relation.cpu()[views.node])

    def _raised(self, scores: Tensor, relation: Tensor) -> Tensor:
        """(..., C) scores of the pairs of nodes with these relations, with that of the empty pair raised."""
        if not self.empty_score:
            return scores
        empty = torch.from_numpy(choice_start(self.inventory, relation)[:-1])  # the first pair of each set
        more = scores.new_zeros(scores.shape[-1])
        more[empty.to(more.device)] = self.empty_score
        return scores + more

    def _views(self, trees: TreeBatch, surface: Tensor | SlotEvidence) -> Views:
        """All nodes with the known marks inside them."""
        if isinstance(surface, Tensor):
            return views_of(trees.forest, surface)
        if self.attach.reads_surface:
            _refuse_open_slots(trees, surface)
        return views_of(trees.forest, surface.settled())

    def _observe(self, trees: TreeBatch, surface: Tensor | SlotEvidence, views: Views) -> Punctuated:
        """T' of observed surface strings: all nodes choose their punctemes in one site.

        `pyropunct.inference.pyro.collapse.collapse_trees` sums over all decisions.
        """
        scores = self._raised(self.attach.observed(trees, views), trees.relation)
        choices = self._sprout("", trees, torch.arange(trees.forest.num_nodes), scores)
        slots = torch.arange(trees.forest.num_slots)
        shown = self._rewrite("", trees, choices, slots, self.channel.probabilities(), surface)
        return Punctuated(trees, choices, shown)

    def _tell(self, trees: TreeBatch) -> Punctuated:
        """T' and x of trees, drawn bottom-up, one height of constituents at a time.

        So the choice of a constituent may depend on the "surface punctuation already added to w's
        subconstituents" (section 2.1, d).  `pyropunct.models.drawing` makes many draws at once.
        """
        forest, scorer = trees.forest, self.scorer(trees)
        choices = torch.zeros(forest.num_nodes, dtype=torch.long)
        surface = torch.full((forest.num_slots, 1), EMPTY)
        weights = self.channel.probabilities()
        for height, nodes, slots in heights_of(forest):
            scores = scorer(views_of(forest, surface, nodes))
            sprouted = self._sprout(f" {height}", trees, nodes, scores)
            if sprouted.dim() > 1:
                raise NotImplementedError(
                    "a story is told once at a time: draw samples one after the other, not in parallel"
                )
            choices = choices.index_copy(-1, nodes, sprouted)
            drawn = self._rewrite(f" {height}", trees, choices, slots, weights)
            surface = _put(surface, slots, drawn)
        return Punctuated(trees, choices, surface)

    def _sprout(self, name: str, trees: TreeBatch, nodes: Tensor, scores: Tensor) -> Tensor:
        """ATTACH: the punctemes of constituents, as choices, (..., len(nodes)) (equations 3 and 4).

        :param scores: (..., C) the scores of the pairs of these nodes, node after node.
        """
        start = torch.from_numpy(choice_start(self.inventory, trees.relation[nodes]))
        return sample_pairs(name, nodes, PunctemePairs(scores, start))

    def _rewrite(
        self,
        name: str,
        trees: TreeBatch,
        choices: Tensor,
        slots: Tensor,
        weights: Tensor,
        surface: Tensor | SlotEvidence | None = None,
    ) -> Tensor:
        """NOISYCHANNEL: the surface strings x_i of slots, from their underlying strings u_i (section 2.2).

        :param choices: (..., N) T'; only nodes with punctemes in these slots are read.
        :param surface: the observed strings x_i, or evidence about them.
        """
        underlying = Underlying(trees.forest, self.inventory, trees.relation, choices, slots)
        strings = self.channel.surface(underlying, weights)
        if surface is not None:
            strings.refuse_prior_draws()
        with pyro.plate(f"slots{name}", len(slots)):
            # Pyro types observations as tensors.
            return pyro.sample(f"surface{name}", strings, obs=cast("Tensor | None", surface))

    def _refuse_parts_of_others(self) -> None:
        """Refuse a part whose sites Pyro takes for those of another module: here they would be no sites."""
        for name, part in self.named_modules():
            if not isinstance(part, PyroModule) or belongs_to(part, self):
                continue
            drawn = sites_of(part).keys() - vars(part).keys()  # others have been given values
            if drawn or list(part.parameters(recurse=False)):
                raise ValueError(
                    f"the story's {name} is now part of another module: give each story its own, or make "
                    "both stories attributes of one PyroModule"
                )

    def _syntax(self, otherwise: str) -> Syntax:
        if self.syntax is None:
            raise ValueError(f"this story has no syntax model: {otherwise}")
        return self.syntax

    def _regularise(self, told: Punctuated) -> None:
        """Regularisation factors of each tree: soft constraints on its punctemes.

        Symmetry asks for balanced punctemes: exp(-xi E[c(T')]^2), of section 2.3.  Economy, in training, asks
        for few: exp(-kappa n(T')), see `pyropunct.models.symmetry.Economy`.  E is then under the posterior
        with the factor of economy.
        """
        relation, forest = told.trees.relation, told.trees.forest
        where = torch.from_numpy(choice_start(self.inventory, relation)), forest
        factors = {}
        if self.economy_weight and self.training:
            cost = self.economy_weight * self._economy.numbers(relation, forest)
            factors["economy"] = tree_factor(told.choices, cost, *where)
        if self._unmatched is not None:
            cost = self._unmatched[choice_rows(self.inventory, relation)]
            expected = tree_expectation(told.choices, cost, *where)
            factors["symmetry"] = -self.symmetry_weight * expected.square()
        if factors:
            with pyro.plate("trees", len(told.trees)):
                for name, factor in factors.items():
                    pyro.factor(name, factor)


def _refuse_open_slots(trees: TreeBatch, evidence: SlotEvidence) -> None:
    """Refuse evidence that leaves open a slot strictly inside a constituent."""
    start, inner = trees.forest.slot_start, torch.ones(len(evidence), dtype=torch.bool)
    inner[start[:-1]] = inner[start[1:] - 1] = False
    open_slots = (evidence.open & inner).nonzero()[:, 0]
    if len(open_slots):
        tree = int((start <= open_slots[0]).sum()) - 1
        raise ValueError(
            "the attach model looks at the punctuation inside constituents, which the evidence about "
            f"slot {int(open_slots[0] - start[tree])} of tree {tree} of the batch leaves open"
        )


def heights_of(forest: Forest) -> Iterator[tuple[int, Tensor, Tensor]]:
    """The order of the story, bottom-up: each height, its nodes, and the slots that are complete after them.

    A slot is complete when all constituents that begin or end there have sprouted their punctemes.
    """
    for height in range(int(forest.height.max()) + 1):
        nodes = (forest.height == height).nonzero()[:, 0]
        yield height, nodes, (forest.closing_height == height + 1).nonzero()[:, 0]


def _put(surface: Tensor, slots: Tensor, drawn: Tensor) -> Tensor:
    """``surface`` with other strings in these slots."""
    before, after = join_surfaces([surface, drawn]).split([len(surface), len(drawn)])
    return before.index_copy(0, slots, after)
