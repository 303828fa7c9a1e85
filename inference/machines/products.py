"""Products of a channel's weights: each is formed once for a batch, however many arcs have it."""

import operator
from collections.abc import Mapping, Sequence
from typing import NamedTuple, SupportsIndex, TypeVar, cast

import numpy as np
import torch
from torch import Tensor

from pyropunct.inference.ragged import Ints, starts_of

T = TypeVar("T")

Name = tuple[str | int, ...]
"""One of a channel's weights: the name of a tensor, and a place in it, as ``("insertion", 2)``."""

EMPTY_PRODUCT = 0
"""The product of no weights."""


KEEP, LEFT_ABSORPTION, RIGHT_ABSORPTION, TRANSPOSITION = range(4)
"""The edits of two neighbours a b, as seen on the page: to a b, to b, to a, and to b a."""

EDITS = ("keep", "left absorption", "right absorption", "transposition")

_FROM_RIGHT = (KEEP, RIGHT_ABSORPTION, LEFT_ABSORPTION, TRANSPOSITION)


class TokenEdit(NamedTuple):
    """What happens to two neighbouring tokens a b (Li, Wang & Eisner 2019, section 2.2); see `EDITS`."""

    first: int
    second: int
    kind: int

    def mirrored(self) -> "TokenEdit":
        """The same edit, seen from the other side."""
        return TokenEdit(self.second, self.first, _FROM_RIGHT[self.kind])

    def after_of(self, first: T, second: T) -> tuple[T, ...]:
        """The tokens that the edit leaves of two tokens, which may have other names."""
        return ((first, second), (second,), (first,), (second, first))[self.kind]


