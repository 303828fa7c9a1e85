"""Copies of models, and changes of what is in them, with the right checksum."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torch import Tensor

from pyropunct.files import model_path, model_there
from pyropunct.fitted.model_file import read_model_file, read_tensors, write_model_file, write_tensors


def copied(model: Path, place: Path) -> Path:
    """A copy of a model's file."""
    return Path(shutil.copy(model_there(model), model_path(place)))


@contextmanager
def changed(model: Path) -> Iterator[tuple[dict[str, Any], dict[str, Tensor]]]:
    """The description and the tensors of a model, to change."""
    description, tensors = read_model_file(model)
    yield description, tensors
    write_model_file(model, description, tensors)


@contextmanager
def changed_as_stored(model: Path) -> Iterator[tuple[dict[str, Any], dict[str, Tensor]]]:
    """The same with tensors in the forms in which they are stored, and nothing looked at."""
    description, tensors = read_tensors(model_there(model))
    yield description, tensors
    write_tensors(model_there(model), description, tensors)
