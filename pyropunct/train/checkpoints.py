"""Files from which a training goes on as if nothing had interrupted it."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pyropunct.files import held
from pyropunct.fitted.model_file import ModelFileError, read_sealed, write_sealed


class Resumable(Protocol):
    """A training that can go on from a state."""

    def fingerprint(self) -> str:
        """A checksum of the data, the settings and the seed."""

    def state(self) -> dict[str, Any]:
        """Tensors and plain values, from which training can go on exactly as without an interruption."""

    def go_on_from(self, state: Mapping[str, Any]) -> None:
        """Take over a state.

        :raises LookupError, TypeError, ValueError, AttributeError, RuntimeError: if it is not one.
        """


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

    def save(self, training: Resumable) -> None:
        """Write it, whole or not at all.

        :raises ModelFileError: if that cannot be done.
        """
        if self.written:
            write_sealed(self.path, {"fingerprint": training.fingerprint(), **training.state()})

    def load(self, training: Resumable) -> None:
        """Let a training go on from it, if it is there.

        :raises ModelFileError: if it is damaged, or is of other data, settings or another seed.
        """
        if not self.path.exists():
            return
        state = read_sealed(self.path)
        if state.get("fingerprint") != training.fingerprint():
            raise ModelFileError(
                f"{self.path}: this checkpoint is of other data, settings or another seed; "
                "delete it, or repeat the command that began it"
            )
        try:
            training.go_on_from(state)
        except (LookupError, TypeError, ValueError, AttributeError, RuntimeError) as error:
            reason = " ".join(str(error).split())
            raise ModelFileError(f"{self.path}: is damaged: {type(error).__name__}: {reason}") from error