class Places:
    """The places of named weights when all of a channel's tensors are written in one line."""

    def __init__(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self.shapes = dict(shapes)
        start = starts_of([int(np.prod(shape, dtype=np.int64)) for shape in shapes.values()])
        self._start = dict(zip(shapes, start.tolist(), strict=False))
        self.size = int(start[-1])

    def of(self, name: Name) -> int:
        """The place of a weight. Raises ValueError if there is no such weight."""
        tensor, *named = name
        shape = self.shapes.get(str(tensor))
        if shape is None:
            raise ValueError(f"no weight is called {tensor!r}: there are {', '.join(self.shapes) or 'none'}")
        try:
            index = tuple(operator.index(cast(SupportsIndex, number)) for number in named)
        except TypeError:
            raise ValueError(
                f"{name!r} names no weight: a name and whole numbers do, as ('w', 0, 1)"
            ) from None
        if len(index) != len(shape) or not all(0 <= at < size for at, size in zip(index, shape, strict=True)):
            raise ValueError(
                f"the weights {tensor!r}, with one dimension for each number that moves name, have the shape "
                f"{shape}: there is no {index}"
            )
        place = 0
        for at, size in zip(index, shape, strict=True):
            place = place * size + at
        return self._start[str(tensor)] + place

    def name(self, place: int) -> Name:
        """The name of the weight at a place."""
        tensor = max(
            (name for name in self._start if self._start[name] <= place), key=self._start.__getitem__
        )
        index = np.unravel_index(place - self._start[tensor], self.shapes[tensor] or (1,))
        return (tensor, *(int(number) for number in index)) if self.shapes[tensor] else (tensor,)


class Products:
    """Products of weights, numbered from 0; `EMPTY_PRODUCT` is the empty product.

    A product may carry edits, those of its moves; with other edits it has another number.
    """

    def __init__(self, places: Places) -> None:
        self.places = places
        self._columns = np.full((1, 1), places.size)  # filled up with the place of a 1 behind all weights
        self._edits: list[tuple[TokenEdit, ...]] = [()]
        self._named: dict[tuple[tuple[int, ...], tuple[TokenEdit, ...]], int] = {((), ()): EMPTY_PRODUCT}
        self._keys, self._numbers = np.empty((2, 0), np.int64)  # pairs of products, sorted
        self._on_device: dict[torch.device, Tensor] = {}

    def __len__(self) -> int:
        return len(self._columns)

    def used(self) -> dict[str, tuple[int, ...]]:
        """How many weights products use along each dimension of the channel's tensors."""
        places = np.unique(self._columns)
        names = [self.places.name(place) for place in places[places < self.places.size].tolist()]
        indices = {
            tensor: np.array([index for name, *index in names if name == tensor])
            for tensor in self.places.shapes
            if any(name == tensor for name, *_ in names)
        }
        return {tensor: tuple((index.max(0) + 1).tolist()) for tensor, index in indices.items()}

    def named(self, weights: Sequence[tuple[Sequence[Name], TokenEdit | None]]) -> Ints:
        """The numbers of products of named weights, each with an edit or None. Unknown names raise
        ValueError.
        """
        known = {name: self.places.of(name) for names, _ in weights for name in names}
        numbers = np.empty(len(weights), np.int64)
        lacking: list[tuple[tuple[int, ...], tuple[TokenEdit, ...]]] = []
        for number, (names, edit) in enumerate(weights):
            key = tuple(sorted(known[name] for name in names)), () if edit is None else (edit,)
            if key not in self._named:
                self._named[key] = len(self) + len(lacking)
                lacking.append(key)
            numbers[number] = self._named[key]
        width = max((len(places) for places, _ in lacking), default=0)
        rows = np.full((len(lacking), width), self.places.size)
        for row, (places, _) in zip(rows, lacking, strict=True):
            row[: len(places)] = places
        self._add(rows, [edits for _, edits in lacking])
        return numbers

    def times(self, left: Ints, right: Ints) -> Ints:
        """The numbers of the products of pairs of products."""
        if not right.any():
            return left
        if not left.any():
            return right
        keys, inverse = np.unique(left << 32 | right, return_inverse=True)
        new = keys[~np.isin(keys, self._keys, assume_unique=True)]
        if len(new):
            first, second = new >> 32, new & 0xFFFFFFFF
            numbers = np.arange(len(self), len(self) + len(new))
            self._add(
                np.sort(np.hstack([self._columns[first], self._columns[second]]), -1),
                [self._edits[a] + self._edits[b] for a, b in zip(first, second, strict=True)],
            )
            both, all_numbers = np.concatenate([self._keys, new]), np.concatenate([self._numbers, numbers])
            order = np.argsort(both)
            self._keys, self._numbers = both[order], all_numbers[order]
        return self._numbers[np.searchsorted(self._keys, keys)][inverse]

    def _add(self, rows: Ints, edits: Sequence[tuple[TokenEdit, ...]]) -> None:
        one = self.places.size
        used = max(1, int((rows != one).sum(-1).max(initial=0)))
        width = max(used, self._columns.shape[1])
        tables = (self._columns, rows[:, :used])
        padded = [
            np.pad(table, ((0, 0), (0, width - table.shape[1])), constant_values=one) for table in tables
        ]
        self._columns = np.concatenate(padded)
        self._edits += edits
        self._on_device.clear()

    def values(self, weights: Tensor) -> Tensor:
        """(..., number of products) the values of all products, as doubles, given (..., P) weights."""
        if weights.device not in self._on_device:
            self._on_device[weights.device] = torch.from_numpy(self._columns.T.copy()).to(weights.device)
        doubles, most = weights.double(), torch.finfo(weights.dtype).max
        if doubles.requires_grad and doubles is not weights:
            # A slope that is infinite in the weights' precision would make NaN of a softmax.
            doubles.register_hook(lambda slopes: slopes.clamp(-most, most))
        padded = torch.nn.functional.pad(doubles, (0, 1), value=1.0)
        first, *others = self._on_device[weights.device]
        result = padded[..., first]
        for column in others:
            result = result * padded[..., column]
        return result

    def by_weight(self, uses: Tensor) -> Tensor:
        """(P,) the number of uses of each weight, given the uses of each product."""
        counts = uses.new_zeros(self.places.size + 1)
        columns = torch.from_numpy(self._columns[: len(uses)]).to(uses.device)
        return counts.index_add(0, columns.flatten(), uses.repeat_interleave(columns.shape[1]))[:-1]

    def by_edit(self, uses: Tensor, num_tokens: int) -> Tensor:
        """(..., V, V, 4) the number of uses of each edit, given the uses of each product."""
        shape = num_tokens, num_tokens, len(EDITS)
        bearing = [(number, edit) for number, edits in enumerate(self._edits) for edit in edits]
        counts = uses.new_zeros((*uses.shape[:-1], *shape)).flatten(-3)
        if not bearing:
            return counts.unflatten(-1, shape)
        numbers, edits = zip(*bearing, strict=True)
        where = torch.from_numpy(np.ravel_multi_index(np.array(edits).T, shape)).to(uses.device)
        products = torch.tensor(numbers, device=uses.device)
        return counts.index_add(-1, where, uses[..., products]).unflatten(-1, shape)
