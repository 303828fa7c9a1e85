"""A channel that pools what it learns about the edits of pairs (after Li, Wang & Eisner 2019, footnote 5)."""

import torch
from torch import Tensor

from pyropunct.inference.machines.products import KEEP
from pyropunct.models.channel.window import Window


class Pooled(Window):
    """A `Window` with partial pooling: the edits of a pair borrow from other pairs with the same marks.

    Most pairs of marks are rare or unseen in a treebank. The footnote of the paper suggests sharing
    parameters between pairs. Here the logits of phi[a, b] are sums over levels, as in an analysis of
    variance::

        phi[a, b] = softmax over the edits e of  all[e] + left[a, e] + right[b, e] + pair[a, b, e]

    All four levels are normal a priori: left[a] is for a before any mark, right[b] for b after any mark. A
    frequent pair follows its own data; an unseen pair behaves as its marks do elsewhere. Unlike in
    `Strength`, a mark may absorb its left neighbour and not its right one, as brackets do.

    :param prior_scale: the standard deviation of the priors of all levels. Greater values pool less.
    :param prior_keep: the mean of the prior of all[keep]; all other means are zero.
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
