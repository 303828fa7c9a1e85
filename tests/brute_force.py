"""Everything by enumeration, from Li, Wang & Eisner (2019, section 2), without code of the package."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

String = tuple[int, ...]
Pair = tuple[String, String]
Phi = Sequence[Sequence[Sequence[float]]]
"""phi[a][b]: how a on the page before b is edited: keep, left absorption, right absorption, transposition."""

Rewritings = Callable[[String, String], list[float]]
"""The probability of each way in which an underlying string becomes a surface string."""


def projective_trees(n: int) -> list[list[int]]:
    """The heads of all projective trees of n words with one root."""
    return [list(heads) for heads in itertools.product(range(n + 1), repeat=n) if is_projective_tree(heads)]


def is_projective_tree(heads: Sequence[int]) -> bool:
    if list(heads).count(0) != 1:
        return False
    below = [descendants(heads, word) for word in range(1, len(heads) + 1)]
    return len(below[heads.index(0)]) == len(heads) and all(max(b) - min(b) + 1 == len(b) for b in below)


def descendants(heads: Sequence[int], word: int) -> set[int]:
    """A word and all words below it."""
    below = {word}
    while True:
        more = below | {child for child, head in enumerate(heads, 1) if head in below}
        if more == below:
            return below
        below = more


def underlying_strings(
    heads: Sequence[int], pairs: Sequence[Pair], start: String = (), end: String = ()
) -> list[String]:
    """The underlying string of each slot, by writing out the bracketed sentence from left to right."""
    slots: list[list[int]] = [list(start)]

    def write(word: int) -> None:
        left, right = pairs[word - 1]
        slots[-1].extend(left)
        for child in range(1, word):
            if heads[child - 1] == word:
                write(child)
        slots.append([])
        for child in range(word + 1, len(heads) + 1):
            if heads[child - 1] == word:
                write(child)
        slots[-1].extend(right)

    write(list(heads).index(0) + 1)
    slots[-1].extend(end)
    return [tuple(slot) for slot in slots]


def first_edits(underlying: String, phi: Phi, direction: str) -> Iterator[tuple[String, String, float]]:
    """What a window may do where it starts: what it emits, what is left to read, and the probability."""
    if direction == "left":
        a, b, *rest = underlying
    else:
        *rest, a, b = underlying
    keep, left_absorption, right_absorption, transposition = phi[a][b]
    if direction == "left":
        yield (a,), (b, *rest), keep
        yield (), (b, *rest), left_absorption
        yield (), (a, *rest), right_absorption
        yield (b,), (a, *rest), transposition
    else:
        yield (b,), (*rest, a), keep
        yield (), (*rest, b), left_absorption
        yield (), (*rest, a), right_absorption
        yield (a,), (*rest, b), transposition


def slides(underlying: String, phi: Phi, direction: str) -> Iterator[tuple[String, float]]:
    """Each way for a window to slide over a string: the surface, and its probability."""
    if len(underlying) < 2:
        yield underlying, 1.0
        return
    for emitted, left, chance in first_edits(underlying, phi, direction):
        for surface, further in slides(left, phi, direction):
            yield (emitted + surface if direction == "left" else surface + emitted), chance * further


def sliding_window(phi: Phi, direction: str) -> Rewritings:
    """The ways to one surface, found without going astray."""

    @cache
    def rewritings(underlying: String, surface: String) -> list[float]:
        if len(underlying) < 2:
            return [1.0] if underlying == surface else []
        found = []
        for emitted, left, chance in first_edits(underlying, phi, direction):
            rest = surface[len(emitted) :] if direction == "left" else surface[: len(surface) - len(emitted)]
            if surface == (emitted + rest if direction == "left" else rest + emitted):
                found += [chance * further for further in rewritings(left, rest)]
        return found

    return rewritings


def identity(underlying: String, surface: String) -> list[float]:
    return [1.0] if underlying == surface else []


class Explanation(NamedTuple):
    """Choices of punctemes that explain a surface: their probability with it, and with the best edits."""

    choices: tuple[int, ...]
    weight: float
    best: float


def explanations(
    heads: Sequence[int],
    pairs: Sequence[Sequence[Pair]],
    chances: Sequence[Sequence[float]],
    surface: Sequence[String],
    rewritings: Rewritings,
    start: String = (),
    end: String = (),
) -> list[Explanation]:
    """All choices of punctemes that make the surface possible, from pairs of each word and their chances."""
    found = []
    for choices in itertools.product(*(range(len(some)) for some in pairs)):
        weight = best = math.prod(some[choice] for some, choice in zip(chances, choices, strict=True))
        chosen = [some[choice] for some, choice in zip(pairs, choices, strict=True)]
        slots = underlying_strings(heads, chosen, start, end)
        for underlying, string in zip(slots, surface, strict=True):
            ways = rewritings(underlying, string)
            if not ways:
                break
            weight, best = weight * sum(ways), best * max(ways)
        else:
            found.append(Explanation(choices, weight, best))
    return found


def total(found: Sequence[Explanation]) -> float:
    """p(x | T)."""
    return math.fsum(one.weight for one in found)


def posterior(found: Sequence[Explanation], sizes: Sequence[int]) -> list[float]:
    """The posterior of each pair of each word, word after word."""
    table = [[0.0] * size for size in sizes]
    for one in found:
        for word, choice in enumerate(one.choices):
            table[word][choice] += one.weight / total(found)
    return [value for row in table for value in row]


def expectation(found: Sequence[Explanation], cost: Sequence[Sequence[float]]) -> float:
    """The posterior expectation of a cost that adds up over words."""
    sums = [
        one.weight * sum(some[choice] for some, choice in zip(cost, one.choices, strict=True))
        for one in found
    ]
    return math.fsum(sums) / total(found)


def chi_square_is_plausible(counts: Sequence[int], chances: Sequence[float], draws: int) -> bool:
    """Whether counts agree with probabilities, at a level of one in a million (Wilson & Hilferty 1931)."""
    large = [(n, draws * p) for n, p in zip(counts, chances, strict=True) if draws * p >= 5]
    rest = draws - sum(n for n, _ in large), draws - sum(m for _, m in large)
    cells = [*large, rest] if rest[1] >= 5 else large
    if rest[1] < 5 and rest[0] > 30:
        return False
    freedom = len(cells) - 1
    if freedom == 0:
        return True
    statistic = sum((n - m) ** 2 / m for n, m in cells)
    spread = 2 / (9 * freedom)
    return statistic < freedom * (1 - spread + 4.75 * math.sqrt(spread)) ** 3
