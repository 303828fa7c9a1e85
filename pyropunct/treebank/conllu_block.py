"""One sentence of a CoNLL-U file: a checked block, with lines as written, and how it is parsed.

A valid block has word ids 1, 2, 3, ..., heads that are ids or 0, exactly one root and no cycle.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from conllu.exceptions import ParseException
from conllu.parser import parse_comment_line, parse_id_value, parse_int_value

from pyropunct.text.lines import BEGINNING, Start, TreebankError
from pyropunct.treebank.columns import COLUMN_NAMES, PLAIN, ColumnOrder, column_order, misc_entries
from pyropunct.treebank.tree import base, top_down

ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)


@dataclass(frozen=True, slots=True)
class Token:
    """A syntactic word or a mark: a line whose id is an integer, at index ``row`` of the block."""

    columns: tuple[str, ...]
    head: int
    row: int

    @property
    def relation(self) -> str:
        """The relation to the head, without its subtype."""
        return base(self.columns[DEPREL])


@dataclass(frozen=True, slots=True)
class MultiwordRange:
    """A multiword token: the tokens ``first`` to ``last`` are written as one form."""

    columns: tuple[str, ...]
    first: int
    last: int
    row: int


@dataclass(frozen=True, slots=True)
class EmptyNode:
    """A node of the enhanced graph without a word, after the token ``after``."""

    columns: tuple[str, ...]
    after: int
    row: int


@dataclass(frozen=True, slots=True)
class Block:
    """One sentence of a CoNLL-U file, checked but otherwise as written.

    :ivar lines: all its lines, comments first, without line ends.
    :ivar tokens: the token with id i is ``tokens[i - 1]``.
    :ivar order: the columns of its file.
    :ivar end: the end of its lines, that of the first one.
    """

    path: str
    identifier: str
    first_line: int
    lines: tuple[str, ...]
    tokens: tuple[Token, ...]
    ranges: tuple[MultiwordRange, ...]
    empty_nodes: tuple[EmptyNode, ...]
    order: ColumnOrder = PLAIN
    end: str = "\n"

    def changed(self, columns: Mapping[int, Mapping[int, str]]) -> "Block":
        """The block with new columns: for each token id the columns by their numbers."""
        tokens, lines = list(self.tokens), list(self.lines)
        for number, new in columns.items():
            row, whole = tokens[number - 1].row, list(tokens[number - 1].columns)
            for column, value in new.items():
                whole[column] = value
            tokens[number - 1] = Token(tuple(whole), int(whole[HEAD]), row)
            lines[row] = self.order.line(whole)
        return replace(self, tokens=tuple(tokens), lines=tuple(lines))

    def line_of(self, token: int) -> int:
        """The line of a token in the file, counted from 1."""
        return self.first_line + self.tokens[token - 1].row

    def error(self, problem: str, row: int = 0) -> TreebankError:
        """An error about the line with index ``row``."""
        return TreebankError(self.path, problem, self.first_line + row, self.identifier)


def has_space_after(columns: tuple[str, ...]) -> bool:
    """Whether a space follows the token: it does unless MISC says ``SpaceAfter=No``."""
    return "SpaceAfter=No" not in misc_entries(columns[MISC])


def blocks_or_errors(
    lines: Iterable[str | TreebankError], name: str, start: Start = BEGINNING
) -> Iterator[Block | TreebankError]:
    """The sentences of CoNLL-U, with errors in place of malformed ones; comments alone are skipped.

    The line that names the columns of CoNLL-U Plus goes to the first sentence.

    :raises TreebankError: if that line lacks a column.
    """
    position, order, header = start.sentence, PLAIN, list[str]()
    for place, (first_line, written) in enumerate(_paragraphs(lines, start.line)):
        paragraph = [line.rstrip("\r") if isinstance(line, str) else line for line in written]
        end = "\r\n" if isinstance(written[0], str) and written[0].endswith("\r") else "\n"
        if place == 0 and start == BEGINNING and isinstance(paragraph[0], str):
            order = column_order(paragraph[0], name, first_line)
        texts = tuple(line for line in paragraph if isinstance(line, str))
        unread = [line for line in paragraph if isinstance(line, TreebankError)]
        if not unread and all(map(is_comment, texts)):
            if place == 0 and order.header:
                header = [order.header]
            continue
        position += 1
        if header:
            first_line, paragraph, texts = first_line - 1, [*header, *paragraph], (*header, *texts)
            header = []
        try:
            if unread:
                raise unread[0]
            block = read_block(texts, name, first_line, position, order, end)
        except TreebankError as error:
            error.lines, error.end = _kept(paragraph), end
            yield error
        else:
            yield block


def _kept(paragraph: Iterable[str | TreebankError]) -> tuple[str, ...]:
    """The lines of a malformed sentence; none if one of them cannot be kept."""
    lines = [line.lines if isinstance(line, TreebankError) else (line,) for line in paragraph]
    return tuple(chain.from_iterable(lines)) if all(lines) else ()


def _paragraphs(
    lines: Iterable[str | TreebankError], first: int
) -> Iterator[tuple[int, list[str | TreebankError]]]:
    """The maximal runs of non-blank lines, each with the number of its first line; ``first`` is line 1's."""
    paragraph: list[str | TreebankError] = []
    number = first - 1
    for number, line in enumerate(lines, start=first):
        if isinstance(line, TreebankError) or line.strip():
            paragraph.append(line)
        elif paragraph:
            yield number - len(paragraph), paragraph
            paragraph = []
    if paragraph:
        yield number + 1 - len(paragraph), paragraph


def is_comment(line: str) -> bool:
    """Whether a line of CoNLL-U is a comment."""
    return line.lstrip().startswith("#")


