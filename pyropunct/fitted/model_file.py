"""Model folders: JSON and tensors, written whole or not at all, read without running any code."""

import hashlib
import io
import json
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from torch import Tensor

from pyropunct.divergence import strange
from pyropunct.errors import FailureError, UserError
from pyropunct.files import real, recover, replaced_whole, written_whole
from pyropunct.fitted.small_tensors import small, whole

FORMAT = "pyropunct model"
VERSION = 3
READABLE = (1, 2, 3)
"""Versions that can be read: the first one stored every tensor as it is, the second one had fewer forms."""

DESCRIPTION = "model.json"
TENSORS = "tensors.pt"

BESIDE = "errors.json"
"""What may be in the folder of a model besides: the error channel that makes a corrector of it."""


SEAL, DIGEST = b"pyropunct checkpoint 1\n", hashlib.sha256().digest_size
"""What stands before the checksum of a sealed file, and the length of the checksum."""


PLAIN = ("vocabulary", "recipe", "report")
"""The parts of a model that are no tensors."""

OPTIONAL = ("conventions", "parser", "slot_strings", "reader", "parsed", "pretrained", "tagger", "attach")
"""Parts that a model may have besides."""


class ModelFileError(UserError, ValueError):
    """A model folder that cannot be read or written; the message is one line and names it."""


class CannotWriteError(FailureError, ModelFileError):
    """Something went wrong while a model or a checkpoint was written, such as a full disk."""


class NoModelError(ModelFileError):
    """There is no folder where a model was looked for."""


class OtherVersionError(ModelFileError):
    """A model folder that a newer or older program wrote."""


def check_writable(folder: Path) -> None:
    """Make sure that a model can be written to a folder, without touching it.

    :raises ModelFileError: if something else is there, or the place cannot be written to.
    """
    if folder.name in ("", "..") or folder.is_mount():
        raise ModelFileError(f"{folder}: cannot be replaced by a model; choose a new folder in it")
    try:
        folder = real(folder)  # what a link points to is replaced, not the link
        recover(folder)
        if folder.exists() and not folder.is_dir():
            raise ModelFileError(f"{folder}: is a file, not a folder for a model")
        if folder.exists() and not _is_replaceable(folder):
            raise ModelFileError(f"{folder}: holds other things than a model; choose another folder")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder.parent):
            pass
    except OSError as error:
        raise ModelFileError(f"{folder}: cannot write there: {error.strerror}") from error


def _is_replaceable(folder: Path) -> bool:
    """Whether a folder is empty, or holds a model and nothing else."""
    names = {path.name for path in folder.iterdir()}
    if not names or names - {BESIDE} != {DESCRIPTION, TENSORS}:
        return not names
    try:
        _read_description(folder)
    except OtherVersionError:
        return True
    except ModelFileError:
        return False
    return True


