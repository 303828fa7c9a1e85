"""Encoders that were trained further, together with a network: a model file holds them whole."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from pyropunct.nets.encoder import Opened, checked_identity, identity_of, opened_at, quiet
from pyropunct.nets.pretrained import PretrainedError

KIND = "tuned encoder"
"""How `TunedEncoder.identity` calls it."""

FILES = ("config.json", "tokenizer.json", "tokenizer_config.json")
"""The files beside its weights, as transformers writes them."""

WEIGHTS = "model.safetensors"


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
            reason = (str(error) or type(error).__name__).splitlines()[0]
            raise PretrainedError(f"encoder {place}: cannot be trained further: {reason}") from error
        before = identity_of(opened)
        if any(again[name] != before[name] for name in ("size", "layers", "pieces")):
            raise PretrainedError(
                f"encoder {place}: cannot be trained further: its saved files would be another encoder"
            )
        plain = {**again, "kind": KIND, "place": place, "files": files}
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
