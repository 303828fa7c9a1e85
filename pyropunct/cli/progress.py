"""Progress, as a bar on a terminal or else as lines, and checkpoints of trainings."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from pyropunct.cli.console import is_terminal, tell
from pyropunct.errors import FailureError, ModelFileError, UserError
from pyropunct.files import remove_unwritten
from pyropunct.text.lines import visible

if TYPE_CHECKING:
    from pyropunct.nets.trainer import Progress
    from pyropunct.train.checkpoints import Watching

QUIET, BETWEEN_LINES = 3.0, 10.0
"""Seconds before the first line of progress, and between two lines."""

SILENCE = 30.0
"""Seconds before the first line, and between two lines, in trainings."""


def reading_bar(path: str) -> "AbstractContextManager[Callable[[int, int], None]]":
    """The progress of reading a file; yields what `read_treebank` takes as ``progress``."""
    return _share_bar(f"reading {visible(path)}")


@contextmanager
def stream_bar(stream: BinaryIO, name: str) -> Iterator[Callable[[], None]]:
    """The progress of a stream, where no results are shown; call its value after each part."""
    if name == "<stdin>" or not stream.seekable() or sys.stdout.isatty():
        yield lambda: None
        return
    size = os.fstat(stream.fileno()).st_size
    with reading_bar(name) as show:
        yield lambda: show(stream.tell(), size)


@contextmanager
def sentence_bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """The progress over sentences; yields a function that takes the number newly done."""
    done = 0
    with _share_bar(what) as show:

        def advance(number: int) -> None:
            nonlocal done
            done += number
            show(done, total)

        yield advance


@contextmanager
def _share_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Yields a function that takes how much is done, of how much; lines tell the share."""
    began = time.monotonic()
    with _shown(what, slow=False) as show:

        def update(done: int, total: int) -> None:
            if done < total:
                seconds = time.monotonic() - began
                show(what, f"{what}: {done / total:.0%}, {seconds:.0f} s so far", done, total)

        yield update


def shows_bars() -> bool:
    """Whether progress bars are seen: on a terminal that can draw them."""
    return is_terminal(sys.stderr) and os.environ.get("TERM") not in ("dumb", "unknown")


@contextmanager
def _shown(what: str, total: int | None = None, *, slow: bool = True) -> Iterator[Callable[..., None]]:
    """Yields a function to call after every step.

    It takes the text of the bar, the line that stands for it elsewhere, how much is done, of how much (0 if
    unknown), and whether the line is due now.
    """
    if shows_bars():
        with _bar() as bar:
            task = bar.add_task(what, total=total)
            yield lambda text, line, done, size, due=False: bar.update(
                task, description=text, completed=done, total=size or None
            )
        return
    quiet, between = (SILENCE, SILENCE) if slow else (QUIET, BETWEEN_LINES)
    next_line = time.monotonic() + quiet

    def show(text: str, line: str, done: int, size: int, due: bool = False) -> None:
        nonlocal next_line
        if due or time.monotonic() >= next_line:
            tell(f"{time.strftime('%H:%M:%S') if slow else 'pyropunct:'} {line}")
            next_line = time.monotonic() + between

    yield show


