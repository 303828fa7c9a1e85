"""From sentences to trees to decisions: the steps that restoration and correction share.

`details` gives the words of the result with their offsets, and the marks around them with probabilities.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from pyropunct.nets.parser import WeightedTree
from pyropunct.restore.decoders import Decision, Shares
from pyropunct.restore.parses import LONGEST_WHOLE, FittedModel, joined_tree, weighted_trees, windows
from pyropunct.restore.settings import DecisionSettings
from pyropunct.text.conventions import Conventions
from pyropunct.text.marks import ABBREVIATION_DOT, START, Surface, marks_of, parted
from pyropunct.text.raw_sentence import RawSentence, print_words
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
    return Restored(source, surface, risk, joined_tree(parts, trees), shares=tuple(shares))


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


Marks = tuple[str, ...]

CLOSING, OPENING = slice(0, 1), slice(1, 2)
"""The part of the marks between two words that belongs to the first, and to the second."""


class Side(NamedTuple):
    """The marks on one side of a word.

    :ivar others: the likeliest alternative, maybe none; a threshold can make it likelier than ``marks``.
    :ivar others_probability: of the alternative; 0 if none was drawn.
    """

    marks: Marks
    probability: float
    others: Marks
    others_probability: float


class Word(NamedTuple):
    """A word of a text, and what is restored.

    :ivar text: the word as it was given, at the offsets ``start`` to ``end``, in characters.
    :ivar before: the marks before it, and ``behind``, those behind it.
    :ivar cased: the word with its restored upper and lower case.
    """

    text: str
    start: int
    end: int
    before: Side
    behind: Side
    cased: str

    def to_json(self) -> dict[str, Any]:
        """Plain types of JSON."""
        sides = {"before": self.before._asdict(), "behind": self.behind._asdict()}
        return {**self._asdict(), **sides}


def length(source: Source) -> int:
    """The length of a sentence of raw text in characters, with its line end."""
    if not isinstance(source, RawSentence):
        return 0
    return len(source.before) * source.from_running_text + len(source.text) + len(source.end)


def details_of_text(sentences: Iterable[Restored], conventions: Conventions) -> list[Word]:
    """The words of a text, given all of its sentences: see `details`."""
    words, start = list[Word](), 0
    for restored in sentences:
        words += details(restored, conventions, start)
        start += length(restored.source)
    return words


def details(restored: Restored, conventions: Conventions, start: int) -> Iterator[Word]:
    """The written words of a sentence of raw text that starts at an offset, in characters."""
    source = restored.source
    if not isinstance(source, RawSentence) or not restored.shares:
        return
    whole = source.before * source.from_running_text + source.text
    forms, surface, slots = source.as_written(restored.surface)
    inside = set(source.inside)
    shares = [share for slot, share in enumerate(restored.shares) if slot not in inside]
    place = len(source.before) + len(slots[0].text)
    for number, (form, slot) in enumerate(zip(forms, slots[1:], strict=True)):
        end = _end(whole, place, form)
        dotted = end + sum(len(mark.form) for mark in slot.marks[:1] if mark.token == ABBREVIATION_DOT)
        before = _side(surface[number], shares[number], conventions, slice(None) if number == 0 else OPENING)
        after, is_last = number + 1, number + 1 == len(forms)
        behind = _side(surface[after], shares[after], conventions, slice(None) if is_last else CLOSING)
        cased = form + whole[end:dotted]
        yield Word(whole[place:dotted], start + place, start + dotted, before, behind, cased)
        place = end + len(slot.text)


def _end(text: str, place: int, form: str) -> int:
    """Where a word ends in a text; another case may have changed its length."""
    lengths = sorted(range(1, len(form) + 2), key=lambda size: abs(size - len(form)))
    fits = (size for size in lengths if text[place : place + size].casefold() == form.casefold())
    return place + next(fits, len(form))


def _side(
    string: Sequence[str], shares: Mapping[Marks, float], conventions: Conventions, part: slice
) -> Side:
    """The marks of a slot on one side, with summed probabilities; ``part`` is a part of `parted`."""

    def written(marks: Sequence[str]) -> Marks:
        parts = parted([mark for mark in marks_of(marks) if mark != ABBREVIATION_DOT])[part]
        return tuple(conventions.written(mark).form for mark in chain.from_iterable(parts))

    probability = defaultdict[Marks, float](float)
    for marks, share in shares.items():
        probability[written(marks)] += share
    chosen = written(string)
    of_chosen = probability.pop(chosen)
    others: Marks = max(probability, key=lambda marks: probability[marks], default=())
    return Side(
        chosen, min(of_chosen, 1.0), others, min(probability.get(others, 0.0), 1.0)
    )  # sums are rounded
