"""Shards: how files are cut, and how a shard is processed.

Concatenated, the shards equal the output of the command run on the whole file.  So each knows the line, byte
and sentence at which it begins, and no line or sentence is cut.
"""

import hashlib
import io
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, NamedTuple, Protocol, TextIO, cast

from pyropunct.errors import InputError
from pyropunct.files import digest_of, written_whole
from pyropunct.shipped import place_of
from pyropunct.text.inputs import COMPRESSED, contents, without_compression
from pyropunct.text.lines import SIZE, ByteLines, Start, TextPart, TreebankError, decoded, visible
from pyropunct.treebank.columns import names_columns
from pyropunct.treebank.conllu_block import is_comment
from pyropunct.treebank.recognising import recognised

LARGEST = 64 << 20
"""The bytes of its text behind which a shard ends, however few its sentences are."""

REJECTS = ".rejects.tsv"
"""The end of the name of the file beside a shard that lists what could not be used."""


Reject = Callable[[TreebankError], None]
"""Takes what is wrong with a line or a sentence."""


class Work(Protocol):
    """A task on texts with a loaded model; a sentence's result depends only on its own text."""

    def __call__(
        self,
        part: TextPart,
        out: TextIO,
        reject: Reject | None = None,
        advance: Callable[[], None] = lambda: None,
    ) -> None:
        """Write the results of a text.

        :param reject: called with the problem of each unusable line or sentence; by default the user is told,
            and unreadable input raises an error.
        :param advance: called after each part of the text.
        """
        ...


class Shard(NamedTuple):
    """A part of a file.

    :ivar number: from 1, in the whole corpus.
    :ivar sentences: the number of sentences; in raw text, of lines.
    :ivar checksum: of its text when the file was cut.
    """

    number: int
    file: str
    kind: str
    start: Start
    size: int
    sentences: int
    checksum: str
    name: str = ""


class CutFile(NamedTuple):
    """A file, the checksum of its decompressed text, and its unnumbered shards."""

    file: str
    kind: str
    checksum: str
    shards: tuple[Shard, ...]


def cut(file: str, kind: str, most: int, whole_paragraphs: bool = False) -> CutFile:
    """Read a file through, and cut it into shards; raises `InputError` if it cannot be read.

    :param most: the most sentences (lines of raw text) of a shard.
    :param whole_paragraphs: cut raw text only at blank lines, for running text; shards may then be longer.
    """
    with contents(file) as stream:
        lines, checksum = cast(Iterator[bytes], ByteLines(stream)), hashlib.sha256()
        if kind == "auto":
            lines, kind = recognised(lines, without_compression(file))
        counted = _Sentences(file) if kind == "conllu" else _Lines(whole_paragraphs)
        shards, start, own = list[Shard](), Start(), hashlib.sha256()

        def end(sentences: int, size: int) -> None:
            shards.append(Shard(0, file, kind, start, size, sentences, own.hexdigest()))

        for line in lines:
            checksum.update(line)
            own.update(line)
            if counted.ends(line):
                here = counted.place
                size = here.offset - start.offset
                if here.sentence - start.sentence >= most or size >= LARGEST:
                    end(here.sentence - start.sentence, size)
                    start, own = here, hashlib.sha256()
        counted.finish()
        rest = counted.place.sentence - start.sentence
        if rest:
            end(rest, counted.place.offset - start.offset)
        return CutFile(file, kind, checksum.hexdigest(), tuple(shards))


class _Lines:
    """Counts lines of raw text; ``whole_paragraphs`` as for `cut`."""

    def __init__(self, whole_paragraphs: bool) -> None:
        self._whole_paragraphs, self._whole = whole_paragraphs, True
        self.place = Start()

    def ends(self, line: bytes) -> bool:
        """Count a line, or a piece of one; returns whether the text can be cut behind it."""
        starts, self._whole = self._whole, line.endswith(b"\n")
        number, offset, sentence = self.place
        self.place = Start(number + self._whole, offset + len(line), sentence + starts)
        return self._whole and not (self._whole_paragraphs and line.strip())

    def finish(self) -> None:
        """There are no more."""


class _Sentences:
    """Counts sentences of CoNLL-U, as `pyropunct.treebank.reading.sentences_or_errors` does.

    CoNLL-U Plus is not cut: its first line names the columns.
    """

    def __init__(self, file: str) -> None:
        self._file, self._whole, self._inside, self._plus = file, True, False, False
        self.place = Start()

    def ends(self, line: bytes) -> bool:
        """Count a line, or a piece of one; returns whether the text can be cut behind it."""
        text = self._text(line) if self._whole else None
        self._plus = self._plus or (not self.place.sentence and names_columns(text or ""))
        blank = text is not None and not text.strip()
        done = blank and self._inside
        self._inside = not blank and (self._inside or text is None or not is_comment(text))
        self._whole = line.endswith(b"\n")
        number, offset, sentence = self.place
        self.place = Start(number + self._whole, offset + len(line), sentence + done)
        return blank and not self._plus

    def _text(self, line: bytes) -> str | None:
        """A line as text, None if it cannot be read."""
        try:
            return decoded(line, self._file, self.place.line, self.place.offset)
        except TreebankError:
            return None

    def finish(self) -> None:
        """There are no more lines, so that the last sentence is done."""
        self.place = self.place._replace(sentence=self.place.sentence + self._inside)
        self._inside = False


