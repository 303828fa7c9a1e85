"""Converts phrase-structure trees to dependency trees whose subtrees are the maximal projections.

Li, Wang & Eisner (2019, footnote 2) note that their model could be adapted to constituency trees; here the
trees are adapted to the model.  Head rules, from published tables, choose the head of each phrase among its
daughters.  A word depends on the head of the phrase that directly contains its maximal projection, the
largest phrase that it heads. ``docs/guide/constituency.md`` has the rules.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from pyropunct.text.lines import NO_SENTENCE, TreebankError, opened, read_lines
from pyropunct.text.marks import space_beside_mark, space_between_words
from pyropunct.treebank.columns import with_misc
from pyropunct.treebank.conllu_writer import as_written
from pyropunct.treebank.head_rules import HeadRules, load_head_rules
from pyropunct.treebank.phrase_trees import (
    EMPTY_ELEMENT,
    OTHER,
    PhraseTree,
    as_printed,
    category_of,
    function_tags,
    read_phrase_trees,
    universal_tag,
)
from pyropunct.treebank.reading import Progress, Treebank, read_text

PROJECTION_SEPARATOR = ">"

_ENCLITIC = re.compile(r"n['’]t|['’](?:s|m|d|ll|re|ve)?|%", re.IGNORECASE)
_CURRENCIES = frozenset({"$", "#"})
_NOT_A_LETTER = re.compile(r"[\W\d_]")


def read_brackets(
    path: str | Path, head_rules: str | HeadRules = "english", *, progress: Progress | None = None
) -> Treebank:
    """Read a file of bracketed phrase-structure trees; see `pyropunct.read_treebank`.

    Line numbers of omitted sentences are those of the conversion to CoNLL-U.  Identifiers are the file's name
    and the tree's position: ``wsj_0001-17``.

    :param head_rules: ``english``, ``chinese``, the path of a file of rules, or the rules themselves.
    :raises TreebankError: if the file cannot be read, is not UTF-8, has anything but trees, or no word.
    :raises InputError: if the rules cannot be used.
    """
    rules = load_head_rules(head_rules) if isinstance(head_rules, str) else head_rules
    with opened(str(path)) as (stream, name):
        text = "".join(Conversion(rules).blocks(read_lines(stream, name), name))
    return read_text(text, name, progress=progress)


@dataclass(slots=True)
class _Token:
    """A word or mark in conversion, with the labels of its projections, the smallest first, and its head."""

    tag: str
    written: str
    upos: str
    projections: list[str] = field(default_factory=list)
    head: int | None = None
    level: int = 0

    @property
    def form(self) -> str:
        return as_printed(self.written, self.tag)

    @property
    def is_mark(self) -> bool:
        return self.upos == "PUNCT"

    @property
    def relation(self) -> str:
        if self.head is None:
            return "root"
        if self.is_mark:
            return "punct"
        return relation_of(self.projections[-1] if self.projections else self.tag) or self.upos.lower()


@dataclass
class Conversion:
    """Converts phrase-structure trees to CoNLL-U, and counts unknown tags and phrases, and empty trees."""

    rules: HeadRules
    trees: int = 0
    words: int = 0
    marks: int = 0
    empty: int = 0
    unknown_tags: Counter[str] = field(default_factory=Counter)
    unknown_phrases: Counter[str] = field(default_factory=Counter)

    def to_json(self) -> dict[str, Any]:
        """The counts, ready for JSON."""
        return {
            name: dict(count.most_common()) if isinstance(count, Counter) else count
            for name, count in vars(self).items()
            if name != "rules"
        }

    def blocks(self, lines: Iterable[str], name: str) -> Iterator[str]:
        """The sentences of a bracketed text as CoNLL-U; raises `TreebankError` for bad syntax or no tree."""
        stem = "-".join(Path(name.strip("<>")).stem.split()) or "tree"
        position = 0
        for position, tree in enumerate(read_phrase_trees(lines, name), start=1):
            tokens = self._tokens(tree, name, position)
            if tokens:
                yield _conllu(tokens, f"{stem}-{position}")
        if not position:
            raise TreebankError(name, NO_SENTENCE)

    def _tokens(self, tree: PhraseTree, name: str, position: int) -> list[_Token]:
        """The words and marks of a tree with their heads; empty if all elements are empty."""
        pruned = without_empty_elements(tree)
        if pruned is None:
            self.empty += 1
            return []
        tokens: list[_Token] = []
        root, *others = self._project(_rooted(pruned, name, position), tokens)
        for other in others:  # of a tree of marks alone
            tokens[other].head = root
        marks = sum(token.is_mark for token in tokens)
        self.trees += 1
        self.words += len(tokens) - marks
        self.marks += marks
        return tokens

    def _project(self, tree: PhraseTree, tokens: list[_Token]) -> list[int]:
        """Append a tree's tokens; return the index of its head, or of all its marks if it has no word."""
        if tree.word:
            upos = universal_tag(tree.category)
            if upos is None:
                self.unknown_tags[tree.category] += 1
            tokens.append(_Token(tree.label, tree.word, upos or OTHER))
            return [len(tokens) - 1]
        marks: list[int] = []
        lexical: list[tuple[PhraseTree, int]] = []
        for daughter in tree.daughters:
            top, *others = self._project(daughter, tokens)
            if tokens[top].is_mark:
                marks += [top, *others]
            else:
                lexical.append((daughter, top))
        heads = marks  # of a phrase without a word
        if lexical:
            if len(lexical) > 1 and not self.rules.knows(tree.category):
                self.unknown_phrases[tree.category] += 1
            head = lexical[self.rules.head(tree.category, [daughter for daughter, _ in lexical])][1]
            for dependent in marks + [top for _, top in lexical if top != head]:
                tokens[dependent].head = head
                tokens[dependent].level = len(tokens[head].projections) + 1
            heads = [head]
        for head in heads:
            tokens[head].projections.append(tree.label)
        return heads


