"""Ways to correct punctuation side by side, on simulated errors and on those of learners."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from pyropunct.compare.significance import PERMUTATIONS, permutation_test
from pyropunct.nets.parser.protocol import WeightedTree
from pyropunct.punctuator import Punctuator
from pyropunct.restore.edit_distance import surface_distance
from pyropunct.restore.parses import weighted_trees
from pyropunct.restore.settings import DecisionSettings
from pyropunct.rivals.taggers.correcting_crf import CorrectingCRF, train_correcting_crf
from pyropunct.rivals.taggers.recipes import RivalRecipe
from pyropunct.tasks.correct.channel_fitting import Pair, fit_channel, simulated_pairs
from pyropunct.tasks.correct.edit_scores import EditScores, edit_scores
from pyropunct.tasks.correct.fitting import COPIES, EPOCHS, correction_recipe, fit_correction
from pyropunct.tasks.correct.hearing import WritersRate
from pyropunct.tasks.correct.learner_errors import ErrorRates, wrong_copies, wrong_surfaces
from pyropunct.tasks.correct.learners import Corrected
from pyropunct.tasks.correct.noisy_channel import NoisyChannel
from pyropunct.tasks.correct.settings import USUAL, CorrectingSettings
from pyropunct.tasks.correct.system import Correcting
from pyropunct.treebank.marks import Surface
from pyropunct.treebank.sentence import Sentence

ALONE, PAPER, CRF, CHANNEL = "alone", "paper", "crf", "channel"

SYSTEMS: Mapping[str, str] = {
    ALONE: "left alone",
    PAPER: "Li, Wang & Eisner, section 6.2",
    CRF: "BiLSTM-CRF, reading punctuation",
    CHANNEL: "noisy channel",
}
"""The systems, by their names on the command line."""

GOLD, PREDICTED = "gold", "predicted"

CURVE = (0, 5, 10, 20, 30, 40)
"""Errors in 1,000 words."""

FOLDS = 5
"""Parts of the learners' sentences: each is corrected by a channel that was fitted to the others."""

FITTED = "noisy channel, fitted to learners"

AS_FITTED = ", rate as fitted"
"""A noisy channel that takes the rate of errors to which it was fitted; otherwise it finds the rate."""

Parses = Sequence[Sequence[WeightedTree]]
Progress = Callable[[int], None]


@dataclass(frozen=True)
class CorrectionSettings:
    """The settings of a comparison.

    :ivar systems: the names of the systems.
    :ivar copies: the copies of each training sentence, each with other errors.
    :ivar epochs: passes of the corrector of section 6.2 over the copies.
    :ivar samples: draws of that corrector for each sentence.
    :ivar trees: the most trees of the parser that a sentence has.
    :ivar errors: factor of the rates of errors.
    :ivar permutations: how many permutations each test of significance draws.
    :ivar seed: of errors, training and draws.
    """

    systems: tuple[str, ...] = tuple(SYSTEMS)
    copies: int = COPIES
    epochs: int = EPOCHS
    samples: int = DecisionSettings.samples
    trees: int = DecisionSettings.trees
    errors: float = 1.0
    permutations: int = PERMUTATIONS
    seed: int = 0


class Fixes(Protocol):
    """Corrects sentences that have trees."""

    def __call__(self, parses: Parses, wrong: Sequence[Surface]) -> Mapping[str, list[Surface]]:
        """The corrected punctuation of each sentence, by each way to decide.

        :returns: for each way what it adds to the name of the system, and what it decides.
        """
        ...


