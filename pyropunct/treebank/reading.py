"""Reads a treebank as pairs (T, x) of an unpunctuated tree and its surface punctuation.

This is the preprocessing of Li, Wang & Eisner 2019, section 4: see ``docs/reference/treebanks.md``.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any, overload

from pyropunct.text.lines import (
    BEGINNING,
    NO_SENTENCE,
    ByteLines,
    Start,
    TreebankError,
    lines_or_errors,
    opened,
    raised,
)
from pyropunct.text.marks import (
    ABBREVIATION_DOT,
    DOUBLE,
    QUOTE_TAGS,
    START,
    STRAIGHT,
    common_marks,
    direct_quotes,
)
from pyropunct.treebank.conllu_block import (
    DEPREL,
    FORM,
    UPOS,
    XPOS,
    Block,
    Token,
    blocks_or_errors,
    has_space_after,
)
from pyropunct.treebank.conllu_writer import as_written
from pyropunct.treebank.repunctuate import Layout
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree, projectivise

Progress = Callable[[int, int], None]
"""Called after each sentence with the number of lines read and the number of lines in all."""

NO_WORD = "it has no word"
"""The reason for an omission when there is nothing but punctuation."""

MOST_MARKS = 1000
"""The most marks between two words: what a model makes of them takes a gigabyte."""


@dataclass(frozen=True)
class Omission:
    """A sentence that was skipped.

    :ivar reason: :data:`NO_WORD`, a token that depends on a mark, more than :data:`MOST_MARKS` marks
        between two words, or what is malformed.
    :ivar line: where it begins; if it is malformed, where the problem is.
    """

    identifier: str
    line: int
    reason: str
    lines: tuple[str, ...] = field(default=(), repr=False, compare=False)
    malformed: bool = False

    def conllu(self) -> str:
        """The original lines and the blank line behind them."""
        return as_written(self.lines)

    def to_json(self) -> dict[str, Any]:
        """Where it stands, and the reason, in plain JSON types."""
        return {"id": self.identifier, "line": self.line, "reason": self.reason}


@dataclass(frozen=True)
class Treebank(Sequence[Sentence]):
    """The sentences of one file, and those that were skipped."""

    path: str
    sentences: tuple[Sentence, ...]
    omitted: tuple[Omission, ...]

    def __len__(self) -> int:
        return len(self.sentences)

    @overload
    def __getitem__(self, place: int) -> Sentence: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Sentence, ...]: ...

    def __getitem__(self, place: int | slice) -> Sentence | tuple[Sentence, ...]:
        return self.sentences[place]

    def __iter__(self) -> Iterator[Sentence]:
        return iter(self.sentences)

    def in_order(self) -> list[Sentence | Omission]:
        """The sentences and omissions, in the order of the file."""
        return sorted([*self.sentences, *self.omitted], key=_line)

    @property
    def duplicates(self) -> dict[str, list[int]]:
        """The lines of the sentences that have the same ``sent_id``, by this identifier."""
        lines: dict[str, list[int]] = {}
        for one in self.in_order():
            lines.setdefault(one.identifier, []).append(_line(one))
        return {identifier: several for identifier, several in lines.items() if len(several) > 1}

    def named(self, name: str) -> "Treebank":
        """The treebank with a name in its trees, by which a model can tell it from others."""
        sentences = (replace(one, tree=replace(one.tree, treebank=name)) for one in self.sentences)
        return replace(self, sentences=tuple(sentences))

    def of_language(self, code: str) -> "Treebank":
        """The treebank of one of several languages: named after it, with the marks that all have in common.

        See `pyropunct.text.marks.COMMON`.
        """
        counts = Counter(mark for sentence in self for slot in sentence.surface for mark in slot)
        return self.named(code).with_marks(common_marks(counts))

    def with_marks(self, common: Mapping[str, str]) -> "Treebank":
        """The treebank with the common tokens for some marks: see `Sentence.with_marks`."""
        return replace(self, sentences=tuple(sentence.with_marks(common) for sentence in self.sentences))

    @property
    def lifted_arcs(self) -> int:
        """The number of words that projectivisation gave another head."""
        return sum(sentence.lifted for sentence in self.sentences)

    @property
    def lifted_sentences(self) -> tuple[str, ...]:
        """The identifiers of the sentences whose tree was not projective."""
        return tuple(sentence.identifier for sentence in self.sentences if sentence.lifted)


def _line(item: Sentence | Omission) -> int:
    return item.line if isinstance(item, Omission) else item.layout.block.first_line


def _last_line(item: Sentence | Omission | TreebankError) -> int:
    if isinstance(item, TreebankError):
        return item.line or 0
    return _line(item) + len(item.lines if isinstance(item, Omission) else item.layout.block.lines) - 1


def read_treebank(
    path: str | Path,
    *,
    punctuation_relation: bool = True,
    progress: Progress | None = None,
    skip_bad: bool = False,
    need_sentences: bool = True,
) -> Treebank:
    """Read and prepare a CoNLL-U file, or with ``-`` the standard input.

    :param punctuation_relation: treat relation ``punct`` as punctuation, as well as tag ``PUNCT``.
    :param progress: called after each sentence with the lines read and all lines.
    :param skip_bad: omit malformed sentences; by default the first one is an error.
    :param need_sentences: raise an error if all sentences are omitted.
    :raises TreebankError: if the file cannot be read, is not CoNLL-U in UTF-8, or has no usable sentence.
    """
    with opened(str(path)) as (stream, name):
        lines = list(lines_or_errors(ByteLines(BytesIO(stream.read())), name))
    treebank = _treebank(lines, name, punctuation_relation, progress, skip_bad)
    if not treebank.sentences and (need_sentences or not treebank.omitted):
        raise nothing_kept(name, treebank.omitted)
    return treebank


def read_text(
    text: str,
    name: str = "<string>",
    *,
    punctuation_relation: bool = True,
    progress: Progress | None = None,
) -> Treebank:
    """Prepare a treebank in memory; see `read_treebank`."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    treebank = _treebank(lines, name, punctuation_relation, progress, skip_bad=False)
    if not treebank.sentences:
        raise nothing_kept(name, treebank.omitted)
    return treebank


