"""Rewrites the text inside of other files, such as subtitles, by the work of a command on plain text."""

import io
import re
import warnings
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TextIO

from pyropunct.cli import console
from pyropunct.errors import InputError, UserError
from pyropunct.text.fields import rewrite_csv, rewrite_json_lines, rewrite_tsv
from pyropunct.text.lines import TextPart, TreebankError
from pyropunct.text.passages import TextWithLine, rewrite_markdown, rewrite_subtitles
from pyropunct.text.transcripts import rewrite_json

if TYPE_CHECKING:
    from pyropunct.cli.sources import Work

LARGEST = 1 << 26
"""The most bytes of such a file, which is in memory as a whole."""

KINDS = {
    "srt": rewrite_subtitles,
    "vtt": rewrite_subtitles,
    "md": rewrite_markdown,
    "csv": rewrite_csv,
    "tsv": rewrite_tsv,
    "jsonl": rewrite_json_lines,
    "json": rewrite_json,
}
"""How files are rewritten, by the ends of their names."""

RUNNING = frozenset({"srt", "vtt", "md", "json"})
"""The kinds whose passages are running text."""


def kind_of(file: str, wanted: str) -> str:
    """The wanted kind of a file; if that is "auto" and its name ends with one of `KINDS`, that one."""
    suffix = Path(file).suffix.lower().removeprefix(".")
    return suffix if wanted == "auto" and suffix in KINDS else wanted


def _read_text(stream: BinaryIO, name: str) -> str:
    """The text of a file; raises InputError if it is too large, is not UTF-8, or has no line feeds."""
    content = stream.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise InputError(f"{name}: is larger than {LARGEST >> 20} MB")
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise TreebankError(name, "is not UTF-8 (save the file as UTF-8)", line) from None
    if "\r" in text and "\n" not in text:
        raise InputError(f"{name}: its lines end with a carriage return (save it with line feeds)")
    return text


def rewrite_enclosed(
    work: "Work", stream: BinaryIO, name: str, kind: str, fields: Sequence[str], out: TextIO
) -> None:
    """Write a file with the text in it rewritten; what cannot be rewritten stays as it was.

    :param work: on text in which blank lines part paragraphs; it keeps all lines.
    :raises InputError: before anything is written, if the file is of another kind.
    :raises UserError: after all is written, if some of the text stays as it was.
    """
    text = _read_text(stream, name)
    mark = text[: text.startswith("\ufeff")]
    ends = re.findall(r"\r?\n", text)
    rejected, problems = 0, list[UserError]()

    def reject(line: int, problem: str) -> None:
        nonlocal rejected
        rejected += 1
        console.tell(f"pyropunct: {TreebankError(name, problem, line)}; it is left as it was")

    def rewrite(texts: Sequence[TextWithLine]) -> list[str]:
        """The rewritten texts, each of which may have several lines."""
        lines = [(part, found.line) for found in texts for part in (*found.text.split("\n"), "")]
        given, new = "\n".join(part for part, _ in lines), io.StringIO()
        part = TextPart(io.BytesIO(given.encode()), name, "text", lines=[line for _, line in lines])
        try:
            work(part, new)
        except UserError as error:  # at the end, in most cases
            problems.append(error)
        left = iter(new.getvalue().split("\n"))
        try:
            return ["\n".join([next(left) for _ in (*one.text.split("\n"), "")][:-1]) for one in texts]
        except StopIteration:
            raise problems[0] from None

    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always", UserWarning)
        try:
            new = KINDS[kind](text.removeprefix(mark).replace("\r\n", "\n"), rewrite, reject, *fields)
        except InputError as error:
            raise error if error in problems else InputError(f"{name}: {error}") from error
    for note in notes:
        console.tell(f"pyropunct: {name}: {note.message}")
    out.write(mark + "".join(chain.from_iterable(zip(new.split("\n"), [*ends, ""], strict=True))))
    if problems:
        raise problems[0]
    if rejected:
        raise UserError(f"{name}: {rejected} left as they were because of errors")
