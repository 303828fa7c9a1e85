"""Files from which a training goes on as if nothing had interrupted it."""

import math
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from pyropunct.files import held
from pyropunct.fitted.model_file import ModelFileError, read_tensors, write_tensors
from pyropunct.nets.training import Trainer

CHECKPOINT = "pyropunct checkpoint"
"""The format of a file with the state of a training; see `pyropunct.fitted.model_file`."""


def write_state(path: Path, state: Mapping[str, Any]) -> None:
    """Write tensors and plain values, nested as they may be, to a safetensors file.

    :raises CannotWriteError: if it cannot be written.
    """
    tensors: dict[str, Tensor] = {}
    write_tensors(path, CHECKPOINT, {"state": _taken_apart(state, "state", tensors)}, tensors)


def read_state(path: Path) -> dict[str, Any]:
    """The state that `write_state` wrote; its tuples have become lists.

    :raises ModelFileError: if it cannot be read, or is damaged.
    """
    plain, tensors = read_tensors(path, CHECKPOINT)
    try:
        state = _put_together(plain["state"], tensors)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ModelFileError(f"{path}: is damaged: {type(error).__name__}: {error}") from error
    if not isinstance(state, dict):
        raise ModelFileError(f"{path}: is damaged: it holds no state of a training")
    return state


def _taken_apart(value: Any, name: str, tensors: dict[str, Tensor]) -> Any:
    """A value as JSON, in which names stand for tensors.

    :param name: the place of the value, for the names of its tensors.
    :param tensors: takes the tensors by these names.
    """
    if isinstance(value, Tensor):
        tensors[name] = value.detach().cpu().contiguous().clone()
        return {"tensor": name}
    if isinstance(value, Mapping):
        pairs = [[key, _taken_apart(part, f"{name}/{key}", tensors)] for key, part in value.items()]
        return {"items": pairs}  # as keys may be numbers
    if isinstance(value, list | tuple):
        return [_taken_apart(part, f"{name}/{place}", tensors) for place, part in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value)}
    return value


def _put_together(plain: Any, tensors: Mapping[str, Tensor]) -> Any:
    """The value that `_taken_apart` took apart."""
    if isinstance(plain, list):
        return [_put_together(part, tensors) for part in plain]
    if not isinstance(plain, dict):
        return plain
    [(kind, value)] = plain.items()
    if kind == "tensor":
        return tensors[value]
    return float(value) if kind == "number" else {key: _put_together(part, tensors) for key, part in value}


@contextmanager
def own_folder(folder: Path) -> Iterator[None]:
    """A folder for checkpoints that no other process uses meanwhile; if it is empty then, it is removed.

    :raises ModelFileError: if another process uses it, or there can be no folder of this name.
    """
    with ExitStack() as stack:
        try:
            if folder.is_symlink():
                raise ModelFileError(f"{folder}: is a link, not a folder for checkpoints; remove it")
            folder.mkdir(parents=True, exist_ok=True)
            alone = stack.enter_context(held(folder))
        except OSError as error:
            raise ModelFileError(f"{folder}: cannot write there: {error.strerror}") from error
        if not alone or not folder.exists():
            raise ModelFileError(
                f"{folder}: another process is training there: wait, or choose another --out"
            )
        try:
            yield
        finally:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


@dataclass(frozen=True)
class Checkpoint:
    """The file that holds the state of a training.

    :ivar path: where it is.
    :ivar written: whether it is written; otherwise it is only gone on from.
    """

    path: Path
    written: bool = True

    def forget(self) -> None:
        """Delete it, if it is there."""
        if self.written:
            self.path.unlink(missing_ok=True)

    def save(self, training: Trainer) -> None:
        """Write it, whole or not at all.

        :raises ModelFileError: if that cannot be done.
        """
        if self.written:
            write_state(self.path, {"fingerprint": training.fingerprint, **training.state()})

    def load(self, training: Trainer) -> None:
        """Let a training go on from it, if it is there.

        :raises ModelFileError: if it is damaged, or is of other data, settings or another seed.
        """
        if not self.path.exists():
            return
        state = read_state(self.path)
        if state.get("fingerprint") != training.fingerprint:
            raise ModelFileError(
                f"{self.path}: this checkpoint is of other data, settings or another seed; "
                "delete it, or repeat the command that began it"
            )
        try:
            training.go_on_from(state)
        except (LookupError, TypeError, ValueError, AttributeError, RuntimeError) as error:
            reason = " ".join(str(error).split())
            raise ModelFileError(f"{self.path}: is damaged: {type(error).__name__}: {reason}") from error
