"""Ways to correct punctuation, measured on simulated errors and on errors of learners.

A system is fitted to sentences with simulated errors (`fitted`), and corrects sentences that have trees.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from pyropunct.fitted.evaluation import surface_distance
from pyropunct.nets.parser import WeightedTree
from pyropunct.papers.experiment import Experiment, Results
from pyropunct.papers.li_2019.recurrent import RivalRecipe
from pyropunct.papers.li_2019.restorers import Parses
from pyropunct.papers.li_2019.results import GOLD, PREDICTED
from pyropunct.papers.li_2019.rival import train_correcting_crf
from pyropunct.papers.li_2019.tree_corrector import corrected, correction_recipe, train_writer
from pyropunct.papers.options import CHANNEL, CORRECTORS, CRF, PAPER, RESTORATION, CorrectionSettings
from pyropunct.punctuator import Punctuator
from pyropunct.restore.deciding import decide
from pyropunct.restore.parses import weighted_trees
from pyropunct.tables import Baseline, Column, Table, cells_table
from pyropunct.tasks import USUAL, Advance
from pyropunct.tasks.correct.channel_fitting import RightAndWrong, fit_channel, simulated_pairs
from pyropunct.tasks.correct.correcting import NoisyChannel, decisions
from pyropunct.tasks.correct.edit_scores import EditScores, edit_scores
from pyropunct.tasks.correct.gold_corrections import Corrected
from pyropunct.tasks.correct.hearing import FITTED_RATE, WritersRate, hear, wrong_sentences
from pyropunct.tasks.correct.learner_errors import ErrorRates
from pyropunct.tasks.correct.simulation import wrong_copies, wrong_surfaces
from pyropunct.text.marks import Surface
from pyropunct.treebank.sentence import Sentence

RATE_FOUND = ", rate found"
"""A noisy channel that finds the rate of errors; otherwise it takes the rate to which it was fitted."""

READ_TREES = (RESTORATION, PAPER, CHANNEL)
"""The systems to which trees make a difference."""

Corrector = Callable[[Parses, Sequence[Surface]], Mapping[str, list[Surface]]]
"""Corrects the punctuation of sentences that have trees.  For each way to decide it gives the punctuation of
each sentence, by the ending of the system's name in tables, which is empty for most systems."""


