"""Atomic writing of files, file locks, and strict JSON."""

import errno
import hashlib
import json
import math
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from glob import escape
from pathlib import Path
from typing import Any, BinaryIO

try:
    import fcntl
except ImportError:  # not on Windows, where nothing is locked
    fcntl = None  # type: ignore[assignment]

NOT_FINITE = "not_finite"
"""The entry of a JSON object that lists the places of infinite numbers and NaN."""


def json_text(value: Mapping[str, Any], indent: int | None = None) -> str:
    """An object as JSON; null replaces infinities and NaN, and `NOT_FINITE` lists where they were."""
    try:
        return json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    except ValueError:
        places: list[str] = []
        finite = _finite(json.loads(json.dumps(value)), (), places)
        told = {**finite, NOT_FINITE: places}
        return json.dumps(told, ensure_ascii=False, indent=indent, allow_nan=False)


def _finite(value: Any, here: tuple[str, ...], places: list[str]) -> Any:
    """Put null for numbers that are not finite, and add their paths to ``places``."""
    if isinstance(value, dict):
        return {name: _finite(part, (*here, name), places) for name, part in value.items()}
    if isinstance(value, list):
        return [_finite(part, (*here, str(number)), places) for number, part in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        places.append("/".join(here))
        return None
    return value


LARGEST = 2**34
"""The most bytes of a file with a model: a larger one is refused before memory is given to its tensors."""

MODEL_SUFFIX = ".safetensors"
"""How the name of a model's file ends."""


def model_path(path: str | Path) -> Path:
    """Where to write a model: the path, with `MODEL_SUFFIX` appended if it lacks it."""
    path = Path(path)
    plain = path.suffix == MODEL_SUFFIX or path.name in ("", "..")
    return path if plain else path.with_name(path.name + MODEL_SUFFIX)


def model_there(path: str | Path) -> Path:
    """Where to read a model: the path, or `model_path` if only this is a file."""
    path, named = Path(path), model_path(path)
    return named if named.is_file() and not path.is_file() else path


WRITING = ".new"
"""The end of the names of files that are being written."""


UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)
"""What an error of the system says where a disk is full or fails."""


@contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """Open a file for atomic writing: the new content replaces the old one once all is on the disk.

    After a failure the old file is unchanged.  Until then the content is in a hidden file beside it, with a
    random name.  Links are followed.  Devices such as /dev/null are written directly.

    :raises OSError: if it cannot be written.
    """
    path = real(path)
    if path.exists() and not path.is_file():
        with path.open("wb") as stream:
            yield stream
        return
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", suffix=WRITING, dir=path.parent)
    scratch = Path(name)
    try:
        with held(scratch) if fcntl else nullcontext():
            with os.fdopen(handle, "wb") as stream:
                yield stream
                stream.flush()
                os.fsync(handle)
            scratch.chmod(path.stat().st_mode if path.exists() else 0o666 & ~_mask())
            scratch.replace(path)
    except OSError as error:
        if error.filename is None and error.errno in UNWRITABLE:
            error.filename = str(path)
        raise
    finally:
        scratch.unlink(missing_ok=True)


def remove_unwritten(folder: Path, prefix: str) -> None:
    """Delete unfinished files of killed processes in a folder, whose names begin with ``prefix``."""
    for scratch in folder.glob(f".{escape(prefix[:100])}*{WRITING}"):
        with suppress(OSError), held(scratch) as alone:
            if alone:
                scratch.unlink()


def digest_of(path: Path) -> str:
    """A checksum of a file. Raises OSError if it cannot be read."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def real(path: Path) -> Path:
    """The path with all links resolved; it need not exist."""
    return Path(os.path.realpath(path))


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextmanager
def held(path: Path) -> Iterator[bool]:
    """Lock a file or folder until the process ends; yields whether it succeeded. OSError without a file."""
    descriptor, alone = os.open(path, os.O_RDONLY), fcntl is None
    try:
        with suppress(BlockingIOError):
            if fcntl is not None:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                alone = True
        yield alone
    finally:
        os.close(descriptor)
