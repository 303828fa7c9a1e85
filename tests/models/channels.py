"""The variants of the noisy channel, which all pass the same tests; a new one needs a line in CHANNELS."""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from brute_force import Rewritings, String, identity, sliding_window
from problems import edits_of

from pyropunct.models.channel import Channel, Identity, SlidingWindow, Slip, TokenBigrams

NUM_TOKENS = 3
SEEN: list[String] = [(0,), (0, 1), (1,), (1, 2), (2,), (2, 1, 1), (1,)]
"""The strings of a bigram model's training treebank."""


class Variant(NamedTuple):
    """A channel and what is true about it.

    :ivar make: a new channel, with its parameters latent.
    :ivar rewritings: p(x | u) by brute force, for a channel whose parameters are known.
    :ivar longer: the probability of all surfaces longer than some length, given u.
    """

    make: Callable[[str], Channel]
    rewritings: Callable[[Channel], Rewritings]
    longer: Callable[[Channel, String, int], float]


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


CHANNELS: dict[str, Variant] = {
    "sliding window": Variant(make_window, window_rewritings, never_longer),
    "identity": Variant(make_identity, lambda channel: identity, never_longer),
    "slip": Variant(make_slip(make_window), slip_rewritings(window_rewritings), slip_longer),
    "identity that slips": Variant(
        make_slip(make_identity), slip_rewritings(lambda channel: identity), slip_longer
    ),
}


def settled(channel: Channel) -> Channel:
    """The channel with its latent parameters drawn from their prior, once and for all."""
    for module in channel.modules():
        for name, prior in list(getattr(module, "_pyro_samples", {}).items()):
            drawn = prior if hasattr(prior, "sample") else prior(module)
            setattr(module, name, drawn.sample())
    return channel