class Job(NamedTuple):
    """A task on all shards.

    :ivar work: ``module:function``, where the function takes a model and settings and returns a `Work`.
    """

    work: str
    model: str
    model_checksum: str
    settings: tuple[tuple[str, Any], ...]
    threads: int
    out: str
    ending: str

    def path(self, shard: Shard) -> Path:
        """The result file of a shard."""
        return Path(self.out) / f"{shard.number:08d}-{shard.name}{self.ending}"

    def rejects(self, shard: Shard) -> Path:
        """The file beside it that lists unusable sentences, if any."""
        return Path(self.out) / f"{shard.number:08d}-{shard.name}{REJECTS}"


_ALONE = Lock()
"""A model is not made for several threads at a time."""


def make(job: Job, shard: Shard) -> str | None:
    """Make a shard atomically, beside a list of unusable sentences; returns the reason of a failure."""
    try:
        with _ALONE:
            _write(job, shard, _loaded(job))
    except InputError as error:
        return str(error)
    except Exception as error:  # of any kind: the caller reports it
        if isinstance(error, OSError) and error.strerror:
            return f"{error.filename or 'the shard'}: {error.strerror}"
        return " ".join(f"{type(error).__name__}: {error}".split())
    return None


@lru_cache(maxsize=1)
def _loaded(job: Job) -> Work:
    """The work of a job, with its model, cached; raises `InputError` if the model has changed."""
    import torch

    torch.set_num_threads(job.threads)
    found = file_checksum(place_of(job.model))
    if found != job.model_checksum:
        raise InputError(f"{job.model}: differs from the model of the process that began this run")
    return load_work(job.work, job.model, dict(job.settings))


def load_work(place: str, model: str, settings: Mapping[str, Any]) -> Work:
    """Load a model for the work at ``module:function``."""
    module, _, name = place.partition(":")
    return cast(Work, attrgetter(name)(import_module(module))(model, **settings))


def _write(job: Job, shard: Shard, work: Work) -> None:
    rejected: list[TreebankError] = []
    with written_whole(job.path(shard)) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", errors="surrogateescape", newline="\n")
        with text_of(shard) as of_shard:
            work(TextPart(of_shard, shard.file, shard.kind, shard.start), text, rejected.append)
        text.detach()
        _on_disk(stream)
        # Before the shard gets its name, so that a finished one never lacks its list.
        job.rejects(shard).unlink(missing_ok=True)
        if rejected:
            with written_whole(job.rejects(shard)) as listed:
                for error in rejected:
                    line = "" if error.line is None else error.line
                    listed.write(f"{visible(error.path)}\t{line}\t{error.reason}\n".encode())
                _on_disk(listed)


def _on_disk(stream: BinaryIO) -> None:
    """Flush to disk, to survive a power failure."""
    stream.flush()
    os.fsync(stream.fileno())


@contextmanager
def text_of(shard: Shard) -> Iterator[BinaryIO]:
    """The bytes of a shard; raises `InputError` if its file cannot be read, or has changed."""
    with contents(shard.file) as stream:
        left = shard.start.offset
        if stream.seekable() and not shard.file.lower().endswith(COMPRESSED):
            stream.seek(left)
        else:
            while left and (some := stream.read(min(left, SIZE))):
                left -= len(some)
        section = _Section(stream, shard.size)
        yield cast(BinaryIO, section)
        while section.read1(SIZE):
            pass
        if section.checksum.hexdigest() != shard.checksum:
            raise InputError(f"{shard.file}: has changed since this run began: it would be cut elsewhere")


class _Section:
    """The next ``size`` bytes of a stream."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream, self._left = stream, size
        self.checksum = hashlib.sha256()

    def read1(self, size: int) -> bytes:
        """What is there, at most so many bytes."""
        some = self._stream.read1(min(size, self._left))  # type: ignore[attr-defined]
        self._left -= len(some)
        self.checksum.update(some)
        return bytes(some)

    def fileno(self) -> int:
        """There is none, so nobody waits for more."""
        raise io.UnsupportedOperation("fileno")


def file_checksum(path: Path) -> str:
    """A checksum of a file; raises `InputError` if it does not exist."""
    try:
        return digest_of(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
