"""Text inside of tables and of lines of JSON: columns or keys are rewritten, all else stays as written."""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from pyropunct.errors import InputError
from pyropunct.text.passages import Reject, Rewrite, TextWithLine, flaw, spliced

NO_QUOTE = "\n"
"""For tables without quotes: no cell holds a line feed."""


class _Cell(NamedTuple):
    """Where a cell of a table is written; its line is counted from 1, its row and column from 0."""

    start: int
    end: int
    line: int
    row: int
    column: int


def rewrite_csv(text: str, rewrite: Rewrite, reject: Reject, *fields: str) -> str:
    """A table in CSV with columns rewritten; other cells keep their quotes.

    Commas, semicolons or tabs separate the cells, whichever the first line has most outside of quotes;
    or what a line such as ``sep=;`` before the names says.  Rows with more cells than names are rejected.

    :raises InputError: if there is no such column, or a cell begins with a quote and goes on behind it.
    """
    first = text.partition("\n")[0]
    said = re.fullmatch(r'sep=([^\w"])', first)
    delimiter = said[1] if said else max(",;\t", key=re.sub('"[^"]*"', "", first).count)
    return _rewritten(text, rewrite, reject, fields, delimiter, '"', 1 if said else 0)


def rewrite_tsv(text: str, rewrite: Rewrite, reject: Reject, *fields: str) -> str:
    """A table with tabs and columns rewritten, in which quotes are characters like others.

    Rows with more cells than names are rejected.

    :raises InputError: if there is no such column.
    """
    return _rewritten(text, rewrite, reject, fields, "\t", NO_QUOTE)


def _rewritten(
    text: str,
    rewrite: Rewrite,
    reject: Reject,
    fields: Sequence[str],
    delimiter: str,
    quote: str,
    header: int = 0,
) -> str:
    """A table with columns rewritten; its row ``header`` has the names."""

    def value(cell: _Cell) -> str:
        written = text[cell.start : cell.end]
        return written[1:-1].replace(2 * quote, quote) if written[:1] == quote else written

    cells = list(_cells(text, delimiter, quote))
    names = [value(cell) for cell in cells if cell.row == header]
    if not fields or not set(fields).issubset(names):
        raise _no_field("column", fields, names)
    columns = set(map(names.index, fields))
    more = {cell.row for cell in cells if cell.column >= len(names) and value(cell)}
    chosen = list[_Cell]()
    for cell in cells:
        if cell.row > header and cell.column in columns and value(cell):
            if cell.row in more:
                reject(cell.line, f"has more cells than there are names of columns, {len(names)}")
            else:
                chosen.append(cell)
    old = [TextWithLine(value(cell), cell.line) for cell in chosen]
    changes = list[tuple[int, int, str]]()
    for cell, found, new in zip(chosen, old, rewrite(old), strict=True):
        if new != found.text:
            # A quote inside of a cell that had none around it stays alone.
            odd = new.startswith(quote) or new.count(quote) > found.text.count(quote)
            if text.startswith(quote, cell.start) or odd or delimiter in new or "\n" in new:
                new = quote + new.replace(quote, 2 * quote) + quote
            changes.append((cell.start, cell.end, new))
    return spliced(text, changes)


def _cells(text: str, delimiter: str, quote: str) -> Iterator[_Cell]:
    """The cells of a table; raises InputError for a cell in quotes that does not end with a quote."""
    plain, quoted = re.compile(rf"[^{re.escape(delimiter)}\n]*"), re.compile(rf"{quote}[^{quote}]*")
    at, line, row, column = 0, 1, 0, 0
    while True:
        start, begins = at, line
        if quote != NO_QUOTE and text.startswith(quote, at):
            while match := quoted.match(text, at):  # a doubled quote begins a further piece
                at = match.end() + 1
            line += text.count("\n", start, at)
            if at > len(text):
                raise InputError(f"line {begins}: a cell begins with a quote that nothing closes")
        elif match := plain.match(text, at):
            at = match.end()
        if at < len(text) and text[at] not in (delimiter, "\n"):
            raise InputError(
                f"line {line}: a cell goes on behind its closing quote (double quotes in a cell)"
            )
        yield _Cell(start, at, begins, row, column)
        if at >= len(text):
            return
        row, column, line = (row, column + 1, line) if text[at] == delimiter else (row + 1, 0, line + 1)
        at += 1


def _no_field(what: str, fields: Sequence[str], names: Collection[str]) -> InputError:
    known = ", ".join(names)
    if not fields:
        return InputError(f"say which {what} holds the text, by --field ({known})")
    field = next((field for field in fields if field not in names), fields[0])
    return InputError(f"there is no {what} {field!r}: name one by --field ({known})")


_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)
"""Numbers may have any size: nothing is computed with them."""


def rewrite_json_lines(text: str, rewrite: Rewrite, reject: Reject, *fields: str) -> str:
    """Lines of JSON objects with texts rewritten; other lines are rejected.

    :raises InputError: if no line has the text.
    """
    lines, names, texts = text.split("\n"), dict[str, None](), list[tuple[TextWithLine, slice]]()
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                plain = _object(line)
            except ValueError as error:
                reject(number, str(error))
                continue
            names |= dict.fromkeys(plain)
            for field in dict.fromkeys(fields):
                found = plain.get(field)
                if not isinstance(found, str):
                    continue
                if problem := flaw(found):
                    reject(number, problem)
                else:
                    texts.append((TextWithLine(found, number), _place_of_value(line, field)))
    if not texts:
        raise _no_field("text", fields, names)
    texts.sort(key=lambda text: (text[0].line, text[1].start))
    news = rewrite([found for found, _ in texts])
    for ((before, number), place), new in reversed([*zip(texts, news, strict=True)]):  # places stay right
        if new != before:
            line = lines[number - 1]
            quoted = json.dumps(new, ensure_ascii=line.isascii())
            lines[number - 1] = line[: place.start] + quoted + line[place.stop :]
    return "\n".join(lines)


def _object(line: str) -> dict[str, Any]:
    """The JSON object in a line; raises a `ValueError` that says what is wrong with it."""
    try:
        plain = _DECODER.decode(line)
    except RecursionError:
        raise ValueError("is JSON that is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"is no JSON: {error}") from None
    if not isinstance(plain, dict):
        raise ValueError("is no JSON object")
    return plain


def _place_of_value(line: str, field: str) -> slice:
    """Where the value of a key stands in a JSON object. If the key is there twice, the last one counts."""
    found = slice(0)
    at = _behind_gap(line, line.index("{") + 1)
    while line[at] != "}":
        name, at = _DECODER.raw_decode(line, at)
        start = _behind_gap(line, at)
        _, at = _DECODER.raw_decode(line, start)
        found = slice(start, at) if name == field else found
        at = _behind_gap(line, at)
    return found


def _behind_gap(line: str, at: int) -> int:
    """The place ``at``, or that behind the white space, commas and colons that begin there."""
    gap = re.compile(r"[\s,:]*").match(line, at)
    assert gap is not None
    return gap.end()
