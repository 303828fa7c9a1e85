"""Writing a sentence as CoNLL-U: unchanged, with further MISC entries, or with other punctuation."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyropunct.text.conventions import Conventions
from pyropunct.text.marks import DOUBLE, SINGLE, Surface
from pyropunct.text.raw_sentence import Slot, as_text, placed_tokens
from pyropunct.treebank.columns import with_misc, with_space_after
from pyropunct.treebank.conllu_block import DEPS, FORM, HEAD, ID, MISC, EmptyNode, MultiwordRange, is_comment
from pyropunct.treebank.layout import Layout
from pyropunct.treebank.repunctuate import Item, kept_ranges, printed, range_form, spaces_after
from pyropunct.treebank.tree import Tree, mark_heads

_TEXT_COMMENT = re.compile(r"#\s*(?:text\s*=|sentence-text:)\s*")
_OPENING = (DOUBLE[0], SINGLE[0])


def as_written(lines: Iterable[str], end: str = "\n") -> str:
    """The lines, with the blank line that ends a sentence."""
    return "".join(line + end for line in (*lines, ""))


def write_misc(layout: Layout, misc: Sequence[Mapping[str, str | None]]) -> str:
    """The original sentence, with ``misc`` merged into the MISC of its n words, or `ValueError` if not n."""
    if len(misc) != len(layout.words):
        raise ValueError(f"MISC entries are for {len(misc)} words, not {len(layout.words)}")
    tokens = layout.block.tokens
    columns = {
        number: {MISC: with_misc(tokens[number - 1].columns[MISC], entries)}
        for number, entries in zip(layout.words, misc, strict=True)
    }
    return as_written(layout.block.changed(columns).lines, layout.block.end)


def retitled(line: str, text: str) -> str:
    """A line; the comment with the text of the sentence gets a new text."""
    comment = _TEXT_COMMENT.match(line)
    return f"{comment.group().rstrip()} {text}" if comment else line


def write_items(
    layout: Layout, items: Sequence[Item], mark_heads: Sequence[int], conventions: Conventions
) -> str:
    """The original sentence with the words and marks of ``items``, renumbered.

    Enhanced dependencies on removed marks are dropped.

    :param mark_heads: for each slot the original token id of the head of new marks.
    """
    return as_written(_Rewriting(layout, items, mark_heads, conventions).lines(), layout.block.end)


@dataclass
class _Rewriting:
    """Writes the new lines of one sentence."""

    layout: Layout
    items: Sequence[Item]
    mark_heads: Sequence[int]
    conventions: Conventions

    def __post_init__(self) -> None:
        self.spaces = spaces_after(self.layout, self.items, self.conventions)
        self.enhanced = any(token.columns[DEPS] != "_" for token in self.layout.block.tokens)
        self.empty_nodes = self._place_empty_nodes()
        self.numbers = self._renumber()

    def _place_empty_nodes(self) -> dict[int, list[EmptyNode]]:
        """The empty nodes by the new id of the last kept token before them, 0 at the start."""
        kept = [0, *(number for number, item in enumerate(self.items, 1) if item.token)]
        tokens = [0, *(item.token for item in self.items if item.token)]
        placed: dict[int, list[EmptyNode]] = {}
        for node in self.layout.block.empty_nodes:
            placed.setdefault(kept[bisect_right(tokens, node.after) - 1], []).append(node)
        return placed

    def _renumber(self) -> dict[str, str]:
        """The new id of every token and empty node that is kept, by its old id."""
        numbers = {"0": "0"}
        numbers |= {str(item.token): str(new) for new, item in enumerate(self.items, 1) if item.token}
        for token, nodes in self.empty_nodes.items():
            numbers |= {node.columns[ID]: f"{token}.{rank}" for rank, node in enumerate(nodes, 1)}
        return numbers

    def lines(self) -> Iterator[str]:
        text = printed(self.layout, self.items, self.conventions).text
        for line in filter(is_comment, self.layout.block.lines):
            yield retitled(line, text)
        yield from self._empty_node_lines(0)
        ranges = kept_ranges(self.layout, self.items)
        covered_until = 0
        for number, space in enumerate(self.spaces, 1):
            if number - 1 in ranges:
                covered_until = number + ranges[number - 1].last - ranges[number - 1].first
                yield self._range_line(ranges[number - 1], number, covered_until)
            yield self._token_line(number, space if number > covered_until else None)
            yield from self._empty_node_lines(number)

    def _range_line(self, multiword: MultiwordRange, first: int, last: int) -> str:
        columns = list(multiword.columns)
        columns[ID] = f"{first}-{last}"
        columns[FORM] = range_form(self.layout, multiword, self.items[last - 1])
        columns[MISC] = with_space_after(columns[MISC], self.spaces[last - 1])
        return self.layout.block.order.line(columns)

    def _token_line(self, number: int, space: bool | None) -> str:
        """The line of one item; ``space`` is None inside a multiword token, where MISC says nothing."""
        item = self.items[number - 1]
        if item.token:
            columns = list(self.layout.block.tokens[item.token - 1].columns)
            columns[FORM], columns[HEAD] = item.form, self.numbers[columns[HEAD]]
            columns[DEPS] = self._dependencies(columns[DEPS])
        else:
            head = self.numbers[str(self.mark_heads[item.slot])]
            enhanced = f"{head}:punct" if self.enhanced else "_"
            columns = ["", *_mark_columns(item.form, item.mark, head), enhanced, "_"]
        columns[ID] = str(number)
        if space is not None:
            columns[MISC] = with_space_after(columns[MISC], space)
        return self.layout.block.order.line(columns)

    def _empty_node_lines(self, token: int) -> Iterator[str]:
        for node in self.empty_nodes.get(token, ()):
            columns = list(node.columns)
            columns[ID] = self.numbers[columns[ID]]
            columns[DEPS] = self._dependencies(columns[DEPS])
            yield self.layout.block.order.line(columns)

    def _dependencies(self, column: str) -> str:
        """The enhanced dependencies, renumbered."""
        if column == "_":
            return column
        arcs = [arc.partition(":") for arc in column.split("|")]
        kept = [f"{self.numbers[head]}:{relation}" for head, _, relation in arcs if head in self.numbers]
        return "|".join(kept) or "_"


def print_conllu(
    tree: Tree,
    surface: Surface,
    conventions: Conventions,
    identifier: str,
    *,
    capital: bool = False,
    slots: Sequence[Slot] | None = None,
    text: str | None = None,
    multiword: Mapping[int, tuple[int, str]] | None = None,
) -> str:
    """The tree with its punctuation as CoNLL-U, with the blank line behind it.

    Words and marks are written as by `print_words`, with single spaces.  A mark depends, with relation
    ``punct``, on the highest word from which its arc crosses no other arc.

    :param identifier: for the comment ``sent_id``.
    :param text: the text, if it is not just words and marks.
    :param multiword: for the first word of each multiword token the last word, and its form.
    :raises ValueError: if there are not n + 1 slots for n words, or if a word, a tag or a relation is empty
        or has a tab or a line end.
    """
    _require_readable((*tree.forms, *tree.tags, *tree.relations))
    _require_readable(form for _, form in (multiword or {}).values())
    tokens, spaces = placed_tokens(tree.forms, surface, conventions, capital=capital, slots=slots)
    spaces = [" " if space else "" for space in spaces]
    numbers = [0, *(number for number, token in enumerate(tokens, 1) if not token.written.mark)]
    heads_of_marks = [numbers[head] for head in mark_heads(tree)]
    lines = [f"# sent_id = {identifier}", f"# text = {text or as_text(tokens, spaces)}"]
    spaces.append(" ")  # the text behind the last token is unknown
    covered = 0
    for number, (token, space) in enumerate(zip(tokens, spaces, strict=True), 1):
        if multiword and not token.written.mark and token.slot in multiword:
            last, form = multiword[token.slot]
            covered = number + last - token.slot
            lines.append(_line(f"{number}-{covered}", [form, *"_" * 6], spaces[covered - 1]))
        space = " " if number <= covered else space
        if token.written.mark:
            columns = _mark_columns(*token.written, str(heads_of_marks[token.slot]))
        else:
            word = token.slot - 1
            named = tree.tags[word], "_", "_", str(numbers[tree.heads[word]]), tree.relations[word]
            columns = [token.written.form, "_", *named]
        lines.append(_line(str(number), columns, space))
    return as_written(lines)


def _line(identifier: str, columns: Sequence[str], space: str) -> str:
    """A line, given the columns FORM to DEPREL."""
    return "\t".join([identifier, *columns, "_", "_" if space else "SpaceAfter=No"])


def _require_readable(columns: Iterable[str]) -> None:
    for column in columns:
        if not column or not set(column).isdisjoint("\t\n\r"):
            raise ValueError(f"{column!r} cannot be written: it is empty, or has a tab or a line end")


def _mark_columns(form: str, mark: str, head: str) -> list[str]:
    """The columns FORM to DEPREL of a new mark; the tag of a straight quotation mark gives its direction."""
    tag = "_" if form == mark else "``" if mark in _OPENING else "''"
    return [form, form, "PUNCT", tag, "_", head, "punct"]
