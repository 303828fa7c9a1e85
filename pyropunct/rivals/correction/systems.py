"""The systems that correct punctuation: fitting to simulated errors, and use."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from pyropunct.punctuator import Punctuator
from pyropunct.restore.deciding import decide
from pyropunct.rivals.restoration.systems import Parses
from pyropunct.rivals.settings import CHANNEL, CRF, PAPER, RESTORATION, CorrectionSettings
from pyropunct.rivals.taggers.correcting_crf import train_correcting_crf
from pyropunct.rivals.taggers.recurrent import RivalRecipe
from pyropunct.tasks.correct.channel_fitting import Pair, fit_channel, simulated_pairs
from pyropunct.tasks.correct.correcting import NoisyChannel, decisions
from pyropunct.tasks.correct.fitting import correction_recipe, fit_correction
from pyropunct.tasks.correct.hearing import FITTED_RATE, WritersRate, hear, wrong_sentences
from pyropunct.tasks.correct.learner_errors import ErrorRates, wrong_copies
from pyropunct.tasks.settings import USUAL, CorrectingSettings
from pyropunct.text.marks import Surface
from pyropunct.treebank.sentence import Sentence

FOUND = ", rate found"
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
        corrector = fit_correction(train, dev, model, rates=rates, copies=copies, recipe=recipe, seed=seed)
        options = CorrectingSettings(samples=settings.samples, seed=seed)

        def decisions_of_paper(parses: Parses, wrong: Sequence[Surface]) -> dict[str, list[Surface]]:
            decided = corrector.decide(wrong_sentences(parses, wrong), options)
            return {"": [one.surface for one in decided]}

        return decisions_of_paper
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


def fitted_channel(model: Punctuator, pairs: Sequence[Pair]) -> Corrector:
    """The noisy channel fitted to pairs; it takes the rate of errors of these, or finds the rate."""
    channel = NoisyChannel(model, fit_channel(pairs, model.vocabulary.tokens))

    def correct(parses: Parses, wrong: Sequence[Surface]) -> dict[str, list[Surface]]:
        heard = hear(channel.model, channel.errors, wrong_sentences(parses, wrong))
        rate = WritersRate()
        rate.learn(np.stack([one.log_evidence for one in heard]))
        return {
            way: [one.surface for one in decisions(heard, USUAL, rates)]
            for way, rates in (("", WritersRate(FITTED_RATE).probabilities), (FOUND, rate.probabilities))
        }

    return correct
