"""The log-linear ATTACH of the paper (Li, Wang & Eisner 2019, section 2.1)."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import torch
from pyro.nn import PyroSample
from torch import Tensor

from pyropunct.inference.inventory import Inventory
from pyropunct.inference.machines.evidence import EMPTY
from pyropunct.inference.ragged import Ints, runs, starts_of
from pyropunct.inference.views import Views, views_of
from pyropunct.models.attach.attach_model import Attach, Contexts
from pyropunct.models.attach.context_keys import Index, Keys, index_of, keys_of
from pyropunct.models.attach.feature_weights import (
    OF_RELATION,
    PARTS,
    ContextWeights,
    WeightBlocks,
    WeightsInUse,
    features_of,
    gather_contexts,
    linear_scores,
    parts_of_pairs,
    sparse_weights,
)
from pyropunct.models.attach.features import (
    EVERYWHERE,
    FAMILIES,
    SEVERAL,
    SURFACE,
    Attributes,
    Template,
    ViewAttributes,
)
from pyropunct.models.priors import IsotropicNormal, PriorShares, shared_prior
from pyropunct.models.symmetry import CLASSES
from pyropunct.models.trees import AnyTrees, TreeBatch


class _TemplateContexts(NamedTuple):
    """A view and a key for each context of one template; contexts with equal keys are the same."""

    template: int
    view: Ints
    key: Keys


class _Single(NamedTuple):
    """Templates of single values; ``table``: (templates, width) attributes as places among names, padded with
    -1.
    """

    templates: Sequence[int]
    names: Sequence[str]
    table: Ints


def _count(parts: Sequence[tuple[Keys, Ints]], least: int) -> tuple[Keys, Ints, Ints]:
    """Keys, relations and numbers of nodes of the contexts that ``least`` nodes or more have."""
    keys, relations = (np.concatenate(column) for column in zip(*parts, strict=True))
    key, first, count = np.unique(keys, return_index=True, return_counts=True)
    frequent = count >= least
    return key[frequent], relations[first][frequent], count[frequent]


class LogLinearAttach(Attach):
    """A log-linear model of the puncteme pair of each constituent, equation (4)::

        p(l, r | w) = exp theta . f(l, r, w) / sum over (l', r') in W_d(w)

    A context of w (say, its tag with its head's tag) has a weight for each pair in W_d, or for each left or
    right puncteme, or for each class of symmetry. Only contexts seen in training have weights. theta has a
    normal prior: its standard deviation s gives the penalty ||theta||^2 / (2 s^2) of equation (5).

    :param families: the feature families to use, from `pyropunct.models.attach.features.FAMILIES`.
    :param prior_scale: the standard deviation s.
    :param least: contexts seen at fewer nodes get no weights.
    :param completes: where no page shows a side of a constituent, contexts that tell where it stands look at
        its completed pair (`pyropunct.models.attach.feature_weights.PARTS`).  So its sides follow from
        contexts of the constituent itself, as learned where the page shows both sides. Otherwise the weight
        of "the word before is missing" could choose freely among T' with the same page.

    :ivar sparse: read only the weights of the contexts that views bring. The gradient of theta is then
        sparse, and the prior is estimated: a context seen at n training nodes counts 1 / n of its prior at
        each of them. Only for views of the treebank that `learn` has seen.
    """

    treebank_sized = frozenset({"keys", "kinds", "starts"})
    on_cpu = True  # where compiled code reads them
    may_be_sparse = frozenset({"weights"})

    def __init__(
        self,
        inventory: Inventory,
        marks: Sequence[str],
        families: Sequence[str] = tuple(FAMILIES),
        prior_scale: float = 1.0,
        least: int = 2,
        completes: bool = True,
    ) -> None:
        super().__init__(inventory)
        self.families = tuple(families)
        of_families = (template for family in families for template in FAMILIES[family])
        self.templates = [template for template in of_families if self.takes(template)]
        of_place = [template for template in self.templates if template.is_of_place]
        self.completes = completes
        self.templates += [template._replace(completed=True) for template in of_place] if completes else []
        self.prior_scale, self.least = prior_scale, least
        self.sparse = False
        self._index: Index | None = None
        self._few: tuple[Tensor, int, ContextWeights] | None = None
        self._single: dict[tuple[int, ...], _Single] = {}
        self._parts = parts_of_pairs(inventory, marks)
        self.register_buffer("keys", torch.zeros(0, dtype=torch.long))
        self.register_buffer("starts", torch.zeros(1, dtype=torch.long))
        self.register_buffer("kinds", torch.zeros(0, dtype=torch.int8))
        # A tensor when read.  Its prior is no lambda, which could not be pickled.
        self.weights: Any = PyroSample(LogLinearAttach._prior)  # type: ignore[arg-type]

    @classmethod
    def takes(cls, template: Template) -> bool:
        """Whether a template of the families is used."""
        return True

    # Learning which contexts there are

    def learn(self, treebank: Iterable[tuple[TreeBatch, Views]]) -> None:
        """Give weights to the contexts of a training treebank."""
        parts: list[list[tuple[Keys, Ints]]] = [[] for _ in self.templates]
        self._num_trees = 0
        for trees, views in treebank:
            self._num_trees += len(trees)
            attributes = ViewAttributes(Attributes(trees), views)
            for contexts in self._all_contexts(attributes, range(len(self.templates))):
                parts[contexts.template].append((contexts.key, attributes.relation[contexts.view]))
        seen = [_count(of_template, self.least) for of_template in parts]
        keys, relations, nodes = (np.concatenate(column) for column in zip(*seen, strict=True))
        parts_of_templates = [template.part + PARTS * template.completed for template in self.templates]
        kinds = np.repeat(parts_of_templates, [len(key) for key, *_ in seen])
        order = np.argsort(keys)
        sizes = self._parts.sizes[relations, kinds][order]
        self.keys = torch.from_numpy(keys[order].view(np.int64))
        self.kinds = torch.from_numpy(kinds[order].astype(np.int8))
        self.starts = torch.from_numpy(starts_of(sizes))
        self._nodes = nodes[order]

    def contexts(self, trees: AnyTrees, views: Views) -> Contexts:
        """The contexts of the views that have weights."""
        return self._known(ViewAttributes(self.attributes(trees), views), range(len(self.templates)))

    def attributes(self, trees: Any) -> Attributes:
        """What templates can look at."""
        return Attributes(trees)

    def starting_point(self, empty: float = 5.0) -> dict[str, Tensor]:
        """Initial weights: zero, except that the empty pair of every node scores higher by ``empty``.

        From equal weights, training falls into a local optimum: several constituents explain one final
        period, and the channel absorbs all but one.
        """
        weights = torch.zeros(int(self.starts[-1]))
        [place] = self._places(EVERYWHERE, np.zeros((0, 1), np.int64))
        if place >= 0:
            weights[self.starts[place] + CLASSES.index("none")] = empty
        return {"weights": weights}

    def make_sparse(self) -> frozenset[str]:
        """See the attribute ``sparse``."""
        self.sparse = True
        return self.may_be_sparse

    def check_buffers(self) -> None:
        """Raises ValueError if the contexts and the weights of a saved model do not belong together."""
        keys, kinds, starts = (tensor.cpu().numpy() for tensor in (self.keys, self.kinds, self.starts))
        if [array.dtype for array in (keys, kinds, starts)] != [np.int64, np.int8, np.int64]:
            raise ValueError("the contexts are not stored as whole numbers")
        if not keys.ndim == kinds.ndim == starts.ndim == 1 or not len(keys) == len(kinds) == len(starts) - 1:
            raise ValueError("there are not equally many keys, kinds and starts of contexts")
        unsigned = keys.view(np.uint64)
        if not bool((unsigned[1:] > unsigned[:-1]).all()):
            raise ValueError("the keys of the contexts are not in order")
        known = self._parts.sizes
        if len(kinds) and not 0 <= kinds.min() <= kinds.max() < known.shape[1]:
            raise ValueError("there are contexts of an unknown kind")
        least, most = known.min(0)[kinds], known.max(0)[kinds]
        sizes = np.diff(starts)
        if starts[0] != 0 or not bool(((least <= sizes) & (sizes <= most)).all()):
            raise ValueError("there are contexts with too many or too few weights")

    # Scores

    @property
    def reads_surface(self) -> bool:
        """Whether any context is about the surface punctuation inside a constituent."""
        return bool(self._templates_of_surface)

    @cached_property
    def _templates_of_surface(self) -> list[int]:
        of_surface = [bool(SURFACE.intersection(template.attributes)) for template in self.templates]
        return np.flatnonzero(of_surface).tolist()

    def scores(self, trees: Any, views: Views) -> Tensor:
        """(C,) theta . f(l, r, w) of the pairs of views."""
        if views.contexts is not None:
            relation = trees.relation.cpu()[views.node].numpy()
            return self.scores_of_treebank(len(trees), relation, views.contexts)
        return trees.once(self._of_trees)(views)

    def _of_trees(self, trees: TreeBatch) -> "_ScoresOfTrees":
        return _ScoresOfTrees(self, trees)

    def scores_of_contexts(self, relation: Ints, contexts: Contexts) -> Tensor:
        """(C,) theta . f(l, r, w) of the pairs of views, given (V,) the relations of their nodes."""
        weights: Any = self.weights
        if weights.is_sparse:
            few, version = self._few, weights._version
            if few is None or few[0] is not weights or few[1] != version:
                few = self._few = weights, version, sparse_weights(weights, self._blocks)
            weights = few[2]
        scores = linear_scores(weights, features_of(self._parts, self._blocks, relation, contexts))
        return scores.to(self.weights.device)

    def scores_of_treebank(self, trees: int, relation: Ints, contexts: Contexts) -> Tensor:
        """`scores_of_contexts` for views of the training treebank, with their share of a sparse prior."""
        if not self.sparse:
            return self.scores_of_contexts(relation, contexts)
        in_use = WeightsInUse(self._blocks, contexts)
        share = in_use.uses / self._nodes[in_use.context] * (self._num_trees / trees)
        features = features_of(self._parts, in_use.blocks, relation, in_use.contexts)
        with shared_prior(PriorShares(in_use.pick, share, in_use.sizes)):
            return linear_scores(in_use.pick(self.weights), features)

    def _prior(self) -> IsotropicNormal:
        return IsotropicNormal(int(self.starts[-1]), self.prior_scale, self.starts)

    @property
    def _blocks(self) -> WeightBlocks:
        return WeightBlocks(self.kinds.cpu().numpy(), self.starts.cpu().numpy())

    # Contexts

    def _places(self, template: Template, columns: Ints) -> Ints:
        """(V,) the places of a template's contexts among those with weights, -1 for others."""
        if template not in self.templates:
            return np.full(columns.shape[1], -1)
        keys = keys_of([self.templates.index(template)], np.arange(len(columns))[None], columns)
        return index_of(self.keys).find(keys[0])

    def _known(self, attributes: ViewAttributes, templates: Sequence[int]) -> Contexts:
        """The contexts of templates that have weights, view after view."""
        views = len(attributes.relation)
        if not templates:
            return Contexts(np.zeros(views + 1, np.int64), np.zeros(0, np.int32))
        if self._index is None or self._index.keys is not self.keys:
            self._index = index_of(self.keys)
        _, view, key = zip(*self._all_contexts(attributes, templates), strict=True)
        return gather_contexts(np.concatenate(view), self._index.find(np.concatenate(key)), views)

    def _all_contexts(
        self, attributes: ViewAttributes, templates: Sequence[int]
    ) -> Iterator[_TemplateContexts]:
        """The contexts of templates, with weights and without; first those of templates of single values."""
        everything, single = np.arange(len(attributes.relation)), self._of_single_values(tuple(templates))
        unseen = attributes.single("unseen") if self.completes else everything
        columns = np.empty((len(single.names), len(everything)), np.int64)
        for place, name in enumerate(single.names):
            columns[place] = attributes.single(name)
        for template, key in zip(
            single.templates, keys_of(single.templates, single.table, columns), strict=True
        ):
            asked = self.templates[template]
            if self.completes and asked.is_of_place:
                where = ((unseen & asked.sides) != 0) == asked.completed
                yield _TemplateContexts(template, everything[where], key[where])
            else:
                yield _TemplateContexts(template, everything, key)
        for template in sorted(set(templates).difference(single.templates)):
            names = self._names(template)
            [name] = SEVERAL.intersection(names)
            view, values = attributes.several(name)
            others = (attributes.single(other)[view] for other in names if other != name)
            table = np.stack([values, *others])
            key = keys_of([template], np.arange(len(table))[None], table)[0]
            yield _TemplateContexts(template, view, key)

    def _of_single_values(self, templates: tuple[int, ...]) -> _Single:
        """The templates with one context for each view; kept, since they are asked for often."""
        if templates not in self._single:
            names = {number: each for number in templates if SEVERAL.isdisjoint(each := self._names(number))}
            place = {name: at for at, name in enumerate(dict.fromkeys(chain.from_iterable(names.values())))}
            table = np.full((len(names), max(map(len, names.values()), default=0)), -1)
            for row, each in zip(table, names.values(), strict=True):
                row[: len(each)] = [place[name] for name in each]
            self._single[templates] = _Single(list(names), list(place), table)
        return self._single[templates]

    def _names(self, place: int) -> list[str]:
        """The attributes that make up the contexts of the template at a place."""
        template = self.templates[place]
        return [*(["relation"] if template.part in OF_RELATION else []), *template.attributes]


class _ScoresOfTrees:
    """The scores of views.

    The scores of the trees alone, and of constituents without marks inside (most views), are computed once.
    """

    def __init__(self, attach: LogLinearAttach, trees: TreeBatch) -> None:
        self._attach, self._trees = attach, trees

    def __call__(self, views: Views) -> Tensor:
        attach, relation = self._attach, self._trees.relation.cpu()[views.node].numpy()
        if not attach.reads_surface:
            return attach.of_views(self._without_surface, self._trees, views)
        surface, marked = attach._templates_of_surface, views.sizes.nonzero()[:, 0]
        if len(views.node) == self._trees.forest.num_nodes:  # all nodes at once, as in evaluation
            scores = attach.of_views(self._without_surface, self._trees, views)
            return scores + self._by(ViewAttributes(self._attributes, views), surface)
        scores = self._known_before(views)
        if not len(marked):
            return scores
        start = torch.cat([views.start[marked], views.start[-1:]])
        looked_at = Views(views.node[marked], start, views.token, views.slot)
        contexts = attach._known(ViewAttributes(self._attributes, looked_at), surface)
        sizes = np.zeros(len(views.node), np.int64)
        sizes[marked.numpy()] = np.diff(contexts.start)
        contexts = Contexts(starts_of(sizes), contexts.number)
        return scores + attach.scores_of_contexts(relation, contexts)

    @cached_property
    def _attributes(self) -> Attributes:
        return Attributes(self._trees)

    @cached_property
    def _unmarked(self) -> Views:
        """All nodes, without marks inside."""
        return views_of(self._trees.forest, torch.full((self._trees.forest.num_slots, 1), EMPTY))

    @cached_property
    def _without_surface(self) -> Tensor:
        """The part of the scores of all nodes' pairs that depends on the trees alone."""
        numbers = range(len(self._attach.templates))
        others = sorted(set(numbers).difference(self._attach._templates_of_surface))
        return self._by(ViewAttributes(self._attributes, self._unmarked), others)

    @cached_property
    def _pair_start(self) -> Ints:
        """(N + 1,) where each node's pairs start."""
        return self._attach.inventory.choice_start(self._trees.relation)

    @cached_property
    def _tables(self) -> Tensor:
        """The scores of all nodes' pairs without marks inside, followed by `_without_surface`."""
        surface = ViewAttributes(self._attributes, self._unmarked), self._attach._templates_of_surface
        return torch.cat([self._without_surface + self._by(*surface), self._without_surface])

    def _known_before(self, views: Views) -> Tensor:
        """The scores of views without marks; for the others, the part that depends on the trees alone."""
        start, node = self._pair_start, views.node.numpy()
        place = runs(start[node] + start[-1] * (views.sizes > 0).numpy(), np.diff(start)[node])
        return self._tables.index_select(-1, torch.from_numpy(place).to(self._tables.device))

    def _by(self, attributes: ViewAttributes, templates: Sequence[int]) -> Tensor:
        """The part of the scores of views that comes from the contexts of these templates."""
        contexts = self._attach._known(attributes, templates)
        return self._attach.scores_of_contexts(attributes.relation, contexts)
