"""Where the words and marks of a sentence stand in its block of CoNLL-U, and the spaces between them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from pyropunct.treebank.conllu_block import FORM, Block, has_space_after


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the token ids of words, and of marks in each slot, stand in a sentence's block.

    :ivar surface: the marks with quotation marks directed, and the special tokens.
    """

    block: Block
    words: tuple[int, ...]
    marks: tuple[tuple[int, ...], ...]
    surface: tuple[tuple[str, ...], ...]

    def form(self, token: int) -> str:
        """The form of a token as written."""
        return self.block.tokens[token - 1].columns[FORM]

    def head(self, token: int) -> int:
        """The head of a token, as token ids; 0 for the root."""
        return self.block.tokens[token - 1].head

    @property
    def all_marks(self) -> list[int]:
        """The token ids of all marks."""
        return [mark for slot in self.marks for mark in slot]

    @property
    def numbers(self) -> dict[int, int]:
        """The number of each word, from 1, by its token id; 0 is 0."""
        return {token: word for word, token in enumerate((0, *self.words))}

    def changed(self, columns: Mapping[int, Mapping[int, str]]) -> "Layout":
        """The layout with new columns of some tokens; see `Block.changed`."""
        return replace(self, block=self.block.changed(columns))

    def directed(self) -> Iterator[tuple[int, str]]:
        """The token id of each mark, with the mark, directed if it is a quotation mark."""
        return ((mark, token) for mark, token, _ in self.placed())

    def placed(self) -> Iterator[tuple[int, str, int]]:
        """The token id of each mark, the mark, directed if it is a quotation mark, and its slot."""
        for number, (tokens, slot) in enumerate(zip(self.marks, self.surface, strict=True)):
            for mark, token in zip(tokens, slot[len(slot) - len(tokens) :], strict=True):
                yield mark, token, number


def original_spaces(block: Block) -> list[bool]:
    """Whether a space follows each token, by token id; never inside a multiword token."""
    spaces = [False] + [has_space_after(token.columns) for token in block.tokens]
    for multiword in block.ranges:
        for token in range(multiword.first, multiword.last):
            spaces[token] = False
        spaces[multiword.last] = has_space_after(multiword.columns)
    return spaces
