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

The paper found other ways of backing off worse.  Model 3b is model 3 that leaves the bit first, for p(y_i |
y_{i-2} y_{i-1}) (footnote 6).  Models 8a and 8b have p(y_i | y_{i-2} y_{i-1} ec_i), which backs off to p(y_i
| y_{i-2} y_{i-1}) in 8a and to p(y_i | y_{i-1} ec_i) in 8b (footnote 9).

Some rows without a number in Table 1 must be models with tags: here 1t and 3t are models 1 and 3 with p(Y_i |
Y_{i-2} Y_{i-1}).  The text does not say what model 11 is; its row is close to that of model 10.  Here 11s is
model 10 with sc_i, the number of constituents that start where y_i stands, as a further context of the same
kind, and 11c is 11s with the divisors p(y_i | y_{i-1}).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from pyropunct.compare.options import CommaSettings
from pyropunct.rivals.shieber_tao_2003.automaton import (
    COMMA_SYMBOL,
    ENDS,
    ONE_BACK,
    STARTS,
    STEPS,
    SYMBOL,
    TAG,
    TAG_ONE_BACK,
    TAG_TWO_BACK,
    THREE_ENDS,
    TWO_BACK,
    TWO_ENDS,
    Alphabet,
    best_path,
    sizes,
    steps,
    steps_of_path,
)
from pyropunct.rivals.shieber_tao_2003.sentences import CommaSentence
from pyropunct.rivals.shieber_tao_2003.smoothing import SMOOTHINGS, Backoff, Floats, HistoryLevel, Integers

Conditional = tuple[int, ...]
"""A conditional distribution: the columns of its contexts, of which backoff keeps the last longest, and of
its outcome; see `pyropunct.rivals.shieber_tao_2003.automaton.TWO_BACK`."""

TRIGRAMS: Conditional = (TWO_BACK, ONE_BACK, SYMBOL)
GIVEN_THREE_ENDS: Conditional = (TWO_BACK, ONE_BACK, THREE_ENDS, SYMBOL)
GIVEN_TWO_ENDS: Conditional = (TWO_BACK, ONE_BACK, TWO_ENDS, SYMBOL)
THREE_ENDS_DROPPED_FIRST: Conditional = (THREE_ENDS, TWO_BACK, ONE_BACK, SYMBOL)
ENDS_DROPPED_FIRST: Conditional = (ENDS, TWO_BACK, ONE_BACK, SYMBOL)
ENDS_KEPT_LONGEST: Conditional = (TWO_BACK, ONE_BACK, ENDS, SYMBOL)
GIVEN_ENDS: Conditional = (ENDS, ONE_BACK, SYMBOL)
GIVEN_STARTS: Conditional = (STARTS, ONE_BACK, SYMBOL)
TAG_TRIGRAMS: Conditional = (TAG_TWO_BACK, TAG_ONE_BACK, TAG)
UNIGRAMS: Conditional = (SYMBOL,)
BIGRAMS: Conditional = (ONE_BACK, SYMBOL)


@dataclass(frozen=True)
class CommaModel:
    """A product of conditional probabilities, with its title in tables.

    :ivar omission_penalty: whether 1 - p(, | y_{i-2} y_{i-1}) is a factor of each word.
    """

    title: str
    factors: tuple[Conditional, ...]
    divisors: tuple[Conditional, ...] = ()
    omission_penalty: bool = False

    @property
    def looks_at_constituents(self) -> bool:
        """Whether it needs trees."""
        words_and_tags = (TRIGRAMS, TAG_TRIGRAMS)
        return any(factor not in words_and_tags for factor in self.factors)


MODELS: Mapping[str, CommaModel] = MappingProxyType(
    {
        "1": CommaModel("trigrams", (TRIGRAMS,)),
        "1t": CommaModel("trigrams, tags", (TRIGRAMS, TAG_TRIGRAMS)),
        "2": CommaModel("trigrams, omission penalty", (TRIGRAMS,), omission_penalty=True),
        "3": CommaModel("ec >= 3", (GIVEN_THREE_ENDS,)),
        "3b": CommaModel("ec >= 3, dropped first", (THREE_ENDS_DROPPED_FIRST,)),
        "3t": CommaModel("ec >= 3, tags", (GIVEN_THREE_ENDS, TAG_TRIGRAMS)),
        "4": CommaModel("ec >= 2", (GIVEN_TWO_ENDS,)),
        "8": CommaModel("ec", (TRIGRAMS, GIVEN_ENDS), (UNIGRAMS,)),
        "8a": CommaModel("ec as a context, dropped first", (ENDS_DROPPED_FIRST,)),
        "8b": CommaModel("ec as a context, kept longest", (ENDS_KEPT_LONGEST,)),
        "8c": CommaModel("ec, divisor p(y | y')", (TRIGRAMS, GIVEN_ENDS), (BIGRAMS,)),
        "10": CommaModel("ec, tags", (TRIGRAMS, GIVEN_ENDS, TAG_TRIGRAMS), (UNIGRAMS,)),
        "10c": CommaModel("ec, tags, divisor p(y | y')", (TRIGRAMS, GIVEN_ENDS, TAG_TRIGRAMS), (BIGRAMS,)),
        "11s": CommaModel(
            "ec, sc, tags", (TRIGRAMS, GIVEN_ENDS, GIVEN_STARTS, TAG_TRIGRAMS), (UNIGRAMS, UNIGRAMS)
        ),
        "11c": CommaModel(
            "ec, sc, tags, divisors p(y | y')",
            (TRIGRAMS, GIVEN_ENDS, GIVEN_STARTS, TAG_TRIGRAMS),
            (BIGRAMS, BIGRAMS),
        ),
    }
)
"""The models with the constituents that they are given, by their names."""


class TrainedModel:
    """A model estimated from (N, 10) steps of restored strings; ``sizes`` are those of the columns."""

    def __init__(
        self, model: CommaModel, smoothing: type[HistoryLevel], true: Integers, sizes: Sequence[int]
    ) -> None:
        self._model = model
        self._estimated = {
            one: Backoff(smoothing, true[:, list(one)], [sizes[column] for column in one])
            for one in (*model.factors, *model.divisors)
        }

    def scores(self, steps: Integers) -> Floats:
        """(N,) the logarithm of the product for each of the steps (N, 10)."""
        total = np.zeros(len(steps))
        for factor in self._model.factors:
            total += np.log(self._probability(factor, steps))
        for divisor in self._model.divisors:
            total -= np.log(self._probability(divisor, steps))
        return total + self._penalties(steps) if self._model.omission_penalty else total

    def _probability(self, conditional: Conditional, steps: Integers) -> Floats:
        return self._estimated[conditional].probability(steps[:, list(conditional)])

    def _penalties(self, steps: Integers) -> Floats:
        """(N,) log (1 - p(, | y_{i-2} y_{i-1})) of words, 0 of commas."""
        with_comma = steps.copy()
        with_comma[:, SYMBOL] = COMMA_SYMBOL
        omitted = np.log1p(-self._probability(TRIGRAMS, with_comma))
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
