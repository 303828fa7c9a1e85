"""Reports of the progress of a comparison."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

Advance = Callable[[int], None]
"""Called with the amount of work done since the last call."""

Watch = Callable[[str, int], AbstractContextManager[Advance]]
"""Entered for each step, with a description of the step and its amount of work; see
`pyropunct.cli.console.sentence_bar`."""


@contextmanager
def unwatched(what: str, size: int) -> Iterator[Advance]:
    """A `Watch` that reports nothing."""
    yield lambda done: None


class _Progress(Protocol):
    """How far training is; ``done`` starts from zero in each epoch, and ``finished`` is told at its end."""

    @property
    def done(self) -> int: ...

    @property
    def finished(self) -> bool: ...


def of_epochs(advance: Advance) -> Callable[[_Progress], None]:
    """The ``watch`` argument of `pyropunct.fit` and of `pyropunct.nets.parser.train_parser`."""
    before = 0

    def watch(progress: _Progress) -> None:
        nonlocal before
        advance(progress.done - before)
        before = 0 if progress.finished else progress.done

    return watch
