"""Rewrites the text inside of other files, such as subtitles, by the work of a command on plain text."""

import io
import re
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import BinaryIO, TextIO

from pyropunct.cli.shards import Work
from pyropunct.errors import InputError
from pyropunct.text.lines import TextPart, TreebankError
from pyropunct.text.passages import KINDS

LARGEST = 1 << 26
"""The most bytes of such a file, which is in memory as a whole."""


def kind_of(file: str, wanted: str) -> str:
    """The wanted kind of a file; if that is "auto" and its name ends with one of `KINDS`, that one."""
    suffix = Path(file).suffix.lower().removeprefix(".")
    return suffix if wanted == "auto" and suffix in KINDS else wanted


def rewrite_enclosed(
    work: Work, stream: BinaryIO, name: str, kind: str, field: str | None, out: TextIO
) -> None:
    """Write a file with the text in it rewritten.  Raises InputError if it is of another kind.

    :param work: on text in which blank lines part paragraphs; it keeps all lines.
    """
    content = stream.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise InputError(f"{name}: is larger than {LARGEST >> 20} MB")
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise TreebankError(name, "is not UTF-8 (save the file as UTF-8)", line) from None
    mark = text[: text.startswith("\ufeff")]
    ends = re.findall(r"\r?\n", text)

    def rewrite(texts: Sequence[str]) -> list[str]:
        """The rewritten texts, each of which may have several lines."""
        lines, new = [line for one in texts for line in (*one.split("\n"), "")], io.StringIO()
        work(TextPart(io.BytesIO("\n".join(lines).encode()), name, "text"), new)
        left = iter(new.getvalue().split("\n"))
        return ["\n".join([next(left) for _ in (*one.split("\n"), "")][:-1]) for one in texts]

    try:
        new = KINDS[kind](text.removeprefix(mark).replace("\r\n", "\n"), rewrite, field)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    lines = new.split("\n")[: len(ends) + 1]  # tables get an end that the file may lack
    out.write(mark + "".join(chain.from_iterable(zip(lines, [*ends, ""], strict=True))))
