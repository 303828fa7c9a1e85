"""A channel that pools what it learns about the edits of pairs (after Li, Wang & Eisner 2019, footnote 5)."""

import torch
from torch import Tensor

from pyropunct.inference.machines.products import KEEP
from pyropunct.models.channel.window import Window


class Pooled(Window):
    """A `Window` in which the edits of a pair lean towards what its marks do in other pairs.

    A treebank shows most pairs of marks seldom or never.  The footnote remarks that parameters shared by
    pairs, such as a strength of each mark, would generalise to them, and leaves that open.  Here the
    logits of phi[a, b] are sums over levels, those of an analysis of variance with two factors::

        phi[a, b] = softmax over the edits e of  all[e] + left[a, e] + right[b, e] + pair[a, b, e]

    where left[a] belongs to a before any mark, right[b] to b after any mark, and all four are normal a
    priori.  This is partial pooling: pair[a, b] follows the data as far as there are any, and a pair that
    was never seen behaves as its marks do elsewhere.  Strengths as in `Strength` are a special case, but
    here a mark that absorbs what stands on its left need not absorb what stands on its right, as brackets
    do not.

    :param prior_scale: the standard deviation of the priors of all levels.  The greater it is, the less is
        pooled.
    :param prior_keep: the mean of the prior of all[keep]; those of everything else are zero.
    """

    def __init__(
        self, num_tokens: int, direction: str = "left", prior_scale: float = 1.0, prior_keep: float = 0.0
    ) -> None:
        super().__init__(num_tokens, direction)
        mean = torch.zeros(4)
        mean[KEEP] = prior_keep
        marks, pairs = torch.zeros(2, num_tokens, 4), torch.zeros(num_tokens, num_tokens, 4)
        self.all_logits = self.normal_site("_prior_all", mean, prior_scale)
        self.mark_logits = self.normal_site("_prior_mark", marks, prior_scale)  # left[a], right[b]
        self.pair_logits = self.normal_site("_prior_pair", pairs, prior_scale)

    def edit_table(self) -> Tensor:
        """(..., tokens, tokens, 4) phi[a, b], see `Pooled`."""
        left, right = self.mark_logits.unbind(-3)
        marks = left.unsqueeze(-2) + right.unsqueeze(-3)
        return (self.all_logits.unsqueeze(-2).unsqueeze(-2) + marks + self.pair_logits).softmax(-1)
