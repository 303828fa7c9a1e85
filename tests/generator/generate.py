"""Writes the treebank that ships inside the package.

Run ``PYTHONPATH=tests:tutorials python -m generator.generate`` at the root of the repository.

Words keep the punctemes of their constituents in MISC: ``PunctLeft=``
and ``PunctRight=``, joined by ``+``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random

from true_rules import KEEP, TRUE_EDITS, Constituent, Edits, Pair, true_attach

from generator.grammar import Grammar
from pyropunct.embedded import embedded_treebank_path
from pyropunct.text.marks import ABBREVIATION_DOT, START, display
from pyropunct.treebank.tree import Tree

SIZES = {"train": 1700, "dev": 200, "test": 200}
"""The number of sentences of each file."""

SEED = 1990
"""The seed of the files in the package."""

PUNCTEME_SEPARATOR = "+"
OPENING = frozenset("(“")
CLOSING = frozenset(",.;:?!)”")
DASH = "—"


@dataclass(frozen=True)
class Mark:
    """An underlying token and the word whose constituent sprouted it, 0 for none."""

    token: str
    source: int


@dataclass(frozen=True)
class PunctuatedSentence:
    """A sentence with the punctemes of its n words, and the marks that the slots 0..n show."""

    tree: Tree
    pairs: tuple[Pair, ...]
    slots: tuple[tuple[Mark, ...], ...]

    @property
    def surface(self) -> tuple[tuple[str, ...], ...]:
        """The surface string of each slot."""
        return tuple(tuple(mark.token for mark in slot) for slot in self.slots)


# Punctuation


def punctuate(tree: Tree, random: Random) -> PunctuatedSentence:
    """Draw the punctuation of a tree from the true model."""
    pairs = tuple(_draw(true_attach(tree, word), random) for word in range(1, len(tree) + 1))
    slots = []
    for underlying in underlying_marks(tree, pairs):
        survivors = sample_survivors([mark.token for mark in underlying], TRUE_EDITS, random)
        slots.append(_with_sources(underlying, survivors, tree))
    return PunctuatedSentence(tree, pairs, tuple(slots))


def sample_survivors(underlying: Sequence[str], edits: Edits, random: Random) -> list[int]:
    """Draw a surface string: the positions in the underlying string of its tokens, in surface order."""
    if not underlying:
        return []
    held, finished = len(underlying) - 1, list[int]()
    for read in reversed(range(len(underlying) - 1)):
        weights = edits.get((underlying[read], underlying[held]), KEEP)
        outcomes = [(read, held), (held, None), (read, None), (held, read)]
        held, done = random.choices(outcomes, weights)[0]
        if done is not None:
            finished.insert(0, done)
    return [held, *finished]


def _draw(distribution: dict[Pair, float], random: Random) -> Pair:
    return random.choices(list(distribution), weights=list(distribution.values()))[0]


def underlying_marks(tree: Tree, pairs: Sequence[Pair]) -> list[list[Mark]]:
    """The underlying string of each slot 0..n: right punctemes, inner first, then left ones, outer first."""
    slots: list[list[Mark]] = [[] for _ in range(len(tree) + 1)]
    slots[0].append(Mark(START, 0))
    constituents = sorted((Constituent(tree, word) for word in range(1, len(tree) + 1)), key=_size)
    for constituent in constituents:
        slots[constituent.last] += [Mark(token, constituent.word) for token in pairs[constituent.word - 1][1]]
    for constituent in reversed(constituents):
        slots[constituent.first - 1] += [
            Mark(token, constituent.word) for token in pairs[constituent.word - 1][0]
        ]
    return slots


def _size(constituent: Constituent) -> int:
    return constituent.last - constituent.first


def _with_sources(underlying: Sequence[Mark], survivors: Sequence[int], tree: Tree) -> tuple[Mark, ...]:
    """The marks that remain, each with its word; transposed ones, which would cross, with a common head."""
    marks = [underlying[position] for position in survivors]
    if list(survivors) == sorted(survivors):
        return tuple(marks)
    common = _lowest_common_ancestor(tree, [mark.source for mark in marks])
    return tuple(Mark(mark.token, common) for mark in marks)


def _lowest_common_ancestor(tree: Tree, words: Sequence[int]) -> int:
    first, *others = [list(_ancestors(tree, word)) for word in words]
    return next(word for word in first if all(word in path for path in others))


def _ancestors(tree: Tree, word: int) -> Iterator[int]:
    """The word itself, its head, and so on up to the root."""
    while word:
        yield word
        word = tree.heads[word - 1]


# CoNLL-U


@dataclass(frozen=True)
class Row:
    """A token on its way to a line: a word of the tree or a mark."""

    form: str
    tag: str
    head: int
    """The word number of the head in the tree, 0 for the root."""
    relation: str
    misc: tuple[str, ...]
    word: int
    """Its own word number in the tree, 0 for a mark."""


def conllu(identifier: str, sentence: PunctuatedSentence) -> str:
    """A sentence as CoNLL-U, with the blank line behind it."""
    rows = list(_rows(sentence))
    position = {row.word: number for number, row in enumerate(rows, start=1) if row.word} | {0: 0}
    lines = [f"# sent_id = {identifier}", f"# text = {text(rows)}"]
    for number, (row, following) in enumerate(zip(rows, [*rows[1:], None], strict=True), start=1):
        no_space = following is not None and glued(row, following)
        misc = "|".join([*row.misc, *(["SpaceAfter=No"] if no_space else [])]) or "_"
        columns = (number, row.form, "_", row.tag, "_", "_", position[row.head], row.relation, "_", misc)
        lines.append("\t".join(map(str, columns)))
    return "\n".join(lines) + "\n\n"


def _rows(sentence: PunctuatedSentence) -> Iterator[Row]:
    """Words and marks in the order of the page, and the abbreviation dots inside their words."""
    yield from _mark_rows(sentence.slots[0])
    for word, (tag, form) in enumerate(zip(sentence.tree.tags, sentence.tree.forms, strict=True), start=1):
        slot = sentence.slots[word]
        dotted = form + "." if slot and slot[0].token == ABBREVIATION_DOT else form
        head, relation = sentence.tree.heads[word - 1], sentence.tree.relations[word - 1]
        yield Row(dotted, tag, head, relation, _punctemes_in_misc(sentence.pairs[word - 1]), word)
        yield from _mark_rows(slot)


def _mark_rows(slot: Sequence[Mark]) -> Iterator[Row]:
    for mark in slot:
        if mark.token not in {START, ABBREVIATION_DOT}:
            yield Row(mark.token, "PUNCT", mark.source, "punct", (), 0)


def _punctemes_in_misc(pair: Pair) -> tuple[str, ...]:
    return tuple(
        f"{key}={PUNCTEME_SEPARATOR.join(map(display, puncteme))}"
        for key, puncteme in zip(("PunctLeft", "PunctRight"), pair, strict=True)
        if puncteme
    )


def glued(row: Row, following: Row) -> bool:
    """Whether two neighbouring tokens stand together without a space."""
    if DASH in (row.form, following.form):
        return True
    return row.form in OPENING or following.form in CLOSING or following.form == "’s"


def text(rows: Sequence[Row]) -> str:
    """The printed sentence."""
    printed = rows[0].form
    for row, following in pairwise(rows):
        printed += following.form if glued(row, following) else " " + following.form
    return printed


# Files


def sentences(seed: int) -> Iterator[PunctuatedSentence]:
    """Endlessly many sentences, no two of them with the same words."""
    random = Random(seed)
    grammar = Grammar(random)
    seen: set[tuple[str, ...]] = set()
    while True:
        tree = grammar.sentence()
        words = tuple(form.lower() for form in tree.forms)
        if words not in seen:
            seen.add(words)
            yield punctuate(tree, random)


def write(folder: Path) -> None:
    """Write the three files."""
    source = sentences(SEED)
    for split, size in SIZES.items():
        content = "".join(conllu(f"{split}-{number:04}", next(source)) for number in range(1, size + 1))
        (folder / f"{split}.conllu").write_text(content, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write(embedded_treebank_path("train").parent)
