"""The systems that correct punctuation: how they are fitted to simulated errors, and used."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pyropunct.nets.parser import WeightedTree
from pyropunct.punctuator import Punctuator
from pyropunct.rivals.settings import ALONE, CHANNEL, CRF, PAPER, CorrectionSettings
from pyropunct.rivals.taggers.correcting_crf import CorrectingCRF, train_correcting_crf
from pyropunct.rivals.taggers.words import RivalRecipe
from pyropunct.tasks.correct.channel_fitting import Pair, fit_channel, simulated_pairs
from pyropunct.tasks.correct.correcting import Correcting, NoisyChannel, decisions
from pyropunct.tasks.correct.fitting import correction_recipe, fit_correction
from pyropunct.tasks.correct.hearing import FITTED_RATE, WritersRate, hear, wrong_sentences
from pyropunct.tasks.correct.learner_errors import ErrorRates, wrong_copies
from pyropunct.tasks.settings import USUAL, CorrectingSettings
from pyropunct.text.marks import Surface
from pyropunct.treebank.sentence import Sentence

FOUND = ", rate found"
"""A noisy channel that finds the rate of errors; otherwise it takes the rate to which it was fitted."""

Parses = Sequence[Sequence[WeightedTree]]
"""The trees of each sentence, the heaviest first."""


class Corrector(ABC):
    """A system that corrects the punctuation of sentences that have trees.

    :cvar reads_trees: whether the trees make a difference.
    """

    reads_trees: ClassVar[bool] = False

    @abstractmethod
    def correct(self, parses: Parses, wrong: Sequence[Surface]) -> Mapping[str, list[Surface]]:
        """The corrected punctuation of each sentence, for each way to decide.

        :returns: by the ending of the system's name in tables, empty for most systems.
        """


class Alone(Corrector):
    """Leaves all as it is."""

    def correct(self, parses: Parses, wrong: Sequence[Surface]) -> dict[str, list[Surface]]:
        """The punctuation as it is."""
        return {"": list(wrong)}


@dataclass(frozen=True)
class Paper(Corrector):
    """The corrector of Li, Wang & Eisner (2019, section 6.2)."""

    corrector: Correcting
    settings: CorrectingSettings
    reads_trees: ClassVar[bool] = True

    def correct(self, parses: Parses, wrong: Sequence[Surface]) -> dict[str, list[Surface]]:
        """Its decisions."""
        return {
            "": [one.surface for one in self.corrector.decide(wrong_sentences(parses, wrong), self.settings)]
        }


@dataclass(frozen=True)
class Tagger(Corrector):
    """A BiLSTM-CRF that reads words and wrong punctuation."""

    tagger: CorrectingCRF

    def correct(self, parses: Parses, wrong: Sequence[Surface]) -> dict[str, list[Surface]]:
        """Its decisions, with the least expected edit distance in each slot."""
        return {"": self.tagger.correct([trees[0].tree.forms for trees in parses], wrong)}


@dataclass(frozen=True)
class Channel(Corrector):
    """The noisy channel, which takes the rate of errors to which it was fitted, or finds it."""

    corrector: NoisyChannel
    reads_trees: ClassVar[bool] = True

    @classmethod
    def fitted(cls, model: Punctuator, pairs: Sequence[Pair]) -> "Channel":
        """A noisy channel that was fitted to right and wrong punctuation."""
        return cls(NoisyChannel(model, fit_channel(pairs, model.vocabulary.tokens)))

    def correct(self, parses: Parses, wrong: Sequence[Surface]) -> dict[str, list[Surface]]:
        """Its decisions, in both ways."""
        heard = hear(self.corrector.model, self.corrector.errors, wrong_sentences(parses, wrong))
        rate = WritersRate()
        rate.learn(np.stack([one.log_evidence for one in heard]))
        return {
            way: [one.surface for one in decisions(heard, USUAL, rates)]
            for way, rates in (("", WritersRate(FITTED_RATE).probabilities), (FOUND, rate.probabilities))
        }


def fitted(
    name: str,
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    model: Punctuator,
    settings: CorrectionSettings,
) -> Corrector:
    """A system, fitted to sentences with simulated errors.

    :param name: one of `pyropunct.rivals.settings.CORRECTORS`.
    :param model: the model of right text.
    """
    rates, copies, seed = ErrorRates(), settings.copies, settings.seed

    def paper() -> Corrector:
        recipe = correction_recipe(model.recipe, epochs=settings.epochs)
        corrector = fit_correction(train, dev, model, rates=rates, copies=copies, recipe=recipe, seed=seed)
        return Paper(corrector, CorrectingSettings(samples=settings.samples, seed=seed))

    def tagger() -> Corrector:
        # As many passes over the sentences as without copies.
        recipe = RivalRecipe(epochs=max(1, RivalRecipe().epochs // copies))
        pairs = [(one, wrong.surface) for one, wrong in wrong_copies(train, rates, copies, seed)]
        unseen = [(one, wrong.surface) for one, wrong in wrong_copies(dev, rates, 1, seed + 1)]
        return Tagger(train_correcting_crf(pairs, unseen, recipe, seed))

    def channel() -> Corrector:
        return Channel.fitted(model, simulated_pairs(train, rates, copies, seed, model.parser))

    systems: Mapping[str, Callable[[], Corrector]] = {
        ALONE: Alone,
        PAPER: paper,
        CRF: tagger,
        CHANNEL: channel,
    }
    return systems[name]()
