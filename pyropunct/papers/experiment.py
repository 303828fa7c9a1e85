"""An experiment: systems that are trained on some data, measured on other data, and put side by side.

A paper is its systems, and a subclass of `Experiment`, which trains them, measures them and makes a table::

    class CommaExperiment(Experiment):
        settings_type = CommaSettings

        def results(self) -> Results:
            rows = []
            for name in self.settings.models:
                model, seconds = self.trained(name, self.fit, loader(CommaModel.from_parts))
                rows.append(CommaResult(name, model.restore(self.dev), seconds))
            table = self.table("Commas", COLUMNS, rows)
            return Results({"systems": table})

    results = CommaExperiment(train, dev, CommaSettings(), folder="commas").run()
    print(results.to_markdown())

Each part is trained once and kept in a folder, so that an interrupted experiment resumes.
"""

import hashlib
import json
import platform
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import torch
from torch import Tensor

from pyropunct.errors import ModelFileError, SettingError
from pyropunct.files import held, json_text, model_path, written_whole
from pyropunct.fitted.model_file import read_model_file, write_model_file
from pyropunct.papers.options import ExperimentSettings
from pyropunct.papers.watching import Watch, unwatched
from pyropunct.tables import Baseline, Column, Row, Table
from pyropunct.untrusted import untrusted

FORMAT = "pyropunct comparison"
"""The name of the format, which the JSON object of a comparison states."""

DESCRIPTION, PARTS = "comparison.json", "parts"

Text = TypeVar("Text")
Result = TypeVar("Result")


def checksum(texts: Iterable[str]) -> str:
    """A checksum of data that stands in texts."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode())
    return digest.hexdigest()


class Part(Protocol):
    """A trained part of a system, which can be taken apart to be saved."""

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """The part as plain JSON types and tensors."""


Model = TypeVar("Model", bound=Part)
"""The type of a trained part."""


class Trained(NamedTuple, Generic[Model]):
    """A trained part, and the seconds of its training."""

    model: Model
    seconds: float


def loader(from_parts: Callable[..., Model], *more: Any) -> Callable[[Path], Model]:
    """A function that reads a saved part by ``from_parts(plain, tensors, *more)``.

    A damaged file, or another kind of part, raises ModelFileError.
    """

    def load(place: Path) -> Model:
        parts = read_model_file(place)
        try:
            return from_parts(*parts, *more)
        except ValueError as error:
            raise ModelFileError(f"{place}: {error}") from error

    return load


def timed(read: Callable[[Sequence[Text]], Result], texts: Sequence[Text]) -> tuple[Result, float]:
    """A system's result and its seconds of processor time; the first text is read before, to warm caches."""
    read(texts[:1])
    began = time.process_time()
    found = read(texts)
    return found, max(time.process_time() - began, 1e-9)


@dataclass(frozen=True)
class Results:
    """The results of an experiment: tables for people, and one object for programs.

    :ivar tables: by what their rows are called for programs.
    :ivar data: facts about the data, in plain JSON types; instead of rows, if it has their name.
    """

    tables: Mapping[str, Table[Any]]
    data: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The data and the rows of the tables."""
        rows = {name: table.to_json() for name, table in self.tables.items() if name not in self.data}
        return {**self.data, **rows}

    def to_markdown(self) -> str:
        """All tables in Markdown, each below its title."""
        return "\n".join(f"## {table.title}\n\n{table.markdown()}" for table in self.tables.values())


@dataclass
class Experiment(ABC):
    """Trains parts of systems, or loads them from a folder, and measures them.

    The folder, if any, has each part in ``parts``; ``comparison.json``, with the data, the settings, the
    seconds of training and in the end the results; and ``comparison.md``, with the tables.

    :ivar train: what to learn from; ``dev``, what to measure on.
    :ivar settings: by default those of `settings_type`.
    :cvar settings_type: the class of the settings.
    :cvar clock: gives the time in seconds, for the duration of training.
    """

    train: Any
    dev: Any
    settings: Any = None
    folder: str | Path | None = None
    watch: Watch = unwatched
    settings_type: ClassVar[type[ExperimentSettings]] = ExperimentSettings
    clock = staticmethod(time.monotonic)

    def __post_init__(self) -> None:
        self.settings = self.settings_type() if self.settings is None else self.settings
        self.path = None if self.folder is None else Path(self.folder)
        self.checksums = {name: checksum(self.texts(getattr(self, name))) for name in ("train", "dev")}
        self._seconds: dict[str, float] = {}
        self._trained: dict[str, Trained[Any]] = {}

    def texts(self, data: Any) -> Iterable[str]:
        """Texts that differ if data differ: parts that were trained on other data are refused."""
        return map(repr, data)

    @abstractmethod
    def results(self) -> Results:
        """Train all systems and measure them."""

    def run(self) -> Results:
        """The results, with settings and checksums of the data, also written into the folder.

        :raises SettingError: if the folder cannot be written to, holds other things, is used by
            another process, or has parts trained on other data or with other settings; or if a saved part is
            damaged.
        """
        with self.opened():
            results = self.results()
            results = replace(results, data={**self._about(), **results.data})
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
        with untrusted(f"{path}: is damaged, or not of a {FORMAT}", SettingError):
            content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            if content["format"] != FORMAT or not isinstance(content["parts"], dict):
                raise ValueError("it has another format")
            known: dict[str, Any] = {**content["settings"], **content["checksums"]}
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

    def trained(self, name: str, train: Callable[[], Model], load: Callable[[Path], Model]) -> Trained[Model]:
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
                    write_model_file(place, *model.to_parts())
                    self._seconds[name] = seconds
                    self._write_description({})
                try:
                    self._trained[name] = Trained(load(place), self._seconds[name])
                except ValueError as error:
                    raise SettingError(
                        f"{error}; delete {place}, and the same command trains it again"
                    ) from error
        return self._trained[name]

    def table(
        self,
        title: str,
        columns: Sequence[Column[Row]],
        rows: Sequence[Row],
        notes: Sequence[str] = (),
        baseline: Baseline | None = None,
        details: Callable[[Row], Mapping[str, Any]] | None = None,
    ) -> Table[Row]:
        """A table whose tests of significance are those of the settings."""
        return Table(
            title, columns, rows, notes, baseline, self.settings.permutations, self.settings.seed, details
        )

    def write(self, results: Results) -> None:
        """Write the results into the folder, if there is one; failures raise SettingError."""
        if self.path is not None:
            self._replace(self.path / "comparison.md", results.to_markdown().encode())
            self._write_description(results.to_json())

    def _write_description(self, results: Mapping[str, Any]) -> None:
        if self.path is not None:
            content = {**self._about(), **results, "parts": self._seconds}
            self._replace(self.path / DESCRIPTION, json_text(content, indent=1).encode())

    def _about(self) -> dict[str, Any]:
        """What made the results, in plain JSON types."""
        return {
            "format": FORMAT,
            "checksums": self.checksums,
            "settings": self.settings.to_json(),
            "environment": {
                "pyropunct": version("pyropunct"),
                "torch": torch.__version__,
                "numpy": version("numpy"),
                "python": platform.python_version(),
                "threads": torch.get_num_threads(),
            },
        }

    def _replace(self, path: Path, content: bytes) -> None:
        """Replace a file atomically: after a failure the old content is intact."""
        try:
            with written_whole(path) as stream:
                stream.write(content)
        except OSError as error:
            raise SettingError(f"{path}: cannot be written: {error.strerror}") from error
