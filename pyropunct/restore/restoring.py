"""Restoring punctuation: parse, draw, decide (Li, Wang & Eisner 2019, section 6.1)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import torch

from pyropunct.draws import Draws
from pyropunct.errors import UserError
from pyropunct.fitted.model import FittedModel
from pyropunct.inference.machines.evidence import Evidence
from pyropunct.models.conditioning import Conditioner
from pyropunct.nets.parser.protocol import Parser, WeightedTree
from pyropunct.nets.tagger.given import TaggerConditioner
from pyropunct.nets.tagger.tagger import Probabilities as OfLabels
from pyropunct.nets.tagger.tagger import generator_for
from pyropunct.restore.cases import in_their_cases
from pyropunct.restore.decoders import DECODERS, Decision, Decoder, Probabilities
from pyropunct.restore.given import evidence_of_marks
from pyropunct.restore.posterior import FEW_DRAWS, PosteriorDraws
from pyropunct.restore.raw_words import RawSentence
from pyropunct.restore.rewriting import (
    Rewriting,
    mixture,
    with_abbreviation_dots,
    with_given,
    with_marks_only,
    with_own_unknown,
    without_marks_in,
    without_unknown,
)
from pyropunct.restore.settings import SAMPLES, TREES, RestoreSettings
from pyropunct.restore.windows import LONGEST_PARSED, LONGEST_WHOLE, joined, windows
from pyropunct.treebank.conventions import Conventions
from pyropunct.treebank.marks import ABBREVIATION_DOT, START, Surface
from pyropunct.treebank.printing import print_words
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree, require_words

FIRST_ROUND, GROWTH = 50, 3
"""The draws of a sentence in the first round, and by what their number grows in each further one."""

REGRET = 0.001
"""The edits a slot that more draws may be expected to save, for no more to be made."""

DECIDED_AT_ONCE = 100
"""Sentences whose draws are in memory together."""

WINDOWS_AT_ONCE = 10
"""Windows of a long line that are restored together."""

Source = RawSentence | Sentence
"""What can be restored: a line of raw text, or a sentence of a treebank."""


class NoParserError(UserError, ValueError):
    """Raised when raw words are given to a model without a parser."""

    def __init__(self) -> None:
        super().__init__(
            "the model has no parser, so it cannot restore raw words: "
            "fit one with `pyropunct fit TRAIN --parser`, or give CoNLL-U input"
        )


def weighted_trees(
    model: FittedModel, sentences: Sequence[Sequence[str] | Tree], trees: int = TREES
) -> list[list[WeightedTree]]:
    """The trees of each sentence, with weights that add up to 1; a given tree has weight 1.

    :param sentences: words, which the model's parser parses, or trees.
    :param trees: the greatest number of trees of a parsed sentence; one of more than `LONGEST_PARSED` words
        has one tree, joined of the best trees of its windows.
    :raises NoParserError: if there are raw words and the model has no parser.
    :raises TypeError: if a string stands where words are needed.
    """
    require_words(sentences)
    raw = [sentence for sentence in sentences if not isinstance(sentence, Tree)]
    for words in raw:
        require_words(words)
    if raw and model.parser is None:
        raise NoParserError
    parsed = _parsed(model.parser, raw, trees) if model.parser is not None and raw else iter(())
    return [
        [WeightedTree(sentence, 1.0, given=True)] if isinstance(sentence, Tree) else next(parsed)
        for sentence in sentences
    ]


def _parsed(parser: Parser, sentences: Sequence[Sequence[str]], trees: int) -> Iterator[list[WeightedTree]]:
    """The trees of each sentence; long ones are parsed in windows, see `pyropunct.restore.windows`."""
    short = [words for words in sentences if len(words) <= LONGEST_PARSED]
    found = iter(parser.parse(short, trees) if short else ())
    for words in sentences:
        if len(words) <= LONGEST_PARSED:
            yield next(found)
            continue
        parts = windows(len(words), ())
        best = parser.parse([words[window.first : window.last] for window in parts])
        yield [WeightedTree(joined(parts, [only.tree for [only] in best]), 1.0)]


def decide(
    model: FittedModel,
    parses: Sequence[Sequence[WeightedTree]],
    *,
    decoder: str = "mbr",
    samples: int = SAMPLES,
    seed: int | None = None,
    rewritings: Sequence[Rewriting] | None = None,
) -> Iterator[Decision]:
    """Punctuate sentences, given their trees.

    A sentence with several trees is restored from the mixture of p(x | T) over them (Li, Wang & Eisner 2019,
    footnote 20).  Trees that a parser has found are punctuated by what the model has learned from such, and
    the model's tagger, if it has one, is a member of the mixture: see
    `pyropunct.Punctuator.log_prob_over_trees`.  Draws are made in rounds, until more cannot be expected to
    save many edits.

    :param parses: for each sentence its trees, with weights that add up to 1.
    :param decoder: one of `pyropunct.restore.decoders.DECODERS`.
    :param samples: the greatest number of draws of a sentence, which its trees share in equal numbers, so
        that it may be exceeded by less than the number of trees in each round.
    :param seed: equal seeds give equal results, independently of the other sentences.
    :param rewritings: for each sentence a rewriting of its draws; by default unknown marks are left out,
        since they cannot be printed.
    :raises KeyError: if there is no such decoder.
    """
    choose = DECODERS[decoder]
    if rewritings is None:
        rewritings = [without_unknown] * len(parses)
    for first in range(0, len(parses), DECIDED_AT_ONCE):
        some = slice(first, first + DECIDED_AT_ONCE)
        yield from _decided(model, parses[some], choose, samples, seed, rewritings[some])


def _decided(
    model: FittedModel,
    parses: Sequence[Sequence[WeightedTree]],
    choose: Decoder,
    samples: int,
    seed: int | None,
    rewritings: Sequence[Rewriting],
) -> list[Decision]:
    """The decisions for some sentences, each from as many rounds of draws as it needs."""
    decisions: dict[int, Decision] = {}
    draws: dict[int, Draws] = {}
    left = list(range(len(parses)))
    read = tagged(model, parses)
    for number, size in enumerate(_rounds(samples)):
        some, of_words = [parses[place] for place in left], [read[place] for place in left]
        new = _draws(model, some, of_words, size, _seed_of_round(seed, number))
        for place, found in zip(left, new, strict=True):
            draws[place] = found if number == 0 else _together(draws[place], found)
            decisions[place] = choose(rewritings[place](draws[place]))
        left = [place for place in left if decisions[place].regret > REGRET * len(decisions[place].surface)]
    return [decisions[place] for place in range(len(parses))]


def decide_given(
    model: FittedModel,
    parses: Sequence[Sequence[WeightedTree]],
    evidence: Sequence[Sequence[Evidence]],
    rewritings: Sequence[Rewriting],
    *,
    decoder: str = "mbr",
    samples: int = SAMPLES,
    seed: int = 0,
) -> Iterator[Decision]:
    """Punctuate sentences of which something is known, given their trees.

    Each sentence is restored from the posterior of its trees and its punctuation; where a parser has found
    the trees, that of the mixture with the model's tagger.

    :param parses: as for `decide`.
    :param evidence: for each sentence what is known of its slots 0..n.
    :param rewritings: as for `decide`.
    :raises ImpossibleSurfaceError: if nothing explains what is known of a sentence.
    """
    choose, posteriors = DECODERS[decoder], Posteriors(model)
    read = tagged(model, parses)
    for trees, known, rewriting, of_words in zip(parses, evidence, rewritings, read, strict=True):
        draws = posteriors.of(trees, known, seed, of_words)
        for size in _rounds(samples):
            posterior = draws.more(size)
            decision = choose(rewriting(posterior.draws))
            enough = posterior.effective_draws >= FEW_DRAWS
            if enough and decision.regret <= REGRET * len(decision.surface):
                break
        yield decision._replace(effective_draws=posterior.effective_draws)


class Posteriors:
    """Makes posteriors of sentences of which something is known.

    :param model: the model; its tagger is part of the mixture where a parser has found the trees.
    """

    def __init__(self, model: FittedModel) -> None:
        self._model = model
        self._told: dict[bool, Conditioner] = {}
        self._tagger = None if model.tagger is None else TaggerConditioner(model.tagger, model.vocabulary)

    def of(
        self,
        trees: Sequence[WeightedTree],
        evidence: Sequence[Evidence],
        seed: int,
        of_words: OfLabels | None = None,
    ) -> PosteriorDraws:
        """The posterior of a sentence.

        :param trees: its trees, with weights that add up to 1.
        :param evidence: what is known of its slots 0..n.
        :param of_words: what the model's tagger has read in its words; without, the tagger has no part.
        """
        given = trees[0].given
        teller = self._model if given else self._model.for_parsed
        if given not in self._told:
            self._told[given] = Conditioner(teller.story)
        tagged = None
        if self._tagger is not None and of_words is not None:
            tagged = self._tagger.given(trees[0].tree.forms, of_words, evidence)
        told = self._told[given]
        return PosteriorDraws(told, teller, trees, evidence, seed, tagged, self._model.share)


def _rounds(samples: int) -> list[int]:
    """How many draws there are in each round: each but the last leads to `GROWTH` times as many as before."""
    totals = [min(FIRST_ROUND, samples)]
    while totals[-1] < samples:
        totals.append(min(totals[-1] * GROWTH, samples))
    return [total - before for total, before in zip(totals, [0, *totals], strict=False)]


def _seed_of_round(seed: int | None, number: int) -> int | None:
    """The seed of a round's draws, which are independent of those of other rounds."""
    if seed is None or number == 0:
        return seed
    return int(np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)[0])


