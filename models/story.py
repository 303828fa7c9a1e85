"""The generative story of a punctuated sentence (Li, Wang & Eisner 2019, section 2, equation 1)::

    p(x) = sum over T, T' of  p_syn(T)  p_theta(T' | T)  p_phi(x | u(T'))

First, an unpunctuated dependency tree T is drawn from p_syn. Second, each constituent sprouts punctemes at
its left and right edges, by p_theta. Third, the punctuated tree T' yields the underlying string u = u(T'),
which a noisy channel p_phi edits, slot by slot, into the surface string x.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import pyro
import torch
from pyro.nn import PyroModule
from pyro.nn.module import pyro_method
from torch import Tensor

from pyropunct.inference.inventory import Inventory
from pyropunct.inference.pyro.collapse import tree_expectation
from pyropunct.inference.pyro.private import belongs_to, sites_of, untraced
from pyropunct.inference.pyro.sites import BY_TREES, Sprouted, TreeOfWords, rewritten
from pyropunct.inference.pyro.story_state import StoryState, is_open, plate_of
from pyropunct.inference.story_inputs import StoryInputs, Surface
from pyropunct.inference.threads import synchronized
from pyropunct.inference.views import Scorer, Views
from pyropunct.models.attach.attach_model import Attach
from pyropunct.models.channel.noisy_channel import Channel
from pyropunct.models.economy import Economy
from pyropunct.models.extensions import PartMarks, Trust
from pyropunct.models.priors import FullShapeMessenger
from pyropunct.models.symmetry import unmatched_rows
from pyropunct.models.trees import AnyTrees, LatentTrees, TreeBatch

Syntax = Callable[..., TreeBatch]
"""A model of trees: called without arguments, it draws trees; called with trees, it observes them."""


class Story(PyroModule):
    """Tree -> punctemes -> channel edits, as a Pyro model.

    Its sites are the weights with a prior; "pairs", the pair (l, r) of each constituent; and "surface", the
    string x_i of each slot (`pyropunct.inference.pyro.sites`). In mini-batches, use
    `pyropunct.inference.pyro.svi.scale_likelihood`.

    :param attach: p_theta(l, r | w), see `pyropunct.models.attach.attach_model`.
    :param channel: p_phi(x_i | u_i), see `pyropunct.models.channel.noisy_channel`.
    :param syntax: p_syn(T), see `pyropunct.models.syntax`; needed only to draw or score trees.
    :param marks: the tokens of the inventory, for symmetry and economy.
    :param functions: their functions, see `pyropunct.treebank.functions`, for economy.
    :param symmetry_weight: xi of equation (5), the weight of the posterior regulariser.
    :param economy_weight: kappa, the weight of `pyropunct.models.economy.Economy`.
    :param empty_score: added to the score of every empty pair, since most constituents sprout nothing.
        Without it, training may fall into a local optimum: several constituents explain one final period, and
        the channel absorbs all but one.
    :param reading: scores of a network's predictions: see `pyropunct.models.extensions`.
    :param parts: marks around parts of constituents: see `pyropunct.models.extensions`.
    :param separated: the numbers of the relations of conjuncts and items of lists, for economy.
    :ivar is_settled: whether economy counts unmatched marks.  Training says no in its first half: before the
        edits are learned, a quotation that is closed before the period looks like one that ends behind it.
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
        reading: Trust | None = None,
        functions: Sequence[str] = (),
        parts: PartMarks | None = None,
        separated: Sequence[int] = (),
    ) -> None:
        super().__init__()
        self.inventory, self.empty_score = inventory, empty_score
        self.symmetry_weight, self.economy_weight = symmetry_weight, economy_weight
        self.attach, self.channel, self.syntax, self.reading = attach, channel, syntax, reading
        self.parts = parts
        self._unmatched = unmatched_rows(inventory, marks) if symmetry_weight else None
        self._marks, self._functions, self._separated = marks, functions, separated
        self.is_settled = True

    @cached_property
    def _economy(self) -> Economy:
        """The counts behind n(T'), made when training first needs them: loading a model need not wait."""
        return Economy(self.inventory, self._marks, self._functions, self._separated)

    @untraced
    def forward(
        self,
        trees: AnyTrees | None = None,
        surface: Surface | None = None,
        views: Views | None = None,
        plate: Any = "trees",
        regularised: bool | None = None,
    ) -> StoryState:
        """Tell the story: p(T, T', x), or p(T', x | T) if trees are given.

        Symmetry multiplies by exp(-xi E[c(T')]^2) (section 2.3); economy, if regularised, by
        exp(-kappa n(T')), see `pyropunct.models.economy.Economy`. E is under the posterior with this factor.

        :param trees: T, or latent trees; by default drawn from the syntax model.
        :param surface: (S, L) x, or evidence about it; drawn by default.
        :param views: all nodes with the marks of ``surface`` inside them; computed by default. Training
            passes views with contexts already looked up.
        :param plate: the plate of the trees, ``dim=-1``, or the name of a new one.
        :param regularised: whether T' follows the posterior that economy regularises; by default in training.
        :raises TypeError: if the trees are not encoded, see `pyropunct.vocabulary.Vocabulary.encode_trees`.
        :raises ValueError: if trees are to be drawn without a syntax model; if views are given without a
            surface; if the attach model reads marks that the evidence leaves open; or if a part with sites or
            parameters has been given to another module.
        :raises NotImplementedError: if the surface is given, but no handler sums out its punctemes.
        """
        if trees is None:
            trees = self._syntax("give it trees")()  # p_syn(T)
        with FullShapeMessenger():
            inputs = self.inputs(trees, surface, views, regularised)
        plate = plate_of(plate, len(trees))
        if isinstance(trees, LatentTrees):
            with plate:
                tree = pyro.sample("tree", TreeOfWords(trees), infer=BY_TREES)  # p(T | words)
            inputs = inputs if is_open(tree) else inputs.with_trees(trees.trees(tree))
        state = StoryState(inputs, plate, surface)
        with state.plate:
            pairs = pyro.sample("pairs", Sprouted(state), infer=BY_TREES)  # p_theta(T' | T)
            x = pyro.sample("surface", rewritten(state, pairs), obs=surface)  # type: ignore[arg-type]
            state.show(x)  # p_phi(x | u(T')), or p(x | T) where a handler leaves T' open
            if inputs.costs is not None and state.left is None:
                pyro.factor("cost", -state.cost(inputs.costs))
            if self._unmatched is not None:
                expected = tree_expectation(state, self._unmatched)
                pyro.factor("symmetry", -self.symmetry_weight * expected.square())
        return state

    @untraced
    @synchronized
    def inputs(
        self,
        trees: AnyTrees,
        surface: Surface | None = None,
        views: Views | None = None,
        regularised: bool | None = None,
    ) -> StoryInputs:
        """What the story is made of: scores, the channel with its weights, costs and parts.

        Sites of weights are made here, outside of the plate of trees.  Takes the same parameters and raises
        the same errors as a call of the story.
        """
        self._refuse_parts_of_others()
        if not isinstance(trees, AnyTrees):
            raise TypeError(
                f"a story takes a batch of trees, not {type(trees).__name__!r}: make one with "
                "vocabulary.encode_trees([tree])"
            )
        if views is not None and surface is None:
            raise ValueError("these are views of a surface that is not given")
        if isinstance(trees, LatentTrees):
            self._require_local()
        channel, weights = self.channel, self.channel.probabilities(trees)
        cost = None
        if self.economy_weight and (self.training if regularised is None else regularised):
            balanced = self.is_settled or not self.training
            cost = self._economy.cost(trees.forest, surface, self.economy_weight, balanced=balanced)
        return StoryInputs(
            trees,
            self.inventory,
            self.scorer(trees),
            channel.transducer,
            weights,
            cost,
            parts=self.parts.scores(trees) if self.parts and isinstance(trees, TreeBatch) else None,
            looks_inside=self.attach.reads_surface,
            seen=None if surface is None or views is None else (surface, views),
            # No closures: what a story returns can be pickled.
            of_tree=partial(self._of_tree, surface, regularised) if isinstance(trees, LatentTrees) else None,
        )

    def _of_tree(self, surface: Surface | None, regularised: bool | None, trees: TreeBatch) -> StoryInputs:
        """What the story of latent trees is made of, once they are known: they have no parts."""
        return replace(self.inputs(trees, surface, None, regularised), parts=None)

    @pyro_method
    def joint(self, trees: TreeBatch, surface: Surface | None = None) -> StoryState:
        """p(T, T', x) of given trees, rather than p(T', x | T). Raises ValueError without a syntax model."""
        return self(self._syntax("it cannot score trees jointly")(trees), surface)

    def scorer(self, trees: AnyTrees) -> Scorer:
        """(..., C) the scores of pairs (section 2.1, equation 3), as a function of views of these trees::

            score(l, r, w)  =  a theta . f(l, r, w)  +  reading(l, r, w)  +  empty_score [l and r are empty]

        Without a network to read, a = 1 and reading(l, r, w) = 0.
        """
        read = None if self.reading is None else self.reading.scores(trees)
        return partial(self._score, self.attach.scorer(trees), read, trees)

    def _score(self, theta_f: Scorer, read: Tensor | None, trees: AnyTrees, views: Views) -> Tensor:
        scores = theta_f(views)
        if read is not None and self.reading is not None:
            read = self.attach.of_views(read, trees, views)
            scores = self.reading.own * scores + read.to(scores.device)
        if self.empty_score:
            # The empty pair is the first of each W_d.
            empty = self.inventory.choice_start(trees.relation.cpu()[views.node])[:-1]
            more = scores.new_zeros(scores.shape[-1])
            more[torch.from_numpy(empty).to(more.device)] = self.empty_score
            scores = scores + more
        return scores

    def _require_local(self) -> None:
        """Raises ValueError if the attach model or the channel looks at more of a tree than an arc."""
        if not self.attach.is_local:
            raise ValueError(
                f"{type(self.attach).__name__} looks at more of a tree than one arc, so that trees cannot be "
                "summed out: use LocalAttach, or give the story trees"
            )
        if self.inventory.clause_token is not None:
            raise ValueError(
                "the channel knows where a clause of a tree begins, so that trees cannot be summed out: fit "
                "the story with clauses=False, or give it trees"
            )

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
