"""How commands print their results.

A `Report` is shown as a whole, a `SentenceReport` sentence by sentence.
"""

import io
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import chain, count
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TextIO

from pyropunct.cli import console
from pyropunct.cli.progress import sentence_bar
from pyropunct.errors import UserError
from pyropunct.files import json_text
from pyropunct.limits import Help, Range

if TYPE_CHECKING:
    from pyropunct.tables import Table
    from pyropunct.tasks.explain.examples import Example
    from pyropunct.treebank.preparing import Omission
    from pyropunct.treebank.reading import Treebank
    from pyropunct.treebank.sentence import Sentence

# Modules that are slow to import are imported inside the functions, so that --help answers at once.

TableFormat = Annotated[
    Literal["table", "markdown", "tsv", "json"],
    Help("A table for people, or all digits for programs: values separated by tabs, or JSON."),
]
Examples = Annotated[
    int,
    Range(0),
    Help("Show so many places in FILE for each, according to the best underlying trees."),
]

_SENT_ID = re.compile(r"#\s*sent_id\s*=\s*+.*\S")


@dataclass
class Row:
    """A row of a table for programs, with its entry in JSON and its examples.

    :ivar plain: the entry in JSON.
    :ivar key: the key of its examples.
    :ivar title: the line above its examples.
    :ivar expected: the expected number of places in the sentences.
    :ivar query: a Grew query that finds its places.
    """

    cells: tuple[Any, ...]
    plain: dict[str, Any] = field(default_factory=dict)
    key: Hashable = None
    title: str = ""
    expected: float = 0.0
    query: str | None = None
    examples: "Sequence[Example]" = ()

    def example_lines(self, number: Iterator[int]) -> Iterator[str]:
        """The title and the numbered examples; nothing if the row has neither examples nor places."""
        from pyropunct.tasks.explain.rule_pairs import OCCURRING

        if self.examples or self.expected >= OCCURRING:
            yield ""
            yield self.title if self.examples else f"{self.title}: nowhere in the best underlying trees"
        for example in self.examples:
            yield f"  ({next(number)}) {example.id}: {example.text}"
        if self.examples and self.query is not None:
            yield f"  Grew: {self.query}"


@dataclass
class Report:
    """A result that is shown as a whole: everything in ``plain`` JSON types, or tables and lines for people.

    :ivar columns: the columns of the table for programs, which has all ``rows`` with all digits.
    :ivar prominent: the rows whose examples people see.
    :ivar has_examples: whether the rows were given their examples.
    """

    plain: dict[str, Any]
    text_parts: "Iterable[Table[Any] | str]"
    columns: Sequence[str] = ()
    rows: Sequence[Row] = ()
    prominent: Sequence[Row] = ()
    has_examples: bool = False

    def give(self, examples: "Mapping[Any, Sequence[Example]]") -> None:
        """Give the rows their examples, by their keys."""
        self.has_examples = True
        for row in self.rows:
            row.examples = examples.get(row.key, ())
            row.plain["examples"] = [example._asdict() for example in row.examples]
            row.plain.update({} if row.query is None else {"grew": row.query})

    def show(self, form: str) -> None:
        """Print as "json"; "table" or "text", for people; "tsv"; or "markdown"."""
        if form == "json":
            console.print_json(self.plain)
        elif form == "tsv":
            print(self._table().tsv(), end="")
        elif form == "markdown":
            written = (part.markdown() for part in self.text_parts if not isinstance(part, str))
            print("\n".join(written), end="")
        else:
            number = count(1)
            examples = (row.example_lines(number) for row in self.prominent if self.has_examples)
            for part in chain(self.text_parts, chain.from_iterable(examples)):
                console.say(part) if isinstance(part, str) else console.show_table(part)

    def _table(self) -> "Table[Any]":
        """A line for each row, or for each example of it."""
        from pyropunct.tables import cells_table

        place = ("sentence", "before", "place", "after") if self.has_examples else ()
        nowhere = [(None,) * len(place)]
        rows = [(*row.cells, *example) for row in self.rows for example in row.examples or nowhere]
        return cells_table("", dict.fromkeys((*self.columns, *place)), rows)


# Sentence by sentence