def _together(one: Draws, other: Draws) -> Draws:
    """The draws of two rounds, each with the weight that it has among all."""
    share = len(other) / (len(one) + len(other))
    return mixture([one, other], [1 - share, share])


def tagged(model: FittedModel, parses: Sequence[Sequence[WeightedTree]]) -> list[OfLabels | None]:
    """What the model's tagger makes of the words of sentences whose trees were found; None for others."""
    found = [some for some in parses if not some[0].given]
    if model.tagger is None or not found:
        return [None] * len(parses)
    rows = iter(model.tagger.read([some[0].tree.forms for some in found]))
    return [None if some[0].given else next(rows) for some in parses]


def _draws(
    model: FittedModel,
    parses: Sequence[Sequence[WeightedTree]],
    tagged: Sequence[OfLabels | None],
    samples: int,
    seed: int | None,
) -> Iterator[Draws]:
    """The draws of each sentence: equally many from each of its trees, which share the tree's weight.

    As many again are the tagger's, which have its weight.
    """
    seed = int(torch.randint(2**63 - 1, ())) if seed is None else seed
    kinds = {given: _of_trees(model, parses, given, samples, seed) for given in (True, False)}
    for some, probabilities in zip(parses, tagged, strict=True):
        parts = list(islice(kinds[some[0].given], len(some)))
        weights = [parse.weight for parse in some]
        if model.tagger is not None and probabilities is not None:
            generator = generator_for(some[0].tree.forms, seed)
            parts.append(model.tagger.draw(probabilities, samples, generator))
            weights = [*((1 - model.share) * weight for weight in weights), model.share]
        yield mixture(parts, weights)


