"""The automaton whose paths are the ways to put commas into a sentence (Shieber & Tao 2003, Figure 1).

States tell where commas stand around the last word: ALONE, none (the first state); FOLLOWED, behind it;
PRECEDED, before it alone.  Each word has three possible steps and two of a comma behind it, the columns of a
table (n, 5): :data:`AFTER_ALONE`, :data:`AFTER_FOLLOWED`, :data:`AFTER_PRECEDED`, :data:`COMMA_FIRST` and
:data:`COMMA_AGAIN`.  The Viterbi algorithm finds the best path.  The end of y has no factor, as in the paper.
"""

import math
from collections import Counter
from collections.abc import Sequence
from operator import add

import numpy as np
from numpy.typing import NDArray

from pyropunct.papers.shieber_tao_2003.sentences import CommaSentence
from pyropunct.papers.shieber_tao_2003.smoothing import Integers

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
