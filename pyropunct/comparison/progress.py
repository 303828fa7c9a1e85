"""Reports of the progress of a comparison."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

Advance = Callable[[int], None]
"""Called with the amount of work done since the last call."""

Watch = Callable[[str, int], AbstractContextManager[Advance]]
"""Entered for each step, with a description of the step and its amount of work; see
`pyropunct.commands.console.sentence_bar`."""


@contextmanager
def unwatched(what: str, size: int) -> Iterator[Advance]:
    """A `Watch` that reports nothing."""
    yield lambda done: None


class _Progress(Protocol):
    """How far training is; ``done`` starts from zero in each epoch."""

    @property
    def done(self) -> int: ...


def of_epochs(advance: Advance) -> Callable[[_Progress], None]:
    """A function for `pyropunct.fit` and `pyropunct.parsing.train_parser` to call after every step."""
    last = 0

    def watch(progress: _Progress) -> None:
        nonlocal last
        advance(progress.done - last if progress.done > last else progress.done)
        last = progress.done

    return watch
