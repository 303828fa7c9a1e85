"""How a comparison tells how far it is."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

Advance = Callable[[int], None]
"""Is called with how much was done since the last call."""

Watch = Callable[[str, int], AbstractContextManager[Advance]]
"""Is entered for each step with what is done, and how much of it; see
`pyropunct.commands.console.sentence_bar`."""


@contextmanager
def unwatched(what: str, size: int) -> Iterator[Advance]:
    """Look at nothing."""
    yield lambda done: None


class _Progress(Protocol):
    """How far training is; ``done`` begins anew in each epoch."""

    @property
    def done(self) -> int: ...


def of_epochs(advance: Advance) -> Callable[[_Progress], None]:
    """What `pyropunct.fit` and `pyropunct.parsing.train_parser` can call after every step."""
    last = 0

    def watch(progress: _Progress) -> None:
        nonlocal last
        advance(progress.done - last if progress.done > last else progress.done)
        last = progress.done

    return watch