def _treebank(
    lines: Sequence[str | TreebankError],
    name: str,
    punctuation_relation: bool,
    progress: Progress | None,
    skip_bad: bool,
) -> Treebank:
    sentences: list[Sentence] = []
    omitted: list[Omission] = []
    bad: list[TreebankError] = []
    found = sentences_or_errors(lines, name, BEGINNING, punctuation_relation)
    for position, item in enumerate(found, start=1):
        if isinstance(item, Sentence):
            sentences.append(item)
        elif isinstance(item, Omission):
            omitted.append(item)
        elif skip_bad:
            omitted.append(_malformed(item, position))
        else:
            bad.append(item)
        if progress is not None:
            progress(_last_line(item), len(lines))
    if bad:
        raise _first(bad)
    return Treebank(name, tuple(sentences), tuple(omitted))


def _malformed(error: TreebankError, position: int) -> Omission:
    """The omission of a malformed sentence at a position; raises `TreebankError` if it cannot be copied."""
    if not error.lines:
        problem = f"{error.problem}, so its sentence can be neither read nor copied"
        raise TreebankError(error.path, problem, error.line, error.sentence)
    identifier = error.sentence or f"#{position}"
    return Omission(identifier, error.line or 0, error.problem, error.lines, malformed=True)


def _first(bad: Sequence[TreebankError]) -> TreebankError:
    """The error about the first of some malformed sentences, which tells how many there are."""
    first, more = bad[0], len(bad) - 1
    if more:
        others = f"{more:,} more sentences are" if more > 1 else "1 more sentence is"
        told = TreebankError(first.path, f"{first.problem}; {others} malformed", first.line, first.sentence)
        told.lines = first.lines
        return told
    return first


