"""The files of a corpus: text or CoNLL-U, plain or compressed."""

import glob
import gzip
import io
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from pyropunct.errors import InputError, installing
from pyropunct.text.lines import LONGEST_LINE, STANDARD_INPUT, TextPart, is_device, standard_input

TEXT, CONLLU = (".txt", ".text"), (".conllu", ".conllup")
"""How the names of raw text and of CoNLL-U end, before what says that they are compressed."""

COMPRESSED = (".gz", ".zst")

AT_ONCE = 512
"""Bytes of Zstandard that are decompressed at once; few, since four bytes can decompress to 128 kB."""


def kind_of(file: str) -> str | None:
    """The format of a file, "text" or "conllu", by its name; None if unknown."""
    name = without_compression(Path(file).name.lower())
    kinds = {"text": TEXT, "conllu": CONLLU}
    return next((kind for kind, endings in kinds.items() if name.endswith(endings)), None)


def files_of(given: str, any_name: bool = False, conllu: bool = False) -> list[str]:
    """The files of a corpus, sorted by path.

    :param given: a folder, searched recursively without hidden files; a file; or a pattern such as
        ``texts/**/*.txt.gz``.
    :raises InputError: if there is none, or one is neither text nor CoNLL-U by its name.
    """
    place = Path(given)
    if place.is_dir():
        inside = [path.relative_to(place) for path in place.rglob("*") if path.is_file()]
        shown = (path for path in inside if not any(part.startswith(".") for part in path.parts))
        found = [str(place / path) for path in shown]
        for file in found:
            if not Path(file).resolve().is_relative_to(place.resolve()):
                raise InputError(
                    f"{file}: is a link that leads out of {given}: copy the file, or take the link away"
                )
    elif place.exists():
        found = [given]
    else:
        found = [file for file in glob.glob(given, recursive=True) if Path(file).is_file()]
    if not found:
        raise InputError(f"{given}: there is no file" + (" in it" if place.is_dir() else " of this name"))
    found.sort(key=lambda file: Path(file).parts)
    for file in found:
        if not any_name and (kind_of(file) is None or (conllu and kind_of(file) != "conllu")):
            endings = ", ".join(CONLLU if conllu else (*TEXT, *CONLLU))
            raise InputError(
                f"{file}: is {'not' if conllu else 'neither text nor'} CoNLL-U by its name ({endings}, and "
                f"perhaps {' or '.join(COMPRESSED)}): take it away, or give a pattern of the files meant"
            )
    return found


def without_compression(file: str) -> str:
    """The name of a file without the ending of its compression."""
    for ending in COMPRESSED:
        if file.lower().endswith(ending):
            file = file[: -len(ending)]
    return file


def files_of_several(given: Iterable[str]) -> list[str]:
    """The files of several corpora; ``-`` is standard input.  Raises the errors of `files_of`."""
    found = ([name] if name == "-" else files_of(name, any_name=Path(name).is_file()) for name in given)
    return [file for files in found for file in files]


def parts_of(files: Iterable[str]) -> Iterator[TextPart]:
    """The texts of files, opened one at a time; raises the errors of `contents`."""
    for file in files:
        if file == "-":
            yield TextPart(standard_input(), STANDARD_INPUT)
            continue
        with contents(file) as stream:
            yield TextPart(cast(BinaryIO, _Read(stream, file)), file, kind_of(file) or "auto")


class _Read:
    """A stream whose errors name the file, even after the function that opened it has returned."""

    def __init__(self, stream: BinaryIO, file: str) -> None:
        self._stream, self._file = stream, file

    def read1(self, size: int) -> bytes:
        """The bytes at hand."""
        with _named(self._file):
            found: bytes = self._stream.read1(size)  # type: ignore[attr-defined]  # as all streams here
            return found


@contextmanager
def contents(file: str) -> Iterator[BinaryIO]:
    """The decompressed bytes of a file; raises `InputError` for a damaged file or a device."""
    with _named(file), open(file, "rb") as stored:
        if is_device(stored):
            raise InputError(f"{file}: is a device, not a file")
        if file.lower().endswith(".gz"):
            yield io.BufferedReader(_Bounded(gzip.GzipFile(fileobj=stored).read, file))
        elif file.lower().endswith(".zst"):
            yield io.BufferedReader(_Bounded(_Zstandard(stored, file).read, file))
        else:
            yield stored


@contextmanager
def _named(file: str) -> Iterator[None]:
    """Turn errors of reading into a one-line `InputError` with the name of the file."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error, _DamagedError) as error:
        raise InputError(f"{file}: cannot be decompressed: {error}") from error
    except FileNotFoundError:
        raise InputError(f"{file}: there is no such file") from None


class _DamagedError(ValueError):
    """Compressed data are truncated or in another format."""


class _Bounded(io.RawIOBase):
    """The content of a compressed file, as long as it can be text, as a guard against compression bombs."""

    def __init__(self, read: Callable[[int], bytes], file: str) -> None:
        self._read, self._file, self._unbroken = read, file, 0

    def readable(self) -> bool:
        """True: it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with what comes next."""
        with _named(self._file):  # a file that is no gzip raises an OSError, which would pass for a bad line
            some = self._read(len(buffer))
        buffer[: len(some)] = some
        behind = len(some) - 1 - max(map(some.rfind, (b"\n", b" ", b"\t")))
        self._unbroken = behind + (self._unbroken if behind == len(some) else 0)
        if self._unbroken > LONGEST_LINE:
            raise InputError(f"{self._file}: holds a megabyte without white space (is this text?)")
        return len(some)


class _Zstandard:
    """The content of one or more Zstandard frames; a truncated frame is an error."""

    def __init__(self, stored: BinaryIO, file: str) -> None:
        try:
            import zstandard
        except ModuleNotFoundError:
            raise InputError(f"{file}: reading .zst needs zstandard: {installing('corpus')}") from None
        self._library, self._stored = zstandard, stored
        self._frame: Any = None
        self._rest, self._found = b"", memoryview(b"")

    def read(self, size: int) -> bytes:
        """The next bytes, at most this many."""
        while not self._found and self._decompress():
            pass
        some, self._found = self._found[:size], self._found[size:]
        return bytes(some)

    def _decompress(self) -> bool:
        """Decompress more; returns whether there was any."""
        stored = self._rest or self._stored.read(AT_ONCE)
        if not stored:
            if self._frame is not None:
                raise _DamagedError("it is cut off")
            return False
        if self._frame is None:
            self._frame = self._library.ZstdDecompressor().decompressobj()
        try:
            self._found, self._rest = memoryview(self._frame.decompress(stored)), b""
        except self._library.ZstdError as error:
            raise _DamagedError(str(error)) from error
        if self._frame.eof:
            self._rest, self._frame = self._frame.unused_data, None
        return True
