"""CoNLL-U or raw text: what a file is, by its name or its first lines."""

import re
from collections.abc import Iterator
from itertools import chain

from pyropunct.text.inputs import CONLLU
from pyropunct.treebank.columns import names_columns
from pyropunct.treebank.conllu_block import is_comment

LINES_LOOKED_AT = 1000
"""The most comments and blank lines before the line by which CoNLL-U and raw text are distinguished."""

_TOKEN_LINE = re.compile(r"\d+(?:[-.]\d+)?\t.*\t")


def recognised(lines: Iterator[bytes], name: str) -> tuple[Iterator[bytes], str]:
    """The lines, and their format: "conllu" by the name, or if the first line has an id and tabs.

    The format is "conllu" too if the first line names the columns of CoNLL-U Plus.
    """
    if name.endswith(CONLLU):
        return lines, "conllu"
    seen: list[bytes] = []
    for read in lines:
        seen.append(read)
        line = read.decode(errors="surrogateescape").removeprefix("\ufeff")
        if _TOKEN_LINE.match(line) or (len(seen) == 1 and names_columns(line)):
            return chain(seen, lines), "conllu"
        if (line.strip() and not is_comment(line)) or len(seen) == LINES_LOOKED_AT:
            break
    return chain(seen, lines), "text"
