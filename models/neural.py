"""A neural ATTACH: a bidirectional encoder of the words, beside the features of the log-linear model.

The score of a puncteme pair (l, r) at a constituent w is a dot product::

    score(l, r, w) = h(w) . (e(d, l, r) + e(l) + e(r))        d the relation of w

where h(w) is computed from the states of an LSTM at the edges of w, at its head word and around it, and
from embedded attributes of w, the surface punctuation inside among them.  It takes the place of
theta . f(l, r, w) in equation (4) of Li, Wang & Eisner (2019), or is added to it.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_sequence, unpack_sequence

from pyropunct.inference.inside import choice_start
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.surface import EMPTY
from pyropunct.models.attach import LogLinearAttach
from pyropunct.models.attributes import NOTHING, Attributes, ViewAttributes, Views

if TYPE_CHECKING:
    from pyropunct.batches import TreeBatch

CLASSES = 8
"""More than the values of any attribute that is no relation, tag or token."""

OF_TREES = (
    *("relation", "head relation", "grandhead relation", "left sibling relation", "right sibling relation"),
    *("first child relation", "last child relation", "tag", "head tag", "side", "edges", "length"),
    *("distance", "words_before", "words_after"),
)
OF_SURFACE = ("first_mark", "last_mark", "until_mark", "since_mark", "marks")


class Network(nn.Module):
    """Scores of the puncteme pairs of constituents.

    :param inventory: the sets W_d.
    :param num_forms: how many forms, tags and relations the vocabulary has.
    :param num_tags: likewise.
    :param num_relations: likewise.
    :param word_size: features of a word; its tag and relation have a quarter as many each.
    :param state_size: features of a word in its context, of each direction.
    :param size: features of a constituent.
    :param attribute_size: features of an attribute.
    :param dropout: the share of features that are left out in training.
    """

    def __init__(
        self,
        inventory: Inventory,
        num_forms: int,
        num_tags: int,
        num_relations: int,
        word_size: int = 64,
        state_size: int = 100,
        size: int = 128,
        attribute_size: int = 16,
        dropout: float = 0.4,
    ) -> None:
        super().__init__()
        self._inventory = inventory
        sizes = {"relation": num_relations, "tag": num_tags, "mark": inventory.num_tokens}
        self._columns = {name: _size_of(name, sizes) for name in (*OF_TREES, *OF_SURFACE)}
        self.forms = nn.Embedding(num_forms, word_size)
        self.word_columns = nn.ModuleList(
            nn.Embedding(number, word_size // 4) for number in (num_tags, num_relations, CLASSES)
        )
        self.encoder = nn.LSTM(word_size + 3 * (word_size // 4), state_size, bidirectional=True)
        self.columns = nn.ModuleDict(
            {name: nn.Embedding(number + 1, attribute_size) for name, number in self._columns.items()}
        )
        self.inside = nn.EmbeddingBag(inventory.num_tokens, attribute_size, mode="sum")
        self.around = nn.Linear(12 * state_size + len(OF_TREES) * attribute_size, size)
        self.within = nn.Linear((len(OF_SURFACE) + 1) * attribute_size, size, bias=False)
        self.deep = nn.Sequential(nn.ReLU(), nn.Dropout(dropout), nn.Linear(size, size), nn.ReLU())
        self.dropout = nn.Dropout(dropout)
        lefts, rights = (_numbered(side) for side in zip(*inventory.rows, strict=True))
        self.register_buffer("_left", torch.tensor(lefts), persistent=False)
        self.register_buffer("_right", torch.tensor(rights), persistent=False)
        self.pairs = nn.Embedding(len(lefts), size + 1)
        self.lefts, self.rights = nn.Embedding(max(lefts) + 1, size + 1), nn.Embedding(max(rights) + 1, size + 1)
        for table in (self.pairs, self.lefts, self.rights):
            nn.init.normal_(table.weight, std=0.01)

    def of_trees(self, trees: "TreeBatch", attributes: Attributes) -> Tensor:
        """(N, size) what of h(w) depends on the trees alone."""
        words = [self.forms(trees.form)]
        for table, column in zip(self.word_columns, (trees.tag, trees.relation, trees.shape), strict=True):
            words.append(table(column))
        inputs = self.dropout(torch.cat(words, -1)).split(trees.forest.node_start.diff().tolist())
        states = self.encoder(pack_sequence(list(inputs), enforce_sorted=False))[0]
        states = torch.cat([*unpack_sequence(states), states.data.new_zeros(1, 2 * self.encoder.hidden_size)])
        nodes = np.arange(len(attributes.head))
        places = [nodes, attributes.head, attributes.first_word, attributes.last_word]
        places += [attributes.before(nodes), attributes.after(nodes)]
        # The last state is nobody's.
        around = [states[np.where((place < 0) | (place == NOTHING), -1, place)] for place in places]
        return self.around(self.dropout(torch.cat([*around, *self._embedded(attributes, OF_TREES)], -1)))

    def _embedded(self, attributes: Attributes | ViewAttributes, names: Sequence[str]) -> Iterator[Tensor]:
        for name in names:
            values = np.minimum(attributes.single(name), self._columns[name])
            yield self.columns[name](torch.from_numpy(values))

    def scores(self, of_trees: Tensor, attributes: Attributes | ViewAttributes) -> Tensor:
        """(C,) the scores of the pairs of some nodes or views, one after the other.

        :param of_trees: what `of_trees` gave for them.
        :param attributes: their attributes.
        """
        view, token = attributes.several("mark inside")
        start = torch.from_numpy(np.searchsorted(view, np.arange(len(of_trees))))
        inside = self.inside(torch.from_numpy(token), start)
        within = self.within(torch.cat([*self._embedded(attributes, OF_SURFACE), inside], -1))
        state = self.dropout(self.deep(of_trees + within))
        state = torch.cat([state, state.new_ones(len(state), 1)], -1)
        targets = self.pairs.weight + self.lefts(self._left) + self.rights(self._right)
        relation = torch.from_numpy(attributes.relation)
        start = torch.from_numpy(choice_start(self._inventory, relation))
        found, places = [], []
        for number in relation.unique().tolist():
            nodes = (relation == number).nonzero()[:, 0]
            first, last = self._inventory.pair_start[number : number + 2].tolist()
            found.append((state[nodes] @ targets[first:last].T).flatten())
            places.append((start[nodes, None] + torch.arange(last - first)).flatten())
        return state.new_zeros(int(start[-1])).index_copy(0, torch.cat(places), torch.cat(found))


def _size_of(name: str, sizes: dict[str, int]) -> int:
    """How many values an attribute has."""
    return next((size for kind, size in sizes.items() if name.endswith(kind)), CLASSES)


def _numbered(values: Sequence[Any]) -> list[int]:
    place = {value: number for number, value in enumerate(sorted(set(values)))}
    return [place[value] for value in values]


class NeuralAttach(LogLinearAttach):
    """The log-linear model and a neural network, whose scores are added.

    :param inventory: the sets W_d.
    :param marks: the inventory's tokens, for their symmetry.
    :param num_forms: how many forms, tags and relations the vocabulary has.
    :param num_tags: likewise.
    :param num_relations: likewise.
    :param families: feature families of the log-linear part.
    :param prior_scale: the standard deviation of the prior of its weights.
    :param least: contexts seen at fewer nodes get no weights.
    """

    def __init__(
        self,
        inventory: Inventory,
        marks: Sequence[str],
        num_forms: int,
        num_tags: int,
        num_relations: int,
        families: Sequence[str] = ("symmetry",),
        prior_scale: float = 1.0,
        least: int = 2,
    ) -> None:
        super().__init__(inventory, marks, families, prior_scale, least)
        self.network = Network(inventory, num_forms, num_tags, num_relations)

    def forward(self, trees: "TreeBatch", surface: Tensor) -> Tensor:
        """Unnormalised log p(l, r | w), (C,): see `LogLinearAttach.forward`."""
        attributes = Attributes(trees, surface)
        deep = self.network.scores(self.network.of_trees(trees, attributes), attributes)
        return super().forward(trees, surface) + deep

    def view_scores(self, trees: "TreeBatch") -> Callable[[Views], NDArray[np.float64]]:
        """What `forward` gives, for constituents seen with any surface punctuation inside."""
        wide = super().view_scores(trees)
        nodes = Attributes(trees, torch.full((trees.forest.num_slots, 1), EMPTY))
        with torch.no_grad():
            of_trees = self.network.of_trees(trees, nodes)

        @torch.no_grad()
        def of_views(views: Views) -> NDArray[np.float64]:
            deep = self.network.scores(of_trees[views.node], ViewAttributes(nodes, views))
            return wide(views) + deep.double().numpy()

        return of_views
