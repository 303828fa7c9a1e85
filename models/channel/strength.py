"""A channel in which stronger marks absorb weaker ones (Li, Wang & Eisner 2019, footnote 5)."""

import torch
from torch import Tensor

from pyropunct.models.channel.window import Window


class Strength(Window):
    """A `Window` whose edits follow from one strength of each mark.

    The footnote of the paper proposes V strengths in place of 2 V^2 absorption probabilities. Here a mark a
    has a strength s[a], and a pair a b has logits of keep and transposition::

        phi[a, b] = softmax(keep[a, b], s[b] - s[a], s[a] - s[b], transposition[a, b])

    over keep, left absorption (b stays), right absorption (a stays) and transposition. So the log-odds that b
    absorbs a, rather than a absorbs b, are 2 (s[b] - s[a]), even for unseen pairs. Only differences of
    strengths matter; the prior puts their mean near 0.

    :param prior_scale: the standard deviation of the normal priors of strengths and logits.
    :param prior_keep: the mean of the prior of the logits of keep; it is zero for transposition.
    """

    def __init__(
        self, num_tokens: int, direction: str = "left", prior_scale: float = 2.0, prior_keep: float = 0.0
    ) -> None:
        super().__init__(num_tokens, direction)
        logits = torch.tensor([prior_keep, 0.0]).repeat(num_tokens, num_tokens, 1)
        self.strength = self.normal_site("_prior_strength", torch.zeros(num_tokens), prior_scale)
        self.pair_logits = self.normal_site("_prior_logits", logits, prior_scale)

    def edit_table(self) -> Tensor:
        """(..., tokens, tokens, 4) phi[a, b], see `Strength`."""
        strength = self.strength
        stronger = strength.unsqueeze(-2) - strength.unsqueeze(-1)  # [a, b]: by how much b is
        keep, transposition = self.pair_logits.unbind(-1)
        return torch.stack([keep, stronger, -stronger, transposition], -1).softmax(-1)
