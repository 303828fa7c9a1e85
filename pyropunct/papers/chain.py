"""Distributions over the label sequences of batches of slots."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class IndependentSlots:
    """A softmax for each slot: scores (B, T, L), and whether a slot is present (B, T) or padding."""

    scores: Tensor
    present: Tensor

    def log_prob(self, labels: Tensor) -> Tensor:
        """(B,) log-probabilities of the label sequences (B, T)."""
        return _sum_of_chosen(self.scores.log_softmax(-1), labels, self.present)

    def marginals(self) -> Tensor:
        """(B, T, L) the probability of each label of each slot."""
        return self.scores.softmax(-1)

    def among(self, labels: Tensor) -> "IndependentSlots":
        """The distribution given that every label is in a set, numbered by its order."""
        return IndependentSlots(self.scores[..., labels], self.present)


@dataclass(frozen=True)
class LinearChain:
    """A linear-chain conditional random field with bigram topology (Lafferty et al. 2001; Xu et al. 2016)::

        log p(y_0 .. y_n) = sum_i scores[i, y_i] + sum_i transitions[y_i, y_i+1] - log Z

    :ivar scores: (B, T, L).
    :ivar transitions: (L, L).
    :ivar present: (B, T) whether a slot is real and not padding; slot 0 always is.
    """

    scores: Tensor
    transitions: Tensor
    present: Tensor

    def log_prob(self, labels: Tensor) -> Tensor:
        """(B,) log-probabilities of the label sequences (B, T)."""
        steps = self.transitions[labels[:, :-1], labels[:, 1:]]
        path = _sum_of_chosen(self.scores, labels, self.present)
        return path + (steps * self.present[:, 1:]).sum(-1) - self.log_partition()

    def log_partition(self) -> Tensor:
        """(B,) log Z by the forward algorithm, on probabilities scaled by the largest of each slot."""
        highest = self.transitions.max().detach()
        factors = (self.transitions - highest).exp()
        total, *others = self.scores.unbind(1)  # slices by number would each have a gradient as large as all
        for slot, scores in enumerate(others, start=1):
            largest = total.detach().amax(-1, keepdim=True)
            reached = ((total - largest).exp() @ factors).log() + largest + highest
            total = torch.where(self.present[:, slot, None], reached + scores, total)
        return total.logsumexp(-1)

    def marginals(self) -> Tensor:
        """(B, T, L) the probability of each label of each slot: the derivative of log Z by its score."""
        with torch.enable_grad():
            scores = self.scores.detach().requires_grad_()
            chain = LinearChain(scores, self.transitions.detach(), self.present)
            return torch.autograd.grad(chain.log_partition().sum(), scores)[0]

    def best(self) -> Tensor:
        """(B, T) the most probable sequences, by the Viterbi algorithm."""
        highest = self.scores[:, 0]
        stay = torch.arange(self.scores.shape[-1], device=self.scores.device)
        origins = []
        for slot in range(1, self.scores.shape[1]):
            here = self.present[:, slot, None]
            value, origin = (highest[:, :, None] + self.transitions).max(1)
            highest = torch.where(here, value + self.scores[:, slot], highest)
            origins.append(torch.where(here, origin, stay))
        path = [highest.argmax(-1)]
        for origin in reversed(origins):
            path.append(origin.gather(1, path[-1][:, None])[:, 0])
        return torch.stack(path[::-1], 1)

    def among(self, labels: Tensor) -> "LinearChain":
        """The distribution given that every label is in a set, numbered by its order."""
        return LinearChain(self.scores[..., labels], self.transitions[labels][:, labels], self.present)


LabelDistribution = IndependentSlots | LinearChain
"""p(labels) of B sentences of at most T slots, with L labels; shorter sentences are padded at the end."""


def _sum_of_chosen(scores: Tensor, labels: Tensor, present: Tensor) -> Tensor:
    """(B,) the sum over the slots of the scores of their labels."""
    return (scores.gather(-1, labels[..., None])[..., 0] * present).sum(-1)
