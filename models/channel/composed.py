"""Channels of several machines: `TwoPasses` reads twice, `Inserting` adds marks."""

from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor

from pyropunct.inference.machines.moves import END, START, Branch, Move, Pass
from pyropunct.models.channel.noisy_channel import Channel
from pyropunct.models.channel.window import SlidingWindow, Window


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
        return torch.nn.functional.pad(self.insertion_logits, (0, 1)).double().softmax(-1)

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
