"""An experiment: systems that are trained on some data, measured on other data, and put side by side.

A paper is its model, and a subclass of `TableExperiment`, which defines its rows::

    class CommaExperiment(TableExperiment[CommaResult]):
        title = "Commas"

        def rows(self) -> Iterator[CommaResult]:
            for name in self.settings.models:
                model, seconds = self.trained_parts(name, self.fit, CommaModel.from_parts)
                yield CommaResult(name, model.restore(self.dev), seconds)

        def columns(self, rows: Sequence[CommaResult]) -> Sequence[Column[CommaResult]]:
            return COLUMNS

    results = CommaExperiment(train, dev, CommaSettings(), folder="commas").run()
    print(results.written("text"))  # or "markdown", "latex", "tsv", "csv", "json"

Each part is trained once and kept in a folder, so that an interrupted experiment resumes.
"""

import hashlib
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

from torch import Tensor

from pyropunct.compare.table import Baseline, Column, Row, Table
from pyropunct.errors import ModelFileError, SettingError
from pyropunct.files import held, json_text, model_path, written_whole
from pyropunct.fitted.model_file import read_model_file, write_model_file

FORMAT = "pyropunct comparison"
"""The name of the format, which the JSON object of a comparison states."""

DESCRIPTION, PARTS = "comparison.json", "parts"

Model = TypeVar("Model")
"""The type of a trained part."""

Text = TypeVar("Text")
Found = TypeVar("Found")


class Trained(NamedTuple, Generic[Model]):
    """A trained model, parser or tagger, and the seconds of its training."""

    model: Model
    seconds: float


def checksum(texts: Iterable[str]) -> str:
    """A checksum of data that stands in texts."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode())
    return digest.hexdigest()


class ExperimentParts(Protocol):
    """A model that can be taken apart to be saved."""

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """The model as plain JSON types and tensors."""


Taken = TypeVar("Taken", bound=ExperimentParts)


def save_parts(model: ExperimentParts, place: Path) -> None:
    """Write a model to a model file."""
    write_model_file(place, *model.to_parts())


def load_parts(place: Path, from_parts: Callable[..., Model], *more: Any) -> Model:
    """Read back a model that `save_parts` wrote, by ``from_parts(plain, tensors, *more)``.

    :raises ModelFileError: if the file is damaged, or holds another kind of model.
    """
    parts = read_model_file(place)
    try:
        return from_parts(*parts, *more)
    except ValueError as error:
        raise ModelFileError(f"{place}: {error}") from error


def timed(read: Callable[[Sequence[Text]], Found], texts: Sequence[Text]) -> tuple[Found, float]:
    """A system's result and its seconds of processor time; the first text is read before, to warm caches."""
    read(texts[:1])
    began = time.process_time()
    found = read(texts)
    return found, max(time.process_time() - began, 1e-9)


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


