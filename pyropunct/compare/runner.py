"""Training the parts of a comparison, each once, in a folder in which an interrupted comparison goes on."""

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from torch import Tensor

from pyropunct.compare.comparison import Comparison
from pyropunct.compare.settings import ExperimentSettings
from pyropunct.errors import UserError
from pyropunct.files import held, json_text, model_path, written_whole
from pyropunct.fitted.model_file import ModelFileError, read_model_file, write_model_file

FORMAT = "pyropunct comparison"
"""The name of the format, which the JSON object of a comparison states."""

DESCRIPTION, PARTS = "comparison.json", "parts"

Model = TypeVar("Model")
"""The type of a trained part."""

Text = TypeVar("Text")
Found = TypeVar("Found")


class ComparisonFolderError(UserError, ValueError):
    """A folder that cannot be written or continued; the message is one line and names the folder."""


class Trained(NamedTuple, Generic[Model]):
    """A trained part.

    :ivar model: the trained model, parser or tagger.
    :ivar seconds: how long its training took.
    """

    model: Model
    seconds: float


def checksum(texts: Iterable[str]) -> str:
    """A checksum of data that stands in texts."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode())
    return digest.hexdigest()


class Parts(Protocol):
    """A model that can be taken apart to be saved."""

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """The model as plain JSON types and tensors."""


Taken = TypeVar("Taken", bound=Parts)


def save_parts(model: Parts, place: Path) -> None:
    """Write a model to a model file."""
    write_model_file(place, *model.to_parts())


def load_parts(place: Path, from_parts: Callable[..., Model], *more: Any) -> Model:
    """Read back a model that `save_parts` wrote.

    :param from_parts: makes the model of its plain types, its tensors, and ``more``.
    :raises ModelFileError: if the file is damaged, or holds another kind of model.
    """
    parts = read_model_file(place)
    try:
        return from_parts(*parts, *more)
    except ValueError as error:
        raise ModelFileError(f"{place}: {error}") from error


def timed(read: Callable[[Sequence[Text]], Found], texts: Sequence[Text]) -> tuple[Found, float]:
    """The result of a system for some texts, and the seconds of processor time that it took.

    The first text is read before: this compiles code, and looks weights up for the first time.
    """
    read(texts[:1])
    began = time.process_time()
    found = read(texts)
    return found, max(time.process_time() - began, 1e-9)


@dataclass
class Runner:
    """Trains parts, or loads them from the folder of the comparison if they were trained before.

    The folder has each part in ``parts``; ``comparison.json``, with the data, the settings, the seconds of
    training and in the end the results; and the files of the results for people.

    :ivar path: the folder, which is made if it does not exist; None to keep nothing.
    :ivar checksums: the checksums of the treebanks, by name.
    :ivar settings: the settings of the comparison.
    :ivar clock: measures the seconds of training.
    :raises ComparisonFolderError: if the folder cannot be written to, holds other things, or is of a
        comparison whose parts were trained on other data or with other settings.
    """

    path: Path | None
    checksums: Mapping[str, str]
    settings: ExperimentSettings
    clock: Callable[[], float] = time.monotonic
    _seconds: dict[str, float] = field(default_factory=dict, init=False)
    _trained: dict[str, Trained[Any]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if self.path is None:
            return
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if (self.path / DESCRIPTION).exists():
                self._seconds = self._go_on(self.path)
            elif any(self.path.iterdir()):
                raise ComparisonFolderError(
                    f"{self.path}: holds other things than a comparison; choose another folder"
                )
        except OSError as error:
            raise _cannot_write(self.path, error) from error
        self._write_description({})

    @classmethod
    @contextmanager
    def alone(
        cls,
        path: str | Path | None,
        checksums: Mapping[str, str],
        settings: ExperimentSettings,
        clock: Callable[[], float] = time.monotonic,
    ) -> Iterator["Runner"]:
        """A runner in a folder that no other process uses meanwhile.

        :raises ComparisonFolderError: if another process uses it, or as for a new `Runner`.
        """
        folder = None if path is None else Path(path)
        with ExitStack() as stack:
            if folder is not None:
                try:
                    folder.mkdir(parents=True, exist_ok=True)
                    alone = stack.enter_context(held(folder))
                except OSError as error:
                    raise _cannot_write(folder, error) from error
                if not alone:
                    raise ComparisonFolderError(
                        f"{folder}: another process is comparing there: wait, or choose another --out"
                    )
            yield cls(folder, checksums, settings, clock)

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
            raise ComparisonFolderError(
                f"{path}: is damaged, or not of a {FORMAT}: {kind}: {error}"
            ) from error
        now = self.settings.to_json()
        expected = {**self.checksums, **{name: now[name] for name in self.settings.TRAINING}}
        others = [name for name, value in expected.items() if name not in known or known[name] != value]
        if others:
            raise ComparisonFolderError(
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
        """A part, trained now unless it was trained before.

        It is always saved and loaded, even if nothing is kept, since saving may round weights.

        :param name: its name, and that of its file in ``parts``.
        :raises ComparisonFolderError: if a saved part is damaged.
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
                    raise ComparisonFolderError(
                        f"{error}; delete {place}, and the same command trains it again"
                    ) from error
        return self._trained[name]

    def trained_parts(
        self, name: str, train: Callable[[], Taken], from_parts: Callable[..., Taken], *more: Any
    ) -> Trained[Taken]:
        """As `trained` for a model that can be taken apart; see `load_parts`."""
        return self.trained(name, train, save_parts, lambda place: load_parts(place, from_parts, *more))

    def write(self, results: Comparison) -> None:
        """Write the results into the folder, if there is one.

        :raises ComparisonFolderError: if they cannot be written.
        """
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
            raise ComparisonFolderError(f"{path}: cannot be written: {error.strerror}") from error


def _cannot_write(path: Path, error: OSError) -> ComparisonFolderError:
    return ComparisonFolderError(f"{path}: cannot write there: {error.strerror}")
