"""Checkpoint files, from which a training resumes as if uninterrupted; the trainings of a model's parts."""

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from pyropunct.errors import ModelFileError, first_line
from pyropunct.files import held
from pyropunct.fitted.model_file import writing
from pyropunct.nets.trainer import Trainer
from pyropunct.untrusted import untrusted

DIGEST = hashlib.sha256().digest_size
"""The bytes of the checksum with which a file begins."""


def write_state(path: Path, state: Mapping[str, Any]) -> None:
    """Write tensors and plain values, in any containers, to a file, or raise `CannotWriteError`."""
    buffer = io.BytesIO()
    torch.save(dict(state), buffer)
    content = buffer.getvalue()
    with writing(path) as stream:
        stream.write(hashlib.sha256(content).digest() + content)


def read_state(path: Path) -> dict[str, Any]:
    """The state that `write_state` wrote, on the CPU; raises `ModelFileError` if it is damaged."""
    try:
        content = memoryview(path.read_bytes())
        if hashlib.sha256(content[DIGEST:]).digest() != content[:DIGEST]:
            raise ModelFileError(f"{path}: is damaged, or of another version: its checksum is wrong")
        state: dict[str, Any] = torch.load(io.BytesIO(content[DIGEST:]), "cpu", weights_only=True)
    except ModelFileError:
        raise
    except Exception as error:  # torch raises many kinds for a file that somebody has made up
        raise ModelFileError(f"{path}: cannot be read: {first_line(error)}") from error
    return state


@contextmanager
def own_folder(folder: Path) -> Iterator[None]:
    """Lock a folder for checkpoints, and remove it if empty at the end; raises `ModelFileError`."""
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
    """The file that holds the state of a training."""

    path: Path

    def save(self, training: Trainer) -> None:
        """Write it atomically, or raise `ModelFileError`."""
        write_state(self.path, {"fingerprint": training.fingerprint, **training.state()})

    def load(self, training: Trainer) -> None:
        """Resume a training from it, if it exists; raises `ModelFileError` for other data or settings."""
        if not self.path.exists():
            return
        state = read_state(self.path)
        if state.get("fingerprint") != training.fingerprint:
            raise ModelFileError(
                f"{self.path}: this checkpoint is of other data, settings or another seed; "
                "delete it, or repeat the command that began it"
            )
        with untrusted(f"{self.path}: is damaged", ModelFileError):
            training.go_on_from(state)


Watching = Callable[[str], AbstractContextManager[Any]]
"""Called with the name of each part that begins; yields a function that is told its progress.

The functions are ``watch`` arguments of `pyropunct.train.fitting.fit_story` (part "story"), `train_parser`
("parser", "mark_parser"), `train_reader` ("reader"), `jackknifed` ("folds"), `fit_parsed` ("parsed") and
`fit_tagger` ("tagger"); those of "texts" and "trees" are called with the number of sentences newly read, or
parsed.
"""


def unwatched(part: str) -> AbstractContextManager[None]:
    """Report no progress."""
    return nullcontext()


def checkpoint_of(path: Path | None, name: str) -> Checkpoint | None:
    """The checkpoint of a part; ``path`` is the prefix of the files of all parts, None for no checkpoints."""
    return None if path is None else Checkpoint(path.with_name(f"{path.name}.{name}"))


def forget_checkpoints(path: Path | None, names: Iterable[str]) -> None:
    """Delete the checkpoints of parts; ``path`` as for `checkpoint_of`."""
    for file in (checkpoint_of(path, name) for name in names):
        if file is not None:
            file.path.unlink(missing_ok=True)


@dataclass(frozen=True)
class PartTrainings:
    """Seed, checkpoints (see `checkpoint_of`) and `Watching` that the trainings of all parts share."""

    seed: int
    checkpoint: Path | None
    watching: Watching

    @contextmanager
    def part(self, name: str) -> Iterator[dict[str, Any]]:
        """The arguments ``seed``, ``checkpoint`` and ``watch`` of the training of a part."""
        with self.watching(name) as watch:
            yield {"seed": self.seed, "checkpoint": checkpoint_of(self.checkpoint, name), "watch": watch}
