"""From sentences to trees to decisions: the steps that restoration and correction share."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pyropunct.nets.parser import WeightedTree
from pyropunct.restore.decoders import Decision, Shares
from pyropunct.restore.parses import LONGEST_WHOLE, FittedModel, joined, weighted_trees, windows
from pyropunct.restore.settings import DecisionSettings
from pyropunct.text.conventions import Conventions
from pyropunct.text.marks import ABBREVIATION_DOT, START, Surface
from pyropunct.text.printing import print_words
from pyropunct.text.raw_sentence import RawSentence
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree

WINDOWS_AT_ONCE = 10
"""Windows of a long line that are punctuated together."""

Source = RawSentence | Sentence
"""A sentence to punctuate: a line of raw text, or a sentence of a treebank."""

Decide = Callable[[Sequence[Source], Sequence[Sequence[WeightedTree]]], Iterable[Decision]]
"""Decides on the punctuation of sentences that have words, given the trees of each."""


class Restored(NamedTuple):
    """A sentence with new punctuation; the rest is as in `Decision`, and empty for a line without words.

    :ivar tree: the heaviest, or the parser's best on request; None for a line without words.
    """

    source: Source
    surface: Surface
    risk: float
    tree: Tree | None
    effective_draws: float | None = None
    shares: Shares = ()

    def probability(self, slot: int) -> float:
        """The probability of the marks of a slot."""
        return self.shares[slot][tuple(self.surface[slot])]


def punctuated(
    model: FittedModel, sources: Iterable[Source], settings: DecisionSettings, decide: Decide
) -> Iterator[Restored]:
    """Parse the words of sentences, and decide on their marks; a line without words is unchanged.

    :raises MissingPartError: if words must be parsed and the model has no parser.
    """

    def together(batch: Sequence[Source]) -> Iterator[Restored]:
        used = [source for source in batch if words_of(source)]
        to_parse = [
            source.tree if isinstance(source, Sentence) and not settings.parse else words_of(source)
            for source in used
        ]
        parses = weighted_trees(model, to_parse, settings.trees)
        decisions = decide(used, parses)
        shown = weighted_trees(model, to_parse, 1) if settings.best_tree else parses
        decided = zip(shown, decisions, strict=True)
        for source in batch:
            if words_of(source):
                trees, (surface, risk, _, shares, effective_draws) = next(decided)
                yield Restored(source, surface, risk, trees[0].tree, effective_draws, shares)
            else:
                yield Restored(source, source.surface, 0.0, None)

    return in_windows(sources, together)


def in_windows(
    sources: Iterable[Source], restore: Callable[[Sequence[Source]], Iterator[Restored]]
) -> Iterator[Restored]:
    """Restore sentences together, but each long line of raw text alone, in windows."""
    short: list[Source] = []
    for source in sources:
        if isinstance(source, RawSentence) and len(source.words) > LONGEST_WHOLE:
            yield from restore(short)
            short = []
            yield _in_windows(source, restore)
        else:
            short.append(source)
    yield from restore(short)


def _in_windows(source: RawSentence, restore: Callable[[Sequence[Source]], Iterator[Restored]]) -> Restored:
    """A long line; each window adds its risk, times the share of its slots that are kept."""
    parts = windows(len(source.words), set(source.inside))
    surface: list[Sequence[str]] = []
    trees, risk, shares = list[Tree](), 0.0, list[Mapping[tuple[str, ...], float]]()
    for start in range(0, len(parts), WINDOWS_AT_ONCE):
        batch = parts[start : start + WINDOWS_AT_ONCE]
        restored_windows = restore([source.part(window.first, window.last) for window in batch])
        for window, restored in zip(batch, restored_windows, strict=True):
            first, last = window.core.start - 1 - window.first, window.core.stop - 1 - window.first
            kept = slice(first, last + (window == parts[-1]))
            surface += restored.surface[kept]
            shares += restored.shares[kept]
            risk += restored.risk * (last - first) / (len(restored.surface) - 1)
            assert restored.tree is not None  # because there are words
            trees.append(restored.tree)
    return Restored(source, surface, risk, joined(parts, trees), shares=tuple(shares))


def raw_text(restored: Restored, conventions: Conventions, *, capital: bool) -> str:
    """A restored line of raw text, with a capital on request; other sources raise `TypeError`."""
    source = restored.source
    if not isinstance(source, RawSentence):
        raise TypeError("a sentence of a treebank is no raw text")
    if restored.tree is None:
        return source.text
    words, surface, slots = source.as_written(restored.surface)
    capital = capital and 1 not in source.fixed
    printed = print_words(words, surface, conventions, capital=capital, slots=slots)
    return source.before + printed + source.behind


def words_of(source: Source) -> tuple[str, ...]:
    """The words of a sentence; for a treebank, the forms of its tree."""
    return source.tree.forms if isinstance(source, Sentence) else source.words


def has_marks(source: Source) -> bool:
    """Whether a sentence has punctuation to remove, other than abbreviation dots; false without words."""
    marks = {token for slot in source.surface for token in slot} - {START, ABBREVIATION_DOT}
    return bool(marks) and bool(words_of(source))
