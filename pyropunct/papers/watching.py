"""How experiments report what they have done so far."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from pyropunct.nets.trainer import Progress
from pyropunct.tasks import Advance

Watch = Callable[[str, int], AbstractContextManager[Advance]]
"""Entered for each step, with a description of the step and its amount of work; see
`pyropunct.cli.progress.sentence_bar`."""


@contextmanager
def unwatched(what: str, size: int) -> Iterator[Advance]:
    """A `Watch` that reports nothing."""
    yield lambda done: None


@contextmanager
def of_epochs(watch: Watch, what: str, size: int) -> Iterator[Callable[[Progress], None]]:
    """Watch a training: gives the ``watch`` argument of `pyropunct.fit` or of a network's training."""
    before = 0
    with watch(what, size) as advance:

        def progressed(progress: Progress) -> None:
            nonlocal before
            advance(progress.done - before)
            before = 0 if progress.finished else progress.done

        yield progressed
