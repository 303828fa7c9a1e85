"""A neural ATTACH: a logarithmic opinion pool of the log-linear model p_0 and networks p_1, ..., p_K (Hinton
1999, "Products of experts"; Li, Wang & Eisner 2019, equation 4, has p_0 alone)::

    p(l, r | w) is in proportion to  p_0(l, r | w)^(1 - s)  prod_k p_k(l, r | w)^(s / K)

p_0 and the channel are trained first, as if alone.  Then each network learns their posterior, as in an
M-step::

    maximise  sum over constituents w and pairs (l, r) in W_d of  p_0(l, r | w, x, T) log p_k(l, r | w)

So the errors of the members differ, but they agree on underlying punctuation.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyro
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from pyropunct.inference.inventory import Inventory
from pyropunct.inference.problem import choice_rows, choice_start
from pyropunct.inference.pyro.pairs import log_probabilities
from pyropunct.inference.ragged import Ints
from pyropunct.models.attach.attributes import (
    LENGTH_CLASSES,
    MARK_INSIDE,
    NOTHING,
    Attributes,
    ViewAttributes,
)
from pyropunct.models.attach.base import Scorer
from pyropunct.models.attach.log_linear import LogLinearAttach
from pyropunct.models.attach.scores import Part, parts_of_pairs
from pyropunct.models.attach.templates import FAMILIES
from pyropunct.models.attach.views import Views
from pyropunct.models.symmetry import CLASSES
from pyropunct.models.trees import PRETRAINED, TreeBatch

NETWORKS = 3
"""The number K of networks.  Each batch trains one of them, drawn at random."""

SHARE = 0.4
"""The share s of the networks in the pool."""

WORD_SIZE, COLUMN_SIZE = 48, 16
"""Features of a word's form, and of each other column of a word."""

PRETRAINED_SIZE = 96
"""Features that a network makes of the pretrained features of a word, if words have them."""

STATE_SIZE, SIZE = 64, 128
"""Features of a word in its context in each direction, and of a constituent."""

DROPOUT = 0.33
"""The share of features of words, and of words in context, that training leaves out."""

UNKNOWN = 0.2
"""The share of words whose form is hidden in training, so that networks learn to read unknown forms."""

OTHERS = 8
"""More than the values of any attribute other than relations, tags and tokens."""

OF_TREES = (
    *("relation", "head relation", "grandhead relation", "left sibling relation", "right sibling relation"),
    *("first child relation", "last child relation", "before relation", "after relation"),
    *("tag", "head tag", "first tag", "last tag", "before tag", "after tag"),
    *("second before tag", "second after tag", "shape", "first shape", "last shape"),
    *("side", "head side", "edges", "distance", "words_before", "words_after"),
    *("length", "head length", "left sibling length", "right sibling length"),
)
"""Attributes that depend on the tree alone, see `pyropunct.models.attach.attributes`."""

FORMS = ("form", "head form", "first form", "last form", "before form", "after form")
"""The words at and around a constituent, which networks also see directly, beside the states of the LSTM."""

OF_SURFACE = ("first_mark", "last_mark", "until_mark", "since_mark", "marks")
"""Attributes of the marks strictly inside a constituent."""


class Sizes(NamedTuple):
    """How many forms, tags and relations the vocabulary has, and how many pretrained features a word."""

    forms: int
    tags: int
    relations: int
    pretrained: int = 0


class EmbeddedAttributes(nn.Module):
    """The sum of a vector for the value of each attribute.

    :param sizes: the number of values of each large kind; the kind is the last word of an attribute's name.
    """

    def __init__(self, names: Sequence[str], sizes: dict[str, int], size: int) -> None:
        super().__init__()
        self._names = names
        kinds = [name.replace("_", " ").split()[-1] for name in names]
        self._last = np.array([max(sizes.get(kind, 0), OTHERS) for kind in kinds])
        self._start = np.cumsum([0, *(self._last + 1)])
        self.vectors = nn.EmbeddingBag(int(self._start[-1]), size, mode="sum")
        nn.init.normal_(self.vectors.weight, std=0.1)

    def forward(self, attributes: Attributes | ViewAttributes) -> Tensor:
        """(N, size) for N nodes or views; `NOTHING` has a vector of its own."""
        columns = np.stack([attributes.single(name) for name in self._names], -1)
        places = np.minimum(columns, self._last) + self._start[:-1]
        return self.vectors(torch.from_numpy(places).to(self.vectors.weight.device))


