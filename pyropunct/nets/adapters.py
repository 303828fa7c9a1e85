"""Encoders that were trained further with a network, and the encoders of saved models.

Low-rank adapters change all layers: a linear map W of a frozen encoder becomes W + B A, where A has few rows
and B few columns (Hu et al. 2022, "LoRA: low-rank adaptation of large language models").  Only A and B are
trained and saved.  Alternatively, the first layers are tuned as a whole: only these are read and saved, while
the table of word pieces stays in the files of the encoder.
"""

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from pyropunct.errors import MissingPartError
from pyropunct.models.learned import filled
from pyropunct.nets.encoder import KIND, Encoder
from pyropunct.nets.opened_encoder import Opened
from pyropunct.nets.pretrained import Pretrained, without_cache

ADAPTED = "adapted encoder"
"""How `AdaptedEncoder.identity` calls it, with adapters or with tuned first layers."""

RANK = 16
"""The rows of A, and the columns of B."""

OLD_KINDS = {
    "vectors": "reads word vectors, which are read no more: fit it again, with an encoder or without",
    "tuned encoder": "has a whole encoder that was trained further, which is read no more: fit it again",
}
"""Sources of features that only models of earlier versions name, and the error for each."""


class Change(nn.Module, ABC):
    """A change of the states of an encoder, effective while it is attached."""

    @abstractmethod
    def attach(self, model: Any) -> Callable[[], None]:
        """Make an encoder read through the change; returns what detaches it."""

    @contextmanager
    def attached(self, model: Any) -> Iterator[None]:
        """Attach the change inside a ``with`` block."""
        detach = self.attach(model)
        try:
            yield
        finally:
            detach()


