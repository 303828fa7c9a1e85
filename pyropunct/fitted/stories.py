"""Builds the stories that recipes describe, and sets fitted values in them."""

from collections.abc import Mapping, Sequence

import pyro
import torch
from torch import Tensor

from pyropunct.fitted.recipes import Recipe
from pyropunct.fitted.variants import made
from pyropunct.inference.machines.evidence import EMPTY
from pyropunct.models.channel.slip import Slip, TokenBigrams
from pyropunct.models.learned import fixed_names, require_like, require_names, settle
from pyropunct.models.marked_parts import PartMarks, part_marks
from pyropunct.models.story import Story
from pyropunct.models.syntax import HeadOutward
from pyropunct.models.written_words import Words
from pyropunct.text.marks import START
from pyropunct.vocabulary import Vocabulary

SYNTAX_TABLE = "syntax.probabilities"
"""The name of the syntax model's table."""


def build_story(vocabulary: Vocabulary, recipe: Recipe, surfaces: Sequence[Tensor] = ()) -> Story:
    """The untrained story that a recipe describes.

    :param surfaces: the surface strings of the training treebank, for the slip.
    :raises UnknownVariantError: if the recipe names an unknown attach model or channel.
    :raises VariantOptionError: if its attach model or channel lacks an option.
    """
    sizes = {f"num_{name}": len(getattr(vocabulary, name)) for name in ("forms", "tags", "relations")}
    inventory, tokens = vocabulary.inventory, vocabulary.tokens
    strings = [tuple(t for t in row if t != EMPTY) for surface in surfaces for row in surface.tolist()]
    bigrams = TokenBigrams([s for s in strings if s], len(tokens), vocabulary.token_number[START])
    with pyro.settings.context(module_local_params=True):
        of_trees = len(vocabulary.relations), len(vocabulary.tags)
        enclosing = part_marks(inventory, tokens)
        parts = PartMarks(len(vocabulary.relations), enclosing) if recipe.parts and len(enclosing) else None
        syntax = HeadOutward(*of_trees, Words(*of_trees, len(vocabulary.forms)))
        return Story(
            inventory,
            made("attach", recipe, inventory, tokens, **sizes),
            Slip(
                made("channel", recipe, len(tokens), recipe.direction),
                bigrams,
            ),
            syntax=syntax,
            marks=tokens,
            symmetry_weight=recipe.symmetry_weight,
            empty_score=recipe.empty_score,
            economy_weight=recipe.economy_weight,
            functions=vocabulary.functions,
            parts=parts,
        )


def blank_story(vocabulary: Vocabulary, recipe: Recipe) -> Story:
    """An unfitted story, as by `build_story`, for `settle_story`; leaves torch's random state alone."""
    with torch.random.fork_rng(devices=[]):
        return build_story(vocabulary, recipe)


def require_syntax_table(tensors: Mapping[str, Tensor], vocabulary: Vocabulary) -> None:
    """Reject (`ValueError`) a corrupt file with few types and a huge table, before it is allocated."""
    require_names(tensors.keys() & {SYNTAX_TABLE}, {SYNTAX_TABLE})
    shape = HeadOutward.table_shape(len(vocabulary.relations), len(vocabulary.tags))
    require_like(SYNTAX_TABLE, tensors[SYNTAX_TABLE], torch.empty(shape, dtype=torch.double, device="meta"))


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
