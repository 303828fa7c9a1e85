"""How often each string of marks stands in a slot: a baseline for other models."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pyropunct.files import texts, whole_numbers
from pyropunct.text.marks import Surface, marks_of

String = tuple[str, ...]


@dataclass(frozen=True)
class SlotCounts:
    """Counts of the strings of some slots of a treebank, of tokens that a model knows.

    :ivar counts: how often each string stands there.
    :ivar num_tokens: the number of token types, without the sentence start.
    """

    counts: Mapping[String, int]
    num_tokens: int

    def log_prob(self, string: String) -> float:
        """The logarithm of the smoothed probability of a string.

        With c(x) the count of x, N the sum of all counts and D the number of distinct strings::

            p(x) = (c(x) + D q(x)) / (N + D)        q(x) = s(x_1) ... s(x_m) s(stop)

        so that strings never seen have together about as much as new strings had so far.  In q each token is
        drawn by itself: s(t) = (c(t) + 1) / (number of all tokens and stops + number of their types).

        Source: Witten & Bell (1991, method C).
        """
        tokens, stops = self._symbols
        total = tokens.total() + stops + self.num_tokens + 1
        drawn = [tokens[token] + 1 for token in string]
        distinct, count = max(1, len(self.counts)), self.counts.get(string, 0)
        # The logarithm of D q(x): of a long string the number itself may be too small.
        fresh = math.log(distinct) + math.fsum(math.log(number / total) for number in (*drawn, stops + 1))
        found = fresh if count == 0 else math.log(count + math.exp(fresh))
        return found - math.log(stops + distinct)

    @cached_property
    def _symbols(self) -> tuple[Counter[str], int]:
        """How often each token was seen, and the number of strings."""
        tokens: Counter[str] = Counter()
        for string, count in self.counts.items():
            for token in string:
                tokens[token] += count
        return tokens, sum(self.counts.values())


@dataclass(frozen=True)
class SlotStrings:
    """A unigram model of slots: each slot's string is drawn by itself, whatever the tree.

    The last slot of a sentence, where the final mark stands, has a distribution of its own.

    :ivar last: the strings of last slots.
    :ivar others: the strings of all other slots.
    """

    last: SlotCounts
    others: SlotCounts

    @classmethod
    def count(cls, surfaces: Iterable[Surface], num_tokens: int) -> "SlotStrings":
        """The counts in a treebank.

        :param surfaces: of tokens that the model knows.
        :param num_tokens: the number of token types, without the sentence start.
        """
        last: Counter[String] = Counter()
        others: Counter[String] = Counter()
        for surface in surfaces:
            *rest, final = map(marks_of, surface)
            others.update(rest)
            last[final] += 1
        return cls(SlotCounts(dict(last), num_tokens), SlotCounts(dict(others), num_tokens))

    def log_probs(self, surface: Surface) -> tuple[float, float]:
        """The log-probabilities of a sentence's last slot and of all its others, in natural logarithms."""
        *rest, final = map(marks_of, surface)
        return self.last.log_prob(final), math.fsum(map(self.others.log_prob, rest))

    def to_json(self) -> dict[str, Any]:
        """Plain JSON types, from which `from_json` makes an equal model."""

        def rows(counts: Mapping[String, int]) -> list[list[Any]]:
            return [[list(string), count] for string, count in counts.items()]

        return {
            "num_tokens": self.last.num_tokens,
            "last": rows(self.last.counts),
            "others": rows(self.others.counts),
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "SlotStrings":
        """The model that `to_json` wrote.

        :raises ValueError: if the input is no such model.
        """
        (num_tokens,) = whole_numbers("the number of tokens", [plain["num_tokens"]])

        def counts(rows: Sequence[Any]) -> SlotCounts:
            strings = [texts("the string of a slot", string) for string, _ in rows]
            numbers = whole_numbers("the list of counts", [count for _, count in rows])
            return SlotCounts(dict(zip(strings, numbers, strict=True)), num_tokens)

        return cls(counts(plain["last"]), counts(plain["others"]))