class WordsInContext(nn.Module):
    """A bidirectional LSTM over forms, tags, relations and shapes of words.

    Pretrained features are standardised and added after a linear map; they are 0 in trees without words.
    """

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.forms = nn.Embedding(sizes.forms, WORD_SIZE)
        nn.init.normal_(self.forms.weight, std=0.3)
        self.columns = nn.ModuleList(
            nn.Embedding(values, COLUMN_SIZE) for values in (sizes.tags, sizes.relations, OTHERS)
        )
        self.dropout = nn.Dropout(DROPOUT)
        size = WORD_SIZE + len(self.columns) * COLUMN_SIZE
        self.pretrained = nn.Linear(sizes.pretrained, PRETRAINED_SIZE) if sizes.pretrained else None
        if self.pretrained is not None:
            size += PRETRAINED_SIZE
        self.context = nn.LSTM(size, STATE_SIZE, bidirectional=True)

    def forward(self, trees: TreeBatch) -> Tensor:
        """(N, 2 STATE_SIZE), the states of all words of all trees."""
        form, device = trees.form, self.forms.weight.device
        if self.training:
            form = form.masked_fill(torch.rand(form.shape) < UNKNOWN, 0)
        vectors = [self.forms(form.to(device))]
        for table, column in zip(self.columns, (trees.tag, trees.relation, trees.shape), strict=True):
            vectors.append(table(column.to(device)))
        if self.pretrained is not None:
            size = self.pretrained.in_features
            features = trees.more.get(PRETRAINED, torch.zeros(1, size).expand(len(form), size))
            scaled = nn.functional.layer_norm(features.to(self.pretrained.weight), (size,))
            vectors.append(self.pretrained(scaled))
        order, batch_sizes = _word_by_word(trees.forest.node_start.diff().numpy())
        words = self.dropout(torch.cat(vectors, -1))[order.to(device)]
        states, _ = self.context(PackedSequence(words, batch_sizes))
        return self.dropout(states.data[order.argsort().to(device)])


