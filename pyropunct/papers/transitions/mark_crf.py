"""A linear-chain CRF over words and tags: the baseline of Zhang, Wu, Yang & Li (2013)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import embedding
from torch.nn.utils.rnn import pad_sequence

from pyropunct.papers.chain import LinearChain
from pyropunct.papers.transitions.machine import FULL
from pyropunct.papers.transitions.perceptron import mixed, number_of
from pyropunct.papers.transitions.streams import Stream
from pyropunct.papers.transitions.templates import WORDS, templates_in
from pyropunct.untrusted import untrusted

Keys = NDArray[np.int64]

MARKS = FULL + 1
"""The number of marks: no mark, middle pauses and full stops."""

ITERATIONS = 25
"""The most steps of L-BFGS."""

PENALTY = 1.0
"""The weight of the squared weights, halved, beside the negative log-likelihood."""

LEAST = 2
"""Features that occur less often in training have no weight."""

_PLACES = {"s0": -1, "b0": 0, "b1": 1, "b2": 2}
"""Where the word of an item stands, seen from a word."""


@dataclass(frozen=True)
class MarkCRF:
    """Predicts the mark behind each word of a stream from the words and tags around it.

    The features are those of Table 2 (a) of the paper, with the previous word instead of the top of the
    stack; each has a weight with each mark, and so have any two neighbouring marks.

    :ivar keys: (features,) the keys of the features, in ascending order.
    :ivar weights: (1 + features, 3) their weights; the first row is that of unknown features.
    :ivar transitions: (3, 3) the weights of neighbouring marks.
    """

    keys: Tensor
    weights: Tensor
    transitions: Tensor

    def predict(self, some: Iterable[Stream]) -> list[tuple[int, ...]]:
        """The most probable marks of each stream, the last of which is always a full stop."""
        return [self._marks(one) if one.forms else () for one in some]

    def _marks(self, stream: Stream) -> tuple[int, ...]:
        chain = _chain([_features(stream, self.keys.numpy())], self.weights, self.transitions)
        return (*chain.best()[0, :-1].tolist(), FULL)

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """The CRF as plain JSON types and tensors, as `pyropunct.fitted.model_file` writes them."""
        return {}, vars(self)

    @classmethod
    def from_parts(cls, plain: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Self:
        """The CRF that `to_parts` took apart. Raises ValueError if these are not the parts of such a CRF."""
        with untrusted("not the parts of a CRF over marks"):
            return cls(**tensors)


def train_mark_crf(
    some: Iterable[Stream], *, penalty: float = PENALTY, iterations: int = ITERATIONS, least: int = LEAST
) -> MarkCRF:
    """Train a CRF on marks by L-BFGS: maximise log p(marks | words) - penalty / 2 |weights|^2, concave.

    :param least: rarer features are ignored.
    :raises ValueError: if there is no word.
    """
    examples = [one for one in some if one.forms]
    if not examples:
        raise ValueError("there is no sentence to learn from")
    seen = np.concatenate([_keys(one).ravel() for one in examples])
    keys, counts = np.unique(seen, return_counts=True)
    keys = keys[counts >= least]
    features = [_features(one, keys) for one in examples]
    labels = pad_sequence([torch.tensor(one.targets) for one in examples], batch_first=True)
    weights = torch.zeros(1 + len(keys), MARKS, dtype=torch.float, requires_grad=True)
    transitions = torch.zeros(MARKS, MARKS, dtype=torch.float, requires_grad=True)
    optimiser = torch.optim.LBFGS([weights, transitions], max_iter=iterations, line_search_fn="strong_wolfe")
    words = sum(len(one.forms) for one in examples)

    def loss() -> float:
        optimiser.zero_grad()
        squares = weights.square().sum() + transitions.square().sum()
        likelihood = _chain(features, weights, transitions).log_prob(labels).sum()
        value: Tensor = (penalty / 2 * squares - likelihood) / words
        value.backward()
        return value.item()

    optimiser.step(loss)
    return MarkCRF(torch.from_numpy(keys), weights.detach(), transitions.detach())


def _chain(features: Sequence[Tensor], weights: Tensor, transitions: Tensor) -> LinearChain:
    sizes = torch.tensor([len(one) for one in features])
    scores = embedding(torch.cat(list(features)), weights, padding_idx=0).sum(1)
    present = torch.arange(int(sizes.max())) < sizes[:, None]
    padded = scores.new_zeros(*present.shape, MARKS).index_put((present,), scores)
    return LinearChain(padded, transitions, present)


def _features(stream: Stream, known: Keys) -> Tensor:
    """(words, templates) the row of the weights of each feature of each word."""
    keys = _keys(stream)
    places = np.searchsorted(known, keys)
    found = known[np.minimum(places, len(known) - 1)] == keys if len(known) else np.zeros(keys.shape, bool)
    return torch.from_numpy(np.where(found, places + 1, 0))


def _keys(stream: Stream) -> Keys:
    """(words, templates) the keys of the features of each word."""
    columns = {
        kind: np.pad([number_of(text) for text in texts], (1, 2))
        for kind, texts in (("w", stream.forms), ("t", stream.tags))
    }
    size, keys = len(stream.forms), []
    for names in templates_in(WORDS):
        key = np.full(size, number_of(" ".join(names)), np.int64)
        for name in names:
            item, _, kind = name.partition(".")
            first = 1 + _PLACES[item]
            key = mixed(key, columns[kind][first : first + size])
        keys.append(key)
    return np.stack(keys, -1)