def read_block(
    lines: tuple[str, ...],
    path: str,
    first_line: int,
    position: int,
    order: ColumnOrder = PLAIN,
    end: str = "\n",
) -> Block:
    """Parse and check the sentence at ``position`` (from 1) in its file, or raise `TreebankError`."""
    bare = Block(path, _identifier(lines) or f"#{position}", first_line, lines, (), (), (), order, end)
    rows = [row for row, line in enumerate(lines) if not is_comment(line)]
    for row in rows:
        _check_columns(bare, row)
    block = _arrange(bare, rows)
    _check_tree(block)
    return block


def _identifier(lines: Iterable[str]) -> str | None:
    """The last ``sent_id`` among the comments; the first version wrote ``# sent_id s1``, without ``=``."""
    comments = (
        parse_comment_line(line, {"__fallback__": _old_sentence_id}) for line in lines if is_comment(line)
    )
    return dict(pair for pairs in comments for pair in pairs).get("sent_id")


def _old_sentence_id(key: str, value: str | None) -> tuple[str, str | None]:
    words = key.split()
    is_old = value is None and len(words) == 2 and words[0] == "sent_id"
    return (words[0], words[1]) if is_old else (key, value)


def _check_columns(block: Block, row: int) -> None:
    columns, expected = block.lines[row].split("\t"), len(block.order.names)
    if len(columns) != expected:
        count = "1 column" if len(columns) == 1 else f"{len(columns)} columns"
        is_tree = len(columns) == 1 and columns[0].lstrip().startswith("(")
        remedy = (
            "run pyropunct convert on bracketed trees" if is_tree else "separate the columns by single tabs"
        )
        named = f"the {expected} of global.columns" if block.order.header else str(expected)
        raise block.error(f"the line has {count}, not {named} ({remedy})", row)
    for name, column in zip(COLUMN_NAMES[:MISC], block.order.row(block.lines[row]), strict=False):
        if not column.strip():
            raise block.error(f"the column {name} is empty (write _ for no value)", row)
        if "  " in column:  # other readers end a column at two spaces
            raise block.error(f"the column {name} holds two spaces in a row (write one)", row)


def _arrange(block: Block, rows: Iterable[int]) -> Block:
    """Sort the lines into tokens, ranges and empty nodes, and check their ids."""
    tokens: list[Token] = []
    ranges: list[MultiwordRange] = []
    empty_nodes: list[EmptyNode] = []
    seen: set[str] = set()
    covered = 0  # the last word in a range so far
    for row in rows:
        columns = block.order.row(block.lines[row])
        identifier = _parsed(
            block, row, parse_id_value, columns[ID], "the id {!r} is not of the form 1, 1-2 or 1.1"
        )
        head = _parsed(block, row, parse_int_value, columns[HEAD], "the head {!r} is not a whole number")
        if columns[ID] in seen:
            raise block.error(f"the id {columns[ID]} occurs twice (a blank line ends a sentence)", row)
        seen.add(columns[ID])
        match identifier:
            case int(number):
                _expect(block, row, columns[ID], number, len(tokens) + 1)
                if head is None:
                    raise block.error("the word has no head (write 0 for the root)", row)
                tokens.append(Token(columns, head, row))
            case (first, "-", last):
                _expect(block, row, columns[ID], first, max(len(tokens), covered) + 1)
                covered = last
                ranges.append(MultiwordRange(columns, first, last, row))
            case (after, ".", _):
                _expect(block, row, columns[ID], after, len(tokens))
                empty_nodes.append(EmptyNode(columns, after, row))
            case _:
                raise block.error("the line has no id (number the words 1, 2, 3, ...)", row)
    if covered > len(tokens):
        range_id, row = ranges[-1].columns[ID], ranges[-1].row
        raise block.error(f"the range {range_id} ends behind the last word, {len(tokens)}", row)
    return replace(block, tokens=tuple(tokens), ranges=tuple(ranges), empty_nodes=tuple(empty_nodes))


def _parsed(block: Block, row: int, parse: Callable[[str], Any], column: str, problem: str) -> Any:
    """The value of a column; ``problem`` is the message if it cannot be parsed."""
    try:
        return parse(column)
    except (ParseException, ValueError):
        raise block.error(problem.format(column), row) from None


def _expect(block: Block, row: int, written: str, found: int, expected: int) -> None:
    """Check that the integer at the start of an id is the expected one."""
    if found != expected:
        raise block.error(f"the id {written} is out of order (it should start with {expected})", row)


def _check_tree(block: Block) -> None:
    """Check that the heads make one tree over all tokens, punctuation included."""
    size = len(block.tokens)
    roots = []
    for number, token in enumerate(block.tokens, start=1):
        if not 0 <= token.head <= size:
            raise block.error(f"the head {token.head} is not one of the words 1 to {size}", token.row)
        if token.head == number:
            raise block.error(f"word {number} is its own head", token.row)
        if token.head == 0:
            roots.append(number)
    if not roots:
        raise block.error("no word is the root (give one word the head 0)")
    if len(roots) > 1:
        listed = ", ".join(map(str, roots))
        row = block.tokens[roots[1] - 1].row
        raise block.error(f"the words {listed} are all roots (give one word only the head 0)", row)
    if len(top_down([token.head for token in block.tokens])) < size:  # some tokens are not below the root
        import networkx  # which takes long, and right trees do not need it

        graph = networkx.DiGraph((number, token.head) for number, token in enumerate(block.tokens, start=1))
        cycle = [word for word, _ in networkx.find_cycle(graph)]
        smallest = cycle.index(min(cycle))
        heads = " -> ".join(map(str, [*cycle[smallest:], *cycle[: smallest + 1]]))
        raise block.error(f"the heads run in a circle: {heads}", block.tokens[min(cycle) - 1].row)
