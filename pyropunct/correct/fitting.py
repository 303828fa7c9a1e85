"""Training a corrector: from right sentences, and the same ones punctuated wrongly.

Source: Li, Wang & Eisner (2019, section 6.2).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pyro.infer.autoguide import AutoGuide

from pyropunct.correct.correcting import Corrector
from pyropunct.correct.error_trees import read_errors
from pyropunct.correct.learner_errors import ErrorRates, WrongSurface, wrong_copies
from pyropunct.models.channel.centred import CentredWindow
from pyropunct.models.channel.slip import Slip
from pyropunct.models.channel.window import SlidingWindow
from pyropunct.models.story import Story
from pyropunct.parsing.protocol import Parser
from pyropunct.punctuator import Punctuator
from pyropunct.training.fitting import Training, Watch, held_out
from pyropunct.training.recipes import Recipe
from pyropunct.training.registry import UnknownVariantError
from pyropunct.treebank.sentence import Sentence

CORRECTING_ATTACH = "pyropunct.models.attach.correcting:CorrectingAttach"
CENTRED_WINDOW = "pyropunct.models.channel.centred:CentredWindow"

CLOSENESS = 0.5
"""The standard deviation of the logits of the edits around those of the model of right text."""

COPIES, EPOCHS = 2, 3
"""How often each training sentence comes in an epoch, each time with other errors, and the epochs."""


class UnfitModelError(UnknownVariantError):
    """A model of right text on which no corrector can be built."""

    def __init__(self, channel: str) -> None:
        super().__init__(
            f"the model has the channel {channel!r}, but a corrector needs a model with a sliding window: "
            "fit one with `pyropunct fit TRAIN --channel sliding-window`"
        )


@dataclass
class CorrectionTraining(Training):
    """The training of p(T'_c | T'_e) and its channel.

    :ivar clean: the model of right text, to whose channel the new one stays close.
    """

    clean: Punctuator = field(kw_only=True)

    def _make_guide(self) -> AutoGuide:
        channel, usual = window_of(self.story), window_of(self.clean.story)
        assert isinstance(channel, CentredWindow)
        assert usual is not None
        channel.centre(usual.edit_logits)
        return super()._make_guide()


def window_of(story: Story) -> SlidingWindow | None:
    """The sliding window in the channel of a story, None if that is another channel."""
    channel = story.channel
    inner = channel.channel if isinstance(channel, Slip) else channel
    return inner if isinstance(inner, SlidingWindow) else None


def correction_recipe(clean: Recipe, **changes: Any) -> Recipe:
    """The settings of a corrector for the model of right text that was trained with some others.

    :param changes: other settings.
    """
    own = {
        "attach": CORRECTING_ATTACH,
        "channel": CENTRED_WINDOW,
        "edit_prior_scale": CLOSENESS,
        "epochs": EPOCHS,
    }
    return clean.changed(**{**own, **changes})


def error_examples(reader: Punctuator, pairs: Sequence[tuple[Sentence, WrongSurface]]) -> list[Sentence]:
    """Right sentences whose trees know how they were punctuated wrongly.

    :param reader: the model of wrong text.
    :param pairs: right sentences, each with its wrong punctuation.
    """
    trees = read_errors(reader, [one.tree for one, _ in pairs], [wrong.surface for _, wrong in pairs])
    return [replace(sentence, tree=tree) for (sentence, _), tree in zip(pairs, trees, strict=True)]


def fit_correction(
    train: Iterable[Sentence],
    dev: Iterable[Sentence] | None,
    clean: Punctuator,
    *,
    rates: ErrorRates | None = None,
    copies: int = COPIES,
    recipe: Recipe | None = None,
    seed: int = 0,
    device: str = "cpu",
    watch: Watch | None = None,
) -> Corrector:
    """Train a corrector on right sentences and simulated errors.

    :param train: right sentences, as `pyropunct.read_treebank` gives them.
    :param dev: others, on which perplexity is reported; without them every tenth training sentence is held
        out.
    :param clean: the model of right text, fitted to the same training sentences.  If it has a parser, every
        second copy has trees of it, see `with_drawn_trees`.
    :param rates: of the errors; by default ``ErrorRates()``.
    :param copies: how often each training sentence comes, each time with other errors.
    :param recipe: the settings; by default ``correction_recipe(clean.recipe)``.
    :param seed: of the errors and of training; equal seeds give equal correctors.
    :param device: where the weights and the optimiser live, as torch names it.
    :param watch: called after every step.
    :raises UnfitModelError: if the clean model is of a kind that nothing can stay close to.
    """
    if window_of(clean.story) is None:
        raise UnfitModelError(clean.recipe.channel)
    parts = held_out(train) if dev is None else (tuple(train), tuple(dev))
    pairs = wrong_copies(parts[0], rates, copies, seed)
    if clean.parser is not None:
        pairs = with_drawn_trees(pairs, len(parts[0]), clean.parser)
    seen = error_examples(clean, pairs)
    unseen = error_examples(clean, wrong_copies(parts[1], rates, 1, seed + 1))
    recipe = correction_recipe(clean.recipe) if recipe is None else recipe
    training = CorrectionTraining(clean.vocabulary, seen, unseen, recipe, seed, device, clean=clean)
    training.run(watch=watch)
    return Corrector(clean, training.punctuator())


def with_drawn_trees(
    pairs: Sequence[tuple[Sentence, WrongSurface]], size: int, parser: Parser
) -> list[tuple[Sentence, WrongSurface]]:
    """Copies of sentences, every second copy with trees that a parser has drawn.

    A corrector that has only seen right trees takes for wrong what does not fit a wrong tree.  The parser
    knows the training sentences, so its best trees of them are better than those of others; one of two draws
    is more like these.

    :param pairs: what `wrong_copies` gives.
    :param size: the sentences of each copy.
    """
    drawn = [trees[-1].tree for trees in parser.parse([one.tree.forms for one, _ in pairs[:size]], trees=2)]
    return [
        (replace(one, tree=drawn[number % size]) if number // size % 2 else one, wrong)
        for number, (one, wrong) in enumerate(pairs)
    ]