def _of_trees(
    model: FittedModel, parses: Sequence[Sequence[WeightedTree]], given: bool, samples: int, seed: int
) -> Iterator[Draws]:
    """The draws of the trees of those sentences whose trees were given, or were found."""
    some = [trees for trees in parses if trees[0].given == given]
    return (model if given else model.for_parsed).draws(
        [parse.tree for trees in some for parse in trees],
        [-(-samples // len(trees)) for trees in some for _ in trees],
        seed,
        alike=True,  # so that it makes no difference which sentences are restored together
    )


class Restored(NamedTuple):
    """A sentence with new punctuation.

    :ivar source: the original sentence.
    :ivar surface: the punctuation tokens of the slots 0..n.
    :ivar risk: the expected edit distance of the surface from the truth.
    :ivar tree: its heaviest tree, or the parser's best tree if that was asked for; None for a line without
        words.
    :ivar effective_draws: see `Decision`; None where no marks are known, and for long lines.
    :ivar probability: see `Decision`; empty for a line without words.
    """

    source: Source
    surface: Surface
    risk: float
    tree: Tree | None
    effective_draws: float | None = None
    probability: Probabilities = ()


@dataclass(frozen=True)
class Restoration(RestoreSettings):
    """A model and settings that restore sentences, which may have punctuation already.

    :ivar model: the model.
    """

    model: FittedModel

    def restore(self, sources: Sequence[Source]) -> Iterator[Restored]:
        """Restore some sentences; a line without words is unchanged.

        Long lines of raw text are restored in windows: see `pyropunct.restore.windows`.

        :raises NoParserError: if words have to be parsed and the model has no parser.
        """
        yield from in_windows(self._in_their_cases(sources), self._restore)

    def _in_their_cases(self, sources: Sequence[Source]) -> Sequence[Source]:
        """The sources, of which lines of raw text are in the case that they are to have."""
        if self.model.reader is None:
            return sources
        raw = [source for source in sources if isinstance(source, RawSentence) and not source.found]
        cased = iter(in_their_cases(raw, self.model.reader, self.case, self.capital))
        return [
            next(cased) if isinstance(source, RawSentence) and not source.found else source
            for source in sources
        ]

    def _restore(self, sources: Sequence[Source]) -> Iterator[Restored]:
        used = [source for source in sources if words_of(source)]
        to_parse = [self._to_parse(source) for source in used]
        parses = weighted_trees(self.model, to_parse, self.trees)
        rewritings = [self._rewriting(source) for source in used]
        settings: dict[str, Any] = {"decoder": self.decoder, "samples": self.samples, "seed": self.seed}
        if self.keep or self.hidden:
            evidence = [self._evidence(source) for source in used]
            decisions = decide_given(self.model, parses, evidence, rewritings, **settings)
        else:
            decisions = decide(self.model, parses, rewritings=rewritings, **settings)
        told = weighted_trees(self.model, to_parse, 1) if self.best_tree else parses
        yield from as_decided(sources, told, decisions)

    def _to_parse(self, source: Source) -> Sequence[str] | Tree:
        return source.tree if isinstance(source, Sentence) and not self.parse else words_of(source)

    def _evidence(self, source: Source) -> list[Evidence]:
        closed = source.inside if isinstance(source, RawSentence) else ()
        return evidence_of_marks(
            self.model.vocabulary, source.surface, hidden=self.hidden, keep=self.keep, closed=closed
        )

    def _rewriting(self, source: Source) -> Rewriting:
        def rewriting(draws: Draws) -> Draws:
            if self.hidden:
                return with_own_unknown(draws, source.surface, self.model.vocabulary.tokens)
            draws = without_unknown(draws) if self.marks is None else with_marks_only(draws, self.marks)
            if isinstance(source, RawSentence):
                draws = without_marks_in(draws, source.inside)
            if self.keep:
                return with_given(draws, source.surface)
            if self.keep_dots and isinstance(source, RawSentence):
                return with_abbreviation_dots(draws, source.surface)
            return draws

        return rewriting


def in_windows(
    sources: Sequence[Source], restore: Callable[[Sequence[Source]], Iterator[Restored]]
) -> Iterator[Restored]:
    """Restore sentences together, but each long line of raw text by itself, some windows at a time.

    :param restore: restores some sentences.
    """
    together: list[Source] = []
    for source in sources:
        if isinstance(source, RawSentence) and len(source.words) > LONGEST_WHOLE:
            yield from restore(together)
            together = []
            yield _in_windows(source, restore)
        else:
            together.append(source)
    yield from restore(together)


def _in_windows(source: RawSentence, restore: Callable[[Sequence[Source]], Iterator[Restored]]) -> Restored:
    """A long line; its risk is that of the slots of each window, times the share that is kept of them."""
    parts = windows(len(source.words), set(source.inside))
    surface: list[Sequence[str]] = []
    trees, risk, probability = list[Tree](), 0.0, list[float]()
    for start in range(0, len(parts), WINDOWS_AT_ONCE):
        some = parts[start : start + WINDOWS_AT_ONCE]
        found = restore([source.part(window.first, window.last) for window in some])
        for window, restored in zip(some, found, strict=True):
            first, last = window.core.start - 1 - window.first, window.core.stop - 1 - window.first
            kept = slice(first, last + (window == parts[-1]))
            surface += restored.surface[kept]
            probability += restored.probability[kept]
            risk += restored.risk * (last - first) / (len(restored.surface) - 1)
            assert restored.tree is not None  # for there are words
            trees.append(restored.tree)
    return Restored(source, surface, risk, joined(parts, trees), probability=tuple(probability))


def as_decided(
    sources: Sequence[Source], trees: Sequence[Sequence[WeightedTree]], decisions: Iterable[Decision]
) -> Iterator[Restored]:
    """Sentences with the punctuation that was decided on; a line without words is unchanged.

    :param trees: the trees of each sentence that has words; the first one is part of the result.
    :param decisions: the decision for each of these sentences.
    """
    decided = zip(trees, decisions, strict=True)
    for source in sources:
        if words_of(source):
            parses, decision = next(decided)
            yield Restored(
                source,
                decision.surface,
                decision.risk,
                parses[0].tree,
                decision.effective_draws,
                decision.probability,
            )
        else:
            yield Restored(source, source.surface, 0.0, None)


def raw_text(restored: Restored, conventions: Conventions, *, capital: bool) -> str:
    """A restored line of raw text; one without words is unchanged.

    :param conventions: how the treebank of the model writes.
    :param capital: whether the line begins with a capital letter.
    :raises TypeError: if it was no raw text.
    """
    source = restored.source
    if not isinstance(source, RawSentence):
        raise TypeError("a sentence of a treebank is no raw text")
    if restored.tree is None:
        return source.text
    words, surface, gaps = source.as_written(restored.surface)
    printed = print_words(words, surface, conventions, capital=capital, gaps=gaps)
    return source.before + printed + source.behind


def words_of(source: Source) -> tuple[str, ...]:
    """The words of a sentence; those of a treebank's are the forms of its tree."""
    return source.tree.forms if isinstance(source, Sentence) else source.words


def has_marks(source: Source) -> bool:
    """Whether there is punctuation to remove, other than abbreviation dots.

    A line of marks only is unchanged.
    """
    marks = {token for slot in source.surface for token in slot} - {START, ABBREVIATION_DOT}
    return bool(marks) and bool(words_of(source))
