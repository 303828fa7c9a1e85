"""How far a training is: a progress bar on a terminal, lines with the time elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from pyropunct.cli import console

if TYPE_CHECKING:
    from pyropunct.nets.training import Progress as NetworkProgress
    from pyropunct.nets.training import Watch as NetworkWatch
    from pyropunct.train.fitting import Progress

SILENCE = 30.0
"""The seconds after which a line says how far a step is that is not done yet."""

OF_PARSER = "dev UAS {uas:.2f}, LAS {las:.2f}"
"""How the scores of a parser are shown."""


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


def parser_watch() -> "AbstractContextManager[NetworkWatch]":
    """Yields the ``watch`` argument of `pyropunct.nets.parser.train_parser`."""
    return _network_watch("parser", "preparing the parser", OF_PARSER)


def reader_watch() -> "AbstractContextManager[NetworkWatch]":
    """Yields the ``watch`` argument of `pyropunct.nets.reader.train_reader`."""
    scores = "dev F1 {f1:.2f}, in lower case {lower_f1:.2f}"
    return _network_watch("reader", "preparing the reader of running text", scores)


def tagger_watch() -> "AbstractContextManager[NetworkWatch]":
    """Yields the ``watch`` argument of `pyropunct.train.tagged_words.fit_tagger`."""
    return _network_watch("tagger", "preparing the tagger", "dev perplexity {perplexity:.4f}")


@contextmanager
def jackknife_watch(folds: int) -> "Iterator[Callable[[int, NetworkProgress], None]]":
    """Yields the ``watch`` argument of `pyropunct.nets.parser.jackknifed`.

    :param folds: the number of folds.
    """
    with _shown("preparing the parsers of folds", "words") as show:
        yield lambda fold, progress: show(
            _stage_of_network(f"parser for fold {fold + 1} of {folds}", progress, OF_PARSER)
        )


@contextmanager
def _network_watch(what: str, preparing: str, scores: str) -> "Iterator[NetworkWatch]":
    with _shown(preparing, "words") as show:
        yield lambda progress: show(_stage_of_network(what, progress, scores))


def _stage_of_network(what: str, progress: "NetworkProgress", scores: str) -> _Stage:
    """The stage of a network's training.

    :param scores: how the scores on dev are shown.
    """
    title, last = f"{what}, epoch {progress.epoch} of {progress.epochs}", progress.last
    seconds = 0.0 if last is None else last.seconds
    loss = None if last is None else f"loss {last.loss:.4f}"
    score = None if last is None or last.scores is None else scores.format_map(last.scores)
    return _Stage(title, progress.done, progress.words, seconds, loss, score, progress.finished)


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