def _bar() -> Any:
    """A progress bar of rich, which is slow to import; only for a terminal that `shows_bars`."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    text = TextColumn("{task.description}", markup=False)
    columns = (text, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(
        *columns,
        console=Console(stderr=True),
        transient=True,
        # Results that go to a file must not be redirected to the bar.
        redirect_stdout=is_terminal(sys.stdout),
    )


# Trainings

_UAS = "loss", "words", "dev UAS {uas:.2f}, LAS {las:.2f}"
_ENDS = "loss", "words", "dev F1 {f1:.2f}, in lower case {lower_f1:.2f}"
_PERPLEXITY = "dev perplexity {perplexity:.4f}"
TRAININGS = {
    "story": ("", "{what}", "objective", "sentences", _PERPLEXITY),
    "parsed": ("", "trees of the parser, {what}", "objective", "sentences", _PERPLEXITY),
    "parser": ("the parser", "parser", *_UAS),
    "mark_parser": ("the parser of words and marks", "mark_parser", *_UAS),
    "folds": ("the parsers of folds", "parser for fold {fold} of {folds}", *_UAS),
    "reader": ("the reader of running text", "reader", *_ENDS),
    "tagger": ("the tagger", "tagger", "loss", "words", _PERPLEXITY),
}
"""For each part of a fit: what it trains; the name of this in each line; what is minimised; the unit of an
epoch; and the scores on a dev treebank."""


STEPS = {"texts": "reading", "trees": "parsing"}
"""Parts of a fit that train nothing; the number of their sentences is unknown."""


@contextmanager
def training_watch(part: str = "story", folds: int = 0) -> Iterator[Callable[..., None]]:
    """Yields the ``watch`` argument of a training, a part in `TRAININGS`, with ``folds`` parsers."""
    trained, title, minimised, unit, scores = TRAININGS[part]
    preparing, before = f"preparing {trained}".rstrip(), 0.0
    with _shown(preparing) as show:
        show(preparing, preparing, 0, 0, due=True)

        def watch(*arguments: Any) -> None:
            nonlocal before
            *fold, progress = arguments
            last, size = progress.last, progress.size
            seconds = last.seconds if last else 0.0
            score = scores.format_map(last.scores) if last and last.scores else ""
            if part == "parser" and progress.finished and progress.epoch == 1:
                score = _joined(score, _time_of_parsers(progress, folds))
            what = title.format(what=progress.what, fold=sum(fold) + 1, folds=folds)
            about = f"{what}, epoch {progress.epoch} of {progress.epochs}"
            if progress.finished:
                rate = size / max(seconds - before, 1e-9)
                pace = f"{rate:,.0f} {unit} a second", f"{seconds:,.0f} s so far"
                line = f"{about}: {_joined(f'{minimised} {last.loss:.4f}', score, *pace)}"
            else:
                before = seconds
                line = f"{about}: {progress.done:,} of {size:,} {unit}"
            show(_joined(about, score), line, progress.done, size, progress.finished)

        yield watch


def _time_of_parsers(progress: "Progress", folds: int) -> str:
    """How long the parser and those of the folds will take; each of these learns from the other folds."""
    from pyropunct.nets.biaffine import ParserRecipe
    from pyropunct.nets.jackknife import fold_recipe

    words = progress.epochs * progress.size
    if folds:
        seen = progress.size * (folds - 1) // folds
        words += folds * seen * fold_recipe(ParserRecipe()).planned_epochs(seen)
    assert progress.last is not None  # for the first epoch is finished
    return f"all parsers take some {_lasting(words / progress.size * progress.last.seconds)}"


def fit_watches(folds: int) -> "Watching":
    """The ``watching`` argument of `pyropunct.fit`, for so many folds."""

    def watching(part: str) -> "AbstractContextManager[Any]":
        return training_watch(part, folds) if part in TRAININGS else step_bar(STEPS[part], 0)

    return watching


@contextmanager
def step_bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """As `sentence_bar`, for slow steps; the total is 0 if it is unknown."""
    done, of = 0, f" of {total:,}" if total else " sentences"
    with _shown(what, total or None) as show:
        show(what, f"{what}: {total:,}" if total else what, 0, total, due=True)

        def advance(number: int) -> None:
            nonlocal done
            done += number
            show(what, f"{what}: {done:,}{of}", done, total)

        yield advance


def _lasting(seconds: float) -> str:
    """A time in hours, minutes and seconds, without negligible parts."""
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min" if minutes > 1 else f"{seconds:.0f} s"


def _joined(*parts: str) -> str:
    return ", ".join(filter(None, parts))


# Interruptions


class Checkpoints:
    """The checkpoints of a fit: one for each training that has begun, in a folder until it is saved.

    :param alone: whether this is the only fit of a command; if not, others may be finished.
    :ivar first: the checkpoint of the story; the others have endings.
    :ivar resume: whether there is something to resume.
    :raises UserError: if the only fit is to be resumed, but there is no checkpoint.
    """

    def __init__(self, folder: Path, resume: bool, *, alone: bool = True) -> None:
        self._folder, self._goes_on, self.first = folder, resume, folder / "checkpoint"
        self.resume = resume and bool(self._there())
        if resume and alone and not self.resume:
            raise UserError(f"{folder}: there is nothing to resume")

    def are_over(self, file: Path) -> bool:
        """Whether an earlier run of a resumed command has finished this fit and written its model."""
        return self._goes_on and not self.resume and file.exists()

    def _there(self) -> list[Path]:
        return sorted(self._folder.glob(f"{self.first.name}.*"))

    def _forget(self) -> None:
        """Delete the checkpoints, and unfinished files of a killed fit."""
        for path in self._there():
            path.unlink(missing_ok=True)
        remove_unwritten(self._folder, self.first.name)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Keep finished epochs during a training, and say so if it is interrupted."""
        from pyropunct.train.checkpoints import own_folder

        with own_folder(self._folder):
            if not self.resume:
                if self._there():
                    anew = "training starts anew, without --resume: epochs of an earlier try are deleted"
                    tell(f"pyropunct: {self._folder}: {anew}")
                self._forget()
            kept = f"finished epochs are kept in {self._folder}; continue with the same command and --resume"
            try:
                yield
            except KeyboardInterrupt as error:
                raise KeyboardInterrupt(f": {kept if self._there() else 'no epoch was finished'}") from error
            except ModelFileError as error:
                if self._there() and not self.resume:
                    raise FailureError(f"{error}; {kept}") from error
                raise
            self._forget()
