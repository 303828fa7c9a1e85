"""Evidence about the punctuation of a sentence, and the posterior as weighted draws."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from textwrap import shorten

import numpy as np

from pyropunct.draws import Draws, decoded, generators
from pyropunct.fitted.fitted_story import FittedStory
from pyropunct.inference.conditioning import Conditioned, WeightedDraws
from pyropunct.inference.machines.evidence import Evidence, exactly, with_hidden
from pyropunct.inference.pyro.posterior import ImpossibleSurfaceError
from pyropunct.nets.parser import WeightedTree
from pyropunct.restore.decoders import DECODERS
from pyropunct.restore.rewriting import without_unknown
from pyropunct.restore.running import ends_sentence
from pyropunct.text.marks import ABBREVIATION_DOT, CLAUSE, START, UNKNOWN, Surface, marks_of
from pyropunct.vocabulary import Vocabulary

Known = Evidence | Sequence[str] | None
"""What is known of a slot: evidence, its marks, or nothing."""

LONGEST_OPEN = 8
"""A slot of more marks than this has no hidden ones: an automaton has states for each place."""

OF_WORDS = frozenset({START, ABBREVIATION_DOT})
"""Tokens that no constituent sprouts: a slot with only these counts as empty."""


def evidence_about(
    vocabulary: Vocabulary, known: Sequence[Known], hidden: Collection[str] = ()
) -> list[Evidence]:
    """Evidence about the slots 0..n of a sentence.

    :param known: for each slot its marks, or evidence in numbers of tokens, or None if nothing is known.
    :raises ValueError: if the model does not know a hidden mark.
    """
    unseen = _numbers(vocabulary, hidden)
    return [
        marks if isinstance(marks, Evidence) else _evidence(vocabulary, slot, marks, unseen)
        for slot, marks in enumerate(known)
    ]


def _evidence(
    vocabulary: Vocabulary, slot: int, marks: Sequence[str] | None, unseen: Collection[int]
) -> Evidence:
    start = [vocabulary.token_number[START]] * (slot == 0)
    if marks is None:
        return with_hidden(start, _printable(vocabulary))
    numbers = [number for number in vocabulary.encode_string(marks) if number not in unseen]
    numbers = numbers if numbers[:1] == start else start + numbers
    return exactly(numbers) if len(numbers) > LONGEST_OPEN else with_hidden(numbers, unseen)


def _numbers(vocabulary: Vocabulary, marks: Collection[str]) -> frozenset[int]:
    lacking = [mark for mark in marks if mark not in vocabulary.token_number]
    if lacking:
        raise ValueError(f"the model has no mark {lacking[0]}: nothing is known of where it stands")
    return frozenset(vocabulary.token_number[mark] for mark in marks)


def _printable(vocabulary: Vocabulary) -> frozenset[int]:
    """The tokens that restored strings may contain."""
    return _numbers(vocabulary, set(vocabulary.tokens) - {START, CLAUSE, UNKNOWN})


def evidence_of_marks(
    vocabulary: Vocabulary,
    surface: Surface,
    *,
    hidden: Collection[str] = (),
    keep: bool = False,
    closed: Collection[int] = (),
    ends: bool = False,
) -> list[Evidence]:
    """The evidence of the marks of a sentence about its slots.

    With hidden marks, all other marks are known, and so is their absence.  Otherwise non-empty slots are
    known and empty slots are unknown; a slot with only an abbreviation dot counts as empty.

    :param keep: whether slots with hidden marks are complete.
    :param closed: slots inside written words, where no mark can stand.
    :param ends: whether the last slot may have marks that end the sentence, besides those that it has.
    """
    unseen, evidence = set(hidden), list[Evidence]()
    for slot, marks in enumerate(surface):
        sprouted = set(marks) - OF_WORDS
        if ends and slot == len(surface) - 1:
            final = {mark for mark in vocabulary.tokens if ends_sentence([mark], "")}
            evidence.append(_evidence(vocabulary, slot, marks, _numbers(vocabulary, final)))
        elif slot in closed or (sprouted if not hidden else keep and sprouted & unseen):
            evidence += [exactly(vocabulary.encode_string(marks))]
        elif hidden:
            evidence.append(_evidence(vocabulary, slot, marks, _numbers(vocabulary, unseen)))
        else:
            dot = [vocabulary.token_number[mark] for mark in marks if mark == ABBREVIATION_DOT]
            start = [vocabulary.token_number[mark] for mark in marks if mark == START]
            evidence.append(with_hidden(start + dot, _printable(vocabulary) - {*start, *dot}))
    return evidence


FEW_DRAWS = 20
"""A posterior with fewer effective draws is not reliable."""

SHOWN = 60
"""The most characters of a sentence that an error shows."""


@dataclass(frozen=True)
class Posterior:
    """p(x, T | words, evidence) of a sentence, as weighted draws; see `pyropunct.inference.conditioning`.

    :ivar log_evidence: an estimate of log p(evidence | words), in natural logarithms.
    """

    draws: Draws
    trees: tuple[WeightedTree, ...]
    log_evidence: float

    @property
    def effective_draws(self) -> float:
        """The effective sample size: (sum of weights)^2 / (sum of their squares)."""
        return float(1 / (self.draws.weights**2).sum())

    def marginals(self) -> list[dict[tuple[str, ...], float]]:
        """The probability of each string of marks in each of the slots 0..n, without the sentence start."""
        marginals = []
        for numbers in self.draws.numbers.T.tolist():
            share: defaultdict[tuple[str, ...], float] = defaultdict(float)
            for number, weight in zip(numbers, self.draws.weights.tolist(), strict=True):
                share[marks_of(self.draws.strings[number])] += weight
            marginals.append(dict(sorted(share.items(), key=lambda item: -item[1])))
        return marginals

    def best(self, decoder: str = "mbr") -> Surface:
        """The surface chosen by one of `pyropunct.restore.decoders.DECODERS`, without unknown marks."""
        return DECODERS[decoder](without_unknown(self.draws)).surface


class PosteriorDraws:
    """Rounds of draws from the posterior of a sentence; `ValueError` for a wrong number of slots."""

    def __init__(
        self,
        fitted: FittedStory,
        parses: Sequence[WeightedTree],
        evidence: Sequence[Evidence],
        seed: int,
    ) -> None:
        trees = [parse.tree for parse in parses]
        if len(evidence) != len(trees[0]) + 1:
            raise ValueError(f"there is evidence about {len(evidence)} slots of {len(trees[0]) + 1}")
        self._vocabulary, self._parses = fitted.vocabulary, tuple(parses)
        batch, weights = fitted.encode_trees(trees), [parse.weight for parse in parses]
        [generator] = generators(trees[:1], seed, alike=True)
        self._given = Conditioned(fitted.story.inputs, batch, weights, evidence, generator)
        self._rounds: list[WeightedDraws] = []

    @property
    def weighed(self) -> int:
        """How much work the draws were: see `Conditioned.weighed`."""
        return self._given.weighed

    def more(self, number: int) -> Posterior:
        """The posterior from all draws so far.  `ImpossibleSurfaceError` names the slot and the sentence."""
        try:
            self._rounds.append(self._given.draw(number))
        except ImpossibleSurfaceError as error:
            raise ImpossibleSurfaceError(f"{error} in {self._shown()}") from error
        tree, numbers, log_weight = (np.concatenate(column) for column in zip(*self._rounds, strict=True))
        greatest = log_weight.max()
        if greatest == -np.inf:
            raise ImpossibleSurfaceError(f"the evidence is too improbable to be weighed in {self._shown()}")
        weights = np.exp(log_weight - greatest)
        share = weights / weights.sum()
        columns = np.ascontiguousarray(numbers.T)
        draws = Draws(*decoded(self._vocabulary, self._given.strings, columns), share)
        of_trees = np.bincount(tree, share, len(self._parses)).tolist()
        pairs = zip(self._parses, of_trees, strict=True)
        trees = tuple(parse._replace(weight=weight) for parse, weight in pairs)
        return Posterior(draws, trees, float(greatest + np.log(weights.mean())))

    def _shown(self) -> str:
        """The sentence, shortened, for messages."""
        return repr(shorten(" ".join(self._parses[0].tree.forms), SHOWN, placeholder=" …"))
