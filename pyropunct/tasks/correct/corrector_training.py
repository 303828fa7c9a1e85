"""Simulates errors of learners, and trains the corrector of Li, Wang & Eisner (2019, section 6.2) on them."""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from pyro.infer.autoguide import AutoGuide

from pyropunct.errors import VariantError
from pyropunct.fitted.recipes import Recipe
from pyropunct.models.channel.slip import Slip
from pyropunct.models.channel.window import CentredWindow, SlidingWindow
from pyropunct.models.story import Story
from pyropunct.nets.parser import Parser, WeightedTree
from pyropunct.nets.trainer import Watch
from pyropunct.punctuator import Punctuator
from pyropunct.tasks import SimulationSettings
from pyropunct.tasks.correct.correcting import TreeCorrector
from pyropunct.tasks.correct.error_trees import read_parses
from pyropunct.tasks.correct.learner_errors import ErrorRates, Option, String, occasions
from pyropunct.text.marks import Surface
from pyropunct.train.story_training import Training, held_out
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree


class WrongSurface(NamedTuple):
    """Wrong punctuation of the slots 0..n, and the errors in it."""

    surface: tuple[String, ...]
    errors: tuple[Option, ...]


def make_errors(
    tree: Tree, surface: Surface, rates: ErrorRates, generator: np.random.Generator
) -> WrongSurface:
    """Punctuate a sentence as a learner might, given its right punctuation."""
    wrong, errors = [tuple(slot) for slot in surface], []
    for occasion in occasions(tree, surface, rates):
        chance = generator.random()
        for error in occasion:
            chance -= error.rate
            if chance < 0:
                errors.append(error)
                for slot, string in error.changes.items():
                    wrong[slot] = string
                break
    return WrongSurface(tuple(wrong), tuple(errors))


def wrong_surfaces(
    sentences: Iterable[Sentence], rates: ErrorRates | None = None, seed: int = 0
) -> Iterator[WrongSurface]:
    """Wrong punctuation for each sentence of a treebank; ``rates`` are ``ErrorRates()`` by default."""
    rates = ErrorRates() if rates is None else rates
    generator = np.random.default_rng(seed)
    for sentence in sentences:
        yield make_errors(sentence.tree, sentence.surface, rates, generator)


def wrong_copies(
    sentences: Iterable[Sentence],
    rates: ErrorRates | None = None,
    copies: int = 1,
    seed: int = 0,
    parser: Parser | None = None,
) -> list[tuple[Sentence, WrongSurface]]:
    """Sentences with several wrong punctuations; copy k has seed + 2 k, and seed + 1 is for evaluation.

    A parser draws the trees of every second copy.  Trained only on right trees, a corrector takes right
    punctuation of a wrong tree for an error.  Draws resemble the parser's trees of new sentences more than
    its best trees of training sentences do.
    """
    sentences = parsed = tuple(sentences)
    if parser is not None and copies > 1:
        parses = parser.parse([right.tree.forms for right in sentences], trees=2)
        both = zip(sentences, parses, strict=True)
        parsed = tuple(replace(right, tree=trees[-1].tree) for right, trees in both)
    return [
        pair
        for copy in range(copies)
        for pair in zip(
            parsed if copy % 2 else sentences,
            wrong_surfaces(sentences, rates, seed + 2 * copy),
            strict=True,
        )
    ]


CORRECTING_ATTACH = "pyropunct.models.attach.correcting_attach:CorrectingAttach"
CENTRED_WINDOW = "pyropunct.models.channel.window:CentredWindow"

CLOSENESS = 0.5
"""The standard deviation of the prior of the edits' logits around those of the model of right text."""


@dataclass
class CorrectionTraining(Training):
    """The training of p(T'_c | T'_e) and its channel, which stays close to that of ``clean``."""

    clean: Punctuator = field(kw_only=True)

    def _make_guide(self) -> AutoGuide:
        channel, usual = window_of(self.story), window_of(self.clean.story)
        assert isinstance(channel, CentredWindow)
        assert usual is not None
        channel.centre(usual.edit_logits)
        return super()._make_guide()


def window_of(story: Story) -> SlidingWindow | None:
    """The sliding window in the channel of a story, if there is one."""
    channel = story.channel
    inner = channel.channel if isinstance(channel, Slip) else channel
    return inner if isinstance(inner, SlidingWindow) else None


def correction_recipe(clean: Recipe, **changes: Any) -> Recipe:
    """The settings of a corrector: those of the model of right text, with changes."""
    settings = {
        "attach": CORRECTING_ATTACH,
        "channel": CENTRED_WINDOW,
        "edit_prior_scale": CLOSENESS,
        "epochs": SimulationSettings.epochs,
        "parts": False,
    }
    return clean.changed(**{**settings, **changes})


def error_examples(
    reader: Punctuator, pairs: Sequence[tuple[Sentence, WrongSurface]], drawn: Container[int] = ()
) -> list[Sentence]:
    """Right sentences whose trees carry T'_e; ``drawn`` are the pairs with trees of a parser."""
    parses = [
        WeightedTree(right.tree, 1.0, given=number not in drawn) for number, (right, _) in enumerate(pairs)
    ]
    trees = read_parses(reader, parses, [wrong.surface for _, wrong in pairs])
    return [replace(sentence, tree=tree) for (sentence, _), tree in zip(pairs, trees, strict=True)]


def fit_correction(
    train: Iterable[Sentence],
    dev: Iterable[Sentence] | None,
    clean: Punctuator,
    *,
    rates: ErrorRates | None = None,
    copies: int = SimulationSettings.copies,
    recipe: Recipe | None = None,
    seed: int = 0,
    device: str = "cpu",
    watch: Watch | None = None,
) -> TreeCorrector:
    """Train a corrector on right sentences and simulated errors.

    :param dev: chooses the epoch and gives the perplexity; by default every tenth training sentence.
    :param clean: the model of right text, fitted to the same training sentences.  If it has a parser, every
        second copy has drawn trees, see `wrong_copies`.
    :raises VariantError: if the channel of the clean model has no sliding window.
    """
    if window_of(clean.story) is None:
        raise VariantError(
            f"the model has the channel {clean.recipe.channel!r}, but a corrector needs a model with a "
            "sliding window: fit one with `pyropunct fit TRAIN --channel sliding-window`"
        )
    parts = held_out(train) if dev is None else (tuple(train), tuple(dev))
    pairs, size = wrong_copies(parts[0], rates, copies, seed, clean.parser), len(parts[0])
    drawn = [number for number in range(len(pairs)) if clean.parser is not None and number // size % 2]
    seen = error_examples(clean, pairs, set(drawn))
    unseen = error_examples(clean, wrong_copies(parts[1], rates, 1, seed + 1))
    recipe = correction_recipe(clean.recipe) if recipe is None else recipe
    training = CorrectionTraining(clean.vocabulary, seen, unseen, recipe, seed, device, clean=clean)
    training.run(watch=watch)
    return TreeCorrector(clean, training.punctuator())
