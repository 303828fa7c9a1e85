"""The variants of the noisy channel, which all pass the same tests."""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from brute_force import Phi, Rewritings, String, identity, slides, sliding_window
from by_hand import ways
from problems import edits_of

from pyropunct.fitted.variants import CHANNEL, find
from pyropunct.models.channel.composed import Inserting, TwoPasses
from pyropunct.models.channel.noisy_channel import Channel, Identity
from pyropunct.models.channel.slip import Slip, TokenBigrams
from pyropunct.models.channel.window import Pooled, SlidingWindow, Strength

NUM_TOKENS = 3
SEEN: list[String] = [(0,), (0, 1), (1,), (1, 2), (2,), (2, 1, 1), (1,)]
"""The strings of a bigram model's training treebank."""


class Variant(NamedTuple):
    """A channel with latent parameters, its p(x | u) by brute force, and p(longer surfaces) if known."""

    make: Callable[[str], Channel]
    rewritings: Callable[[Channel], Rewritings]
    longer: Callable[[Channel, String, int], float] | None


def never_longer(channel: Channel, underlying: String, length: int) -> float:
    """For channels that only shorten a string or reorder it."""
    assert len(underlying) <= length
    return 0.0


def window_rewritings(channel: SlidingWindow) -> Rewritings:
    return sliding_window(edits_of(channel), channel.direction)


def bigram_table(strings: Sequence[String], smoothing: float, start: int | None) -> list[list[float]]:
    """q(b | a) by counting; the last row and column stand for both ends of a string."""
    end = NUM_TOKENS
    counts = [[smoothing] * (end + 1) for _ in range(end + 1)]
    for string in strings:
        path = [*string, end] if string[0] == start else [end, *string, end]
        for a, b in itertools.pairwise(path):
            counts[a][b] += 1
    counts[end][end] = 0.0
    if start is not None:
        for row in counts:
            row[start] = 0.0
    return [[count / sum(row) for count in row] for row in counts]


def string_chance(string: String, table: list[list[float]], start: int | None) -> float:
    """q of a non-empty string, given whether it begins with the start token."""
    path = [*string, NUM_TOKENS] if string[0] == start else [NUM_TOKENS, *string, NUM_TOKENS]
    return math.prod(table[a][b] for a, b in itertools.pairwise(path))


def slip_chance(channel: Slip) -> float:
    return float(torch.sigmoid(channel.slip_logit))


def slip_rewritings(inner: Callable[[Channel], Rewritings]) -> Callable[[Slip], Rewritings]:
    def of(channel: Slip) -> Rewritings:
        plain, slip = inner(channel.channel), slip_chance(channel)
        table = bigram_table(SEEN, 0.05, 0)

        def rewritings(underlying: String, surface: String) -> list[float]:
            found = [(1 - slip) * chance for chance in plain(underlying, surface)]
            if surface and (surface[0] == 0) == (underlying[:1] == (0,)):
                found.append(slip * string_chance(surface, table, 0))
            return [chance for chance in found if chance > 0]

        return rewritings

    return of


def slip_longer(channel: Slip, underlying: String, length: int) -> float:
    """The probability that the bigram model does not stop in time."""
    table = bigram_table(SEEN, 0.05, 0)
    with_start = underlying[:1] == (0,)
    chances = [0.0] * (NUM_TOKENS + 1)
    chances[0 if with_start else NUM_TOKENS] = 1.0
    for _ in range(length if with_start else length + 1):
        moved = [sum(chances[a] * table[a][b] for a in range(NUM_TOKENS + 1)) for b in range(NUM_TOKENS)]
        chances = [*moved, 0.0]
    return slip_chance(channel) * sum(chances)


def make_slip(inner: Callable[[str], Channel]) -> Callable[[str], Slip]:
    return lambda direction: Slip(inner(direction), TokenBigrams(SEEN, NUM_TOKENS, 0), prior_mean=-1.0)


def make_window(direction: str) -> SlidingWindow:
    return SlidingWindow(NUM_TOKENS, direction)


def make_identity(direction: str) -> Identity:
    return Identity(NUM_TOKENS, direction)


def strength_edits(channel: Strength) -> Phi:
    """phi from the strengths, one number at a time."""
    strength = channel.strength.tolist()

    def edits(a: int, b: int) -> list[float]:
        keep, transposition = channel.pair_logits[a, b].tolist()
        stronger = strength[b] - strength[a]
        odds = [math.exp(logit) for logit in (keep, stronger, -stronger, transposition)]
        return [each / sum(odds) for each in odds]

    return [[edits(a, b) for b in range(NUM_TOKENS)] for a in range(NUM_TOKENS)]


def make_strength(direction: str) -> Strength:
    return Strength(NUM_TOKENS, direction)


