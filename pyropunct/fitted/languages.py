"""The story of one language, out of the story of several."""

from dataclasses import replace
from typing import TypeVar

from pyropunct.fitted.fitted_story import FittedStory
from pyropunct.fitted.stories import blank_story, settle_story
from pyropunct.models.channel.composed import Slip
from pyropunct.models.channel.languages import COMMON, Languages
from pyropunct.models.extensions import Trust
from pyropunct.models.learned import fixed_names, learned_scales, learned_values

Fitted = TypeVar("Fitted", bound=FittedStory)


def levels_of(fitted: FittedStory) -> Languages | None:
    """The channel with a level for each language; None if the story is of one language."""
    slip = fitted.story.channel
    return slip.channel if isinstance(slip, Slip) and isinstance(slip.channel, Languages) else None


def in_language(fitted: Fitted, language: str) -> Fitted:
    """The story of one language: its channel is a sliding window that has the edits of this language.

    :param language: one of ``vocabulary.treebanks``; any other has what all languages have in common.
    """
    levels, vocabulary = levels_of(fitted), fitted.vocabulary
    known = language in vocabulary.treebanks
    vocabulary = replace(vocabulary, main=language if known else vocabulary.main)
    if levels is None:
        return replace(fitted, vocabulary=vocabulary)
    recipe = fitted.recipe.changed(channel="sliding-window")
    story = blank_story(vocabulary, recipe)
    if fitted.story.reading is not None:
        story.reading = Trust(vocabulary.inventory)
    state = fitted.story.state_dict()
    of_levels = "channel.channel."
    values, scales = (
        {name: value for name, value in found.items() if not name.startswith(of_levels)}
        for found in (learned_values(fitted.story), learned_scales(fitted.story))
    )
    number = vocabulary.treebanks.index(language) if known else COMMON
    values[f"{of_levels}edit_logits"] = levels.logits_of(number).detach()
    if scales:
        scales[f"{of_levels}edit_logits"] = levels.scales_of(number)
    blank = story.state_dict()
    fixed = {name: state.get(name, blank[name]) for name in fixed_names(story)}
    settle_story(story, fixed, values, scales)
    story.to(levels.class_logits.device)
    return replace(fitted, vocabulary=vocabulary, recipe=recipe, story=story)
