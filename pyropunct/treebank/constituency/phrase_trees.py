"""Bracketed phrase-structure trees, as the Penn Treebank writes them, read one after the other."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from pyropunct.treebank.errors import TreebankError

DEEPEST = 200
"""Brackets that may be open at the same time; real trees have fewer than 100."""

_ATOM = re.compile(r"[()]|[^\s()]+(?:[^\S \t\n\r\f\v]+[^\s()]+)*")
"""A bracket, label or word.  Spaces that ASCII lacks, such as hair spaces, may stand inside a word."""

_NOT_IN_CATEGORY = re.compile(r"[-=|]")


@dataclass(frozen=True, slots=True)
class PhraseTree:
    """A node of a phrase-structure tree.

    :ivar label: the label as written, such as ``NP-SBJ-1``; empty for brackets without one.
    :ivar line: the line of the file at which the bracket opens.
    :ivar word: the word of a leaf, as written; empty for a phrase.
    :ivar daughters: the nodes directly inside a phrase, from left to right.
    """

    label: str
    line: int
    word: str = ""
    daughters: "tuple[PhraseTree, ...]" = ()

    @property
    def category(self) -> str:
        """The label without function tags, indices and second readings."""
        return category_of(self.label)


@lru_cache(1 << 12)
def category_of(label: str) -> str:
    """A label up to its first ``-``, ``=`` or ``|``: ``NP`` for ``NP-SBJ-1``.

    A label that begins with such a character (``-LRB-``) is a category as it is.
    """
    return _NOT_IN_CATEGORY.split(label)[0] or label


def function_tags(label: str) -> list[str]:
    """The function tags of a label, without indices: SBJ and TPC for ``NP-SBJ-TPC-2``."""
    if category_of(label) == label:
        return []
    parts = _NOT_IN_CATEGORY.split(label.partition("|")[0])[1:]
    return [part for part in parts if part and not part.isdecimal()]


def read_phrase_trees(lines: Iterable[str], name: str) -> Iterator[PhraseTree]:
    """The trees of a bracketed text, in order; no more than one is in memory.

    A tree may run over several lines, and a line may hold several trees.  Between trees, lines that
    begin with ``<`` are skipped, since the Chinese Treebank has markup there.

    :param lines: its lines.
    :param name: the name that errors give to the text.
    :raises TreebankError: at the first bracket, label or word that cannot be part of a tree; it names the
        line, and the tree by its position, ``#17``.
    """
    reader = _BracketReader(name)
    for number, line in enumerate(lines, start=1):
        if line.startswith("<") and not reader.inside:
            continue
        for atom in _ATOM.findall(line):
            tree = reader.read(atom, number)
            if tree is not None:
                yield tree
    reader.finish()


@dataclass(slots=True)
class _Bracket:
    """A bracket that is not closed yet."""

    line: int
    label: str = ""
    words: list[str] = field(default_factory=list)
    daughters: list[PhraseTree] = field(default_factory=list)


class _BracketReader:
    """Builds trees from brackets, labels and words.

    :ivar inside: whether a tree has begun and not ended.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._open: list[_Bracket] = []
        self._trees = 0

    @property
    def inside(self) -> bool:
        return bool(self._open)

    def read(self, atom: str, line: int) -> PhraseTree | None:
        """Take one bracket, label or word, and return the tree that it completes, if any.

        :raises TreebankError: if it cannot come next in a tree.
        """
        if atom == "(":
            self._begin(line)
        elif atom == ")":
            return self._end(line)
        else:
            self._read_name(atom, line)
        return None

    def finish(self) -> None:
        """Check at the end of the text that the last tree is complete.

        :raises TreebankError: if a bracket is still open.
        """
        if self._open:
            problem = f"the text ends before {len(self._open)} brackets are closed"
            raise self._error(problem.replace("1 brackets are", "a bracket is"), self._open[0].line)

    def _begin(self, line: int) -> None:
        if not self._open:
            self._trees += 1
        elif self._open[-1].words:
            raise self._untagged(self._open[-1], line)
        elif len(self._open) > 1 and not self._open[-1].label:
            problem = "a bracket inside the tree has no label (is one before it not closed?)"
            raise self._error(problem, self._open[-1].line)
        elif len(self._open) == DEEPEST:
            raise self._error(f"more than {DEEPEST} brackets are open at a time", line)
        self._open.append(_Bracket(line))

    def _read_name(self, name: str, line: int) -> None:
        if not self._open:
            self._trees += 1
            raise self._error(f"{name} stands outside of all brackets", line)
        bracket = self._open[-1]
        if bracket.daughters:
            raise self._error(f"the word {name} has no tag (write it as (TAG {name}))", line)
        if bracket.label:
            bracket.words.append(name)
        else:
            bracket.label = name

    def _end(self, line: int) -> PhraseTree | None:
        if not self._open:
            self._trees += 1
            raise self._error("a closing bracket stands outside of all brackets", line)
        bracket = self._open[-1]
        self._check(bracket)
        node = PhraseTree(bracket.label, bracket.line, "".join(bracket.words), tuple(bracket.daughters))
        self._open.pop()
        if not self._open:
            return node
        self._open[-1].daughters.append(node)
        return None

    def _check(self, bracket: _Bracket) -> None:
        if len(bracket.words) > 1:
            raise self._untagged(bracket, bracket.line)
        if not bracket.words and not bracket.daughters:
            raise self._error(f"the bracket ({bracket.label}) holds no word", bracket.line)

    def _untagged(self, bracket: _Bracket, line: int) -> TreebankError:
        word = bracket.words[-1]
        problem = f"the word {word} below {bracket.label} has no tag (write it as (TAG {word}))"
        return self._error(problem, line)

    def _error(self, problem: str, line: int) -> TreebankError:
        return TreebankError(self._name, problem, line, f"#{self._trees}")
