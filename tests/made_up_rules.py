"""Models with made-up channels."""

import torch
from torch import Tensor

from pyropunct.fitted.recipes import Recipe
from pyropunct.fitted.stories import build_story
from pyropunct.inference.machines.products import EDITS
from pyropunct.models.learned import settle
from pyropunct.punctuator import Punctuator
from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN
from pyropunct.vocabulary import Vocabulary

TOKENS = (START, ABBREVIATION_DOT, UNKNOWN, "!", ",", "—", ".", "”")


def made_up(
    edits: dict[tuple[str, str], dict[str, float]] | None = None,
    *,
    tokens: tuple[str, ...] = TOKENS,
    direction: str = "right",
    logits: Tensor | None = None,
    scale: Tensor | None = None,
) -> Punctuator:
    """A model that knows some tokens, with edits of pairs by name (others are kept), or logits and scale."""
    if logits is None:
        probabilities = torch.zeros(len(tokens), len(tokens), 4)
        probabilities[..., 0] = 1
        for (a, b), some in (edits or {}).items():
            place = tokens.index(a), tokens.index(b)
            probabilities[place] = torch.tensor([some.get(name, 0.0) for name in EDITS])
        logits = probabilities.log()
    vocabulary = Vocabulary(tokens, ("", "root"), ("",), ("",), (((((), ())),), ((((), ())),)))
    recipe = Recipe(direction=direction, families=("head",))
    story = build_story(vocabulary, recipe, [torch.tensor([[1]])])
    values = {"channel.edit_logits": logits.double(), "slip_logit": torch.tensor(-7.0)}
    settle(
        story.channel,
        values,
        {} if scale is None else {"channel.edit_logits": scale, "slip_logit": torch.zeros(())},
    )
    return Punctuator(vocabulary, recipe, story, report={})
