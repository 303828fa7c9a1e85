"""The trees over which restoration averages, and windows of long lines.

Parsing is cubic in time and quadratic in memory.  So a long line is restored in overlapping windows, and each
slot is taken from the window whose core contains it.  Time is linear in the length of the line.  For
sentences of treebanks and words from Python, only the parsing uses windows.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple, Protocol

from pyropunct.errors import MissingPartError
from pyropunct.fitted.fitted_story import FittedStory
from pyropunct.nets.parser import Parser, WeightedTree
from pyropunct.nets.reader import RunningReader
from pyropunct.nets.tagger import SlotTagger
from pyropunct.restore.settings import DecisionSettings
from pyropunct.text.conventions import Conventions
from pyropunct.text.raw_sentence import require_words
from pyropunct.treebank.projective import projectivise
from pyropunct.treebank.tree import Tree
from pyropunct.vocabulary import Vocabulary

LONGEST_WHOLE = 400
"""The most words of a line that is not cut."""

LONGEST_PARSED = 500
"""The most words that are parsed together: more than any window of a line has."""

CORE, MARGIN = 300, 50
"""The words in the core of a window, and those on either side of it."""

ROOT, PARATAXIS = "root", "parataxis"
"""Relations of Universal Dependencies: of the root, and of clauses side by side."""


class LineWindow(NamedTuple):
    """The words between the slots ``first`` and ``last`` of a line.

    :ivar core: the words, counted from 1, whose heads and preceding slots are taken from this window; the
        last window also gives the last slot.
    """

    first: int
    last: int
    core: range


def windows(size: int, closed: Collection[int]) -> list[LineWindow]:
    """The windows of a line of ``size`` words, which is not cut at ``closed`` slots."""
    if size <= LONGEST_WHOLE:
        return [LineWindow(0, size, range(1, size + 1))]
    parts = []
    for start in range(0, size, CORE):
        first, last = max(0, start - MARGIN), min(size, start + CORE + MARGIN)
        while first in closed:
            first -= 1
        while last in closed:
            last += 1
        parts.append(LineWindow(first, last, range(start + 1, min(size, start + CORE) + 1)))
    return parts


def joined_tree(parts: Sequence[LineWindow], trees: Sequence[Tree]) -> Tree:
    """The tree of a line; each word's head is from the window whose core has it, else the first root."""
    heads: list[int] = []
    relations: list[str] = []
    tags: list[str] = []
    forms: list[str] = []
    for window, tree in zip(parts, trees, strict=True):
        core = slice(window.core.start - 1 - window.first, window.core.stop - 1 - window.first)
        heads += [head and head + window.first for head in tree.heads[core]]
        relations += tree.relations[core]
        tags += tree.tags[core]
        forms += tree.forms[core]
    roots = _roots(heads)
    for word in roots:
        heads[word - 1], relations[word - 1] = roots[0], PARATAXIS
    heads[roots[0] - 1], relations[roots[0] - 1] = 0, ROOT
    return Tree(projectivise(heads), tuple(relations), tuple(tags), tuple(forms))


def _roots(heads: Sequence[int]) -> list[int]:
    """The roots, and one word of each cycle; every other word depends on one of these."""
    roots: list[int] = []
    seen = [False] * (len(heads) + 1)
    for start in range(1, len(heads) + 1):
        path, word = set[int](), start
        while word and not seen[word]:
            seen[word] = True
            path.add(word)
            if not heads[word - 1]:
                roots.append(word)
            word = heads[word - 1]
        if word in path:
            roots.append(word)
    return sorted(roots)


class FittedModel(Protocol):
    """The parts of a fitted model that restoration uses: see `pyropunct.Punctuator`."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The types that it knows."""

    @property
    def conventions(self) -> Conventions:
        """How it writes."""

    @property
    def parser(self) -> Parser | None:
        """The parser of raw words."""

    @property
    def reader(self) -> RunningReader | None:
        """The reader of running text."""

    @property
    def tagger(self) -> SlotTagger | None:
        """The tagger of words."""

    @property
    def share(self) -> float:
        """The weight of the networks in the pool with the story."""

    @property
    def reader_share(self) -> float:
        """The weight of the reader among the networks, between the words of a sentence."""

    @property
    def for_parsed(self) -> FittedStory:
        """The fitted story for parser output."""

    def fitted_story(self, given: bool) -> FittedStory:
        """The fitted story for given trees, or for parser output."""


NO_PARSER = (
    "the model has no parser, so it cannot read raw words: "
    "fit one with `pyropunct fit TRAIN --parser`, or give CoNLL-U input"
)
"""What a model without a parser says to raw words."""


def weighted_trees(
    model: FittedModel, sentences: Sequence[Sequence[str] | Tree], trees: int = DecisionSettings.trees
) -> list[list[WeightedTree]]:
    """The trees of each sentence, with weights that add up to 1; a given tree has weight 1.

    :param trees: the most trees of a parsed sentence; beyond `LONGEST_PARSED` words it gets one, joined from
        windows.
    :raises MissingPartError: if there are raw words and the model has no parser.
    :raises TypeError: if a sentence is a string instead of a list of words.
    """
    require_words(sentences)
    raw = [sentence for sentence in sentences if not isinstance(sentence, Tree)]
    for words in raw:
        require_words(words)
    if raw and model.parser is None:
        raise MissingPartError(NO_PARSER)
    parsed = _parsed(model.parser, raw, trees) if model.parser is not None and raw else iter(())
    return [
        [WeightedTree(sentence, 1.0, given=True)] if isinstance(sentence, Tree) else next(parsed)
        for sentence in sentences
    ]


def _parsed(parser: Parser, sentences: Sequence[Sequence[str]], trees: int) -> Iterator[list[WeightedTree]]:
    """The trees of each sentence; long sentences are parsed in `windows`."""
    short = [words for words in sentences if len(words) <= LONGEST_PARSED]
    parses = iter(parser.parse(short, trees) if short else ())
    for words in sentences:
        if len(words) <= LONGEST_PARSED:
            yield next(parses)
            continue
        parts = windows(len(words), ())
        best = parser.parse([words[window.first : window.last] for window in parts])
        yield [WeightedTree(joined_tree(parts, [only.tree for [only] in best]), 1.0)]