def _word_by_word(sizes: Ints) -> tuple[Tensor, Tensor]:
    """The words of sentences in the order of `PackedSequence`, and how many sentences have an i-th word."""
    sentence = np.repeat(np.arange(len(sizes)), sizes)
    number = np.arange(len(sentence)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    rank = np.argsort(np.argsort(-sizes, kind="stable"))
    return torch.from_numpy(np.lexsort((rank[sentence], number))), torch.from_numpy(np.bincount(number))


class Constituents(nn.Module):
    """A vector for each constituent, from the whole unpunctuated tree.

    The first layer reads attributes and words in context; the second reads the first layer's vectors of the
    constituent, its head, siblings and children.
    """

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.words = WordsInContext(sizes)
        self.places = nn.Linear(8 * 2 * STATE_SIZE, SIZE)
        self.attributes = EmbeddedAttributes(OF_TREES, {"relation": sizes.relations, "tag": sizes.tags}, SIZE)
        self.forms = EmbeddedAttributes(FORMS, {"form": sizes.forms}, SIZE)
        self.dropout = nn.Dropout(DROPOUT)
        self.relatives = nn.Linear(5 * SIZE, SIZE)

    def forward(self, trees: TreeBatch, nodes: Attributes) -> Tensor:
        """(N, SIZE), one vector for each node of some trees."""
        word = np.arange(len(nodes.head))
        near = [word, nodes.head, *nodes.siblings]
        edges = [nodes.first_word, nodes.last_word, nodes.before(word), nodes.after(word)]
        read = self.places(_at(self.words(trees), [*near, *edges])) + self.dropout(self.forms(nodes))
        alone = torch.relu(read + self.attributes(nodes))
        head, child = (torch.from_numpy(column).to(alone.device) for column in nodes.children)
        children = torch.zeros_like(alone).index_add(0, head, alone[child])
        return alone + torch.relu(self.relatives(torch.cat([_at(alone, near), children], -1)))


def _at(vectors: Tensor, places: Sequence[Ints]) -> Tensor:
    """Vectors at several places side by side, zeros for a place that is -1 or `NOTHING`."""
    padded = nn.functional.pad(vectors, (0, 0, 0, 1))
    stacked = np.stack(places, -1)
    absent = (stacked < 0) | (stacked == NOTHING)
    index = torch.from_numpy(np.where(absent, len(vectors), stacked)).to(vectors.device)
    return padded[index].flatten(1)


class MarksInside(nn.Module):
    """A vector for the surface marks strictly inside a constituent: a sum over marks with their places.

    Each mark is read with the one constituent that has an edge there on the side of its head.
    """

    def __init__(self, num_tokens: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(num_tokens, SIZE)
        self.edges = nn.Linear(SIZE, SIZE)
        self.places = nn.EmbeddingBag(6 * OTHERS, SIZE, mode="sum")
        nn.init.normal_(self.places.weight, std=0.1)
        self.types = nn.EmbeddingBag(num_tokens, SIZE, mode="sum")
        nn.init.normal_(self.types.weight, std=0.1)
        self.attributes = EmbeddedAttributes(OF_SURFACE, {"mark": num_tokens}, SIZE)
        self.sum = nn.Linear(SIZE, SIZE)

    def forward(self, constituents: Tensor, nodes: Attributes, views: Views) -> Tensor:
        """(V, SIZE), from the (N, SIZE) vectors of `Constituents`."""
        seen, device = ViewAttributes(nodes, views), constituents.device
        view, slot = views.view, views.slot.numpy()
        edge = _edges(nodes)[slot]
        rank = torch.arange(len(view)) - views.start[view]
        places = _places(nodes, views.node[view].numpy(), edge, slot, rank.numpy())
        inner, place = (torch.from_numpy(array).to(device) for array in (edge, places))
        marks = self.tokens(views.token.to(device)) + self.edges(constituents)[inner] + self.places(place)
        vectors = torch.relu(marks)
        total = vectors.new_zeros(len(views.node), SIZE).index_add(0, view.to(device), vectors)
        several, kinds = seen.several(MARK_INSIDE)
        start = np.searchsorted(several, np.arange(len(views.node)))
        bags = self.types(*(torch.from_numpy(array).to(device) for array in (kinds, start)))
        return self.sum(total) + bags + self.attributes(seen)


def _edges(nodes: Attributes) -> Ints:
    """(S,) the constituent whose edge on its head's side is at each slot, -1 at the ends of a sentence."""
    result = np.full(nodes.forest.num_slots, -1)
    _, child = nodes.children
    slot = np.where(child < nodes.head[child], nodes.right_slot[child], nodes.left_slot[child])
    result[slot] = child
    return result


def _places(nodes: Attributes, outer: Ints, edge: Ints, slot: Ints, rank: Ints) -> Ints:
    """(M, 6) the places of marks, given (M,) the constituents around and with an edge at them, and their
    ranks.
    """
    depth = nodes.forest.depth.cpu().numpy()
    side = slot >= nodes.forest.word_slot.cpu().numpy()[outer]
    level = np.minimum(depth[edge] - depth[outer] - 1, OTHERS - 1)
    columns = [
        level,
        np.searchsorted(LENGTH_CLASSES, slot - nodes.left_slot[outer]),
        np.searchsorted(LENGTH_CLASSES, nodes.right_slot[outer] - slot),
        side,
        np.minimum(rank, OTHERS - 1),
        2 * np.minimum(level, 3) + side,
    ]
    return np.stack(columns, -1) + OTHERS * np.arange(len(columns))


class PairScores(nn.Module):
    """score(l, r) = h . (e(l) + e(r) + e(symmetry of l and r)) + b(d, l, r), from a vector h of each node."""

    values: Tensor

    def __init__(self, inventory: Inventory, marks: Sequence[str]) -> None:
        super().__init__()
        self._inventory = inventory
        known, chosen = parts_of_pairs(inventory, marks), [Part.ANY_LEFT, Part.ANY_RIGHT, Part.SYMMETRY]
        self.register_buffer("values", torch.tensor(known.value[:, chosen].T), persistent=False)
        parts = [nn.Linear(SIZE, size) for size in known.sizes[0, chosen].tolist()]
        for part in parts:
            nn.init.normal_(part.weight, std=0.02)
            nn.init.zeros_(part.bias)
        # Training starts with a preference for the empty pair, as in `LogLinearAttach.starting_point`.
        nn.init.constant_(parts[2].bias[CLASSES.index("none")], 5.0)
        self.parts = nn.ModuleList(parts)
        self.rows = nn.Embedding(len(inventory.rows), 1)
        nn.init.zeros_(self.rows.weight)

    def forward(self, vectors: Tensor, relation: Tensor) -> Tensor:
        """(C,) the scores of all pairs, node after node, in double precision, from (N, SIZE) vectors."""
        sizes = torch.from_numpy(choice_start(self._inventory, relation)).diff()
        node = torch.repeat_interleave(torch.arange(len(sizes)), sizes).to(vectors.device)
        row = choice_rows(self._inventory, relation).to(vectors.device)
        scores = self.rows(row)[:, 0]
        for part, value in zip(self.parts, self.values, strict=True):
            table = part(vectors)
            scores = scores + table.flatten()[node * table.shape[1] + value[row]]
        return scores.double()


class Network(nn.Module):
    """Scores of puncteme pairs from the whole tree and the surface punctuation inside a constituent."""

    def __init__(self, inventory: Inventory, marks: Sequence[str], sizes: Sizes) -> None:
        super().__init__()
        self.constituents = Constituents(sizes)
        self.inside = MarksInside(inventory.num_tokens)
        self.deep = nn.Linear(SIZE, SIZE)
        self.pairs = PairScores(inventory, marks)

    def forward(self, constituents: Tensor, nodes: Attributes, views: Views) -> Tensor:
        """(C,) the scores of pairs, view after view, from the (N, SIZE) vectors of ``self.constituents``."""
        vectors = constituents[views.node.to(constituents.device)]
        vectors = torch.relu(vectors + self.inside(constituents, nodes, views))
        vectors = vectors + torch.relu(self.deep(vectors))
        return self.pairs(vectors, torch.from_numpy(nodes.column("relation"))[views.node])


class NeuralAttach(LogLinearAttach):
    """The pool of the log-linear model and networks; other parameters are those of `LogLinearAttach`.

    :param num_pretrained: how many pretrained features the networks read of each word.
    """

    def __init__(
        self,
        inventory: Inventory,
        marks: Sequence[str],
        num_forms: int,
        num_tags: int,
        num_relations: int,
        families: Sequence[str] = tuple(FAMILIES),
        prior_scale: float = 1.0,
        least: int = 2,
        num_pretrained: int = 0,
    ) -> None:
        super().__init__(inventory, marks, families, prior_scale, least)
        sizes = Sizes(num_forms, num_tags, num_relations, num_pretrained)
        self.networks = nn.ModuleList(Network(inventory, marks, sizes) for _ in range(NETWORKS))

    @property
    def reads_surface(self) -> bool:
        """Always: networks read marks, whatever the families."""
        return True

    def scorer(self, trees: TreeBatch) -> Scorer:
        """The scores of the pool; in training those of p_0, which is trained as if alone."""
        wide = super().scorer(trees)
        if self.training:
            return wide
        deep = self._network_scorer(trees, self.networks)
        return lambda views: (1 - SHARE) * wide(views) + SHARE * deep(views)

    def observed(self, trees: TreeBatch, views: Views) -> Tensor:
        """The scores of the pool; in training those of p_0, with a network drawn at random to learn from it.

        The log p_k of network k is added to the scores and subtracted again as a constant: the value stays
        the same, the gradient does not. The gradient of log p(x | T) in a score is p_0(l, r | w, x, T) -
        p_0(l, r | w). The factor "networks" adds the expectation of log p_k under p_0(l, r | w), which leaves
        the gradient of the network's objective.
        """
        scores = self.scorer(trees)(views)
        if not self.training:
            return scores
        chosen = int(torch.randint(len(self.networks), ()))
        deep = self._network_scorer(trees, self.networks[chosen : chosen + 1])(views)
        start = torch.from_numpy(choice_start(self.inventory, trees.relation[views.node]))
        log_network = log_probabilities(deep, start)
        expected = log_probabilities(scores.detach(), start).exp()
        pyro.factor("networks", (expected * log_network).sum())
        return scores + log_network - log_network.detach()

    def _network_scorer(self, trees: TreeBatch, networks: Any) -> Scorer:
        """The mean of the scores of networks."""
        nodes = Attributes(trees)
        constituents = [network.constituents(trees, nodes) for network in networks]

        def scores(views: Views) -> Tensor:
            each = zip(networks, constituents, strict=True)
            return torch.stack([network(vectors, nodes, views) for network, vectors in each]).mean(0)

        return scores