class Results(ABC):
    """The results of an experiment: tables for people, one object for programs, and the files of both."""

    @property
    @abstractmethod
    def tables(self) -> Sequence[Table[Any]]:
        """Tables with their notes."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """All numbers in plain JSON types."""

    def written(self, name: str) -> str:
        """All tables in one of `pyropunct.compare.table.FORMATS`."""
        return "\n".join(table.written(name) for table in self.tables)

    def to_markdown(self) -> str:
        """All tables in Markdown, each below its title."""
        return "\n".join(f"## {table.title}\n\n{table.markdown()}" for table in self.tables)

    def files(self) -> dict[str, bytes]:
        """The files for people in the folder of the experiment, by name."""
        return {"comparison.md": self.to_markdown().encode()}


@dataclass(frozen=True)
class TableResults(Results):
    """Results that are in their tables, which are named by their rows for programs.

    :ivar data: settings and facts about the data, in plain JSON types; a table overrides its name.
    """

    named: Mapping[str, Table[Any]]
    data: Mapping[str, Any]

    @property
    def tables(self) -> Sequence[Table[Any]]:
        """The tables."""
        return list(self.named.values())

    def to_json(self) -> dict[str, Any]:
        """The settings, the data and the rows of the tables."""
        tables = {name: one.to_json() for name, one in self.named.items() if name not in self.data}
        return {**self.data, **tables}


class Experiment(ABC):
    """Trains parts of systems, or loads them from a folder, and measures them.

    The folder, if any, has each part in ``parts``; ``comparison.json``, with the data, the settings, the
    seconds of training and in the end the results; and the files of the results for people.

    :cvar clock: gives the time in seconds, for the duration of training.
    """

    clock = staticmethod(time.monotonic)

    def __init__(
        self,
        train: Any,
        dev: Any,
        settings: Any,
        folder: str | Path | None = None,
        watch: Watch = unwatched,
    ) -> None:
        self.train, self.dev, self.settings, self.watch = train, dev, settings, watch
        self.path = None if folder is None else Path(folder)
        self.checksums = {"train": checksum(self.texts(train)), "dev": checksum(self.texts(dev))}
        self._seconds: dict[str, float] = {}
        self._trained: dict[str, Trained[Any]] = {}

    def texts(self, data: Any) -> Iterable[str]:
        """Texts that differ if data differ: parts that were trained on other data are refused."""
        return map(repr, data)

    @abstractmethod
    def results(self) -> Results:
        """Train all systems and measure them."""

    def run(self) -> Any:
        """The results, also written into the folder.

        :raises SettingError: if the folder cannot be written to, holds other things, is used by
            another process, or has parts trained on other data or with other settings; or if a saved part is
            damaged.
        """
        with self.opened():
            results = self.results()
            self.write(results)
        return results

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Lock the folder against other processes. Raises SettingError as `run` does."""
        with ExitStack() as stack:
            if self.path is not None:
                try:
                    self.path.mkdir(parents=True, exist_ok=True)
                    if not stack.enter_context(held(self.path)):
                        raise SettingError(
                            f"{self.path}: another process is comparing there: wait, or choose another --out"
                        )
                    if (self.path / DESCRIPTION).exists():
                        self._seconds = self._go_on(self.path)
                    elif any(self.path.iterdir()):
                        raise SettingError(
                            f"{self.path}: holds other things than a comparison; choose another folder"
                        )
                except OSError as error:
                    raise SettingError(f"{self.path}: cannot write there: {error.strerror}") from error
            self._write_description({})
            yield

    def _go_on(self, folder: Path) -> dict[str, float]:
        """The seconds of the parts that exist already."""
        path = folder / DESCRIPTION
        try:
            content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            if content["format"] != FORMAT or not isinstance(content["parts"], dict):
                raise ValueError("it has another format")
            known: dict[str, Any] = {**content["settings"], **content["checksums"]}
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            kind = type(error).__name__
            raise SettingError(f"{path}: is damaged, or not of a {FORMAT}: {kind}: {error}") from error
        now = self.settings.to_json()
        expected = {**self.checksums, **{name: now[name] for name in self.settings.TRAINING}}
        others = [name for name, value in expected.items() if name not in known or known[name] != value]
        if others:
            raise SettingError(
                f"{folder}: its parts were trained on other data or with other settings "
                f"({', '.join(others)}); repeat the command that began it, or choose another folder"
            )
        return dict(content["parts"])

    def has(self, name: str) -> bool:
        """Whether a part was trained before."""
        return (
            self.path is not None and name in self._seconds and model_path(self.path / PARTS / name).exists()
        )

    def trained(
        self,
        name: str,
        train: Callable[[], Model],
        save: Callable[[Model, Path], object],
        load: Callable[[Path], Model],
    ) -> Trained[Model]:
        """A part, loaded if it was trained before, otherwise trained now.

        It is always saved and loaded, since saving may round weights; its file in ``parts`` has its name.

        :raises SettingError: if a saved part is damaged.
        """
        if name not in self._trained:
            with nullcontext(self.path) if self.path is not None else TemporaryDirectory() as folder:
                place = model_path(Path(folder) / PARTS / name)
                if not self.has(name):
                    began = self.clock()
                    model, seconds = train(), self.clock() - began
                    save(model, place)
                    self._seconds[name] = seconds
                    self._write_description({})
                try:
                    self._trained[name] = Trained(load(place), self._seconds[name])
                except ValueError as error:
                    raise SettingError(
                        f"{error}; delete {place}, and the same command trains it again"
                    ) from error
        return self._trained[name]

    def trained_parts(
        self, name: str, train: Callable[[], Taken], from_parts: Callable[..., Taken], *more: Any
    ) -> Trained[Taken]:
        """As `trained` for a model that can be taken apart; see `load_parts`."""
        return self.trained(name, train, save_parts, lambda place: load_parts(place, from_parts, *more))

    def write(self, results: Results) -> None:
        """Write the results into the folder, if there is one; failures raise SettingError."""
        if self.path is not None:
            for name, content in results.files().items():
                self._replace(self.path / name, content)
            self._write_description(results.to_json())

    def _write_description(self, results: Mapping[str, Any]) -> None:
        if self.path is not None:
            known = {
                "format": FORMAT,
                "checksums": dict(self.checksums),
                "settings": self.settings.to_json(),
            }
            content = {**known, **results, "parts": self._seconds}
            self._replace(self.path / DESCRIPTION, json_text(content, indent=1).encode())

    def _replace(self, path: Path, content: bytes) -> None:
        """Replace a file atomically: after a failure the old content is intact."""
        try:
            with written_whole(path) as stream:
                stream.write(content)
        except OSError as error:
            raise SettingError(f"{path}: cannot be written: {error.strerror}") from error


class TableExperiment(Experiment, Generic[Row]):
    """An experiment whose results are the rows of one table, called ``key`` for programs.

    :cvar baseline: the row against which each row is tested; None to mark the best of each column.
    """

    title: ClassVar[str]
    key: ClassVar[str] = "systems"
    baseline: ClassVar[Baseline | None] = None

    @abstractmethod
    def rows(self) -> Iterable[Row]:
        """Train each system, and measure it."""

    @abstractmethod
    def columns(self, rows: Sequence[Row]) -> Sequence[Column[Row]]:
        """The columns, which may have evidence for tests of significance."""

    def notes(self, rows: Sequence[Row]) -> Sequence[str]:
        """Lines below the table."""
        return ()

    def described(self, rows: Sequence[Row]) -> Mapping[str, Any]:
        """What programs are told of the data, in plain JSON types."""
        return {}

    def details(self, row: Row) -> Mapping[str, Any]:
        """Further values of a row for programs."""
        return {}

    def results(self) -> TableResults:
        """The table of all rows."""
        return self.tabled(list(self.rows()))

    def tabled(self, rows: Sequence[Row]) -> TableResults:
        """The table of measured rows."""
        (permutations, seed), columns, notes = self.settings.tests, self.columns(rows), self.notes(rows)
        table = Table(self.title, columns, rows, notes, self.baseline, permutations, seed, self.details)
        return TableResults({self.key: table}, {**self.settings.to_json(), **self.described(rows)})
