"""A channel that sometimes ignores the underlying marks, so that every surface string is possible."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from pyro.nn import PyroSample
from torch import Tensor

from pyropunct.inference.machines.moves import END, Branch, Move, Pass
from pyropunct.models.channel.noisy_channel import Channel
from pyropunct.models.learned import require_rows
from pyropunct.models.priors import NormalPrior

SLIP = "slip"
"""The name of the branch of a slip."""


class TokenBigrams(torch.nn.Module):
    """A smoothed bigram model of non-empty surface strings, fixed before training.

    Every string of known tokens has a positive probability::

        q(x_1 .. x_m) = q(x_1 | start) q(x_2 | x_1) ... q(stop | x_m)

    Boundaries are an exception: one comes first if the underlying string begins with it, and nowhere else.

    :param strings: the non-empty surface strings of a training treebank.
    :param start_token: a boundary, as in `pyropunct.inference.inventory.Inventory`; also ``clause_token``.
    :param smoothing: the number added to the count of every bigram.
    """

    def __init__(
        self,
        strings: Iterable[Sequence[int]],
        num_tokens: int,
        start_token: int | None = None,
        clause_token: int | None = None,
        smoothing: float = 0.05,
    ) -> None:
        super().__init__()
        self.boundaries = [token for token in (start_token, clause_token) if token is not None]
        stop = num_tokens
        counts = np.full((num_tokens + 1, num_tokens + 1), smoothing)
        for string in strings:
            for before, after in self._steps(string, stop):
                counts[before, after] += 1
        counts[stop, stop] = 0
        counts[:, self.boundaries] = 0
        self.probabilities: Tensor
        self.register_buffer("probabilities", torch.from_numpy(counts / counts.sum(-1, keepdims=True)))

    def check_buffers(self) -> None:
        """Check that the tables are distributions. Raises ValueError if one is not."""
        require_rows("the bigram model", self.probabilities)

    def _steps(self, string: Sequence[int], stop: int) -> Iterable[tuple[int, int]]:
        tokens = list(string) if string[0] in self.boundaries else [stop, *string]
        return zip(tokens, [*tokens[1:], stop], strict=True)

    def moves(self) -> Iterator[Move]:
        """A machine that copies a boundary, and writes a string of the model after `END`.

        States: "silent", and a when a was the last token written.
        """
        tokens, stop = range(len(self.probabilities) - 1), len(self.probabilities) - 1
        for token in tokens:
            shown = token in self.boundaries
            yield Move("silent", token, written=(token,) * shown, target=token if shown else "silent")
            for last in tokens:
                yield Move(last, token, target=last)
        for state, row in zip([*tokens, "silent"], self.probabilities.tolist(), strict=True):
            for token in tokens:
                yield Move(state, END, written=(token,), target=token, factor=row[token])
            yield Move(state, END, factor=row[stop])


class Slip(Channel):
    """Another channel with slips: with a small learned probability, a slot shows an unrelated string.

    A slip draws a non-empty surface from `TokenBigrams`, so every sentence has a positive probability.

    :param channel: the channel of slots that do not slip.
    :param prior_mean: the mean of the normal prior of the slip's log-odds.
    :param prior_scale: its standard deviation.
    """

    def __init__(
        self, channel: Channel, bigrams: TokenBigrams, prior_mean: float = -7.0, prior_scale: float = 1.0
    ) -> None:
        super().__init__(channel.num_tokens, channel.direction)
        self.channel, self.bigrams = channel, bigrams
        # a tensor when read
        self.slip_logit: Any = PyroSample(NormalPrior(torch.tensor(prior_mean), prior_scale))

    def weights(self) -> Mapping[str, Tensor]:
        """The other channel's weights, and the probabilities of a slip and of none."""
        return self._with_slips(self.channel.weights())

    def weights_of(self, trees: Any) -> Mapping[str, Tensor]:
        """The same for given trees."""
        return self._with_slips(self.channel.weights_of(trees))

    def _with_slips(self, weights: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        slip = self.slip_logit.double().sigmoid()
        return {**weights, SLIP: slip, "no slip": 1 - slip}

    def branches(self) -> Sequence[Branch]:
        """The other channel's, and one that shows a string of the bigram model."""
        others = [
            branch._replace(weight=(*branch.weight, ("no slip",))) for branch in self.channel.branches()
        ]
        return [*others, Branch((Pass(tuple(self.bigrams.moves())),), ((SLIP,),), SLIP)]

    @property
    def kind(self) -> str:
        """The other channel's, which is the one that somebody has chosen."""
        return self.channel.kind
