"""A sentence as a pair (T, x): marks are taken off, quotation marks directed, dots of abbreviations too.

See ``docs/reference/treebanks.md``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from pyropunct.text.marks import ABBREVIATION_DOT, QUOTE_TAGS, START, STRAIGHT_DOUBLE, direct_quotes
from pyropunct.treebank.conllu_block import DEPREL, FORM, UPOS, XPOS, Block
from pyropunct.treebank.conllu_writer import as_written
from pyropunct.treebank.layout import Layout, original_spaces
from pyropunct.treebank.projective import projectivise
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree

NO_WORD = "it has no word"
"""The reason for an omission when there is nothing but punctuation."""

MOST_MARKS = 1000
"""The most marks between two words; a model would need more than a gigabyte for longer runs."""


@dataclass(frozen=True)
class Omission:
    """A sentence that was skipped.

    :ivar reason: :data:`NO_WORD`, a token that depends on a mark, more than :data:`MOST_MARKS` marks
        between two words, or what is malformed.
    :ivar line: where it begins; if it is malformed, where the problem is.
    :ivar end: the end of its lines.
    :ivar block: the sentence, unless it is malformed.
    """

    identifier: str
    line: int
    reason: str
    lines: tuple[str, ...] = field(default=(), repr=False, compare=False)
    end: str = field(default="\n", repr=False, compare=False)
    malformed: bool = False
    block: Block | None = field(default=None, repr=False, compare=False)

    def conllu(self) -> str:
        """The original lines and the blank line behind them."""
        return as_written(self.lines, self.end)

    def to_json(self) -> dict[str, Any]:
        """Where it stands, and the reason, in plain JSON types."""
        return {"id": self.identifier, "line": self.line, "reason": self.reason}


def prepare(block: Block, punctuation_relation: bool) -> Sentence | Omission:
    """Take the punctuation off a tree, or say why it cannot be used (Li, Wang & Eisner 2019, section 4)."""
    tokens = block.tokens
    numbered = list(enumerate(tokens, start=1))
    words = [
        number
        for number, token in numbered
        if token.columns[UPOS] != "PUNCT" and not (punctuation_relation and token.relation == "punct")
    ]
    possible_heads = {0, *words}
    hanging = ((number, token.head) for number, token in numbered if token.head not in possible_heads)
    reasons = (
        f"token {number} depends on the punctuation mark {tokens[head - 1].columns[FORM]} (token {head})"
        for number, head in hanging
    )
    reason = next(reasons, "" if words else NO_WORD)
    most = max(right - left - 1 for left, right in pairwise([0, *words, len(tokens) + 1]))
    if not reason and most > MOST_MARKS:
        reason = f"it has {most:,} marks in one place, more than {MOST_MARKS:,}"
    if reason:
        return Omission(block.identifier, block.first_line, reason, block.lines, block.end, block=block)
    return _sentence(_layout(block, words))


def _layout(block: Block, words: list[int]) -> Layout:
    """Collect the marks between the words, direct the quotation marks and add the special tokens."""
    borders = zip([0, *words], [*words, len(block.tokens) + 1], strict=True)
    marks = tuple(tuple(range(left + 1, right)) for left, right in borders)
    numbers = [token for slot in marks for token in slot]
    forms = [block.tokens[token - 1].columns[FORM] for token in numbers]
    spaces = original_spaces(block)
    directed = iter(direct_quotes(forms, [_quote_tag(block, token, spaces) for token in numbers]))
    surface = [[next(directed) for _ in slot] for slot in marks]
    surface[0].insert(0, START)
    for slot, word in enumerate(words, start=1):
        form = block.tokens[word - 1].columns[FORM]
        # Two dots or more are an ellipsis that belongs to the word.
        if len(form) > 1 and form.endswith(".") and not form.endswith(".."):
            surface[slot].insert(0, ABBREVIATION_DOT)
    return Layout(block, tuple(words), marks, tuple(map(tuple, surface)))


def _quote_tag(block: Block, token: int, spaces: Sequence[bool]) -> str:
    """The tag of a mark; for a straight double quotation mark without a tag, the one that spaces suggest."""
    columns = block.tokens[token - 1].columns
    if columns[XPOS] in QUOTE_TAGS or columns[FORM] not in STRAIGHT_DOUBLE:
        return columns[XPOS]
    before, behind = token == 1 or spaces[token - 1], token == len(block.tokens) or spaces[token]
    opening, closing = QUOTE_TAGS
    return columns[XPOS] if before == behind else opening if before else closing


def _sentence(layout: Layout) -> Sentence:
    block = layout.block
    tokens = [block.tokens[token - 1] for token in layout.words]
    number = layout.numbers
    heads = [number[token.head] for token in tokens]
    projective = projectivise(heads)
    forms = [
        token.columns[FORM].removesuffix(".") if ABBREVIATION_DOT in slot else token.columns[FORM]
        for token, slot in zip(tokens, layout.surface[1:], strict=True)
    ]
    tree = Tree(
        heads=projective,
        relations=tuple(token.columns[DEPREL] for token in tokens),
        tags=tuple(token.columns[UPOS] for token in tokens),
        forms=tuple(forms),
    )
    lifted = sum(old != new for old, new in zip(heads, projective, strict=True))
    return Sentence(block.identifier, tree, layout.surface, lifted, layout)
