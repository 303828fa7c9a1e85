"""Model files: one safetensors file with tensors and a JSON description in its header.

Such a file cannot contain code.  It is written atomically, and a checksum covers its content.
"""

import codecs
import hashlib
import json
import math
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NoReturn

import torch
from safetensors import SafetensorError, deserialize, safe_open
from safetensors.torch import save
from torch import Tensor

from pyropunct.errors import CannotWriteError, ModelFileError, first_line
from pyropunct.files import LARGEST, model_path, model_there, real, remove_unwritten, written_whole
from pyropunct.fitted.small_tensors import small, whole
from pyropunct.nets.trainer import strange

MODEL = "pyropunct model"
"""The format of a file with a model: the name of the only entry of its header."""

VERSION = 2

TYPES = {
    "F64": torch.double,
    "F32": torch.float,
    "F16": torch.half,
    "I64": torch.long,
    "I32": torch.int,
    "I16": torch.short,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
"""The types of numbers in a model's tensors, by their names in safetensors."""


def check_writable(path: str | Path) -> None:
    """Raise `ModelFileError` if a model cannot be written; removes unfinished files of killed processes."""
    named, path = Path(path), model_path(path)
    if path.name in ("", "..") or path.is_dir() or named.is_dir():
        raise ModelFileError(f"{named}: is a folder, not a file for a model; choose the name of a file")
    try:
        path = real(path)  # what a link points to is replaced, not the link
        if path.exists() and not _is_model(path):
            raise ModelFileError(f"{path}: is not the file of a model; choose another name")
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_unwritten(path.parent, path.name)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise ModelFileError(f"{path}: cannot write there: {error.strerror}") from error


def write_model_file(path: str | Path, description: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Write a model to `model_path` atomically; raises the errors of `check_writable`."""
    check_writable(path)
    path = model_path(path)
    _check_numbers(path, tensors)
    write_tensors(path, description, small(tensors))


def read_model_file(path: str | Path, few: tuple[str, ...] = ()) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The description and the tensors that `write_model_file` wrote.

    :param path: the file, ending optional.
    :param few: ends of names of tensors that may be sparse.
    :raises ModelFileError: if there is no such file, or it is not a model, damaged, or of another version.
    """
    path = model_there(path)
    description, stored = read_tensors(path)
    try:
        tensors = whole(stored, few)
    except (ValueError, RuntimeError) as error:
        raise ModelFileError(f"{path}: is damaged: {first_line(error)}") from error
    _check_numbers(path, tensors)
    return description, tensors


def write_tensors(path: Path, description: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Write tensors and JSON to a file, atomically.

    :raises ModelFileError: if the description has numbers that are not finite.
    :raises CannotWriteError: if the file cannot be written.
    """
    header = {"version": VERSION, "sha256": _checksum(description, tensors), "description": description}
    try:
        text = json.dumps(header, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise ModelFileError(f"{path}: its report holds a number that is not finite") from error
    content = save(dict(tensors), {MODEL: text})  # the order of several entries would be undefined
    with writing(path) as stream:
        stream.write(content)


@contextmanager
def writing(path: Path) -> Iterator[IO[bytes]]:
    """A stream for a file that is written as a whole, in a folder that is made; raises `CannotWriteError`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(path) as stream:
            yield stream
    except OSError as error:
        raise CannotWriteError(f"{path}: cannot be written: {error.strerror}") from error


def read_tensors(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The description and tensors that `write_tensors` wrote.

    :raises ModelFileError: if there is no such file, or it has another format or version, or is damaged.
    """
    try:
        _check_place(path)
        content = path.read_bytes()  # not mapped: the file may be replaced while it is read
        parts = deserialize(content)  # checks the sizes of tensors
        size = int.from_bytes(content[:8], "little")
        header = _header(path, json.loads(content[8 : 8 + size]).get("__metadata__") or {})
        for name, part in parts:
            if (kind := part["dtype"]) not in TYPES:
                raise ModelFileError(f"{path}: is damaged: {name} has numbers of the foreign type {kind}")
        tensors = {name: _tensor(part) for name, part in parts}
    except SafetensorError as error:
        problem = "this looks like text: MODEL comes before FILE" if _is_text(path) else first_line(error)
        raise ModelFileError(f"{path}: is damaged, or not the file of a {MODEL}: {problem}") from error
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be read: {error.strerror or first_line(error)}") from error
    description = header["description"]
    if header["sha256"] != _checksum(description, tensors):
        raise ModelFileError(f"{path}: is damaged: its checksum is not the one in it")
    return description, tensors


def _tensor(part: Mapping[str, Any]) -> Tensor:
    kind, data = TYPES[part["dtype"]], part["data"]
    return (torch.frombuffer(data, dtype=kind) if data else torch.empty(0, dtype=kind)).view(part["shape"])


def _check_place(path: Path) -> None:
    if not path.exists():
        raise ModelFileError(f"{path}: no such model")
    if not path.is_file():
        kind = "a folder" if path.is_dir() else "a device or a pipe"
        raise ModelFileError(f"{path}: is {kind}, not the file of a model")
    if path.stat().st_size > LARGEST:
        raise ModelFileError(f"{path}: is larger than any model")


def _header(path: Path, metadata: Mapping[str, str]) -> dict[str, Any]:
    """The header of a file: version, checksum and description."""
    if MODEL not in metadata:
        raise ModelFileError(f"{path}: is not the file of a {MODEL}")
    try:
        text = metadata[MODEL]
        header = json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{path}: its header cannot be read as JSON: {first_line(error)}") from error
    version = header.get("version") if isinstance(header, dict) else None
    if version != VERSION:
        raise ModelFileError(f"{path}: has version {version}, this program reads version {VERSION}")
    if not isinstance(header.get("description"), dict) or "sha256" not in header:
        raise ModelFileError(f"{path}: is damaged: its header lacks a description or a checksum")
    return header


def _is_model(path: Path) -> bool:
    """Whether a file has the header of a model, of any version."""
    try:
        _check_place(path)
        with safe_open(path, "pt") as file:
            return MODEL in (file.metadata() or {})
    except (SafetensorError, ModelFileError):
        return False


def _is_text(path: Path) -> bool:
    """Whether a file begins as UTF-8 text does; a safetensors file has zeros in its first eight bytes."""
    with path.open("rb") as stream:
        start = stream.read(4096)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)  # may end inside a character
    except UnicodeDecodeError:
        return False
    return start != b"" and b"\0" not in start


def _check_numbers(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Reject numbers that are not finite, or larger than training produces."""
    for name, tensor in tensors.items():
        if problem := strange(tensor):
            raise ModelFileError(f"{path}: the tensor {name!r} {problem}")


def _checksum(description: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> str:
    """The checksum of a description, and of names, types, shapes and numbers of tensors."""
    digest = hashlib.sha256(json.dumps(description).encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"\n{name} {tensor.dtype} {list(tensor.shape)}\n".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"it has {text}, which is no number")


def _finite(text: str) -> float:
    return float(text) if math.isfinite(float(text)) else _no_number(text)
