"""Where networks get pretrained features of words from, as a model folder says it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from pyropunct.networks.encoder import Encoder
from pyropunct.networks.pretrained import Pretrained, PretrainedError


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
    if encoder is not None and plain is None:
        raise PretrainedError(f"--encoder {encoder}: the model was trained without an encoder")
    if plain is None:
        return None
    if tensors:
        raise ValueError("there are tensors of an encoder")
    return Encoder.from_parts(plain, encoder)
