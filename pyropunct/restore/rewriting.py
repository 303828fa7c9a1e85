"""Rewriting draws of surface punctuation before a decoder decides: removes unwanted marks, keeps given ones.

A rewriting maps slot strings to slot strings, so rewritten draws come from the image of p(x | T) under this
map, and a decoder minimises the risk under that.  Conditioning on given marks comes before, see
`pyropunct.restore.posterior`; only `with_whole_pairs` conditions, by rejection.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyropunct.draws import Draws
from pyropunct.restore.decoders import Decision
from pyropunct.restore.running import ends_sentence
from pyropunct.text.marks import ABBREVIATION_DOT, PAIRED, START, UNKNOWN, Surface, marks_of, unpaired
from pyropunct.vocabulary import Vocabulary

String = tuple[str, ...]
Rewriting = Callable[[Draws], Draws]


def mixture(parts: Sequence[Draws], weights: Sequence[float]) -> Draws:
    """Draws from the mixture of several distributions over the same slots; the weights add up to 1."""
    if len(parts) == 1:
        return parts[0]
    numbers, strings = [], dict[String, int]()
    for part in parts:
        place = np.array([strings.setdefault(string, len(strings)) for string in part.strings], np.int32)
        numbers.append(place[part.numbers])
    shares = [weight * part.weights for weight, part in zip(weights, parts, strict=True)]
    return replace(
        parts[0], strings=tuple(strings), numbers=np.concatenate(numbers), weights=np.concatenate(shares)
    )


def rewritten(
    draws: Draws, rewrite: Callable[[String], String], slots: Collection[int] | None = None
) -> Draws:
    """The draws with the strings of some slots (by default all) rewritten."""
    strings = {string: number for number, string in enumerate(draws.strings)}
    place = [strings.setdefault(rewrite(string), len(strings)) for string in draws.strings]
    if place == list(range(len(place))):
        return draws
    numbers, new = draws.numbers.copy(), np.array(place, draws.numbers.dtype)
    where = slice(None) if slots is None else list(slots)
    numbers[:, where] = new[numbers[:, where]]
    shares, spread = _moved(draws.shares, new, where), _moved(draws.spread, new, where)
    return replace(draws, strings=tuple(strings), numbers=numbers, shares=shares, spread=spread)


def _moved(shares: NDArray[Any] | None, new: NDArray[Any], where: slice | list[int]) -> NDArray[Any] | None:
    """The shares of strings after a rewriting of some slots; ``new`` is the new number of each string."""
    if shares is None:
        return None
    moved = np.zeros((len(shares), max(int(new.max()) + 1, shares.shape[1])))
    moved[:, : shares.shape[1]] = shares
    moved[where] = 0
    rows = np.arange(len(shares))[where]
    np.add.at(moved, (rows[:, None], new[None]), shares[where])
    return moved


def without_unknown(draws: Draws) -> Draws:
    """The draws without unknown marks, which cannot be printed."""
    return rewritten(draws, lambda string: tuple(token for token in string if token != UNKNOWN))


def with_marks_only(draws: Draws, marks: Collection[str]) -> Draws:
    """The draws with the given marks only; an abbreviation dot counts as a period."""
    wanted = {START, *marks}
    if "." in marks:
        wanted.add(ABBREVIATION_DOT)
    return rewritten(draws, lambda string: tuple(token for token in string if token in wanted))


def without_marks_in(draws: Draws, slots: Collection[int]) -> Draws:
    """The draws without marks in the given slots."""
    return rewritten(draws, lambda _: (), slots) if slots else draws


def with_given(draws: Draws, given: Surface) -> Draws:
    """The draws with the given marks in all slots that have some, except for lone abbreviation dots."""
    for slot, marks in enumerate(given):
        if not {START, ABBREVIATION_DOT}.issuperset(marks):
            draws = rewritten(draws, dict.fromkeys(draws.strings, tuple(marks)).__getitem__, [slot])
    return draws


def with_probable_changes(draws: Draws, given: Surface, least: float) -> Draws:
    """The draws with the given string in place of strings less probable than ``least``."""
    for slot, string in enumerate(given):
        kept, column = tuple(string), draws.numbers[:, slot]
        share = np.bincount(column, draws.weights, len(draws.strings))
        rare = {draws.strings[number] for number in np.flatnonzero((share > 0) & (share < least)).tolist()}
        if rare - {kept}:
            new = {string: kept if string in rare else string for string in draws.strings}
            draws = rewritten(draws, new.__getitem__, [slot])
    return draws


def with_own_unknown(draws: Draws, given: Surface, known: Collection[str]) -> Draws:
    """The draws with unknown marks replaced by those of ``given``, which has as many in each slot."""
    for slot, marks in enumerate(given):
        own = [mark for mark in marks if mark not in known]
        if own:
            draws = rewritten(draws, partial(_named, own), [slot])
    return draws


def _named(own: Sequence[str], string: String) -> String:
    names = iter(own)
    return tuple(next(names, token) if token == UNKNOWN else token for token in string)


def with_whole_pairs(draws: Draws, given: Surface) -> Draws:
    """The draws with no more halves of pairs than the given punctuation; without such draws, that itself.

    Constituents may sprout halves of pairs.  Rejection conditions the draws on brackets and quotation marks
    that are as whole as before.  A mark given on both sides of a constituent, such as a comma, stays or goes
    on both.
    """
    most, paired = unpaired(given), [not PAIRED.isdisjoint(string) for string in draws.strings]
    shown = np.where(np.array(paired)[draws.numbers], draws.numbers, -1)
    distinct, place = np.unique(shown, axis=0, return_inverse=True)
    strings = (*draws.strings, ())
    whole = np.array([unpaired([strings[number] for number in row]) <= most for row in distinct.tolist()])
    kept = whole[place.reshape(-1)]
    for left, right in draws.edges:
        mark = tuple(given[left])
        if len(mark) == 1 and mark == tuple(given[right]) and mark in draws.strings:
            there = draws.numbers[:, [left, right]] == draws.strings.index(mark)
            kept &= there[:, 0] == there[:, 1]
    if not kept.any():
        number = {tuple(slot): place for place, slot in enumerate(dict.fromkeys(map(tuple, given)))}
        numbers = np.array([[number[tuple(slot)] for slot in given]], draws.numbers.dtype)
        return replace(draws, strings=tuple(number), numbers=numbers, weights=np.ones(1))
    weights = draws.weights[kept]
    return replace(draws, numbers=draws.numbers[kept], weights=weights / weights.sum())


def with_sentence_end(draws: Draws) -> Draws:
    """The draws with a mark that ends a sentence in the last slot: the likeliest, where another was drawn."""
    share = np.bincount(draws.numbers[:, -1], draws.weights, len(draws.strings))
    share = share if draws.shares is None else draws.shares[-1]
    ending = np.array([ends_sentence(string, "") for string in draws.strings])
    if not (share * ending).any():
        return draws
    likeliest = draws.strings[int((share * ending).argmax())]
    new = dict(zip(draws.strings, ending.tolist(), strict=True))
    last = draws.numbers.shape[1] - 1
    return rewritten(draws, lambda string: string if new[string] else likeliest, [last])


BRACKETS = frozenset(")]}）］】〕〉》")
"""Closing marks in front of which a sentence ends only if all of it is inside."""


def with_end_beside(draws: Draws, given: Surface) -> Draws:
    """The draws with the given closing marks in the last slot, beside the end of the sentence."""
    closing = tuple(given[-1])
    inside = bool(marks_of(given[0])) or BRACKETS.isdisjoint(closing)

    def complete(string: String) -> String:
        ends = tuple(mark for mark in string if ends_sentence([mark], ""))
        others = tuple(mark for mark in string if mark not in ends)
        return string if others == closing else (*ends, *closing) if inside else (*closing, *ends)

    return rewritten(draws, complete, [len(given) - 1])


def without_abbreviation_dots(draws: Draws) -> Draws:
    """The draws without abbreviation dots, which belong to words."""
    return rewritten(draws, lambda string: tuple(mark for mark in string if mark != ABBREVIATION_DOT))


def with_abbreviation_dots(draws: Draws, given: Surface) -> Draws:
    """The draws with an abbreviation dot added in each slot that has a given one."""
    slots = [slot for slot, marks in enumerate(given) if ABBREVIATION_DOT in marks]
    return rewritten(draws, _with_dot, slots) if slots else draws


def _with_dot(string: String) -> String:
    return string if ABBREVIATION_DOT in string else (ABBREVIATION_DOT, *string)


INVERTED = {"?": "¿", "!": "¡"}
"""Spanish questions and exclamations have a mark at their beginning too."""


def writes_inverted_marks(vocabulary: Vocabulary) -> bool:
    """Whether the marks are Spanish: those of the model's language, or of its only one."""
    is_spanish = vocabulary.main == "es" if len(vocabulary.treebanks) > 1 else True
    return is_spanish and INVERTED["?"] in vocabulary.tokens


def with_inverted_marks(decision: Decision) -> Decision:
    """The decision with an inverted mark at the beginning of a question or exclamation that has none."""
    final = next((mark for mark in decision.surface[-1] if mark in INVERTED), None)
    if final is None or any(INVERTED[final] in slot for slot in decision.surface):
        return decision
    first, *others = decision.surface
    inverted = (*first, INVERTED[final])
    share = sum(share for marks, share in decision.shares[-1].items() if final in marks)
    shares = {marks: (1 - share) * of_marks for marks, of_marks in decision.shares[0].items()}
    shares[inverted] = shares.get(inverted, 0.0) + share
    return decision._replace(surface=(inverted, *others), shares=(shares, *decision.shares[1:]))
