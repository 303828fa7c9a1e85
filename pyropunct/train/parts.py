"""The parts of a training, one after the other: who watches each, and where its state is kept."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyropunct.train.checkpoints import Checkpoint

Watching = Callable[[str], AbstractContextManager[Any]]
"""Called with the name of each part that begins; yields a function that is told its progress.

The functions are ``watch`` arguments of `pyropunct.train.fitting.fit_story` (part "story"), `train_parser`
("parser", "mark_parser"), `train_reader` ("reader"), `jackknifed` ("folds"), `fit_parsed` ("parsed") and
`fit_tagger` ("tagger"); those of "texts" and "trees" are called with the number of sentences newly read, or
parsed.
"""


def unwatched(part: str) -> AbstractContextManager[None]:
    """Nobody is told how far a training is."""
    return nullcontext()


def checkpoint_of(path: Path | None, name: str) -> Checkpoint | None:
    """The checkpoint of a part.

    :param path: the name that the files of all parts begin with; None if nothing is kept.
    """
    return None if path is None else Checkpoint(path.with_name(f"{path.name}.{name}"))


@dataclass(frozen=True)
class Parts:
    """How the parts of a training are run.

    :ivar seed: of each part.
    :ivar checkpoint: see `checkpoint_of`.
    :ivar watching: see `Watching`.
    """

    seed: int
    checkpoint: Path | None
    watching: Watching

    def forget(self, names: Iterable[str]) -> None:
        """Delete the checkpoints of parts."""
        for name in names:
            file = checkpoint_of(self.checkpoint, name)
            if file is not None:
                file.forget()

    @contextmanager
    def part(self, name: str) -> Iterator[dict[str, Any]]:
        """The arguments ``seed``, ``checkpoint`` and ``watch`` of the training of a part."""
        with self.watching(name) as watch:
            yield {"seed": self.seed, "checkpoint": checkpoint_of(self.checkpoint, name), "watch": watch}
