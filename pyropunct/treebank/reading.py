"""Reads a treebank as pairs (T, x) of an unpunctuated tree and its surface punctuation.

This is the preprocessing of Li, Wang & Eisner 2019, section 4: see ``docs/reference/treebanks.md``.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import overload

from pyropunct.text.inputs import CONLLU
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
from pyropunct.text.marks import common_marks
from pyropunct.treebank.columns import names_columns
from pyropunct.treebank.conllu_block import blocks_or_errors, is_comment
from pyropunct.treebank.preparing import Omission, prepare
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree

Progress = Callable[[int, int], None]
"""Called after each sentence with the number of lines read and the number of lines in all."""


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
        for sentence in self.in_order():
            lines.setdefault(sentence.identifier, []).append(_line(sentence))
        return {identifier: several for identifier, several in lines.items() if len(several) > 1}

    def named(self, name: str) -> "Treebank":
        """The treebank with a name in its trees, by which a model can tell it from others."""
        sentences = (replace(each, tree=replace(each.tree, treebank=name)) for each in self.sentences)
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
    return _treebank(lines, name, punctuation_relation, progress, skip_bad, need_sentences)


def read_text(
    text: str,
    name: str = "<string>",
    *,
    punctuation_relation: bool = True,
    progress: Progress | None = None,
) -> Treebank:
    """Prepare a treebank in memory; see `read_treebank`."""
    lines = text.removeprefix("\ufeff").split("\n")
    return _treebank(lines, name, punctuation_relation, progress)


def _treebank(
    lines: Sequence[str | TreebankError],
    name: str,
    punctuation_relation: bool,
    progress: Progress | None,
    skip_bad: bool = False,
    need_sentences: bool = True,
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
        raise _first_error(bad)
    if not sentences and (need_sentences or not omitted):
        raise nothing_kept(name, omitted)
    return Treebank(name, tuple(sentences), tuple(omitted))


def _malformed(error: TreebankError, position: int) -> Omission:
    """The omission of a malformed sentence at a position; raises `TreebankError` if it cannot be copied."""
    if not error.lines:
        problem = f"{error.problem}, so its sentence can be neither read nor copied"
        raise TreebankError(error.path, problem, error.line, error.sentence)
    identifier = error.sentence or f"#{position}"
    return Omission(identifier, error.line or 0, error.problem, error.lines, error.end, malformed=True)


def _first_error(bad: Sequence[TreebankError]) -> TreebankError:
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
    several = f"all {len(omitted):,} sentences are omitted; the first: {first.reason}"
    problem = several if len(omitted) > 1 else f"the only sentence is omitted: {first.reason}"
    return TreebankError(name, problem, first.line, first.identifier)


def require_punctuation(treebank: Treebank) -> None:
    """Raise `TreebankError` if no sentence of the treebank has a punctuation mark."""
    if not any(marks for sentence in treebank for marks in sentence.layout.marks):
        raise TreebankError(treebank.path, "there is no punctuation in the treebank (has it been removed?)")


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