class Adapters(Change):
    """The matrices A, of ``rank`` rows, and B of all linear maps of an encoder; B A is 0 before training."""

    def __init__(self, model: nn.Module, rank: int = RANK) -> None:
        super().__init__()
        maps = _linear_maps(model)
        downward = (torch.empty(rank, one.in_features) for one in maps)
        self.down = nn.ParameterList([nn.init.kaiming_uniform_(part, math.sqrt(5)) for part in downward])
        self.up = nn.ParameterList([torch.zeros(one.out_features, rank) for one in maps])

    def attach(self, model: Any) -> Callable[[], None]:
        """See `Change.attach`."""

        def added(number: int, _: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
            return output + functional.linear(
                functional.linear(inputs[0], self.down[number]), self.up[number]
            )

        maps = enumerate(_linear_maps(model))
        handles = [one.register_forward_hook(partial(added, number)) for number, one in maps]

        def detach() -> None:
            for handle in handles:
                handle.remove()

        return detach


class FirstLayers(Change):
    """The first layers of an encoder of the type BERT; later layers are not read."""

    def __init__(self, model: Any, count: int) -> None:
        super().__init__()
        self.layers = deepcopy(model.encoder.layer[:count], {id(model.config): model.config})

    def train(self, mode: bool = True) -> Self:
        """Without dropout, which takes a third of the time of training."""
        return super().train(False)

    def attach(self, model: Any) -> Callable[[], None]:
        """See `Change.attach`."""
        before, model.encoder.layer = model.encoder.layer, self.layers
        return lambda: setattr(model.encoder, "layer", before)


def _linear_maps(model: nn.Module) -> list[nn.Linear]:
    return [one for name, one in model.named_modules() if isinstance(one, nn.Linear) and "pooler" not in name]


class AdaptedEncoder:
    """An encoder with the state of its `Adapters` or `FirstLayers`, opened when it is first used."""

    def __init__(self, encoder: Encoder, tensors: Mapping[str, Tensor]) -> None:
        self.encoder, self._tensors = encoder, dict(tensors)

    @property
    def size(self) -> int:
        """Features of a word."""
        return self.encoder.size

    def features(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """See `pyropunct.nets.pretrained.Pretrained.features`."""
        with torch.no_grad():
            return self._opened.features(sentences).half().float()

    def identity(self) -> dict[str, Any]:
        """The identity of the encoder, and a checksum of the adapters."""
        return {**self.encoder.identity(), "kind": ADAPTED, "adapters": self._checksum}

    @cached_property
    def _checksum(self) -> str:
        parts = (tensor.float().cpu().numpy().tobytes() for _, tensor in sorted(self._tensors.items()))
        return hashlib.sha256(b"".join(parts)).hexdigest()

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """The place and the identity of the encoder, and the adapters."""
        return {**self.identity(), "place": self.encoder.place}, dict(self._tensors)

    @classmethod
    def from_parts(
        cls, plain: Mapping[str, Any], tensors: Mapping[str, Tensor], place: str | Path | None = None
    ) -> "AdaptedEncoder":
        """The encoder that `to_parts` took apart; raises `ValueError` for missing or mistyped parts."""
        if not isinstance(plain["adapters"], str) or not tensors:
            raise ValueError("it does not have the adapters of an encoder")
        adapted = cls(Encoder.from_parts({**plain, "kind": KIND}, place), tensors)
        adapted._checksum = plain["adapters"]  # a saved model may have rounded them
        return adapted

    @cached_property
    def _opened(self) -> Opened:
        opened, change = self.parted()
        change.requires_grad_(False).attach(opened.model)
        return opened

    def parted(self) -> tuple[Opened, Change]:
        """A copy of the encoder, and its change, not attached; raises `MissingPartError`."""
        opened = self.encoder.opened_anew()
        layers = len({name.split(".")[1] for name in self._tensors if name.startswith("layers.")})
        rank = len(self._tensors.get("down.0", ()))
        try:
            if layers:
                opened = first_layers(opened, layers)
            return opened, filled(lambda: change_of(opened, layers, rank), self._tensors)
        except (ValueError, RuntimeError) as error:
            raise MissingPartError(
                f"encoder {self.encoder.place}: the model's adapters are of another encoder"
            ) from error


def first_layers(opened: Opened, layers: int) -> Opened:
    """An encoder whose features are the states of one of its layers; raises `MissingPartError`."""
    if not hasattr(getattr(opened.model, "encoder", None), "layer"):
        raise MissingPartError("an encoder of this type cannot be tuned; name one of the type bert")
    return replace(opened, layers=(layers,))


def change_of(opened: Opened, layers: int, rank: int = RANK) -> Change:
    """A change without effect: the first layers, or adapters if there are no ``layers``."""
    return FirstLayers(opened.model, layers) if layers else Adapters(opened.model, rank)


class AdaptersInTraining:
    """The features of an encoder through a change that is in training."""

    def __init__(self, opened: Opened, adapters: Change) -> None:
        self._opened, self._adapters, self.size = opened, adapters, opened.size

    @torch.no_grad()
    def features(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """See `pyropunct.nets.pretrained.Pretrained.features`."""
        with self._adapters.attached(self._opened.model):
            return self._opened.features(sentences).half().float().cpu()


class AdaptedNetwork(nn.Module):
    """A network, and the change of the encoder that it reads, trained together."""

    reading: Any
    adapters: Any

    def __init__(self, reading: nn.Module, adapters: nn.Module) -> None:
        super().__init__()
        self.reading, self.adapters = reading, adapters


def pretrained_from(
    plain: Mapping[str, Any] | None, tensors: Mapping[str, Tensor], encoder: str | Path | None = None
) -> Pretrained | None:
    """The source that `Pretrained.to_parts` took apart; None if the model has none.

    :param encoder: where the encoder is now, if it has moved.
    :raises MissingPartError: if ``encoder`` is given to a model that needs none, or the kind of source is no
        longer supported.
    :raises ValueError: if a part is missing or damaged.
    """
    kind = None if plain is None else plain["kind"]
    if encoder is not None and kind not in (KIND, ADAPTED):
        raise MissingPartError(f"--encoder {encoder}: the model was trained without an encoder")
    if plain is None:
        return None
    if kind in OLD_KINDS:
        raise MissingPartError(f"the model {OLD_KINDS[kind]}")
    if kind == ADAPTED:
        return AdaptedEncoder.from_parts(plain, tensors, encoder)
    if kind != KIND:
        raise ValueError(f"there are no pretrained features of the kind {kind!r}")
    if tensors:
        raise ValueError("there are tensors of an encoder")
    return Encoder.from_parts(plain, encoder)


def adaptable(pretrained: Pretrained | None) -> Encoder | AdaptedEncoder:
    """The encoder that gives pretrained features; raises `ValueError` if it is not an encoder."""
    source = without_cache(pretrained)
    if not isinstance(source, Encoder | AdaptedEncoder):
        raise ValueError("there is no encoder that could be trained further")
    return source
