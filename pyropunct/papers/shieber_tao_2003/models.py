"""The models of Shieber & Tao (2003), as products of conditional probabilities.

They score each symbol y_i of the restored string, a word or a comma, given the two symbols before y_i and
ec_i, the number of constituents that end where y_i stands, or one bit of it::

    model 1, 2        p(y_i | y_{i-2} y_{i-1})
    model 3, 4        p(y_i | y_{i-2} y_{i-1} [ec_i >= k]), where k is 3 or 2
    model 8           p(y_i | y_{i-2} y_{i-1}) p(y_i | y_{i-1} ec_i) / p(y_i)
    model 10          model 8 times p(Y_i | Y_{i-2} Y_{i-1}), where Y_i is the tag of y_i

Model 2 also has, for each word, the probability 1 - p(, | y_{i-2} y_{i-1}) that no comma stands there.
Models 5, 9 and 12 are models 3, 8 and 10 with constituents of a parser; the text does not mention model 9.
Models 6 and 7 are model 5 with constituents that the parser found in sentences with their commas, in training
or even in restoration.

Model 8 assumes "independence between the bigram in the conditioning context and the syntactic information",
but y_{i-1} is in both contexts.  If y_{i-2} and ec_i are independent given y_{i-1} and y_i, Bayes' rule gives
the divisor p(y_i | y_{i-1}), up to factors without y_i: that of models 8c and 10c.

Some rows without a number in Table 1 must be models with tags: here 1t and 3t are models 1 and 3 with p(Y_i |
Y_{i-2} Y_{i-1}).  The text does not say what model 11 is; its row is close to that of model 10.  Here 11s is
model 10 with sc_i, the number of constituents that start where y_i stands, as a further context of the same
kind, and 11c is 11s with the divisors p(y_i | y_{i-1}).

The ways to put commas into a sentence are the paths of an automaton (Figure 1), whose states tell where
commas stand around the last word: ALONE, none (the first state); FOLLOWED, behind it; PRECEDED, before it
alone.  Each word has three possible steps and two of a comma behind it, the columns of a table (n, 5):
:data:`AFTER_ALONE`, :data:`AFTER_FOLLOWED`, :data:`AFTER_PRECEDED`, :data:`COMMA_FIRST` and
:data:`COMMA_AGAIN`.  The Viterbi algorithm finds the best path.  The end of y has no factor, as in the paper.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import add

import numpy as np
from numpy.typing import NDArray

from pyropunct.papers.options import CommaSettings
from pyropunct.papers.shieber_tao_2003.sentences import CommaSentence
from pyropunct.papers.shieber_tao_2003.smoothing import SMOOTHINGS, Backoff, Floats, HistoryLevel, Integers

ALONE, FOLLOWED, PRECEDED = range(3)
"""The states."""

STEPS = 5
AFTER_ALONE, AFTER_FOLLOWED, AFTER_PRECEDED, COMMA_FIRST, COMMA_AGAIN = range(STEPS)
"""The steps: a word after each of the states; a comma behind a word without a comma before it, or with it."""

START, COMMA_SYMBOL, UNKNOWN = range(3)
"""Symbols in every vocabulary: the start, which stands twice before each sentence; the comma; rare words."""

COLUMNS = ("y''", "y'", "y", "Y''", "Y'", "Y", "sc", "ec", "ec>=2", "ec>=3")
"""The columns of a table of steps: the symbols y_{i-2}, y_{i-1}, y_i; their tags Y_{i-2}, Y_{i-1}, Y_i; sc
and ec of the position at which y_i stands, behind the last word before it; whether ec is at least 2, or 3."""

MOST_CONSTITUENTS = 63
"""Larger counts of constituents are taken for this one."""


class Alphabet:
    """Numbers of symbols; those counted less than ``least`` times share the number of UNKNOWN."""

    def __init__(self, counts: Counter[str], least: int = 1) -> None:
        kept = [symbol for symbol, count in counts.items() if count >= least]
        self._numbers = {symbol: number for number, symbol in enumerate(kept, start=UNKNOWN + 1)}

    def __len__(self) -> int:
        return len(self._numbers) + UNKNOWN + 1

    def numbers(self, symbols: Sequence[str]) -> Integers:
        """(n,) the numbers of symbols."""
        return np.array([self._numbers.get(symbol, UNKNOWN) for symbol in symbols], np.int64)


def steps(sentence: CommaSentence, words: Alphabet, tags: Alphabet) -> Integers:
    """(5 n, 10) the steps of a sentence, word by word."""
    trigrams = [_trigrams(words.numbers(sentence.words)), _trigrams(tags.numbers(sentence.tags))]
    counts = np.stack([_at_positions(sentence.starts), _at_positions(sentence.ends)], -1)
    ends = counts[:, 1:]
    return np.column_stack([*trigrams, np.minimum(counts, MOST_CONSTITUENTS), ends >= 2, ends >= 3])


def sizes(symbols: int, tags: int) -> tuple[int, ...]:
    """(10,) how many values each column may have, given the numbers of symbols and tags."""
    return (*[symbols] * 3, *[tags] * 3, *[MOST_CONSTITUENTS + 1] * 2, 2, 2)


def _trigrams(numbers: Integers) -> Integers:
    """(5 n, 3) y_{i-2}, y_{i-1}, y_i of all steps."""
    padded = np.concatenate([[START, START], numbers])
    two_back, one_back, here = padded[:-2], padded[1:-1], padded[2:]
    comma = np.full(len(numbers), COMMA_SYMBOL)
    columns = {
        AFTER_ALONE: (two_back, one_back, here),
        AFTER_FOLLOWED: (one_back, comma, here),
        AFTER_PRECEDED: (comma, one_back, here),
        COMMA_FIRST: (one_back, here, comma),
        COMMA_AGAIN: (comma, here, comma),
    }
    return np.stack([np.stack(columns[step], -1) for step in range(STEPS)], 1).reshape(-1, 3)


def _at_positions(counts: Integers) -> Integers:
    """(5 n,) the count at the position of each step: before a word, and for a comma behind it."""
    return np.stack([counts[:-1]] * COMMA_FIRST + [counts[1:]] * (STEPS - COMMA_FIRST), -1).ravel()


def steps_of_path(commas: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(5 n,) whether a path takes each step, given (n + 1,) where it puts commas; position 0 is ignored."""
    behind = np.concatenate([[False], commas[1:]])
    before = behind[:-1]  # whether there is a comma before the word
    earlier = np.concatenate([[False], before[:-1]])  # and before the word before it
    chosen = np.zeros((len(before), STEPS), bool)
    chosen[:, AFTER_ALONE] = ~before & ~earlier
    chosen[:, AFTER_FOLLOWED] = before
    chosen[:, AFTER_PRECEDED] = ~before & earlier
    chosen[:, COMMA_FIRST] = behind[1:] & ~before
    chosen[:, COMMA_AGAIN] = behind[1:] & before
    return chosen.ravel()


