"""Writing a sentence as CoNLL-U: unchanged, with further MISC entries, or with other punctuation."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

from pyropunct.treebank.conllu_block import (
    DEPS,
    FORM,
    HEAD,
    ID,
    MISC,
    EmptyNode,
    MultiwordRange,
    misc_entries,
    with_space_after,
)
from pyropunct.treebank.repunctuate import Item, Layout, kept_ranges, print_text, range_form, spaces_after

_TEXT_COMMENT = re.compile(r"#\s*(?:text\s*=|sentence-text:)\s*")
_QUOTE_TAGS = {"“": "``", "‘": "``", "”": "''", "’": "''"}
_ESCAPES = {"\\": "\\\\", "|": "\\p", "\t": "\\t", "\n": "\\n"}


def as_written(lines: Sequence[str]) -> str:
    """The lines, with the blank line that ends a sentence."""
    return "\n".join(lines) + "\n\n"


def write_misc(layout: Layout, misc: Sequence[Mapping[str, str]]) -> str:
    """The original sentence, with the entries of ``misc`` merged into the MISC of its n words.

    :raises ValueError: if ``misc`` does not have n mappings.
    """
    if len(misc) != len(layout.words):
        raise ValueError(f"MISC entries are for {len(misc)} words, not {len(layout.words)}")
    lines = list(layout.block.lines)
    for number, entries in zip(layout.words, misc, strict=True):
        token = layout.block.tokens[number - 1]
        merged = _merge_misc(token.columns[MISC], entries)
        lines[token.row] = "\t".join((*token.columns[:MISC], merged))
    return as_written(lines)


def _merge_misc(column: str, entries: Mapping[str, str]) -> str:
    """Replace the entries with the same key and append the others."""
    if not entries:
        return column
    kept = [entry for entry in misc_entries(column) if entry.partition("=")[0] not in entries]
    return "|".join(kept + [f"{key}={escaped(value)}" for key, value in entries.items()])


def retitled(line: str, text: str) -> str:
    """A line with another text, if it is the comment with the text of the sentence."""
    comment = _TEXT_COMMENT.match(line)
    return f"{comment.group().rstrip()} {text}" if comment else line


def escaped(value: str) -> str:
    """A text as a value in MISC, where an unescaped bar would end the value."""
    return "".join(_ESCAPES.get(character, character) for character in value)


def write_items(layout: Layout, items: Sequence[Item], mark_heads: Sequence[int]) -> str:
    """The original sentence with the words and marks of ``items``, renumbered.

    Heads, enhanced dependencies, multiword ranges and empty nodes get the new numbers; an
    enhanced dependency on a mark that was removed is dropped.

    :param mark_heads: for each slot the token id, in the original, of the head of new marks there.
    """
    return as_written(list(_Rewriting(layout, items, mark_heads).lines()))


class _Rewriting:
    """Writes the new lines of one sentence."""

    def __init__(self, layout: Layout, items: Sequence[Item], mark_heads: Sequence[int]) -> None:
        self.layout = layout
        self.block = layout.block
        self.items = items
        self.mark_heads = mark_heads
        self.spaces = spaces_after(layout, items)
        self.enhanced = any(token.columns[DEPS] != "_" for token in layout.block.tokens)
        self.empty_nodes = self._place_empty_nodes()
        self.numbers = self._renumber()

    def _place_empty_nodes(self) -> dict[int, list[EmptyNode]]:
        """The empty nodes by the new id of the last kept token before them, 0 at the start."""
        kept = [0, *(number for number, item in enumerate(self.items, 1) if item.token)]
        tokens = [0, *(item.token for item in self.items if item.token)]
        placed: dict[int, list[EmptyNode]] = {}
        for node in self.block.empty_nodes:
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
        text = print_text(self.layout, self.items)
        for line in self.block.lines:
            if line.lstrip().startswith("#"):
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
        return "\t".join(columns)

    def _token_line(self, number: int, space: bool | None) -> str:
        """The line of one item; ``space`` is None inside a multiword token, where MISC says nothing."""
        item = self.items[number - 1]
        columns = self._old_columns(item) if item.token else self._new_columns(item)
        columns[ID] = str(number)
        if space is not None:
            columns[MISC] = with_space_after(columns[MISC], space)
        return "\t".join(columns)

    def _old_columns(self, item: Item) -> list[str]:
        columns = list(self.block.tokens[item.token - 1].columns)
        columns[FORM] = item.form
        columns[HEAD] = self.numbers[columns[HEAD]]
        columns[DEPS] = self._dependencies(columns[DEPS])
        return columns

    def _new_columns(self, item: Item) -> list[str]:
        """A new mark.  The tag of a straight quotation mark says which way it points."""
        head = self.numbers[str(self.mark_heads[item.slot])]
        tag = "_" if item.form == item.mark else _QUOTE_TAGS[item.mark]
        enhanced = f"{head}:punct" if self.enhanced else "_"
        return ["", item.form, item.form, "PUNCT", tag, "_", head, "punct", enhanced, "_"]

    def _empty_node_lines(self, token: int) -> Iterator[str]:
        for node in self.empty_nodes.get(token, ()):
            columns = list(node.columns)
            columns[ID] = self.numbers[columns[ID]]
            columns[DEPS] = self._dependencies(columns[DEPS])
            yield "\t".join(columns)

    def _dependencies(self, column: str) -> str:
        """The enhanced dependencies, renumbered."""
        if column == "_":
            return column
        arcs = [arc.partition(":") for arc in column.split("|")]
        kept = [f"{self.numbers[head]}:{relation}" for head, _, relation in arcs if head in self.numbers]
        return "|".join(kept) or "_"
