"""What stands on the page beside the constituents of each relation: no model, only what everybody can see."""

from collections.abc import Iterator, Sequence

from pyropunct.tasks.explain.derivations import Example, example_of, spread
from pyropunct.tasks.explain.kinds import Key, Tallies, Tally, likenesses, rows_of
from pyropunct.tasks.explain.mark_functions import CHARACTERS, COMMA
from pyropunct.text.marks import ABBREVIATION_DOT, START
from pyropunct.treebank.sentence import Sentence

PAGE = "page"
"""What is compared: marks beside constituents on the page."""

A_COMMA, ANOTHER, COMMAS = "a comma", "another mark", "commas"


def beside(sentence: Sentence, word: int) -> Iterator[tuple[str, dict[str, bool]]]:
    """What stands before a constituent, behind it and on both sides, where other words stand there too.

    Another mark is one without a comma beside it in the slot.
    """
    first, last = sentence.tree.spans[word - 1]
    commas = list[bool]()
    for side, slot, is_inside in (
        ("before", first - 1, first > 1),
        ("behind", last, last < len(sentence.tree)),
    ):
        if is_inside:
            marks = _marks(sentence, slot)
            commas.append(any(map(CHARACTERS[COMMA].issuperset, marks)))
            yield side, {A_COMMA: commas[-1], ANOTHER: bool(marks) and not commas[-1]}
    if len(commas) == 2:
        yield "on both sides of", {COMMAS: all(commas)}


def _marks(sentence: Sentence, slot: int) -> tuple[str, ...]:
    return tuple(mark for mark in sentence.surface[slot] if mark not in (START, ABBREVIATION_DOT))


def _events(sentence: Sentence, like: Sequence[str]) -> Iterator[tuple[int, Key, dict[str, bool]]]:
    for word, (relation, own) in enumerate(zip(sentence.tree.relations, like, strict=True), 1):
        if sentence.tree.heads[word - 1]:
            for side, has in beside(sentence, word):
                yield from ((word, (PAGE, f"{side} {row}"), has) for row in rows_of(relation, own))


def marks_beside(sentences: Sequence[Sentence], by: Sequence[str] = ()) -> dict[Key, Tally]:
    """How often commas and other marks stand beside the constituents of each relation.

    :param by: see `pyropunct.tasks.explain.kinds`.
    """
    tallies = Tallies()
    for sentence, like in zip(sentences, likenesses(sentences, by), strict=True):
        for _, key, has in _events(sentence, like):
            tallies.add(key, has)
    return tallies.found()


def examples_beside(
    sentences: Sequence[Sentence], most: int, by: Sequence[str] = ()
) -> dict[tuple[str, str, str], list[Example]]:
    """At most ``most`` constituents with each outcome, with the marks beside them."""
    places: dict[tuple[str, str, str], list[tuple[Sentence, int, str]]] = {}
    for sentence, like in zip(sentences, likenesses(sentences, by), strict=True):
        for word, key, has in _events(sentence, like):
            for outcome in (outcome for outcome, happens in has.items() if happens):
                places.setdefault((*key, outcome), []).append((sentence, word, outcome))
    return spread(places, most, lambda place: _shown(*place))


def _shown(sentence: Sentence, word: int, outcome: str) -> Example:
    """A constituent with the commas beside it, or with all marks."""
    first, last = sentence.tree.spans[word - 1]
    marks = [
        mark
        for slot in {first - 1, last}
        for mark in sentence.layout.marks[slot]
        if outcome == ANOTHER or CHARACTERS[COMMA].issuperset(sentence.layout.form(mark))
    ]
    return example_of(sentence, [*sentence.layout.words[first - 1 : last], *marks], first)