def strength_rewritings(channel: Strength) -> Rewritings:
    return sliding_window(strength_edits(channel), channel.direction)


def pooled_edits(channel: Pooled) -> Phi:
    """phi from logits of all pairs, of those with a in front, of those with b behind, and of the pair."""
    everywhere, pair = channel.all_logits.tolist(), channel.pair_logits.tolist()
    before, after = channel.mark_logits.tolist()

    def edits(a: int, b: int) -> list[float]:
        odds = [math.exp(everywhere[e] + before[a][e] + after[b][e] + pair[a][b][e]) for e in range(4)]
        return [each / sum(odds) for each in odds]

    return [[edits(a, b) for b in range(NUM_TOKENS)] for a in range(NUM_TOKENS)]


def make_pooled(direction: str) -> Pooled:
    return Pooled(NUM_TOKENS, direction)


def pooled_rewritings(channel: Pooled) -> Rewritings:
    return sliding_window(pooled_edits(channel), channel.direction)


def make_two_passes(direction: str) -> TwoPasses:
    return TwoPasses(NUM_TOKENS, direction)


def two_passes_rewritings(channel: TwoPasses) -> Rewritings:
    """Everything that the first window may write, and then all ways back."""
    first, back = edits_of(channel.first), sliding_window(edits_of(channel.second), "left")

    def rewritings(underlying: String, surface: String) -> list[float]:
        if channel.direction == "right":
            underlying, surface = underlying[::-1], surface[::-1]
        return [
            chance * further
            for between, chance in slides(underlying, first, "left")
            for further in back(between[::-1], surface[::-1])
        ]

    return rewritings


def make_inserting(direction: str) -> Inserting:
    return Inserting(NUM_TOKENS, direction, prior_insertion=-1.0)


def insertion_chances(channel: Inserting) -> list[float]:
    """Of each token, and of none."""
    odds = [*(math.exp(logit) for logit in channel.insertion_logits.tolist()), 1.0]
    return [each / sum(odds) for each in odds]


def inserting_rewritings(channel: Inserting) -> Rewritings:
    phi, iota = edits_of(channel), insertion_chances(channel)

    def insertions(written: String, surface: String) -> list[float]:
        """The ways to insert that make the one string the other."""
        found = []
        for inserted, chance in [((), iota[-1]), *(((token,), iota[token]) for token in surface[:1])]:
            rest = surface[len(inserted) :]
            if not written and not rest:
                found.append(chance)
            elif written[:1] == rest[:1]:
                found += [chance * further for further in insertions(written[1:], rest[1:])]
        return found

    def rewritings(underlying: String, surface: String) -> list[float]:
        return [
            chance * further
            for written, chance in slides(underlying, phi, channel.direction)
            for further in insertions(written, surface)
        ]

    return rewritings


def inserting_longer(channel: Inserting, underlying: String, length: int) -> float:
    """The probability of more insertions than there is room for."""
    none = insertion_chances(channel)[-1]

    def more(places: int, than: int) -> float:
        counts = range(max(than + 1, 0), places + 1)
        return sum(math.comb(places, n) * (1 - none) ** n * none ** (places - n) for n in counts)

    ways = slides(underlying, edits_of(channel), channel.direction)
    return sum(chance * more(len(written) + 1, length - len(written)) for written, chance in ways)


def by_moves(channel: Channel) -> Rewritings:
    """Whatever the moves say, one after the other."""
    return lambda underlying, surface: [
        way.chance for way in ways(channel, underlying, len(surface)) if way.surface == surface
    ]


REWRITINGS: dict[str, Variant] = {
    "sliding-window": Variant(make_window, window_rewritings, never_longer),
    "identity": Variant(make_identity, lambda channel: identity, never_longer),
    "strength": Variant(make_strength, strength_rewritings, never_longer),
    "pooled": Variant(make_pooled, pooled_rewritings, never_longer),
    "two-passes": Variant(make_two_passes, two_passes_rewritings, never_longer),
    "inserting": Variant(make_inserting, inserting_rewritings, inserting_longer),
    "slip": Variant(make_slip(make_window), slip_rewritings(window_rewritings), slip_longer),
    "identity that slips": Variant(
        make_slip(make_identity), slip_rewritings(lambda channel: identity), slip_longer
    ),
}
"""Channels with p(x | u) computed in another way than by their moves."""


def _registered(name: str) -> Variant:
    make = find("channel", name)
    return Variant(lambda direction: make(NUM_TOKENS, direction), by_moves, None)


CHANNELS = {**{name: _registered(name) for name in CHANNEL}, **REWRITINGS}
"""All channels that have a name, and some that slip: the shared tests run on them."""
