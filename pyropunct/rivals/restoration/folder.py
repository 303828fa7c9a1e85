"""The folder of a comparison, which keeps its results and its trained parts."""

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from pyropunct.files import held, json_text, written_whole
from pyropunct.fitted.model_file import ModelFileError
from pyropunct.rivals.restoration.comparison import Comparison
from pyropunct.rivals.restoration.findings import FORMAT
from pyropunct.rivals.restoration.parts import Part
from pyropunct.rivals.restoration.settings import Settings
from pyropunct.treebank.sentence import Sentence

DESCRIPTION, TABLE, PLOT, PARTS = "comparison.json", "comparison.md", "comparison.svg", "parts"


class ComparisonFolderError(ModelFileError):
    """A folder that cannot be written or continued; the message is one line and names the folder."""


class Trained(NamedTuple):
    """A trained part.

    :ivar model: the trained model, parser or tagger.
    :ivar seconds: how long its training took.
    """

    model: Any
    seconds: float


def checksum(sentences: Iterable[Sentence]) -> str:
    """A checksum of some sentences, with their trees and punctuation."""
    digest = hashlib.sha256()
    for sentence in sentences:
        digest.update(repr((sentence.tree, sentence.surface)).encode())
        digest.update(sentence.conllu().encode())
    return digest.hexdigest()


def train_timed(train: Callable[[], Any]) -> Trained:
    """Train something and measure how long it takes."""
    began = time.monotonic()
    return Trained(train(), time.monotonic() - began)


class ComparisonFolder:
    """Keeps each trained part as a model folder in ``parts``.

    ``comparison.json`` records the data and settings and, in the end, the results.  The results are also in
    ``comparison.md`` and ``comparison.svg``.

    :param path: the folder; it is made if it does not exist.
    :param checksums: the checksums of the treebanks, by name.
    :param settings: the settings of this comparison.
    :raises ComparisonFolderError: if it cannot be written to, holds other things, or is of a comparison
        whose parts were trained on other data or with other settings.
    """

    def __init__(self, path: Path, checksums: Mapping[str, str], settings: Settings) -> None:
        self.path, self._settings = path, settings
        self._content: dict[str, Any] = {
            "format": FORMAT,
            "checksums": dict(checksums),
            "settings": settings.to_json(),
            "parts": {},
        }
        try:
            path.mkdir(parents=True, exist_ok=True)
            if (path / DESCRIPTION).exists():
                self._content = self._go_on(checksums, settings)
            elif any(path.iterdir()):
                raise ComparisonFolderError(
                    f"{path}: holds other things than a comparison; choose another folder"
                )
        except OSError as error:
            raise _cannot_write(path, error) from error
        self._write()

    @classmethod
    @contextmanager
    def alone(
        cls, path: Path, checksums: Mapping[str, str], settings: Settings
    ) -> Iterator["ComparisonFolder"]:
        """Such a folder, which no other process uses meanwhile.

        :raises ComparisonFolderError: if another process uses it, or as for a new `ComparisonFolder`.
        """
        with ExitStack() as stack:
            try:
                path.mkdir(parents=True, exist_ok=True)
                alone = stack.enter_context(held(path))
            except OSError as error:
                raise _cannot_write(path, error) from error
            if not alone:
                raise ComparisonFolderError(
                    f"{path}: another process is comparing there: wait, or choose another --out"
                )
            yield cls(path, checksums, settings)

    def _go_on(self, checksums: Mapping[str, str], settings: Settings) -> dict[str, Any]:
        """The record of the parts that exist already."""
        path = self.path / DESCRIPTION
        try:
            content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            if content["format"] != FORMAT or not isinstance(content["parts"], dict):
                raise ValueError("it has another format")
            others = [name for name, value in checksums.items() if content["checksums"][name] != value]
            others += settings.differences(content["settings"])
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            kind = type(error).__name__
            raise ComparisonFolderError(
                f"{path}: is damaged, or not of a {FORMAT}: {kind}: {error}"
            ) from error
        if others:
            raise ComparisonFolderError(
                f"{self.path}: its parts were trained on other data or with other settings "
                f"({', '.join(others)}); repeat the command that began it, or choose another folder"
            )
        return content

    def has(self, name: str) -> bool:
        """Whether a part was trained before."""
        return name in self._content["parts"] and (self.path / PARTS / name).exists()

    def trained(self, name: str, part: Part[Any], train: Callable[[], Any]) -> Trained:
        """A part that was trained before, or that is trained and saved now.

        :param name: its folder in ``parts``.
        :param part: how it is saved and loaded.  The returned part is always a loaded one, so that it does
            not depend on when it was trained.
        :param train: trains it.
        :raises ComparisonFolderError: if a saved part is damaged.
        """
        folder, seconds = self.path / PARTS / name, self._content["parts"]
        if not self.has(name):
            made = train_timed(train)
            part.save(made.model, folder)
            seconds[name] = made.seconds
            self._write()
        try:
            return Trained(part.load(folder, self._settings), seconds[name])
        except ValueError as error:
            raise ComparisonFolderError(
                f"{error}; delete {folder}, and the same command trains it again"
            ) from error

    def write(self, results: Comparison) -> None:
        """Write the results as JSON, Markdown and SVG.

        :raises ComparisonFolderError: if they cannot be written.
        """
        self._replace(TABLE, results.to_markdown().encode())
        self._replace(PLOT, results.to_svg())
        self._content = {**results.to_json(), "parts": self._content["parts"]}
        self._write()

    def _write(self) -> None:
        self._replace(DESCRIPTION, json_text(self._content, indent=1).encode())

    def _replace(self, name: str, content: bytes) -> None:
        """Replace a file atomically: after a failure the old content is intact."""
        path = self.path / name
        try:
            with written_whole(path) as stream:
                stream.write(content)
        except OSError as error:
            raise ComparisonFolderError(f"{path}: cannot be written: {error.strerror}") from error


def _cannot_write(path: Path, error: OSError) -> ComparisonFolderError:
    return ComparisonFolderError(f"{path}: cannot write there: {error.strerror}")
