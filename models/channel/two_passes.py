"""A channel that reads twice, once in either direction (Li, Wang & Eisner 2019, footnote 6)."""

from collections.abc import Sequence

import torch
from torch import Tensor

from pyropunct.inference.automata import Arc, End, Topology
from pyropunct.models.channel.window import (
    KEEP,
    LEFT_ABSORPTION,
    RIGHT_ABSORPTION,
    TRANSPOSITION,
    Channel,
    SlidingWindow,
)


class TwoPasses(Channel):
    """A sliding window passes over u, and another one, with edits of its own, back over what the first wrote.

    With a string v between both passes::

        p(x | u) = sum over v of p_1(v | u) p_2(reversed x | reversed v)

    Source: Li, Wang & Eisner (2019, footnote 6): at least two passes, at least one in each direction, could
    serve all languages alike.  The direction of this channel is the first pass's.  phi[a, b] of either pass
    tells what happens when a is in its window and b is read: a is at the left of b in one pass and at the
    right in the other.

    The automaton of x is the product of two: what the second pass may have read to write x, and what the
    first may have read to write that.  A slot of m > 0 tokens has some m V^2 states and 6 m V^3 arcs, against
    m V and 2 m V^2 of one pass, so a fit takes much longer.

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

    def weights(self) -> Tensor:
        """The weights of both passes, then the products for a step in which the first pass writes.

        If that writes t, by keeping a or by bringing b forward, the second pass, with c in its window,
        makes the edit e of c t::

            phi_1[a, b, keep] phi_2[c, a, e]        phi_1[a, b, transposition] phi_2[c, b, e]
        """
        shape = (self.num_tokens, self.num_tokens, 4)
        first, second = self.first.weights(), self.second.weights()
        one, two = first[..., :-1].unflatten(-1, shape), second[..., :-1].unflatten(-1, shape)
        keep = torch.einsum("...ab,...cae->...abce", one[..., KEEP], two)
        transposition = torch.einsum("...ab,...cbe->...abce", one[..., TRANSPOSITION], two)
        return torch.cat([first, second, keep.flatten(-4), transposition.flatten(-4)], -1)

    def topology(self, surface: tuple[int, ...]) -> Topology:
        """States "a in the first window, the second pass in state q", and one before anything is read."""
        if not surface:
            return self.first.topology(surface)
        v, one = self.num_tokens, 4 * self.num_tokens**2
        keep, transposition = 2 * (one + 1), 2 * (one + 1) + 4 * v**3  # where their products begin
        back = self.second.topology(surface[::-1]).reversed()
        begin, done = back.initial[0].state, back.final[0].state
        steps = _steps(back, v)

        def state(window: int, second: int) -> int:
            return 1 + window * back.num_states + second

        arcs = [Arc(b, 0, state(b, begin), one) for b in range(v)]
        for a in range(v):
            for b in range(v):
                pair = a * v + b
                for q in range(back.num_states):
                    here = state(a, q)
                    arcs.append(Arc(b, here, state(b, q), 4 * pair + LEFT_ABSORPTION))
                    arcs.append(Arc(b, here, here, 4 * pair + RIGHT_ABSORPTION))
                for written, products, window in ((a, keep, b), (b, transposition, a)):
                    for source, target, edit in steps[written]:
                        weight = products + 4 * v * pair + edit
                        arcs.append(Arc(b, state(a, source), state(window, target), weight))
        final = [End(state(arc.token, arc.source), one) for arc in back.arcs if arc.target == done]
        return Topology(1 + v * back.num_states, [End(0, one)], final, arcs)

    def rewrite(self, underlying: Sequence[int], weights: Tensor) -> list[int]:
        """Slide the first window over the string, and the second one back over what that wrote."""
        size = 4 * self.num_tokens**2 + 1
        between = self.first.rewrite(underlying, weights[:size])
        return self.second.rewrite(between[::-1], weights[size : 2 * size])[::-1]


def _steps(back: Topology, num_tokens: int) -> list[list[tuple[int, int, int]]]:
    """For each token the arcs of the second pass: source, target, and which edit of which token before it.

    Without those to where nothing is left for it to read: they are for the last token that the first writes.
    """
    steps: list[list[tuple[int, int, int]]] = [[] for _ in range(num_tokens)]
    for token, source, target, weight in back.arcs:
        if target != back.final[0].state:
            pair, edit = divmod(weight, 4)
            steps[token].append((source, target, 4 * (pair // num_tokens) + edit))
    return steps
