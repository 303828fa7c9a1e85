"""Channels that are made of several machines.

One reads twice.  One also inserts marks.  One sometimes ignores the underlying marks, so that every surface
string is possible.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from pyro.nn import PyroSample
from torch import Tensor

from pyropunct.inference.machines.moves import END, START, Branch, Move, Pass
from pyropunct.models.channel.noisy_channel import Channel
from pyropunct.models.channel.window import SlidingWindow, Window
from pyropunct.models.learned import require_rows
from pyropunct.models.priors import NormalPrior


class TwoPasses(Channel):
    """Two sliding windows: the second reads the string that the first wrote, in the opposite direction.

    With the string v between both passes::

        p(x | u) = sum over v of p_1(v | u) p_2(reversed x | reversed v)

    Li, Wang & Eisner (2019, footnote 6) suggest a pass in each direction. Each has its own phi[a, b], where a
    is in the window and b is read next. ``direction`` is the one of the first pass. A slot of m > 0 tokens
    has about m V^2 states and 6 m V^3 arcs, so training is much slower than with one pass.

    :param prior_scale: the standard deviation of the normal prior of the logits of both passes' phi.
    :param prior_keep: the mean of that prior for keep; it is zero for the other edits.
    """

    def __init__(
        self, num_tokens: int, direction: str = "left", prior_scale: float = 2.0, prior_keep: float = 0.0
    ) -> None:
        super().__init__(num_tokens, direction)
        # Both are written for reading forwards: this class reverses the strings in between.
        self.first = SlidingWindow(num_tokens, "left", prior_scale, prior_keep)
        self.second = SlidingWindow(num_tokens, "left", prior_scale, prior_keep)

    def weights(self) -> Mapping[str, Tensor]:
        """phi of either pass."""
        return {"first": self.first.edit_table(), "second": self.second.edit_table()}

    def branches(self) -> Sequence[Branch]:
        """One pass, and another one back."""
        back = self.direction == "left"
        return [Branch((_pass("first", self.first, not back), _pass("second", self.second, back)))]


def _pass(name: str, window: Window, from_right: bool) -> Pass:
    """A pass of a window whose edits have a name of their own."""
    moves = (
        move._replace(weight=tuple((name, *place[1:]) for place in move.weight)) for move in window.moves()
    )
    return Pass(tuple(moves), from_right)


class Inserting(SlidingWindow):
    """A sliding window, then insertions into the string that it writes.

    The window writes tokens v_1 .. v_k. At each of the k + 1 places around them, at most one token t is
    inserted, with a learned probability iota[t]; iota[none] is the probability of no insertion::

        p(x | u) = sum over v of p_window(v | u) sum over insertions that make v into x of prod iota
        iota = softmax(logits of V tokens, 0 for none)

    So a slot with an empty underlying string can show a mark, which Li, Wang & Eisner (2019, section 2.2)
    rule out. These marks are noise rather than part of the tree.

    :param prior_scale: the standard deviation of the normal prior of the logits of phi.
    :param prior_keep: the mean of that prior for keep; it is zero for the other edits.
    :param prior_insertion: the mean of the normal prior of the logits of insertions.
    :param insertion_scale: its standard deviation.
    """

    def __init__(
        self,
        num_tokens: int,
        direction: str = "left",
        prior_scale: float = 2.0,
        prior_keep: float = 0.0,
        prior_insertion: float = -7.0,
        insertion_scale: float = 1.0,
    ) -> None:
        super().__init__(num_tokens, direction, prior_scale, prior_keep)
        mean = torch.full((num_tokens,), prior_insertion)
        self.insertion_logits = self.normal_site("_prior_insertion", mean, insertion_scale)

    def insertions(self) -> Tensor:
        """(..., tokens + 1) iota: the probability of inserting each token at a place, and none."""
        return torch.nn.functional.pad(self.insertion_logits, (0, 1)).softmax(-1)

    def weights(self) -> Mapping[str, Tensor]:
        """phi and iota."""
        return {**super().weights(), "insertion": self.insertions()}

    def branches(self) -> Sequence[Branch]:
        """The window's pass, and one that inserts."""
        (window,) = super().branches()
        return [window._replace(passes=(*window.passes, Pass(tuple(self.insertion_moves()))))]

    def insertion_moves(self) -> Iterator[Move]:
        """One state, in which tokens are copied: an insertion at the start, and one behind each token."""
        places = [(self.num_tokens, ()), *((token, (token,)) for token in range(self.num_tokens))]
        for place, inserted in places:
            yield Move(None, START, (("insertion", place),), inserted, "copying")
            for token in range(self.num_tokens):
                yield Move("copying", token, (("insertion", place),), (token, *inserted), "copying")
        yield Move("copying", END)


SLIP = "slip"
"""The name of the branch of a slip."""


class TokenBigrams(torch.nn.Module):
    """A smoothed bigram model of non-empty surface strings, fixed before training.

    Every string of known tokens has a positive probability::

        q(x_1 .. x_m) = q(x_1 | start) q(x_2 | x_1) ... q(stop | x_m)

    The start token is an exception: it comes first if the underlying string has it, and nowhere else.

    :param strings: the non-empty surface strings of a training treebank.
    :param clause_token: a token that no surface has.
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
        self.start_token = start_token
        stop = num_tokens
        counts = np.full((num_tokens + 1, num_tokens + 1), smoothing)
        for string in strings:
            for before, after in self._steps(string, stop):
                counts[before, after] += 1
        counts[stop, stop] = 0
        if clause_token is not None:
            counts[:, clause_token] = 0
        if start_token is not None:
            counts[:, start_token] = 0
        self.probabilities: Tensor
        self.register_buffer("probabilities", torch.from_numpy(counts / counts.sum(-1, keepdims=True)))

    def check_buffers(self) -> None:
        """Check that the tables are distributions. Raises ValueError if one is not."""
        require_rows("the bigram model", self.probabilities)

    def _steps(self, string: Sequence[int], stop: int) -> Iterable[tuple[int, int]]:
        tokens = list(string) if string[0] == self.start_token else [stop, *string]
        return zip(tokens, [*tokens[1:], stop], strict=True)

    def moves(self) -> Iterator[Move]:
        """A machine that copies the start token, and writes a string of the model after `END`.

        States: "silent", and a when a was the last token written.
        """
        tokens, stop = range(len(self.probabilities) - 1), len(self.probabilities) - 1
        for token in tokens:
            shown = token == self.start_token
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
        slip = self.slip_logit.sigmoid()
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
