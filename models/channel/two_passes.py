"""A channel that reads twice, once in either direction (Li, Wang & Eisner 2019, footnote 6)."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from pyropunct.inference.machines.moves import Branch, Pass
from pyropunct.models.channel.base import Channel
from pyropunct.models.channel.window import SlidingWindow, Window


class TwoPasses(Channel):
    """Two sliding windows: the second reads the string that the first wrote, in the opposite direction.

    With the string v between both passes::

        p(x | u) = sum over v of p_1(v | u) p_2(reversed x | reversed v)

    Li, Wang & Eisner (2019, footnote 6) suggest a pass in each direction. Each has its own phi[a, b], where a
    is in the window and b is read next; ``direction`` is that of the first. A slot of m > 0 tokens has about
    m V^2 states and 6 m V^3 arcs, so training is much slower than with one pass.

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
