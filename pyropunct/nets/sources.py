"""The sources of pretrained features, read back from a model file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from pyropunct.nets import encoder as encoders
from pyropunct.nets.pretrained import Pretrained, PretrainedError

VECTORS = "vectors"
"""The kind of a source that models of earlier versions may name."""


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
    if encoder is not None and kind != encoders.KIND:
        inside = "has its own in it, which was trained further"
        reason = inside if kind == encoders.TUNED else "was trained without an encoder"
        raise PretrainedError(f"--encoder {encoder}: the model {reason}")
    if plain is None:
        return None
    if kind == VECTORS:
        raise PretrainedError(
            "the model reads word vectors, which are read no more: fit it again, with an encoder or without"
        )
    if kind == encoders.TUNED:
        return encoders.TunedEncoder.from_parts(plain, tensors)
    if kind != encoders.KIND:
        raise ValueError(f"there are no pretrained features of the kind {kind!r}")
    if tensors:
        raise ValueError("there are tensors of an encoder")
    return encoders.Encoder.from_parts(plain, encoder)
