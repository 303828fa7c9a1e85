"""Where networks get pretrained features of words from, as a model folder says it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from pyropunct.nets import encoder as encoders
from pyropunct.nets import tuned, vectors
from pyropunct.nets.pretrained import Pretrained, PretrainedError


def pretrained_from(
    plain: Mapping[str, Any] | None, tensors: Mapping[str, Tensor], encoder: str | Path | None = None
) -> Pretrained | None:
    """What `Pretrained.to_parts` took apart.

    :param plain: its description, None if there is none.
    :param tensors: its tensors.
    :param encoder: where the encoder is now, if it is not where it was.
    :raises PretrainedError: if a place for an encoder is given, but none is needed.
    :raises ValueError: if these are not such parts.
    """
    kind = None if plain is None else plain["kind"]
    if encoder is not None and kind == tuned.KIND:
        raise PretrainedError(f"--encoder {encoder}: the model has its own in it, which was trained further")
    if encoder is not None and kind != encoders.KIND:
        raise PretrainedError(f"--encoder {encoder}: the model was trained without an encoder")
    if plain is None:
        return None
    if kind == vectors.KIND:
        return vectors.WordVectors.from_parts(plain, tensors)
    if kind == tuned.KIND:
        return tuned.TunedEncoder.from_parts(plain, tensors)
    if kind != encoders.KIND:
        raise ValueError(f"there are no pretrained features of the kind {kind!r}")
    if tensors:
        raise ValueError("there are tensors of an encoder")
    return encoders.Encoder.from_parts(plain, encoder)