class SentenceReport:
    """Results of sentences, each shown at once: as `text`, as `conllu`, or as an `entry` of JSON.

    :param out: a stream to write to piece by piece.  The default is standard output, where JSON is printed as
        a whole, and characters that it lacks become escapes.
    """

    def __init__(self, form: str, out: TextIO | None = None) -> None:
        self.form, self._streamed = form, out is not None
        self._out = io.StringIO() if form == "json" and out is None else out
        self._before = '{"sentences": ['

    def after(self, report: "SentenceReport | None") -> Self:
        """Continue the output of another report on the same text."""
        if report is not None:
            self._before, self._out = report._before, report._out
        return self

    @property
    def keeps_omitted(self) -> bool:
        """Whether sentences that cannot be used are written unchanged."""
        return self.form == "conllu"

    def text(self, source: Any, result: Any) -> str | None:
        """A result of a sentence as text without its end; None if it is shown elsewhere."""
        raise NotImplementedError

    def conllu(self, source: Any, result: Any) -> str:
        """A result of a sentence as CoNLL-U."""
        raise NotImplementedError

    def entry(self, source: Any, *results: Any) -> dict[str, Any]:
        """The entries of a sentence in JSON, after its place."""
        raise NotImplementedError

    def write(self, text: str) -> None:
        """Write a text unchanged."""
        print(text, end="", file=self._out, flush=self._streamed)

    def add(self, source: Any, *results: Any) -> None:
        """Show the results of a sentence."""
        if self.form == "json":
            line = getattr(source, "line", None)
            place = {"id": source.identifier} if line is None else {"line": line}
            self.write(self._before + json_text({**place, **self.entry(source, *results)}))
            self._before = ", "
        elif self.form == "conllu":
            self.write(numbered([self.conllu(source, one) for one in results], source.identifier))
        else:
            for text in (self.text(source, one) for one in results):
                if text is not None and self._streamed:
                    self.write(text + source.end)
                elif text is not None:
                    console.say(text)

    def leave(self, item: Any) -> None:
        """Take a sentence that cannot be used; CoNLL-U keeps it unchanged, of a malformed one the columns."""
        from pyropunct.restore.items import BadLine
        from pyropunct.treebank.columns import header_of
        from pyropunct.treebank.preparing import Omission

        if self.form == "conllu" and isinstance(item, Omission):
            self.write(item.conllu())
        elif self.form == "conllu" and isinstance(item, BadLine) and item.problem is not None:
            self.write(header_of(item.problem.lines, item.problem.end))

    def finish(self, omitted: "Sequence[Omission]") -> None:
        """Show the rest, and the sentences that could not be used."""
        if self.form != "json":
            return
        start = "" if self._before == ", " else self._before
        self.write(f"{start}], {json_text(console.plain_omissions(omitted))[1:]}\n")
        if isinstance(self._out, io.StringIO) and not self._streamed:
            print(self._out.getvalue(), end="")


def show_each(
    title: str,
    report: SentenceReport,
    treebank: "Treebank",
    items: "Sequence[Sentence | Omission]",
    results: Iterable[Sequence[Any]],
) -> None:
    """Show the results of the items of a treebank, with a progress bar; items may be left out sentences."""
    from pyropunct.treebank.preparing import Omission

    rest = iter(results)
    if report.form == "conllu":
        report.write(_lacking_header(items))
    with sentence_bar(title, len(items)) as advance:
        for item in items:
            advance(1)
            report.leave(item) if isinstance(item, Omission) else report.add(item, *next(rest))
    report.finish(treebank.omitted)


def _lacking_header(items: "Sequence[Sentence | Omission]") -> str:
    """The line that names the columns of CoNLL-U Plus, if the first of the sentences does not have it."""
    from pyropunct.treebank.sentence import Sentence

    if not items or not isinstance(items[0], Sentence):
        return ""
    block = items[0].layout.block
    return block.order.header + block.end if block.order.header not in ("", *block.lines) else ""


def numbered(blocks: Sequence[str], identifier: str) -> str:
    """The CoNLL-U blocks of one sentence; if there are several, each gets its own ``sent_id``."""
    if len(blocks) < 2:
        return "".join(blocks)
    from pyropunct.treebank.columns import names_columns

    name, renamed = identifier.lstrip("#"), list[str]()
    for number, block in enumerate(blocks, 1):
        lines = [line for line in block.split("\n") if not _SENT_ID.match(line)]
        header = [lines.pop(0)] if names_columns(lines[0]) else []
        title = f"# sent_id = {name}-{number}"
        renamed.append("\n".join([*header[: number == 1], title + "\r" * block.endswith("\r\n"), *lines]))
    return "".join(renamed)


def in_order(treebank: "Treebank", identifier: str | None, shape: str) -> "Sequence[Sentence | Omission]":
    """The sentences with an identifier, or all sentences and omissions. Raises UserError if there is none."""
    if identifier is None:
        if shape != "html":  # as the page tells it
            console.tell_omitted(treebank.path, treebank.omitted, kept=shape == "conllu")
        return treebank.in_order()
    found = [sentence for sentence in treebank if sentence.identifier == identifier]
    if not found:
        omitted = {one.identifier: one.reason for one in treebank.omitted}
        near = get_close_matches(identifier, [sentence.identifier for sentence in treebank], 1, 0.0)
        why = f"is omitted: {omitted[identifier]}" if identifier in omitted else "is not there"
        if near and identifier not in omitted:
            by_number = re.fullmatch("#[0-9]+", identifier) and not near[0].startswith("#")
            why += f" (the nearest is {near[0]!r}"
            why += "; only sentences without a sent_id have a number)" if by_number else ")"
        raise UserError(f"{treebank.path}: sentence {identifier!r} {why}")
    return found


def usable(items: "Iterable[Sentence | Omission]") -> "list[Sentence]":
    """The sentences, without the omissions."""
    from pyropunct.treebank.sentence import Sentence

    return [item for item in items if isinstance(item, Sentence)]
