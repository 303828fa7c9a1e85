"""The models that come with the package, each in a folder of its name.

`benchmarks/shipped.py` trains them; `LICENSE.md` says on what.
"""

from pathlib import Path

FOLDER = Path(__file__).parent

DEFAULT = "en"
"""The model that restores text if none is named."""


def shipped_models() -> list[str]:
    """The names of the models that are installed."""
    return sorted(path.parent.name for path in FOLDER.glob("*/model.json"))


def place_of(model: str | Path) -> Path:
    """The folder of a model.

    :param model: a folder, or the name of a shipped model; if there is a folder of this name, that is meant.
    """
    folder = Path(model)
    return FOLDER / folder if str(model) in shipped_models() and not folder.exists() else folder


def lacking(model: str | Path) -> str:
    """What the package says to somebody who asks for a model that is not there; empty about a path."""
    if Path(model).name != str(model):
        return ""
    known = shipped_models()
    if not known:
        return ", and the package was installed without models"
    return f", and the package has no model of this name (it has {', '.join(known)})"
