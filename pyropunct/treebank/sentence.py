"""A treebank sentence: its unpunctuated tree, its surface punctuation, and how to print both.

`Sprouts` are the marks of a constituent: punctemes at its edges, and perhaps marks around a part.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from pyropunct.text.conventions import Conventions
from pyropunct.text.marks import Surface, displayed, in_common_marks
from pyropunct.treebank.conllu_block import DEPREL, DEPS, HEAD, UPOS
from pyropunct.treebank.conllu_writer import as_written, write_items, write_misc
from pyropunct.treebank.layout import Layout
from pyropunct.treebank.repunctuate import USUAL, arrange, printed, written_words
from pyropunct.treebank.tree import Tree, mark_heads

if TYPE_CHECKING:
    from networkx import DiGraph


@dataclass(frozen=True)
class Sentence:
    """A sentence of n words, prepared as in Li, Wang & Eisner 2019, section 4.

    :ivar tree: the unpunctuated, projective tree; forms lack abbreviation dots.
    :ivar surface: for each of the slots 0..n its punctuation tokens.  Slot 0 starts with
        :data:`~pyropunct.text.marks.START`; slot i starts with :data:`~pyropunct.text.marks.ABBREVIATION_DOT`
        if word i lost its dot.  Quotation marks are directed.  Rare marks are as written.
    :ivar lifted: the number of words that got another head by projectivisation.
    """

    identifier: str
    tree: Tree
    surface: tuple[tuple[str, ...], ...]
    lifted: int
    layout: Layout = field(repr=False)

    @property
    def end(self) -> str:
        """How its lines end in the file."""
        return self.layout.block.end

    def with_marks(self, common: Mapping[str, str]) -> "Sentence":
        """The sentence with the common tokens for some marks; its own text and lines stay.

        :param common: see `pyropunct.text.marks.in_common_marks`.
        """
        found = iter(in_common_marks([mark for slot in self.surface for mark in slot], common))
        surface = tuple(tuple(islice(found, len(slot))) for slot in self.surface)
        return replace(self, surface=surface, layout=replace(self.layout, surface=surface))

    def text(self, surface: Surface | None = None, conventions: Conventions = USUAL) -> str:
        """The printed sentence; by default the original text.

        With another surface, original neighbours keep their spacing, and the conventions decide elsewhere.

        :raises ValueError: if the number of slots is not n + 1.
        """
        items = arrange(self.layout, self.surface if surface is None else surface, conventions)
        return printed(self.layout, items, conventions).text

    def passage(self, tokens: Collection[int], slot: int) -> tuple[str, str, str]:
        """The original text before, from the first to the last of, and after certain tokens.

        :param tokens: token ids of the original; without any, the middle is empty, at the slot.
        :param slot: which of the slots 0..n.
        """
        items = arrange(self.layout, self.surface)
        text, places = printed(self.layout, items)
        inside = [place for item, place in zip(items, places, strict=True) if item.token in tokens]
        if inside:
            first, last = min(inside)[0], max(end for _, end in inside)
        else:
            before = [place for item, place in zip(items, places, strict=True) if item.slot <= slot]
            first = last = max((end for _, end in before), default=0)
        return text[:first], text[first:last], text[last:]

    def words_apart(self, slots: Collection[int]) -> list[str]:
        """The words as the original writes them: see `pyropunct.treebank.repunctuate.written_words`."""
        return written_words(self.layout, slots)

    def graph(self, punctemes: Sequence[tuple[Sequence[str], Sequence[str]]] | None = None) -> "DiGraph":
        """The tree as a directed graph of networkx, with an edge from each head to each of its dependents.

        A node is the number of a word, 1..n.  It has the attributes ``form``, ``tag``, ``relation`` and, as
        lists of marks that a person can read, ``before`` and ``behind``: those of the slots beside the word.
        An edge has the ``relation`` of the dependent.  The name of the graph is the identifier.

        :param punctemes: for each word the left and the right puncteme of its constituent, as
            `pyropunct.Punctuator.underlying` gives them; they become ``left`` and ``right``.
        """
        from networkx import DiGraph  # which takes long, and few need it

        tree, slots = self.tree, list(map(displayed, self.surface))
        graph = DiGraph(name=self.identifier)
        columns = zip(tree.forms, tree.tags, tree.relations, slots[:-1], slots[1:], strict=True)
        for word, (form, tag, relation, before, behind) in enumerate(columns, 1):
            graph.add_node(word, form=form, tag=tag, relation=relation, before=before, behind=behind)
        for word, (head, relation) in enumerate(zip(tree.heads, tree.relations, strict=True), 1):
            if head:
                graph.add_edge(head, word, relation=relation)
        if punctemes is not None:
            for word, (left, right) in zip(range(1, len(tree) + 1), punctemes, strict=True):
                graph.nodes[word].update(left=displayed(left), right=displayed(right))
        return graph

    def conllu(self, misc: Sequence[Mapping[str, str | None]] | None = None) -> str:
        """The original lines and the blank line behind them.

        :param misc: for each of the n words, entries to add to its MISC column; they replace entries of
            the same name, and None only removes these.
            Backslash, bar, tab and newline in a value become ``\\\\``, ``\\p``, ``\\t``, ``\\n``.
        :raises ValueError: if ``misc`` does not have n members.
        """
        if misc is None:
            return as_written(self.layout.block.lines, self.layout.block.end)
        return write_misc(self.layout, misc)

    def conllu_with_surface(self, surface: Surface, conventions: Conventions = USUAL) -> str:
        """The sentence as CoNLL-U with other punctuation, with the blank line behind it.

        Kept tokens have their original lines, except for ids and ``SpaceAfter``.  A new mark depends, with
        relation ``punct``, on the highest word from which its arc crosses no other arc.

        :raises ValueError: if the number of slots is not n + 1.
        """
        items = arrange(self.layout, surface, conventions)
        tokens = range(1, len(self.layout.block.tokens) + 1)
        original = [(token, self.layout.form(token)) for token in tokens]
        if [(item.token, item.form) for item in items] == original:
            return self.conllu()
        heads = [self.layout.words[word - 1] for word in mark_heads(self.tree)]
        return write_items(self.layout, items, heads, conventions)


NEW_DOCUMENT = "# newdoc"
"""How the comment begins that stands before the first sentence of a document (CoNLL-U)."""


def by_document(sentences: Iterable[Sentence]) -> list[list[Sentence]]:
    """The sentences of each document; one document if no comments start documents."""
    parts: list[list[Sentence]] = []
    for sentence in sentences:
        if not parts or any(line.startswith(NEW_DOCUMENT) for line in sentence.layout.block.lines):
            parts.append([])
        parts[-1].append(sentence)
    return parts


PUNCTUATION = "punct"
"""The relation of a mark to its head in Universal Dependencies."""


def with_tree(sentence: Sentence, tree: Tree) -> Sentence:
    """The sentence with the heads, relations and tags of another tree; raises `ValueError` for other words.

    Each mark depends on the highest word from which its arc crosses no other arc.  The enhanced graph of the
    old tree is dropped.
    """
    if tree.forms != sentence.tree.forms:
        raise ValueError("the tree is not of the words of the sentence")
    layout, words = sentence.layout, (0, *sentence.layout.words)
    columns = {}
    for token, head, relation, tag in zip(words[1:], tree.heads, tree.relations, tree.tags, strict=True):
        old = layout.block.tokens[token - 1].columns[UPOS]
        columns[token] = {HEAD: str(words[head]), DEPREL: relation, UPOS: tag or old, DEPS: "_"}
    for marks, head in zip(layout.marks, mark_heads(tree), strict=True):
        columns |= {mark: {HEAD: str(words[head]), DEPREL: PUNCTUATION, DEPS: "_"} for mark in marks}
    return replace(sentence, tree=tree, lifted=0, layout=layout.changed(columns))


Puncteme = tuple[str, ...]


class MarkedPart(NamedTuple):
    """Two marks around the head of a constituent, with some of its dependents outside.

    :ivar left: the mark on the left; ``right``, its partner.
    :ivar left_out: how many of the leftmost dependents stand outside; ``right_out``, of the rightmost.
    """

    left: str
    right: str
    left_out: int
    right_out: int


class Sprouts(tuple[Puncteme, Puncteme]):
    """The left and the right puncteme of a constituent, which may also have a part between marks.

    :ivar part: that part, or None.
    """

    part: MarkedPart | None

    def __new__(cls, left: Puncteme = (), right: Puncteme = (), part: MarkedPart | None = None) -> "Sprouts":
        """A pair with a part."""
        self = super().__new__(cls, (left, right))
        self.part = part
        return self

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, other) is True and self.part == part_of(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return tuple.__hash__(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Sprouts, (*self, self.part)

    def __repr__(self) -> str:
        return "Sprouts(left={!r}, right={!r}, part={!r})".format(*self, self.part)


def part_of(pair: object) -> MarkedPart | None:
    """The part of `Sprouts`; a plain pair of punctemes has none."""
    return getattr(pair, "part", None)
