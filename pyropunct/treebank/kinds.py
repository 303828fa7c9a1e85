"""Whether a text is CoNLL-U or raw."""

import re
from collections.abc import Iterator
from itertools import chain

from pyropunct.treebank.conllu_reader import is_comment

LINES_LOOKED_AT = 1000
"""The most comments and blank lines before the line by which CoNLL-U and raw text are distinguished."""

_TOKEN_LINE = re.compile(r"\d+(?:[-.]\d+)?\t.*\t")


def recognised(lines: Iterator[bytes], name: str) -> tuple[Iterator[bytes], str]:
    """The lines again, and whether they are "text" or "conllu".

    They are CoNLL-U if the file is called so, or if the first line that is neither blank nor a comment starts
    with an id and has tabs.
    """
    if name.endswith(".conllu"):
        return lines, "conllu"
    seen: list[bytes] = []
    for read in lines:
        seen.append(read)
        line = read.decode(errors="surrogateescape").removeprefix("\ufeff")
        if _TOKEN_LINE.match(line):
            return chain(seen, lines), "conllu"
        if (line.strip() and not is_comment(line)) or len(seen) == LINES_LOOKED_AT:
            break
    return chain(seen, lines), "text"
