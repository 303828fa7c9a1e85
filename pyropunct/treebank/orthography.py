"""Learns how a treebank writes: its `pyropunct.text.conventions`."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TypeVar

from pyropunct.text.conventions import (
    BETWEEN_WORDS,
    UNSPACED_WORD,
    WORD,
    Capitals,
    Conventions,
    SpacingStatistics,
    Written,
    folded,
    kinds_of,
)
from pyropunct.text.marks import (
    ABBREVIATION_DOT,
    DOUBLE,
    SINGLE,
    STRAIGHT,
    space_between_words,
)
from pyropunct.treebank.conllu_block import FORM
from pyropunct.treebank.layout import Layout, original_spaces
from pyropunct.treebank.repunctuate import Item, units
from pyropunct.treebank.sentence import Sentence

LEAST_ABBREVIATIONS = 2
"""The least number of occurrences with an abbreviation dot that makes a word an abbreviation."""

LEAST_SPLITS = 2
"""A written word that was split less often is not learned."""


def learn_conventions(sentences: Iterable[Sentence]) -> Conventions:
    """The conventions that the sentences of a treebank show."""
    sentences = tuple(sentences)
    return Conventions(
        learn_spacing(sentences),
        _quote_style(sentences),
        _abbreviations(sentences),
        learn_capitals(sentences),
        learn_splits(sentences),
    )


def learn_capitals(sentences: Iterable[Sentence]) -> Capitals:
    """Count capitals of words that can have one, except at sentence starts and after marks."""
    words: Counter[tuple[str, bool]] = Counter()
    tags: Counter[tuple[str, bool]] = Counter()
    for sentence in sentences:
        tree = sentence.tree
        inside = list(zip(tree.forms, tree.tags, sentence.surface, strict=False))[1:]
        for form, tag, marks in inside:
            if not marks and form[:1].lower() != form[:1].upper():
                words[form.lower(), form[:1].isupper()] += 1
                tags[tag, form[:1].isupper()] += 1
    return Capitals(_shares(words), _shares(tags))


Key = TypeVar("Key", str, tuple[str, str])


def _shares(counts: Counter[tuple[Key, bool]]) -> dict[Key, tuple[int, int]]:
    """For each key the number of true cases, and of all."""
    keys = {key for key, _ in counts}
    return {key: (counts[key, True], counts[key, True] + counts[key, False]) for key in keys}


def learn_spacing(sentences: Iterable[Sentence]) -> SpacingStatistics:
    """Count the spaces of a treebank; nothing is learned if every mark has a space on either side."""
    seen: Counter[tuple[tuple[str, str], bool]] = Counter()
    words: Counter[tuple[str, str, bool]] = Counter()
    for sentence in sentences:
        for left, right, space in _neighbours(sentence.layout):
            seen[kinds_of(left, right), space] += 1
            if not left.mark and not right.mark:
                words[folded(left.form), folded(right.form), space] += 1
    kinds = {WORD, UNSPACED_WORD}
    if all(space or kinds.issuperset(pair) for pair, space in seen):
        return SpacingStatistics()
    return SpacingStatistics(_shares(seen), *_together(words))


def _neighbours(layout: Layout) -> Iterator[tuple[Written, Written, bool]]:
    """The tokens of a sentence in pairs, and whether there is a space between; contractions are skipped."""
    block, marks = layout.block, dict(layout.directed())
    numbers = range(1, len(block.tokens) + 1)
    tokens = [Written(layout.form(token), marks.get(token, "")) for token in numbers]
    spaces = original_spaces(block)
    contracted: set[int] = set()
    for multiword in block.ranges:
        inside = range(multiword.first, multiword.last)
        if multiword.columns[FORM] != "".join(layout.form(token) for token in (*inside, multiword.last)):
            contracted.update(inside)
    for number, (left, right) in enumerate(pairwise(tokens), start=1):
        if number not in contracted:
            yield left, right, spaces[number]


_Clitic = tuple[str, bool]
"""A word on one side of pairs, and whether it is the second of them."""


def _together(
    words: Counter[tuple[str, str, bool]],
) -> tuple[frozenset[str], frozenset[str], frozenset[tuple[str, str]]]:
    """Enclitics, proclitics and other joined words; the surest clitics first, as "qu'" before "il"."""
    pairs: dict[tuple[str, str], tuple[int, int]] = {}
    of: dict[_Clitic, list[tuple[str, str]]] = {}
    apart: Counter[_Clitic] = Counter()
    together: Counter[_Clitic] = Counter()
    for left, right in dict.fromkeys((left, right) for left, right, _ in words):
        pairs[left, right] = counts = words[left, right, True], words[left, right, False]
        for clitic in (left, False), (right, True):
            of.setdefault(clitic, []).append((left, right))
            apart[clitic] += counts[0]
            together[clitic] += counts[1]

    def sureness(clitic: _Clitic) -> tuple[float, int, str, bool]:
        """Its smoothed share of neighbours without a space; ties go to more kinds of neighbours."""
        share = together[clitic] / (together[clitic] + apart[clitic] + BETWEEN_WORDS)
        return share, len(of[clitic]), *clitic

    found: dict[bool, set[str]] = {False: set(), True: set()}
    while likely := [clitic for clitic in of if together[clitic] - apart[clitic] > BETWEEN_WORDS]:
        surest = max(likely, key=sureness)
        found[surest[1]].add(surest[0])
        for pair in of[surest]:
            spaced, unspaced = pairs.pop(pair, (0, 0))
            for clitic in (pair[0], False), (pair[1], True):
                apart[clitic] -= spaced
                together[clitic] -= unspaced
    joined = (pair for pair, (spaced, unspaced) in pairs.items() if unspaced - spaced > BETWEEN_WORDS)
    return frozenset(found[True]), frozenset(found[False]), frozenset(joined)


TYPED = {form: "'" if pair == SINGLE else '"' for form, pair in STRAIGHT.items()} | {",,": '"'}
"""Forms that are read or typed as straight quotation marks, each with the usual form."""


def _quote_style(sentences: Iterable[Sentence]) -> dict[str, str]:
    """For each mark its most frequent form, if that is another one, such as a straight quotation mark.

    Both marks of a pair are straight, or neither.
    """
    forms: dict[str, Counter[str]] = {}
    for sentence in sentences:
        for token, mark in sentence.layout.directed():
            form = sentence.layout.form(token)
            forms.setdefault(mark, Counter())[TYPED.get(form, form)] += 1
    for pair, straight in ((DOUBLE, '"'), (SINGLE, "'")):
        counts = [forms.get(mark, Counter()) for mark in pair]
        if 2 * sum(written[straight] for written in counts) < sum(map(Counter.total, counts)):
            for written in counts:
                del written[straight]
        else:
            forms |= {mark: Counter([straight]) for mark in pair if mark in forms}
    style = {mark: counts.most_common(1)[0][0] for mark, counts in forms.items() if counts}
    return {mark: form for mark, form in style.items() if form != mark}


def _abbreviations(sentences: Iterable[Sentence]) -> frozenset[str]:
    with_dot: Counter[str] = Counter()
    without: Counter[str] = Counter()
    for sentence in sentences:
        for form, slot in zip(sentence.tree.forms, sentence.surface[1:], strict=True):
            (with_dot if ABBREVIATION_DOT in slot else without)[form.lower()] += 1
    return frozenset(
        form for form, count in with_dot.items() if count >= LEAST_ABBREVIATIONS and count > without[form]
    )


def learn_splits(sentences: Iterable[Sentence]) -> dict[str, tuple[str, ...]]:
    """The multiword tokens and joined words, without digits, that a treebank mostly splits in one way."""
    seen: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for sentence in sentences:
        for text, words in _written(sentence.layout):
            if not any(map(str.isdigit, text)):
                seen[text.lower(), tuple(map(str.lower, words))] += 1
    best: dict[str, tuple[str, ...]] = {}
    for (form, parts), count in seen.most_common():
        best.setdefault(form, parts if count >= LEAST_SPLITS else ())
    return {form: parts for form, parts in best.items() if len(parts) > 1}


def _written(layout: Layout) -> Iterator[tuple[str, list[str]]]:
    """The written words of a sentence, each with its words."""
    text, words = "", list[str]()
    spaces, marks = original_spaces(layout.block), {mark for slot in layout.marks for mark in slot}
    items = [Item(layout.form(token), token, 0) for token in range(1, len(layout.block.tokens) + 1)]
    for form, first, last in units(layout, items):
        tokens = range(items[first].token, items[last].token + 1)
        if words and (marks.intersection(tokens) or not space_between_words(text, form)):
            yield text, words
            text, words = "", []
        if not marks.intersection(tokens):
            text, words = text + form, words + [layout.form(token) for token in tokens]
            if spaces[tokens[-1]]:
                yield text, words
                text, words = "", []
    if words:
        yield text, words