def write_model_file(folder: Path, plain: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Write a model beside its place, then move it there in one step.

    :param plain: everything that is not a tensor, in JSON types, by the names in `PLAIN` and `OPTIONAL`.
    :raises ModelFileError: as `check_writable` does, and if the disk is full.
    """
    check_writable(folder)
    with new_folder(folder) as new:
        _fill(new, plain, tensors)


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A place beside a folder; what is written there takes the place of the folder if nothing fails.

    :raises CannotWriteError: if something does; then the folder is what it was.
    """
    try:
        with replaced_whole(real(folder)) as new:
            yield new
    except OSError as error:
        raise CannotWriteError(f"{folder}: cannot write the model: {error.strerror}") from error


def _fill(new: Path, plain: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    _check_numbers(new, tensors)
    packed = _pack(small(tensors))
    description = {"format": FORMAT, "version": VERSION, "sha256": checksum(plain, packed), **plain}
    new.mkdir()
    (new / TENSORS).write_bytes(packed)
    try:
        text = json.dumps(description, ensure_ascii=False, indent=1, allow_nan=False)
    except ValueError as error:
        raise ModelFileError("the report of the model holds a number that is not finite") from error
    (new / DESCRIPTION).write_text(text, encoding="utf-8")


def _check_numbers(folder: Path, tensors: Mapping[str, Tensor]) -> None:
    """:raises ModelFileError: if a number in some tensor is none, or is one that no training comes to."""
    for name, tensor in tensors.items():
        if problem := strange(tensor):
            raise ModelFileError(f"{folder}: the tensor {name!r} {problem}")


def checksum(plain: Mapping[str, Any], packed: bytes) -> str:
    """The checksum of both files of a model, whatever the layout of its JSON.

    :param plain: the description, or as much of it as is in `PLAIN` and `OPTIONAL`.
    :param packed: the bytes of the tensors.
    """
    parts = [plain[key] for key in PLAIN] + [plain[key] for key in OPTIONAL if key in plain]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode())
    digest.update(packed)
    return digest.hexdigest()


def read_model_file(folder: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """What `write_model_file` wrote.

    :raises ModelFileError: if the folder is missing, no model, damaged, or of another version.
    """
    description = _read_description(folder)
    try:
        packed = (folder / TENSORS).read_bytes()
    except OSError as error:
        raise ModelFileError(f"{folder}: the model lacks {TENSORS}: {error.strerror}") from error
    if checksum(description, packed) != description["sha256"]:
        raise ModelFileError(f"{folder}: is damaged: its checksum is not the one in {DESCRIPTION}")
    try:
        tensors = whole(unpack_tensors(packed, str(folder / TENSORS)))
    except ModelFileError:
        raise
    except (ValueError, RuntimeError) as error:
        raise ModelFileError(f"{folder / TENSORS}: is damaged: {error}") from error
    _check_numbers(folder, tensors)
    return description, tensors


def _no_number(text: str) -> None:
    raise ValueError(f"it has {text}, which is no number")


def _read_description(folder: Path) -> dict[str, Any]:
    path = folder / DESCRIPTION
    if not folder.is_dir():
        recover(real(folder))
    if not folder.is_dir():
        raise NoModelError(f"{folder}: no such model folder")
    try:
        description = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number)
    except FileNotFoundError as error:
        raise ModelFileError(f"{folder}: is no model: it has no {DESCRIPTION}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise ModelFileError(f"{path}: cannot be read as JSON: {error}") from error
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise ModelFileError(f"{path}: is not the description of a {FORMAT}")
    version = description.get("version")
    if version not in READABLE:
        known = f"{', '.join(map(str, READABLE[:-1]))} and {READABLE[-1]}"
        raise OtherVersionError(f"{path}: has version {version}, this program reads versions {known}")
    missing = {"sha256", *PLAIN} - set(description)
    if missing:
        raise ModelFileError(f"{path}: is damaged: it lacks {', '.join(sorted(missing))}")
    return description


def _pack(tensors: Mapping[str, Any]) -> bytes:
    buffer = io.BytesIO()
    torch.save(dict(tensors), buffer)
    return buffer.getvalue()


def unpack_tensors(packed: bytes, name: str) -> dict[str, Any]:
    """Tensors and plain values from their bytes.  Anything that would run code is refused.

    :raises ModelFileError: if the bytes are no such thing, or hold anything else.
    """
    try:
        with warnings.catch_warnings(action="ignore"):  # what is odd about bytes that are refused anyway
            unpacked = torch.load(io.BytesIO(packed), weights_only=True, map_location="cpu")
    except UnpicklingError as error:  # whose text advises to read it nevertheless
        reason = "it holds something else, which may be code; nothing of it was run"
        raise ModelFileError(f"{name}: cannot be read as tensors: {reason}") from error
    except Exception as error:  # torch raises many kinds for bytes that it did not write
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise ModelFileError(f"{name}: cannot be read as tensors: {reason}") from error
    if not isinstance(unpacked, dict):
        raise ModelFileError(f"{name}: holds no dictionary of tensors")
    return unpacked


def write_sealed(path: Path, values: Mapping[str, Any]) -> None:
    """Write tensors and plain values with their checksum to a file, which is there whole or as it was before.

    :raises CannotWriteError: if that cannot be done.
    """
    packed = _pack(values)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(path) as stream:
            stream.write(SEAL + hashlib.sha256(packed).digest() + packed)
    except OSError as error:
        raise CannotWriteError(f"{path}: cannot be written: {error.strerror}") from error


def read_sealed(path: Path) -> dict[str, Any]:
    """What `write_sealed` wrote.

    :raises ModelFileError: if it cannot be read, or is not what was written.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be read: {error.strerror}") from error
    if not content.startswith(SEAL):
        raise ModelFileError(
            f"{path}: is damaged, or another version of the program wrote it: it has no seal"
        )
    digest, packed = content[len(SEAL) :][:DIGEST], content[len(SEAL) + DIGEST :]
    if hashlib.sha256(packed).digest() != digest:
        raise ModelFileError(f"{path}: is damaged: its checksum is not the one in it")
    return unpack_tensors(packed, str(path))
