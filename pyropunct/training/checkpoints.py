"""Files from which a training goes on as if nothing had interrupted it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pyropunct.training.model_folder import ModelFolderError, unpack_tensors, write_whole


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


@dataclass(frozen=True)
class Checkpoint:
    """The file that holds the state of a training.

    :ivar path: where it is.
    """

    path: Path

    def forget(self) -> None:
        """Delete it, if it is there."""
        self.path.unlink(missing_ok=True)

    def save(self, training: Resumable) -> None:
        """Write it, whole or not at all.

        :raises ModelFolderError: if that cannot be done.
        """
        write_whole(self.path, {"fingerprint": training.fingerprint(), **training.state()})

    def load(self, training: Resumable) -> None:
        """Let a training go on from it, if it is there.

        :raises ModelFolderError: if it is damaged, or is of other data, settings or another seed.
        """
        if not self.path.exists():
            return
        try:
            state = unpack_tensors(self.path.read_bytes(), str(self.path))
        except OSError as error:
            raise ModelFolderError(f"{self.path}: cannot be read: {error.strerror}") from error
        if state.get("fingerprint") != training.fingerprint():
            raise ModelFolderError(
                f"{self.path}: this checkpoint is of other data, settings or another seed; "
                "delete it, or repeat the command that began it"
            )
        try:
            training.go_on_from(state)
        except (LookupError, TypeError, ValueError, AttributeError, RuntimeError) as error:
            reason = " ".join(str(error).split())
            raise ModelFolderError(f"{self.path}: is damaged: {type(error).__name__}: {reason}") from error
