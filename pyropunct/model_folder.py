"""Model folders: JSON and tensors, written whole or not at all, read without running any code."""

import hashlib
import io
import json
import os
import pickle
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

FORMAT = "pyropunct model"
VERSION = 1
DESCRIPTION = "model.json"
TENSORS = "tensors.pt"


class ModelFolderError(ValueError):
    """A model folder that cannot be read or written; the message is one line and names it."""


def check_writable(folder: Path) -> None:
    """Make sure that a model can be written to a folder, without touching it.

    :raises ModelFolderError: if something else is there, or the place cannot be written to.
    """
    if folder.exists() and not folder.is_dir():
        raise ModelFolderError(f"{folder}: is a file, not a folder for a model")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / DESCRIPTION).exists():
        raise ModelFolderError(f"{folder}: holds other things than a model; choose another folder")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder.parent):
            pass
    except OSError as error:
        raise ModelFolderError(f"{folder}: cannot write there: {error.strerror}") from error


def write_model_folder(folder: Path, plain: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Write a model beside its place, then move it there in one step.

    :param plain: everything that is not a tensor, in JSON types.
    :raises ModelFolderError: as `check_writable` does, and if the disk is full.
    """
    check_writable(folder)
    try:
        scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            packed = _pack(tensors)
            description = {
                "format": FORMAT,
                "version": VERSION,
                "sha256": hashlib.sha256(packed).hexdigest(),
                **plain,
            }
            new = scratch / "new"
            new.mkdir()
            (new / TENSORS).write_bytes(packed)
            text = json.dumps(description, ensure_ascii=False, indent=1)
            (new / DESCRIPTION).write_text(text, encoding="utf-8")
            if folder.exists():
                folder.rename(scratch / "old")
            new.rename(folder)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    except OSError as error:
        raise ModelFolderError(f"{folder}: cannot write the model: {error.strerror}") from error


def read_model_folder(folder: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """What `write_model_folder` wrote.

    :raises ModelFolderError: if the folder is missing, no model, damaged, or of a newer version.
    """
    description = _read_description(folder)
    try:
        packed = (folder / TENSORS).read_bytes()
    except OSError as error:
        raise ModelFolderError(f"{folder}: the model lacks {TENSORS}: {error.strerror}") from error
    if hashlib.sha256(packed).hexdigest() != description["sha256"]:
        raise ModelFolderError(
            f"{folder}: {TENSORS} is damaged: its checksum is not the one in {DESCRIPTION}"
        )
    return description, unpack_tensors(packed, str(folder / TENSORS))


def _read_description(folder: Path) -> dict[str, Any]:
    path = folder / DESCRIPTION
    if not folder.is_dir():
        raise ModelFolderError(f"{folder}: no such model folder")
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelFolderError(f"{folder}: is no model: it has no {DESCRIPTION}") from error
    except (OSError, ValueError) as error:
        raise ModelFolderError(f"{path}: cannot be read as JSON: {error}") from error
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise ModelFolderError(f"{path}: is not the description of a {FORMAT}")
    if description["version"] != VERSION:
        raise ModelFolderError(
            f"{path}: has version {description['version']}, this program reads version {VERSION}"
        )
    missing = {"sha256", "vocabulary", "recipe", "report"} - set(description)
    if missing:
        raise ModelFolderError(f"{path}: is damaged: it lacks {', '.join(sorted(missing))}")
    return description


def _pack(tensors: Mapping[str, Any]) -> bytes:
    buffer = io.BytesIO()
    torch.save(dict(tensors), buffer)
    return buffer.getvalue()


def unpack_tensors(packed: bytes, name: str) -> dict[str, Any]:
    """Tensors and plain values from their bytes.  Anything that would run code is refused.

    :raises ModelFolderError: if the bytes are no such thing.
    """
    try:
        unpacked = torch.load(io.BytesIO(packed), weights_only=True, map_location="cpu")
    except (RuntimeError, pickle.UnpicklingError, EOFError, ValueError) as error:
        raise ModelFolderError(f"{name}: cannot be read as tensors: {str(error).splitlines()[0]}") from error
    if not isinstance(unpacked, dict):
        raise ModelFolderError(f"{name}: holds no dictionary of tensors")
    return unpacked


def write_whole(path: Path, values: Mapping[str, Any]) -> None:
    """Write tensors and plain values to a file, which is there whole or as it was before.

    :raises ModelFolderError: if that cannot be done.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_name(f".{path.name}.new")
        scratch.write_bytes(_pack(values))
        os.replace(scratch, path)
    except OSError as error:
        raise ModelFolderError(f"{path}: cannot be written: {error.strerror}") from error