class CorrectionRow(NamedTuple):
    """A system and how well it did.

    :ivar system: what it is.
    :ivar trees: where its trees come from: ``gold`` or ``predicted``, or empty if it looks at none.
    :ivar slots: the number of slots.
    :ivar edits: (sentences,) the edits that are left in each.
    :ivar scores: its edits and those of the right punctuation.
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

    def to_json(self) -> dict[str, Any]:
        """Plain JSON types."""
        scores = self.scores
        return {
            "system": self.system,
            "trees": self.trees,
            "average_edit_distance": self.aed,
            "precision": scores.precision,
            "recall": scores.recall,
            "f0.5": scores.f(),
            "right": scores.right,
            "proposed": scores.proposed,
            "gold": scores.gold,
        }


class CurvePoint(NamedTuple):
    """What systems leave at one rate of errors.

    :ivar errors: how many there are in 1,000 words.
    :ivar rows: the systems.
    """

    errors: float
    rows: Sequence[CorrectionRow]


@dataclass(frozen=True)
class CorrectionComparison:
    """What a comparison found.

    :ivar simulated: with simulated errors.
    :ivar learners: with what learners wrote, against all corrections; empty without.
    :ivar closest: the same against the closest correction of each sentence.
    :ivar curve: at several rates of errors; empty without.
    :ivar permutations: of each test of significance.
    """

    simulated: Sequence[CorrectionRow]
    learners: Sequence[CorrectionRow] = ()
    closest: Sequence[CorrectionRow] = ()
    curve: Sequence[CurvePoint] = ()
    permutations: int = PERMUTATIONS

    def to_json(self) -> dict[str, Any]:
        """Plain JSON types."""
        parts = {"simulated": self.simulated, "learners": self.learners, "closest": self.closest}
        tables = {name: [row.to_json() for row in rows] for name, rows in parts.items() if rows}
        points = [{"errors": one.errors, "rows": [row.to_json() for row in one.rows]} for one in self.curve]
        return {**tables, **({"curve": points} if points else {})}

    def table(self, rows: Sequence[CorrectionRow]) -> tuple[list[str], list[list[str]]]:
        """The header and a row for each system; p is that of the difference in edits from the best."""
        best = min(rows, key=lambda row: row.aed)
        header = ["system", "trees", "AED", "precision", "recall", "F0.5", "p"]
        return header, [self._cells(row, best) for row in rows]

    def _cells(self, row: CorrectionRow, best: CorrectionRow) -> list[str]:
        scores = row.scores
        shares = [f"{share:.3f}" for share in (scores.precision, scores.recall, scores.f())]
        p = ""
        if row is not best and len(row.edits) == len(best.edits):
            p = f"{permutation_test(row.edits, best.edits, self.permutations):.4f}"
        return [row.system, row.trees, f"{row.aed:.4f}", *shares, p]

    def curve_table(self) -> tuple[list[str], list[list[str]]]:
        """The header, and a row for each rate of errors with the AED of each system."""
        header = ["errors in 1,000 words", *(row.system for row in self.curve[0].rows)]
        return header, [[f"{one.errors:.1f}", *(f"{row.aed:.4f}" for row in one.rows)] for one in self.curve]


def compare_correction(
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    model: Punctuator,
    settings: CorrectionSettings,
    *,
    learners: Sequence[Corrected] = (),
    curve: Sequence[float] = (),
    progress: Progress = lambda done: None,
) -> CorrectionComparison:
    """Fit all systems to sentences with simulated errors, and measure them.

    :param train: the sentences to which the model was fitted.
    :param dev: sentences to measure on, with errors of another seed.
    :param model: the model of right text.
    :param learners: what learners wrote, with corrections; its words are parsed.
    :param curve: errors in 1,000 words of dev at which systems are measured; they are not told.
    :param progress: called with 1 whenever a system is fitted or has corrected all sentences.
    :raises NoParserError: if there are learners, and the model has no parser.
    """
    rates, seed = ErrorRates().capped(settings.errors), settings.seed
    fixes = {name: _fitted(name, train, dev, model, rates, settings, progress) for name in settings.systems}
    trees: dict[str, Parses] = {GOLD: [[WeightedTree(one.tree, 1.0, given=True)] for one in dev]}
    if model.parser is not None:
        trees[PREDICTED] = weighted_trees(model, [one.tree.forms for one in dev], settings.trees)
    right = [one.surface for one in dev]

    def measured(wrong: Sequence[Surface], kinds: Sequence[str]) -> list[CorrectionRow]:
        rows = []
        for name, fix in fixes.items():
            for kind in kinds if name in (PAPER, CHANNEL) else kinds[:1]:
                shown = kind if name in (PAPER, CHANNEL) else ""
                for way, found in fix(trees[kind], wrong).items():
                    rows.append(_row(SYSTEMS[name] + way, shown, wrong, found, right))
                progress(1)
        return rows

    simulated = measured([one.surface for one in wrong_surfaces(dev, rates, seed + 1)], list(trees))
    points = []
    for errors, some in _at_rates(dev, curve, seed + 1):
        points.append(CurvePoint(errors, measured(some, list(trees)[-1:])))
    of_all, of_closest = _of_learners(model, fixes, learners, settings, progress)
    return CorrectionComparison(simulated, of_all, of_closest, points, settings.permutations)


def _fitted(
    name: str,
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    model: Punctuator,
    rates: ErrorRates,
    settings: CorrectionSettings,
    progress: Progress,
) -> Fixes:
    """A system, fitted to simulated errors."""
    copies, seed = settings.copies, settings.seed
    fixes: Fixes = _left_alone
    if name == PAPER:
        recipe = correction_recipe(model.recipe, epochs=settings.epochs)
        how: dict[str, Any] = {"rates": rates, "copies": copies, "recipe": recipe, "seed": seed}
        fixes = _Correcting(fit_correction(train, dev, model, **how), settings)
    elif name == CRF:
        # As many passes over the sentences as without copies.
        tagger = RivalRecipe(epochs=max(1, RivalRecipe().epochs // copies))
        pairs = [(one, wrong.surface) for one, wrong in wrong_copies(train, rates, copies, seed)]
        unseen = [(one, wrong.surface) for one, wrong in wrong_copies(dev, rates, 1, seed + 1)]
        fixes = _Tagging(train_correcting_crf(pairs, unseen, tagger, seed))
    elif name == CHANNEL:
        seen = simulated_pairs(train, rates, copies, seed, model.parser)
        channel = fit_channel(seen, model.vocabulary.tokens)
        fixes = _Hearing(NoisyChannel(model, channel))
    progress(1)
    return fixes


def _left_alone(parses: Parses, wrong: Sequence[Surface]) -> dict[str, list[Surface]]:
    return {"": list(wrong)}


class _Correcting(NamedTuple):
    """The corrector of section 6.2."""

    corrector: Correcting
    settings: CorrectionSettings

    def __call__(self, parses: Parses, wrong: Sequence[Surface]) -> dict[str, list[Surface]]:
        how = CorrectingSettings(samples=self.settings.samples, seed=self.settings.seed)
        return {"": [one.surface for one in self.corrector.decide(parses, wrong, how)]}


class _Hearing(NamedTuple):
    """The noisy channel, which finds the rate of errors, or takes that to which it was fitted."""

    corrector: NoisyChannel

    def __call__(self, parses: Parses, wrong: Sequence[Surface]) -> dict[str, list[Surface]]:
        heard = self.corrector.hear(parses, wrong)
        rate = WritersRate()
        rate.learn(np.stack([one.log_evidence for one in heard]))
        return {
            way: [one.surface for one in self.corrector.decisions(heard, wrong, USUAL, rates)]
            for way, rates in (("", rate.probabilities), (AS_FITTED, WritersRate(1.0).probabilities))
        }


class _Tagging(NamedTuple):
    """The tagger, which reads words alone."""

    tagger: CorrectingCRF

    def __call__(self, parses: Parses, wrong: Sequence[Surface]) -> dict[str, list[Surface]]:
        return {"": self.tagger.correct([trees[0].tree.forms for trees in parses], wrong)}


def _row(
    system: str, trees: str, wrong: Sequence[Surface], found: Sequence[Surface], right: Sequence[Surface]
) -> CorrectionRow:
    edits = [surface_distance(*both) for both in zip(found, right, strict=True)]
    return CorrectionRow(system, trees, sum(map(len, right)), edits, edit_scores(wrong, found, right))


def _at_rates(
    dev: Sequence[Sentence], curve: Sequence[float], seed: int
) -> list[tuple[float, list[Surface]]]:
    """Wrong punctuation with about so many errors in 1,000 words, and how many there are indeed."""
    words = sum(len(one.tree) for one in dev)
    usual = sum(len(one.errors) for one in wrong_surfaces(dev, seed=seed)) / words * 1000
    found = list[tuple[float, list[Surface]]]()
    for errors in curve:
        made = list(wrong_surfaces(dev, ErrorRates().capped(errors / usual if usual else 0.0), seed))
        number = sum(len(one.errors) for one in made) / words * 1000
        found.append((number, [one.surface for one in made]))
    return found


# What learners wrote


def _of_learners(
    model: Punctuator,
    fixes: Mapping[str, Fixes],
    learners: Sequence[Corrected],
    settings: CorrectionSettings,
    progress: Progress,
) -> tuple[list[CorrectionRow], list[CorrectionRow]]:
    """All systems against all corrections of learners' sentences, and against the closest ones."""
    if not learners:
        return [], []
    parses = weighted_trees(model, [one.words for one in learners], settings.trees)
    wrong: list[Surface] = [one.wrong for one in learners]
    right: list[Surface] = [one.right for one in learners]
    found: dict[tuple[str, str], list[Surface]] = {}
    for name, fix in fixes.items():
        shown = PREDICTED if name in (PAPER, CHANNEL) else ""
        found |= {(SYSTEMS[name] + way, shown): fixed for way, fixed in fix(parses, wrong).items()}
        progress(1)
    if CHANNEL in fixes:
        fitted = _cross_fitted(model, learners, parses, settings)
        found |= {(FITTED + way, PREDICTED): fixed for way, fixed in fitted.items()}
        progress(1)
    rows = [_row(*key, wrong, surfaces, right) for key, surfaces in found.items()]
    closest = []
    for key, surfaces in found.items():
        some = closest_corrections(learners, surfaces)
        chosen = ([every[number] for number in some] for every in (wrong, surfaces, right))
        closest.append(_row(*key, *chosen))
    return rows, closest


