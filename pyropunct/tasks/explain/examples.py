"""Examples of what was learned: places where an edit was made, or a constituent sprouted its punctemes.

Edits and punctemes are those of `pyropunct.tasks.explain.derivations`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from pyropunct.fitted.fitted_story import FittedStory
from pyropunct.tasks import Advance
from pyropunct.tasks.explain.derivations import Derivations, SlotDerivation, sprouted_marks
from pyropunct.text.marks import paired
from pyropunct.treebank.sentence import Puncteme, Sentence

OPEN, CLOSE = "⟦", "⟧"
"""Around the place in a sentence that an example is about."""

K = TypeVar("K")

Outcome = tuple[tuple[str, ...], tuple[str, ...]]
"""Two underlying neighbours, and what they become."""

Sprouting = tuple[str, Puncteme, Puncteme]
"""A relation, as the model knows it, and the left and the right puncteme of a constituent."""


class Example(NamedTuple):
    """A place in the sentence ``id``: its text, which may be empty, and the text before and after it."""

    id: str
    before: str
    place: str
    after: str

    @property
    def text(self) -> str:
        """The sentence, with its place marked."""
        return f"{self.before}{OPEN}{self.place}{CLOSE}{self.after}"


def rule_examples(
    model: FittedStory, sentences: Sequence[Sentence], most: int, advance: Advance = lambda done: None
) -> dict[Outcome, list[Example]]:
    """At most ``most`` places, with all marks of a slot, of each edit on the best path of the best T'."""
    places: dict[Outcome, list[tuple[Sentence, int]]] = {}
    for sentence, _, derivations in _derived(model, sentences, advance):
        for slot, derivation in enumerate(derivations):
            kept = {(pair, pair) for pair in derivation.kept}
            for rule in kept | {(edit.before, edit.after) for edit in derivation.edits}:
                places.setdefault(rule, []).append((sentence, slot))
    return spread(places, most, lambda place: example_of(place[0], place[0].layout.marks[place[1]], place[1]))


def sprouting_examples(
    model: FittedStory, sentences: Sequence[Sentence], most: int, advance: Advance = lambda done: None
) -> dict[Sprouting, list[Example]]:
    """At most ``most`` constituents that sprout each pair in the best T', with their marks on the page."""
    vocabulary = model.vocabulary

    def sproutings(
        sentence: Sentence, punctemes: Sequence[tuple[Puncteme, Puncteme]]
    ) -> Iterator[tuple[Sprouting, int]]:
        for word, (relation, pair) in enumerate(zip(sentence.tree.relations, punctemes, strict=True), 1):
            yield (vocabulary.relations[vocabulary.relation_number(relation)], *pair), word

    return constituent_examples(model, sentences, sproutings, most, advance)


def constituent_examples(
    model: FittedStory,
    sentences: Sequence[Sentence],
    keys_of: Callable[[Sentence, Sequence[tuple[Puncteme, Puncteme]]], Iterable[tuple[K, int]]],
    most: int,
    advance: Advance = lambda done: None,
) -> dict[K, list[Example]]:
    """At most ``most`` constituents for each key, with their marks on the page.

    :param keys_of: gives keys with words, whose constituents are places of them, in a sentence with its best
        T'.
    """
    places: dict[K, list[tuple[Sentence, Sequence[SlotDerivation], int]]] = {}
    for sentence, punctemes, derivations in _derived(model, sentences, advance):
        for key, word in keys_of(sentence, punctemes):
            places.setdefault(key, []).append((sentence, derivations, word))
    return spread(places, most, lambda place: _constituent(*place))


def _derived(
    model: FittedStory, sentences: Sequence[Sentence], advance: Advance
) -> Iterator[tuple[Sentence, Sequence[tuple[Puncteme, Puncteme]], list[SlotDerivation]]]:
    """Each sentence with its best T' and the derivations of its slots."""
    derivations = Derivations(model)
    for sentence, (best,) in zip(sentences, model.underlying(sentences), strict=True):
        yield sentence, best, derivations.of(sentence, best)
        advance(1)


def _constituent(sentence: Sentence, derivations: Sequence[SlotDerivation], word: int) -> Example:
    """A constituent and the marks that it sprouted."""
    first, last = sentence.tree.spans[word - 1]
    tokens = list(sentence.layout.words[first - 1 : last])
    for slot in {first - 1, last}:
        explained = sprouted_marks(sentence, slot, derivations[slot])
        tokens += [mark for mark, sprouted in explained if sprouted.word == word]
    return example_of(sentence, tokens, first)


def example_of(sentence: Sentence, tokens: Iterable[int], slot: int) -> Example:
    """A place, from the first to the last of certain tokens.

    It cuts no quotation: of two marks that belong together, the other one is added if it is beside the place;
    else the one at the edge of the place is left out.

    :param slot: the place without any tokens.
    """
    own = set(tokens)
    words = own.intersection(sentence.layout.words)
    placed = list(sentence.layout.placed()) if words else []
    for pair in paired([token for _, token, _ in placed]):
        marks = {placed[place][0] for place in pair}
        inside = {mark for mark in marks if min(own) <= mark <= max(own)}
        if len(inside) == 1:
            [other] = marks - inside
            between = {*range(other, min(own)), *range(max(own) + 1, other)}
            if between.isdisjoint(sentence.layout.words):
                own.add(other)
            elif not min(words) < min(inside) < max(words):
                own -= inside
    return Example(sentence.identifier, *sentence.passage(own, slot))


def spread(
    of_keys: Mapping[K, Sequence[Any]], most: int, example: Callable[[Any], Example]
) -> dict[K, list[Example]]:
    """At most so many examples for each key, spread evenly over its places."""
    shown = {}
    for key, places in of_keys.items():
        size = min(most, len(places))
        shown[key] = [example(places[number * len(places) // size]) for number in range(size)]
    return shown
