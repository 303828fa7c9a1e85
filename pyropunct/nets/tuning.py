"""Encoders that are trained further, together with a network, and the encoders of saved models."""

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from pyropunct.nets.encoder import (
    KIND,
    Encoder,
    Opened,
    checked_identity,
    first_line,
    identity_of,
    opened_at,
    quiet,
)
from pyropunct.nets.networks import Model, NetworkTraining
from pyropunct.nets.pretrained import Pretrained, PretrainedError, bare

TUNED = "tuned encoder"
"""How `TunedEncoder.identity` calls it."""

FILES = ("config.json", "tokenizer.json", "tokenizer_config.json")
"""The files beside its weights, as transformers writes them."""

WEIGHTS = "model.safetensors"

VECTORS = "vectors"
"""The kind of a source that models of earlier versions may name."""


class TunedEncoder:
    """An encoder that was trained further, as files in JSON and tensors.

    It is opened when it is first used.

    :param plain: see `to_parts`.
    :param tensors: its weights.
    :param in_training: the encoder while it is trained; then there are neither files nor tensors.
    """

    def __init__(
        self, plain: Mapping[str, Any], tensors: Mapping[str, Tensor], in_training: Opened | None = None
    ) -> None:
        self._plain, self._tensors, self._in_training = dict(plain), dict(tensors), in_training

    @classmethod
    def of(cls, opened: Opened, place: str) -> "TunedEncoder":
        """An encoder as it is now.

        :param place: where it was before it was trained further.
        :raises PretrainedError: if it cannot be kept: transformers would make another encoder of its parts.
        """
        import transformers
        from safetensors.torch import load_file

        try:
            with tempfile.TemporaryDirectory() as folder, quiet(transformers):
                opened.model.save_pretrained(folder)
                opened.tokenizer.save_pretrained(folder)
                files = {name: json.loads((Path(folder) / name).read_text("utf-8")) for name in FILES}
                tensors = load_file(Path(folder) / WEIGHTS)
                again = identity_of(opened_at(folder))
        except (OSError, ValueError, RuntimeError) as error:
            raise PretrainedError(
                f"encoder {place}: cannot be trained further: {first_line(error)}"
            ) from error
        before = identity_of(opened)
        if any(again[name] != before[name] for name in ("size", "layers", "pieces")):
            raise PretrainedError(
                f"encoder {place}: cannot be trained further: its saved files would be another encoder"
            )
        plain = {**again, "kind": TUNED, "place": place, "files": files}
        return cls(plain, {name: tensor.clone() for name, tensor in tensors.items()})

    @property
    def size(self) -> int:
        """Features of a word."""
        return self._plain["size"]

    def features(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """See `pyropunct.nets.pretrained.Pretrained.features`."""
        with torch.no_grad():
            return self._opened.features(sentences).half().float().cpu()

    def identity(self) -> dict[str, Any]:
        """Its size, layers, and checksums of its pieces and weights."""
        return {name: self._plain[name] for name in ("kind", "size", "layers", "pieces", "weights")}

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """All of it: the encoder that was trained further is not needed any more."""
        return dict(self._plain), dict(self._tensors)

    @classmethod
    def from_parts(cls, plain: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> "TunedEncoder":
        """The encoder that `to_parts` took apart.

        :raises ValueError: if a part is missing or has another type.
        """
        checked_identity(plain)
        if set(plain["files"]) != set(FILES) or not tensors:
            raise ValueError("it does not have the files and the weights of an encoder")
        return cls(plain, tensors)

    @cached_property
    def _opened(self) -> Opened:
        """:raises PretrainedError: if it cannot be loaded."""
        if self._in_training is not None:
            return self._in_training
        shown = f"{self._plain['place']}, trained further"
        try:
            from safetensors.torch import save_file
        except ImportError:  # then transformers, which needs it, is missing too: the error says so
            return opened_at("", shown)
        with tempfile.TemporaryDirectory() as folder:
            for name in FILES:
                (Path(folder) / name).write_text(json.dumps(self._plain["files"][name]), "utf-8")
            save_file(self._tensors, Path(folder) / WEIGHTS, {"format": "pt"})
            return opened_at(folder, shown)


def pretrained_from(
    plain: Mapping[str, Any] | None, tensors: Mapping[str, Tensor], encoder: str | Path | None = None
) -> Pretrained | None:
    """The source that `Pretrained.to_parts` took apart.

    :param plain: its description, None if the model has no source.
    :param tensors: its tensors.
    :param encoder: where the encoder is now, if it has moved.
    :raises PretrainedError: if a place for an encoder is given to a model that needs no encoder, or if the
        source is a table of word vectors.
    :raises ValueError: if a part is missing or damaged.
    """
    kind = None if plain is None else plain["kind"]
    if encoder is not None and kind != KIND:
        inside = "has its own in it, which was trained further"
        reason = inside if kind == TUNED else "was trained without an encoder"
        raise PretrainedError(f"--encoder {encoder}: the model {reason}")
    if plain is None:
        return None
    if kind == VECTORS:
        raise PretrainedError(
            "the model reads word vectors, which are read no more: fit it again, with an encoder or without"
        )
    if kind == TUNED:
        return TunedEncoder.from_parts(plain, tensors)
    if kind != KIND:
        raise ValueError(f"there are no pretrained features of the kind {kind!r}")
    if tensors:
        raise ValueError("there are tensors of an encoder")
    return Encoder.from_parts(plain, encoder)


class TunedNetwork(nn.Module):
    """A network, and the encoder whose states it reads, which is trained with it.

    :param reading: the network.
    :param encoder: gives the states.
    """

    def __init__(self, reading: nn.Module, encoder: nn.Module) -> None:
        super().__init__()
        self.reading, self.encoder = reading, encoder


class Tuning(NetworkTraining[Model]):
    """What a training has more if its encoder is trained too; mixed into the training of a kind of network.

    :param encoder_rate: the greatest learning rate of the encoder's weights.
    """

    network: TunedNetwork
    best: TunedNetwork
    source: Encoder

    def __init__(self, *arguments: Any, encoder_rate: float, **settings: Any) -> None:
        self.encoder_rate = encoder_rate
        super().__init__(*arguments, **settings)

    def untrained(self) -> TunedNetwork:
        """The network with its first weights, and a copy of the encoder."""
        opened = self.source.open()
        TunedEncoder.of(opened, self.source.place)  # an encoder that cannot be kept is refused now
        return TunedNetwork(super().untrained(), deepcopy(opened.model))

    def groups(self) -> list[tuple[list[nn.Parameter], float]]:
        """The encoder's weights have their own learning rate."""
        parts = (self.network.reading, self.recipe.learning_rate), (self.network.encoder, self.encoder_rate)
        return [(list(part.parameters()), rate) for part, rate in parts]

    def _encoder_of(self, network: TunedNetwork) -> Opened:
        """The encoder with the weights that it has in a network."""
        return replace(self.source.open(), model=network.encoder)

    def with_weights(self, network: TunedNetwork) -> Model:
        """The model of a network, with the encoder as it is now."""
        encoder = TunedEncoder({"size": self.source.size}, {}, self._encoder_of(network))
        model: Any = self.model
        return replace(model, network=network.reading, pretrained=encoder)

    def features(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """(sentences, longest, size) the states of words now: gradients go on into the encoder."""
        return self._encoder_of(self.network).features(sentences)

    def result(self) -> Model:
        """The model and the encoder of the best epoch."""
        model: Any = super().result()
        return replace(model, pretrained=TunedEncoder.of(self._encoder_of(self.best), self.source.place))

    def data(self) -> Iterable[object]:
        """The encoder, its learning rate and the data."""
        return [self.encoder_rate, *super().data()]


def tunable(pretrained: Pretrained | None) -> Encoder:
    """The encoder that gives pretrained features.

    :raises ValueError: if it is none.
    """
    source = bare(pretrained)
    if not isinstance(source, Encoder):
        raise ValueError("there is no encoder that could be trained further")
    return source