def best_path(scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(n + 1,) where the path with the highest sum of (5 n,) step scores puts commas (Viterbi)."""
    highest, origins = [0.0, -math.inf, -math.inf], []
    for row in scores.reshape(-1, STEPS).tolist():
        alone, followed, preceded = map(add, highest, row[:COMMA_FIRST])  # the paths up to this word
        uncommaed, origin = (alone, ALONE) if alone >= preceded else (preceded, PRECEDED)
        first, again = uncommaed + row[COMMA_FIRST], followed + row[COMMA_AGAIN]
        highest = [uncommaed, max(first, again), followed]
        origins.append((origin, origin if first >= again else FOLLOWED, FOLLOWED))
    state = max(range(len(highest)), key=highest.__getitem__)
    commas = []
    for origin_of in reversed(origins):
        commas.append(state == FOLLOWED)
        state = origin_of[state]
    return np.array([False, *reversed(commas)])


Conditional = tuple[int, ...]
"""A conditional distribution: the columns of its contexts and of its outcome."""


@dataclass(frozen=True)
class CommaModel:
    """A product of conditional probabilities, with its title in tables.

    :ivar formula: factors, with ``*`` between them, and divisors, each behind ``/``.  Each lists contexts, of
        which backoff keeps the last longest, and the outcome; the names are those of
        `COLUMNS`.
    :ivar omission_penalty: whether 1 - p(, | y_{i-2} y_{i-1}) is a factor of each word.
    """

    title: str
    formula: str
    omission_penalty: bool = False

    @property
    def factors(self) -> list[tuple[Conditional, int]]:
        """The conditional distributions, each with its exponent, 1 or -1."""
        product, *divisors = self.formula.split(" / ")
        parts = [*((factor, 1) for factor in product.split(" * ")), *((divisor, -1) for divisor in divisors)]
        return [(tuple(map(COLUMNS.index, part.split())), exponent) for part, exponent in parts]

    @property
    def looks_at_constituents(self) -> bool:
        """Whether it needs trees."""
        return "ec" in self.formula


MODELS: Mapping[str, CommaModel] = {
    "1": CommaModel("trigrams", "y'' y' y"),
    "1t": CommaModel("trigrams, tags", "y'' y' y * Y'' Y' Y"),
    "2": CommaModel("trigrams, omission penalty", "y'' y' y", omission_penalty=True),
    "3": CommaModel("ec >= 3", "y'' y' ec>=3 y"),
    "3t": CommaModel("ec >= 3, tags", "y'' y' ec>=3 y * Y'' Y' Y"),
    "4": CommaModel("ec >= 2", "y'' y' ec>=2 y"),
    "8": CommaModel("ec", "y'' y' y * ec y' y / y"),
    "8c": CommaModel("ec, divisor p(y | y')", "y'' y' y * ec y' y / y' y"),
    "10": CommaModel("ec, tags", "y'' y' y * ec y' y * Y'' Y' Y / y"),
    "10c": CommaModel("ec, tags, divisor p(y | y')", "y'' y' y * ec y' y * Y'' Y' Y / y' y"),
    "11s": CommaModel("ec, sc, tags", "y'' y' y * ec y' y * sc y' y * Y'' Y' Y / y / y"),
    "11c": CommaModel(
        "ec, sc, tags, divisors p(y | y')", "y'' y' y * ec y' y * sc y' y * Y'' Y' Y / y' y / y' y"
    ),
}
"""The models with the constituents that they are given, by their names."""

TRIGRAM, SYMBOL = (0, 1, 2), 2
"""The columns of p(y_i | y_{i-2} y_{i-1}), and of y_i."""


class TrainedModel:
    """A model estimated from (N, 10) steps of restored strings; ``sizes`` are those of the columns."""

    def __init__(
        self, model: CommaModel, smoothing: type[HistoryLevel], true: Integers, sizes: Sequence[int]
    ) -> None:
        self._model = model
        self._estimated = {
            one: Backoff(smoothing, true[:, list(one)], [sizes[column] for column in one])
            for one, _ in model.factors
        }

    def scores(self, steps: Integers) -> Floats:
        """(N,) the logarithm of the product for each of the steps (N, 10)."""
        total = np.zeros(len(steps))
        for factor, exponent in self._model.factors:
            total += exponent * np.log(self._probability(factor, steps))
        return total + self._penalties(steps) if self._model.omission_penalty else total

    def _probability(self, conditional: Conditional, steps: Integers) -> Floats:
        return self._estimated[conditional].probability(steps[:, list(conditional)])

    def _penalties(self, steps: Integers) -> Floats:
        """(N,) log (1 - p(, | y_{i-2} y_{i-1})) of words, 0 of commas."""
        with_comma = steps.copy()
        with_comma[:, SYMBOL] = COMMA_SYMBOL
        omitted = np.log1p(-self._probability(TRIGRAM, with_comma))
        return np.where(steps[:, SYMBOL] == COMMA_SYMBOL, 0, omitted)


class CommaSystem:
    """A model of :data:`MODELS`, trained on sentences, which restores commas.

    :param smoothing: ``witten-bell`` or ``katz``.
    :param least: words that are rarer in training count as one unknown word.
    :raises KeyError: if there is no such model or smoothing.
    :raises ValueError: if there is no training sentence.
    """

    def __init__(
        self,
        sentences: Sequence[CommaSentence],
        model: str = "10",
        smoothing: str = CommaSettings.smoothing,
        least: int = CommaSettings.least,
    ) -> None:
        if not sentences:
            raise ValueError("there are no sentences to train on")
        words = Counter(word for sentence in sentences for word in sentence.words)
        tags = Counter(tag for sentence in sentences for tag in sentence.tags)
        self._words, self._tags = Alphabet(words, least), Alphabet(tags)
        paths = np.concatenate([steps_of_path(sentence.commas) for sentence in sentences])
        true, most = self._steps(sentences)[paths], sizes(len(self._words), len(self._tags))
        self._model = TrainedModel(MODELS[model], SMOOTHINGS[smoothing], true, most)

    def restore(self, sentences: Sequence[CommaSentence]) -> Iterator[NDArray[np.bool_]]:
        """For each sentence (n + 1,) where the best path puts commas; existing commas are ignored."""
        if not sentences:
            return
        scores = self._model.scores(self._steps(sentences))
        ends = np.cumsum([STEPS * len(sentence.words) for sentence in sentences])
        yield from map(best_path, np.split(scores, ends[:-1]))

    def _steps(self, sentences: Sequence[CommaSentence]) -> Integers:
        return np.concatenate([steps(sentence, self._words, self._tags) for sentence in sentences])