def fitted(
    name: str,
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    model: Punctuator,
    settings: CorrectionSettings,
) -> Corrector:
    """A system (`CORRECTORS`), fitted to sentences with simulated errors, given a model of right text."""
    rates, copies, seed = ErrorRates(), settings.copies, settings.seed
    if name == RESTORATION:
        draws = settings.samples
        return lambda parses, wrong: {
            "": [one.surface for one in decide(model, parses, samples=draws, seed=seed)]
        }
    if name == PAPER:
        recipe = correction_recipe(model.recipe, epochs=settings.epochs)
        writer = train_writer(train, dev, model, recipe, copies, seed)
        return lambda parses, wrong: {
            "": [one.surface for one in corrected(model, writer, parses, wrong, settings.samples, seed)]
        }
    if name == CRF:
        # As many passes over the sentences as without copies.
        quick = RivalRecipe(epochs=max(1, RivalRecipe().epochs // copies))
        pairs = [(one, wrong.surface) for one, wrong in wrong_copies(train, rates, copies, seed)]
        unseen = [(one, wrong.surface) for one, wrong in wrong_copies(dev, rates, 1, seed + 1)]
        tagger = train_correcting_crf(pairs, unseen, quick, seed)
        return lambda parses, wrong: {"": tagger.correct([trees[0].tree.forms for trees in parses], wrong)}
    if name == CHANNEL:
        return fitted_channel(model, simulated_pairs(train, rates, copies, seed, model.parser))
    return lambda parses, wrong: {"": list(wrong)}


def fitted_channel(model: Punctuator, pairs: Sequence[RightAndWrong]) -> Corrector:
    """The noisy channel fitted to pairs; it takes the rate of errors of these, or finds the rate."""
    channel = NoisyChannel(model, fit_channel(pairs, model.vocabulary.tokens))

    def correct(parses: Parses, wrong: Sequence[Surface]) -> dict[str, list[Surface]]:
        heard = hear(channel.model, channel.errors, wrong_sentences(parses, wrong))
        rate = WritersRate()
        rate.learn(np.stack([one.log_evidence for one in heard]))
        return {
            way: [one.surface for one in decisions(heard, USUAL, rates)]
            for way, rates in (("", WritersRate(FITTED_RATE).probabilities), (RATE_FOUND, rate.probabilities))
        }

    return correct


CURVE = (0, 5, 10, 20, 30, 40)
"""Errors in 1,000 words."""

FOLDS = 5
"""Parts of the learners' sentences: each is corrected by a channel that was fitted to the others."""

FITTED = "noisy channel, fitted to learners"


class CorrectionResult(NamedTuple):
    """The edits of a system, (sentences,) and their scores, compared with the right punctuation.

    :ivar trees: the source of its trees: ``gold``, ``predicted``, or empty if it reads none.
    """

    system: str
    trees: str
    slots: int
    edits: Sequence[int]
    scores: EditScores

    @property
    def aed(self) -> float:
        """The average edit distance per slot."""
        return sum(self.edits) / self.slots

    @classmethod
    def of(
        cls,
        system: str,
        trees: str,
        wrong: Sequence[Surface],
        corrected: Sequence[Surface],
        right: Sequence[Surface],
    ) -> "CorrectionResult":
        """The result of a corrector, given wrong, corrected and right punctuation."""
        edits = [surface_distance(*both) for both in zip(corrected, right, strict=True)]
        return cls(system, trees, sum(map(len, right)), edits, edit_scores(wrong, corrected, right))


COLUMNS: tuple[Column[CorrectionResult], ...] = (
    Column("system", "system", attrgetter("system")),
    Column("trees", "trees", attrgetter("trees")),
    Column("average_edit_distance", "AED", attrgetter("aed"), 4, evidence=attrgetter("edits")),
    Column("precision", "precision", attrgetter("scores.precision"), 3),
    Column("recall", "recall", attrgetter("scores.recall"), 3),
    Column("f0.5", "F0.5", lambda result: result.scores.f(), 3),
)


def _best(results: Sequence[CorrectionResult], row: int) -> int | None:
    best = min(range(len(results)), key=lambda index: results[index].aed)
    return None if row == best else best


@dataclass(kw_only=True)
class CorrectionExperiment(Experiment):
    """Fits correctors to sentences with simulated errors, and measures them.

    :ivar train: the sentences to which ``model``, the model of right text, was fitted.
    :ivar dev: sentences to measure on, with errors of another seed.
    :ivar learners: sentences of learners with corrections; their words are parsed.
    """

    model: Punctuator
    learners: Sequence[Corrected] = ()
    settings_type = CorrectionSettings

    def results(self) -> Results:
        """A table for each kind of errors, and one of the curve; learners need a parser."""
        settings, model, dev, learners = self.settings, self.model, self.dev, self.learners
        with self.watch("fitting systems", len(settings.systems)) as advance:
            systems = {}
            for name in settings.systems:
                systems[name] = fitted(name, self.train, dev, model, settings)
                advance(1)
        trees: dict[str, Parses] = {GOLD: [[WeightedTree(one.tree, 1.0, given=True)] for one in dev]}
        if model.parser is not None:
            trees[PREDICTED] = weighted_trees(model, [one.tree.forms for one in dev], settings.trees)
        right, last = [one.surface for one in dev], list(trees)[-1]
        rates = CURVE if settings.curve else ()
        with self.watch("correcting", len(systems) * (1 + len(rates) + bool(learners))) as advance:
            wrong = [one.surface for one in wrong_surfaces(dev, seed=settings.seed + 1)]
            tables: dict[str, Table[Any]] = {}
            rows = _results(_corrected(systems, trees, wrong, advance), wrong, right)
            tables["simulated"] = self._table("Simulated errors", rows)
            curve = list[tuple[float, list[CorrectionResult]]]()
            for errors, surfaces in _at_rates(dev, rates, settings.seed + 1):
                corrected = _corrected(systems, {last: trees[last]}, surfaces, advance)
                curve.append((errors, _results(corrected, surfaces, right)))
            if learners:
                parses = weighted_trees(model, [one.words for one in learners], settings.trees)
                wrong = [one.wrong for one in learners]
                corrected = _corrected(systems, {PREDICTED: parses}, wrong, advance)
                if CHANNEL in systems:
                    corrected |= _cross_fitted(model, learners, parses, settings)
                rows = _results(corrected, wrong, [one.right for one in learners])
                tables["learners"] = self._table("Learners", rows)
        data = dict[str, Any]()
        if curve:
            columns = {"errors in 1,000 words": 1, **{one.system: 4 for one in curve[0][1]}}
            points = [(errors, *(one.aed for one in rows)) for errors, rows in curve]
            tables["curve"] = cells_table("AED at several rates of errors", columns, points)
            data["curve"] = [
                {"errors": errors, "rows": self._table("", rows).to_json()} for errors, rows in curve
            ]
        return Results(tables, data)

    def _table(self, title: str, rows: Sequence[CorrectionResult]) -> Table[CorrectionResult]:
        note, against = "Edits as in M2 for precision, recall and F0.5.", Baseline("the best system", _best)
        return self.table(title, COLUMNS, rows, (note,), against, lambda one: one.scores._asdict())


Surfaces = dict[tuple[str, str], list[Surface]]
"""The corrected punctuation of sentences, by the system's name in tables and the source of its trees."""


def _corrected(
    systems: Mapping[str, Corrector], trees: Mapping[str, Parses], wrong: Sequence[Surface], advance: Advance
) -> Surfaces:
    """The corrections of all systems, with each kind of trees for systems that read trees."""
    corrected: Surfaces = {}
    for name, system in systems.items():
        for kind in trees if name in READ_TREES else list(trees)[:1]:
            for way, surfaces in system(trees[kind], wrong).items():
                corrected[CORRECTORS[name] + way, kind if name in READ_TREES else ""] = surfaces
        advance(1)
    return corrected


def _results(
    corrected: Surfaces, wrong: Sequence[Surface], right: Sequence[Surface]
) -> list[CorrectionResult]:
    return [CorrectionResult.of(*key, wrong, surfaces, right) for key, surfaces in corrected.items()]


def _at_rates(
    dev: Sequence[Sentence], rates: Sequence[float], seed: int
) -> list[tuple[float, list[Surface]]]:
    """Wrong punctuation at about each rate of errors in 1,000 words, with the actual rates."""
    words = sum(len(one.tree) for one in dev)
    usual = sum(len(one.errors) for one in wrong_surfaces(dev, seed=seed)) / words * 1000
    surfaces = list[tuple[float, list[Surface]]]()
    for rate in rates:
        wrong = list(wrong_surfaces(dev, ErrorRates().capped(rate / usual if usual else 0.0), seed))
        errors = sum(len(one.errors) for one in wrong) / words * 1000
        surfaces.append((errors, [one.surface for one in wrong]))
    return surfaces


# Errors of learners


def _cross_fitted(
    model: Punctuator, learners: Sequence[Corrected], parses: Parses, settings: CorrectionSettings
) -> Surfaces:
    """The corrections of a noisy channel that was fitted to the other sentences."""
    pairs = [
        RightAndWrong(trees[0].tree, one.right, one.wrong)
        for trees, one in zip(parses, learners, strict=True)
    ]
    folds = np.array(folds_by_sentence(learners, settings.seed))
    corrected: dict[str, dict[int, Surface]] = {}
    for fold in range(FOLDS):
        system = fitted_channel(model, [pairs[index] for index in np.flatnonzero(folds != fold)])
        unseen = np.flatnonzero(folds == fold).tolist()
        fixed = system([parses[index] for index in unseen], [pairs[index].wrong for index in unseen])
        for way, surfaces in fixed.items():
            corrected.setdefault(way, {}).update(zip(unseen, surfaces, strict=True))
    every = range(len(learners))
    return {(FITTED + way, PREDICTED): [found[i] for i in every] for way, found in corrected.items()}


def folds_by_sentence(learners: Sequence[Corrected], seed: int) -> list[int]:
    """The fold of each correction; corrections of a sentence share a fold."""
    sentences = list(dict.fromkeys(one.sentence for one in learners))
    drawn = np.random.default_rng(seed).permutation(len(sentences)) % FOLDS
    part = dict(zip(sentences, drawn.tolist(), strict=True))
    return [part[one.sentence] for one in learners]