def read_sentences(
    lines: Iterable[str], name: str, punctuation_relation: bool = True
) -> Iterator[Sentence | Omission]:
    """The sentences of a CoNLL-U text, one at a time; raises `TreebankError` if malformed."""
    return raised(sentences_or_errors(lines, name, BEGINNING, punctuation_relation))


def read_again(written: str, tree: Tree) -> Sentence | None:
    """The sentence of a CoNLL-U text that was written for a tree; None if it is read as another tree."""
    for sentence in read_sentences(written.split("\n"), "<string>"):
        if isinstance(sentence, Sentence) and sentence.tree == tree:
            return sentence
    return None


def sentences_or_errors(
    lines: Iterable[str | TreebankError],
    name: str,
    start: Start = BEGINNING,
    punctuation_relation: bool = True,
) -> Iterator[Sentence | Omission | TreebankError]:
    """`read_sentences`, with errors in place of malformed sentences and unreadable lines."""
    for block in blocks_or_errors(lines, name, start):
        yield block if isinstance(block, TreebankError) else prepare(block, punctuation_relation)


def nothing_kept(name: str, omitted: Sequence[Omission]) -> TreebankError:
    """The error for a treebank without a usable sentence: it has no sentence, or all are omitted."""
    if not omitted:
        return TreebankError(name, NO_SENTENCE)
    first = omitted[0]
    problem = f"all {len(omitted)} sentences are omitted; the first: {first.reason}"
    return TreebankError(name, problem, first.line, first.identifier)


def require_punctuation(treebank: Treebank) -> None:
    """Raise `TreebankError` if no sentence of the treebank has a punctuation mark."""
    if not any(marks for sentence in treebank for marks in sentence.layout.marks):
        raise TreebankError(treebank.path, "there is no punctuation in the treebank (has it been removed?)")


def prepare(block: Block, punctuation_relation: bool) -> Sentence | Omission:
    """Take the punctuation off a tree, or say why it cannot be used (Li, Wang & Eisner 2019, section 4)."""
    tokens = block.tokens
    numbered = list(enumerate(tokens, start=1))
    words = [number for number, token in numbered if not _is_punctuation(token, punctuation_relation)]
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
        return Omission(block.identifier, block.first_line, reason, block.lines)
    return _sentence(_layout(block, words))


def _is_punctuation(token: Token, punctuation_relation: bool) -> bool:
    if token.columns[UPOS] == "PUNCT":
        return True
    return punctuation_relation and token.columns[DEPREL].partition(":")[0] == "punct"


def _layout(block: Block, words: list[int]) -> Layout:
    """Collect the marks between the words, direct the quotation marks and add the special tokens."""
    borders = zip([0, *words], [*words, len(block.tokens) + 1], strict=True)
    marks = tuple(tuple(range(left + 1, right)) for left, right in borders)
    numbers = [token for slot in marks for token in slot]
    forms = [block.tokens[token - 1].columns[FORM] for token in numbers]
    directed = iter(direct_quotes(forms, [_quote_tag(block, token) for token in numbers]))
    surface = [[next(directed) for _ in slot] for slot in marks]
    surface[0].insert(0, START)
    for slot, word in enumerate(words, start=1):
        form = block.tokens[word - 1].columns[FORM]
        # Two dots or more are an ellipsis that belongs to the word.
        if len(form) > 1 and form.endswith(".") and not form.endswith(".."):
            surface[slot].insert(0, ABBREVIATION_DOT)
    return Layout(block, tuple(words), marks, tuple(map(tuple, surface)))


def _quote_tag(block: Block, token: int) -> str:
    """The tag of a mark; if a double quotation mark has none, that which the spaces beside it suggest."""
    columns = block.tokens[token - 1].columns
    if columns[XPOS] in QUOTE_TAGS or STRAIGHT.get(columns[FORM]) != DOUBLE:
        return columns[XPOS]
    before = token == 1 or has_space_after(block.tokens[token - 2].columns)
    behind = token == len(block.tokens) or has_space_after(columns)
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