def without_empty_elements(tree: PhraseTree) -> PhraseTree | None:
    """A tree without traces and phrases of traces only; None if nothing is left."""
    if tree.word:
        return None if tree.label == EMPTY_ELEMENT else tree
    daughters = tuple(filter(None, map(without_empty_elements, tree.daughters)))
    return replace(tree, daughters=daughters) if daughters else None


def relation_of(label: str) -> str:
    """The relation for a label, such as ``pp:locclr`` for ``PP-LOC-CLR-2``; empty without letters."""
    category, *tags = (
        _NOT_A_LETTER.sub("", part).lower() for part in [category_of(label), *function_tags(label)]
    )
    return ":".join(filter(None, [category, "".join(tags)]))


def _rooted(tree: PhraseTree, name: str, position: int) -> PhraseTree:
    """The tree inside the outermost bracket without a label; beside marks, it becomes ROOT."""
    if tree.label:
        return tree
    if len(tree.daughters) == 1:
        return tree.daughters[0]
    roots = [daughter.label for daughter in tree.daughters if _has_word(daughter)]
    if len(roots) > 1:
        problem = f"the tree has several roots, {', '.join(roots)} (put them into one bracket with a label)"
        raise TreebankError(name, problem, tree.line, f"#{position}")
    return replace(tree, label="ROOT")


def _has_word(tree: PhraseTree) -> bool:
    if tree.word:
        return universal_tag(tree.category) != "PUNCT"
    return any(map(_has_word, tree.daughters))


# CoNLL-U


def _conllu(tokens: Sequence[_Token], identifier: str) -> str:
    spaces = [_space_between(left, right) for left, right in pairwise(tokens)] + [True]
    text = "".join(token.form + " " * space for token, space in zip(tokens, spaces, strict=True)).rstrip()
    lines = [f"# sent_id = {identifier}", f"# text = {text}"]
    for number, (token, space) in enumerate(zip(tokens, spaces, strict=True), start=1):
        head = 0 if token.head is None else token.head + 1
        columns = (number, token.form, "_", token.upos, token.tag, "_", head, token.relation, "_")
        lines.append("\t".join([*map(str, columns), _misc(token, space)]))
    return as_written(lines)


def _space_between(left: _Token, right: _Token) -> bool:
    """Whether to write a space between two tokens; phrase-structure trees do not record spaces."""
    if left.is_mark or right.is_mark:
        return space_beside_mark(left.form, right.form, left.is_mark, right.is_mark)
    if left.tag in _CURRENCIES or _ENCLITIC.fullmatch(right.form):
        return False
    return space_between_words(left.form, right.form)


def _misc(token: _Token, space: bool) -> str:
    """The MISC column: the labels and spacing that the other columns do not hold."""
    entries = {
        "Phrase": PROJECTION_SEPARATOR.join(token.projections),
        "Level": str(token.level or ""),
        "Leaf": token.written if token.written != token.form else "",
        "SpaceAfter": "" if space else "No",
    }
    return with_misc("_", {name: value or None for name, value in entries.items()})