def _cross_fitted(
    model: Punctuator, learners: Sequence[Corrected], parses: Parses, settings: CorrectionSettings
) -> dict[str, list[Surface]]:
    """What a noisy channel makes of each sentence if it was fitted to the others alone."""
    pairs = [Pair(trees[0].tree, one.right, one.wrong) for trees, one in zip(parses, learners, strict=True)]
    fold = folds_by_sentence(learners, settings.seed)
    found: dict[str, dict[int, Surface]] = {}
    for part in range(FOLDS):
        seen = [pair for pair, own in zip(pairs, fold, strict=True) if own != part]
        unseen = [number for number, own in enumerate(fold) if own == part]
        fix = _Hearing(NoisyChannel(model, fit_channel(seen, model.vocabulary.tokens)))
        fixed = fix([parses[number] for number in unseen], [learners[number].wrong for number in unseen])
        for way, surfaces in fixed.items():
            found.setdefault(way, {}).update(zip(unseen, surfaces, strict=True))
    return {way: [every[number] for number in range(len(learners))] for way, every in found.items()}


def folds_by_sentence(learners: Sequence[Corrected], seed: int) -> list[int]:
    """The part of each correction; all corrections of a sentence are in the same one."""
    sentences = list(dict.fromkeys(one.sentence for one in learners))
    drawn = np.random.default_rng(seed).permutation(len(sentences)) % FOLDS
    part = dict(zip(sentences, drawn.tolist(), strict=True))
    return [part[one.sentence] for one in learners]


def closest_corrections(learners: Sequence[Corrected], found: Sequence[Surface]) -> list[int]:
    """For each sentence the number of the correction from which a system's result has the fewest edits.

    Of equally close ones, that with the most right edits is taken.
    """
    best: dict[str, tuple[tuple[int, int], int]] = {}
    for number, (one, surface) in enumerate(zip(learners, found, strict=True)):
        right = edit_scores([one.wrong], [surface], [one.right]).right
        key = surface_distance(surface, one.right), -right
        if one.sentence not in best or key < best[one.sentence][0]:
            best[one.sentence] = key, number
    return [number for _, number in best.values()]
