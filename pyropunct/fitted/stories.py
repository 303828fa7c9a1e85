"""Builds the stories that recipes describe, takes fitted ones apart into tensors, and puts them together."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import pyro
import torch
from torch import Tensor

from pyropunct.fitted.fitted_story import FittedStory
from pyropunct.fitted.recipes import Recipe
from pyropunct.fitted.variants import SIZES, made
from pyropunct.inference.machines.evidence import EMPTY
from pyropunct.models.attach.log_linear import LogLinearAttach
from pyropunct.models.attach.pruning import pruned, rounded
from pyropunct.models.channel.languages import COMMON, Languages
from pyropunct.models.channel.slip import Slip, TokenBigrams
from pyropunct.models.extensions import PartMarks, Trust, part_marks
from pyropunct.models.learned import (
    check_buffers,
    fixed_names,
    learned_scales,
    learned_values,
    require_like,
    require_names,
    settle,
)
from pyropunct.models.story import Story
from pyropunct.models.syntax import HeadOutward
from pyropunct.text.marks import BOUNDARIES, NO_MARKS, START
from pyropunct.treebank.tree import base
from pyropunct.vocabulary import Vocabulary

SYNTAX_TABLE = "syntax.probabilities"
"""The name of the syntax model's table."""

OF_WORDS = "syntax.words."
"""The prefix of two tensors in models of earlier versions, which wrote words for drawn trees."""

SEPARATED = frozenset({"conj", "list"})
"""The relations of conjuncts and items of lists, whose commas separate: each comma belongs to one of them."""

LEAST_HALF = 2**-24
"""The smallest positive number of half precision."""

OF_CHANNEL = "channel."
"""The prefix of the channel's weights, which small files have in half precision."""

OF_READING = "reading."
"""The prefix of the weights of `Trust`."""


def build_story(vocabulary: Vocabulary, recipe: Recipe, surfaces: Sequence[Tensor] = ()) -> Story:
    """The untrained story that a recipe describes.

    :param surfaces: the surface strings of the training treebank, for the slip.
    :raises VariantError: if the recipe names an unknown attach model or channel.
    :raises SettingError: if its attach model or channel lacks an option.
    """
    sizes = {name: len(getattr(vocabulary, name.removeprefix("num_"))) for name in SIZES}
    inventory, tokens = vocabulary.inventory, vocabulary.tokens
    of_tokens = zip(tokens, vocabulary.functions or [""] * len(tokens), strict=True)
    classes = tuple(_class_of(token, function) for token, function in of_tokens)
    of_marks = {"functions": classes, "marks": tokens, "treebanks": vocabulary.treebanks}
    strings = [tuple(t for t in row if t != EMPTY) for surface in surfaces for row in surface.tolist()]
    walls = inventory.start_token, inventory.clause_token
    bigrams = TokenBigrams([s for s in strings if s], len(tokens), *walls)
    with pyro.settings.context(module_local_params=True):
        enclosing = part_marks(inventory, tokens)
        parts = PartMarks(len(vocabulary.relations), enclosing) if recipe.parts and len(enclosing) else None
        return Story(
            inventory,
            made("attach", recipe, inventory, tokens, **sizes),
            Slip(
                made("channel", recipe, len(tokens), recipe.direction, **of_marks),
                bigrams,
                recipe.slip_mean,
                recipe.slip_scale,
            ),
            syntax=HeadOutward(len(vocabulary.relations), len(vocabulary.tags)),
            marks=tokens,
            symmetry_weight=recipe.symmetry_weight,
            empty_score=recipe.empty_score,
            economy_weight=recipe.economy_weight,
            functions=vocabulary.functions,
            parts=parts,
            separated=[d for d, name in enumerate(vocabulary.relations) if base(name) in SEPARATED],
        )


def _class_of(token: str, function: str) -> str:
    """The class of marks whose edits are alike; all boundaries are of one class."""
    return START if token in BOUNDARIES else token if token in NO_MARKS else function


