"""How far a training is: a progress bar on a terminal, lines with the time elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from pyropunct.cli import console

if TYPE_CHECKING:
    from pyropunct.nets.training import Progress as NetworkProgress
    from pyropunct.train.fitting import Watching
    from pyropunct.train.training import Progress

SILENCE = 30.0
"""The seconds after which a line says how far a step is that is not done yet."""


class _Stage(NamedTuple):
    """How far a training is.

    :ivar title: what is trained, and which epoch it is.
    :ivar done: the part of the epoch that is done.
    :ivar size: the whole epoch.
    :ivar seconds: spent on finished epochs.
    :ivar loss: of the last finished epoch, if there is one.
    :ivar score: of the same on dev, if there is a dev treebank.
    :ivar finished: whether the last finished epoch is that of the title.
    """

    title: str
    done: int
    size: int
    seconds: float
    loss: str | None
    score: str | None
    finished: bool


@contextmanager
def training_watch(epochs: int, what: str = "") -> "Iterator[Callable[[Progress], None]]":
    """Yields the ``watch`` argument of `pyropunct.fit`.

    :param epochs: how many there are for each direction.
    :param what: what is trained, if the direction does not tell.
    """

    def stage(progress: "Progress") -> _Stage:
        title, last = f"{what}{progress.direction}, epoch {progress.epoch} of {epochs}", progress.last
        seconds = 0.0 if last is None else last.seconds
        loss = None if last is None else f"objective {last.objective:.4f}"
        score = None if last is None else f"dev perplexity {last.perplexity:.4f}"
        return _Stage(title, progress.done, progress.sentences, seconds, loss, score, progress.finished)

    with _shown("preparing", "sentences") as show:
        yield lambda progress: show(stage(progress))


SCORES = {
    "parser": "dev UAS {uas:.2f}, LAS {las:.2f}",
    "reader": "dev F1 {f1:.2f}, in lower case {lower_f1:.2f}",
    "tagger": "dev perplexity {perplexity:.4f}",
}
"""Scores of networks on a dev treebank."""


@contextmanager
def network_watch(network: str, title: str | None = None) -> Iterator[Callable[..., None]]:
    """Yields the ``watch`` argument of the training of a network; further arguments go into its title.

    :param network: a name in `SCORES`.
    """

    def stage(progress: "NetworkProgress", *arguments: int) -> _Stage:
        last = progress.last
        what = (title or network).format(*arguments)
        return _Stage(
            f"{what}, epoch {progress.epoch} of {progress.epochs}",
            progress.done,
            progress.words,
            0.0 if last is None else last.seconds,
            None if last is None else f"loss {last.loss:.4f}",
            None if last is None or last.scores is None else SCORES[network].format_map(last.scores),
            progress.finished,
        )

    preparing = "the reader of running text" if network == "reader" else f"the {network}"
    with _shown(f"preparing {preparing if title is None else 'the parsers of folds'}", "words") as show:
        yield lambda progress, *arguments: show(stage(progress, *arguments))


def fit_watches(epochs: int, folds: int) -> "Watching":
    """The ``watching`` argument of `pyropunct.fit`.

    :param epochs: how many the story has for each direction.
    :param folds: how many parts of the treebank are parsed by parsers of their own.
    """

    @contextmanager
    def fold_watch() -> Iterator[Callable[..., None]]:
        with network_watch("parser", f"parser for fold {{}} of {folds}") as watch:
            yield lambda fold, progress: watch(progress, fold + 1)

    def watching(part: str) -> "AbstractContextManager[Any]":
        if part in ("story", "parsed"):
            return training_watch(epochs, "trees of the parser, " if part == "parsed" else "")
        return fold_watch() if part == "folds" else network_watch(part)

    return watching


@contextmanager
def _shown(preparing: str, unit: str) -> Iterator[Callable[[_Stage], None]]:
    """Yields a function to call after every step.

    :param preparing: what is said before the first step.
    :param unit: what an epoch is counted in.
    """
    if not console.shows_bars():
        log = _TrainingLog(unit)
        log.say(preparing)
        yield log.tell
        return
    with console.bar() as bar:
        task = bar.add_task(preparing, total=None)

        def show(stage: _Stage) -> None:
            text = ", ".join(filter(None, (stage.title, stage.score)))
            bar.update(task, description=text, completed=stage.done, total=stage.size)

        yield show


@contextmanager
def step_bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """As `console.sentence_bar`, for steps that may take long: without a terminal, lines tell of them."""
    if console.shows_bars():
        with console.sentence_bar(what, total) as advance:
            yield advance
        return
    log, done = _Log(), 0
    log.say(f"{what}: {total:,}")

    def advance_log(number: int) -> None:
        nonlocal done
        done += number
        log.say_seldom(f"{what}: {done:,} of {total:,}")

    yield advance_log


@contextmanager
def paced(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Yields a function that takes the number of sentences newly done, and shows pace and time left."""
    started, done = time.monotonic(), 0

    def pace() -> str:
        rate = done / max(time.monotonic() - started, 1e-9)
        return f"{rate:,.0f} sentences a second, {_lasting((total - done) / rate)} left" if rate else ""

    if console.shows_bars():
        with console.bar() as bar:
            task = bar.add_task(what, total=total)

            def advance_bar(number: int) -> None:
                nonlocal done
                done += number
                bar.update(task, completed=done, description=", ".join(filter(None, (what, pace()))))

            yield advance_bar
        return
    log = _Log()

    def advance_log(number: int) -> None:
        nonlocal done
        done += number
        told = log.say if done == total else log.say_seldom
        told(f"{what}: {done:,} of {total:,} sentences, {pace()}")

    yield advance_log


def _lasting(seconds: float) -> str:
    """A time in hours, minutes and seconds, of which only what matters is told."""
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min" if minutes > 1 else f"{seconds:.0f} s"


class _Log:
    """Lines with the time on standard error."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def say(self, text: str) -> None:
        console.tell(f"{time.strftime('%H:%M:%S')} {text}")
        self._last = time.monotonic()

    def say_seldom(self, text: str) -> None:
        """Say it if nothing has been said for some time."""
        if time.monotonic() - self._last >= SILENCE:
            self.say(text)


class _TrainingLog(_Log):
    """A line for each epoch, and more if epochs are long.

    :param unit: what an epoch is counted in.
    """

    def __init__(self, unit: str) -> None:
        super().__init__()
        self._unit, self._before = unit, 0.0

    def tell(self, stage: _Stage) -> None:
        """Say how far training is, if it is time for that."""
        if not stage.finished:
            self._before = stage.seconds
            self.say_seldom(f"{stage.title}: {stage.done:,} of {stage.size:,} {self._unit}")
            return
        rate = stage.size / max(stage.seconds - self._before, 1e-9)
        pace = f"{rate:,.0f} {self._unit} a second", f"{stage.seconds:,.0f} s so far"
        self.say(f"{stage.title}: " + ", ".join(filter(None, (stage.loss, stage.score, *pace))))
