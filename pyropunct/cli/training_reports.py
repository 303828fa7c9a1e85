"""Progress of trainings, as a bar or as lines with the time, and their checkpoints."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyropunct.cli import console
from pyropunct.errors import FailureError, ModelFileError, UserError
from pyropunct.files import remove_unwritten

if TYPE_CHECKING:
    from pyropunct.nets.trainer import Progress
    from pyropunct.train.checkpoints import Watching

SILENCE = 30.0
"""The seconds after which a line says how far a step is that is not done yet."""

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
    "text-reader": ("the reader of running text", "text-reader", *_ENDS),
    "tagger": ("the tagger", "tagger", "loss", "words", _PERPLEXITY),
}
"""For each part of a fit: what it trains; the name of this in each line; what is minimised; the unit of an
epoch; and the scores on a dev treebank."""


@contextmanager
def training_watch(part: str = "story", folds: int = 0) -> Iterator[Callable[..., None]]:
    """Yields the ``watch`` argument of a training, a part in `TRAININGS`, with ``folds`` parsers."""
    trained, title, minimised, unit, scores = TRAININGS[part]
    preparing, before = f"preparing {trained}".rstrip(), 0.0
    with _shown(preparing, preparing) as show:

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
    from pyropunct.nets.parser import fold_recipe

    words = progress.epochs * progress.size
    if folds:
        seen = progress.size * (folds - 1) // folds
        words += folds * seen * fold_recipe(ParserRecipe()).planned_epochs(seen)
    assert progress.last is not None  # for the first epoch is finished
    return f"all parsers take some {_lasting(words / progress.size * progress.last.seconds)}"


def fit_watches(folds: int) -> "Watching":
    """The ``watching`` argument of `pyropunct.fit`, for so many folds."""

    def watching(part: str) -> "AbstractContextManager[Any]":
        return counted(COUNTED[part]) if part in COUNTED else training_watch(part, folds)

    return watching


def step_bar(what: str, total: int) -> "AbstractContextManager[Callable[[int], None]]":
    """As `console.sentence_bar`, for slow steps: without a terminal, progress is printed in lines."""
    first, of = (f"{what}: {total:,}", f" of {total:,}") if total else (what, " sentences")
    return _counting(lambda done, rate: (what, f"{what}: {done:,}{of}"), what, total, first=first)


COUNTED = {"texts": "sentences read", "trees": "sentences parsed"}
"""What is counted in parts of a training of which nobody knows how much there is."""


def counted(what: str) -> "AbstractContextManager[Callable[[int], None]]":
    """Yields a function that takes the number of things newly done, and shows their number and pace."""
    return _counting(lambda done, rate: (f"{done:,} {what}, {rate:,.0f} a second",) * 2, what, ends=True)


@contextmanager
def _counting(
    told: Callable[[int, float], tuple[str, str]],
    begin: str,
    total: int = 0,
    *,
    first: str | None = None,
    ends: bool = False,
) -> Iterator[Callable[[int], None]]:
    """Yields a function that takes the number of things newly done."""
    started, done = time.monotonic(), 0
    with _shown(begin, first, total or None) as show:

        def advance(number: int, due: bool = False) -> None:
            nonlocal done
            done += number
            show(*told(done, done / max(time.monotonic() - started, 1e-9)), done, total, due)

        yield advance
        if ends and done:
            advance(0, True)


def _lasting(seconds: float) -> str:
    """A time in hours, minutes and seconds, without negligible parts."""
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min" if minutes > 1 else f"{seconds:.0f} s"


def _joined(*parts: str) -> str:
    return ", ".join(filter(None, parts))


@contextmanager
def _shown(
    begin: str, first: str | None, total: int | None = None
) -> Iterator[Callable[[str, str, int, int, bool], None]]:
    """Yields a function to call after every step."""
    if console.shows_bars():
        with console.bar() as bar:
            task = bar.add_task(begin, total=total)
            yield lambda text, line, done, size, due: bar.update(
                task, description=text, completed=done, total=size or None
            )
        return
    last = time.monotonic()

    def show(text: str, line: str, done: int, size: int, due: bool) -> None:
        nonlocal last
        if due or time.monotonic() - last >= SILENCE:
            console.tell(f"{time.strftime('%H:%M:%S')} {line}")
            last = time.monotonic()

    if first is not None:
        show("", first, 0, 0, True)
    yield show


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
                    console.tell(f"pyropunct: {self._folder}: {anew}")
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