def blank_story(vocabulary: Vocabulary, recipe: Recipe) -> Story:
    """An unfitted story, as by `build_story`, for `settle_story`; leaves torch's random state alone."""
    with torch.random.fork_rng(devices=[]):
        return build_story(vocabulary, recipe)


def settle_story(
    story: Story,
    state: Mapping[str, Tensor],
    values: Mapping[str, Tensor],
    scales: Mapping[str, Tensor] | None = None,
) -> None:
    """Turn an unfitted story into a fitted one, in evaluation mode: see `pyropunct.models.learned.settle`.

    Its channel becomes double precision, so that strings such as 20 dots do not underflow.  Buffers and
    values outside the channel are used without a copy; parameters are copied.

    :raises ValueError: if a tensor is missing, superfluous, or of the wrong shape.
    """
    require_names(state, fixed_names(story))
    parameters, blank = dict(story.named_parameters()), story.state_dict()
    for name, tensor in state.items():
        path, _, leaf = name.rpartition(".")
        owner, wanted = story.get_submodule(path), blank[name]
        grows = leaf in getattr(owner, "treebank_sized", ())
        require_like(name, tensor, wanted.new_empty(tensor.shape) if grows else wanted)
        if name in parameters:
            parameters[name].data.copy_(tensor)
        else:
            owner.register_buffer(leaf, tensor)
    settle(story, values, scales)
    story.channel.double()
    story.eval()


def story_tensors(story: Story, small: bool) -> dict[str, Tensor]:
    """The saved tensors of a fitted story; ``small`` as for `pyropunct.Punctuator.save`."""
    state, scales = story.state_dict(), learned_scales(story)
    if isinstance(story.syntax, HeadOutward):
        # Half precision would make the least probabilities zero, and their trees impossible.
        table = state[SYNTAX_TABLE]
        state[SYNTAX_TABLE] = (table.clamp(min=LEAST_HALF).half() if small else table.float()).double()
    if small:
        of_channel = (name for name in learned_values(story) if name.startswith(OF_CHANNEL))
        state |= {name: state[name].half().double() for name in of_channel}
        scales = {name: scale.clamp(min=LEAST_HALF).half().double() for name, scale in scales.items()}
    if isinstance(story.attach, LogLinearAttach) and not learned_scales(story.attach):
        left = rounded(story.attach) if small else pruned(story.attach)
        state |= {f"attach.{name}": tensor for name, tensor in left._asdict().items()}
    names = [*learned_values(story), *sorted(fixed_names(story))]
    found = {f"story/{name}": state[name].to_dense() for name in names}
    return found | {f"scales/{name}": scale for name, scale in scales.items()}


def saved_story(
    plain: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    scales: Mapping[str, Tensor],
) -> FittedStory:
    """The fitted story of a description and of `story_tensors`.

    :raises ValueError: if they do not fit.  The table of the syntax model is compared before memory is given
        to it: a corrupt file may have a few types that make it huge.
    """
    if not isinstance(plain["report"], dict):
        raise ValueError("the report is no object")
    vocabulary = Vocabulary.from_json(plain["vocabulary"])
    recipe = Recipe.from_json(plain["recipe"])
    require_names(tensors.keys() & {SYNTAX_TABLE}, {SYNTAX_TABLE})
    shape = HeadOutward.table_shape(len(vocabulary.relations), len(vocabulary.tags))
    require_like(SYNTAX_TABLE, tensors[SYNTAX_TABLE], torch.empty(shape, dtype=torch.double, device="meta"))
    story = blank_story(vocabulary, recipe)
    tensors = {name: tensor for name, tensor in tensors.items() if not name.startswith(OF_WORDS)}
    if any(name.startswith(OF_READING) for name in tensors):
        story.reading = Trust(vocabulary.inventory)
    fixed = {name: tensors[name] for name in fixed_names(story) & tensors.keys()}
    values = {name: tensor for name, tensor in tensors.items() if name not in fixed}
    settle_story(story, fixed, values, scales)
    check_buffers(story)
    for name, scale in scales.items():
        if not bool((scale > 0).all()):
            raise ValueError(f"the scale of {name} is not above zero everywhere")
    return FittedStory(vocabulary, recipe, story, plain["report"])


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
