"""A channel that may insert marks that nothing underlying sprouted."""

from collections.abc import Sequence
from typing import Any

import pyro.distributions as dist
import torch
from pyro.nn import PyroSample
from torch import Tensor

from pyropunct.inference.automata import Arc, End, Topology
from pyropunct.models.channel.window import (
    KEEP,
    LEFT_ABSORPTION,
    RIGHT_ABSORPTION,
    TRANSPOSITION,
    SlidingWindow,
)


class Inserting(SlidingWindow):
    """A sliding window, and insertions into what it writes.

    Before, between and behind the tokens v_1 .. v_k that the window writes, at each of these k + 1 places,
    at most one token t is inserted, with a learned probability iota[t]; with iota[none] there is none::

        p(x | u) = sum over v of p_window(v | u) sum over insertions that make v into x of prod iota
        iota = softmax(logits of V tokens, 0 for none)

    So a slot where nothing is underlying can show a mark, which the edits of Li, Wang & Eisner (2019,
    section 2.2) rule out; such marks are then noise rather than part of the tree.

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
        self._prior_insertion: Tensor
        self.register_buffer("_prior_insertion", torch.full((num_tokens,), prior_insertion))
        # a tensor when read
        self.insertion_logits: Any = PyroSample(
            lambda channel: dist.Normal(channel._prior_insertion, insertion_scale).to_event(1)
        )

    def insertions(self) -> Tensor:
        """(..., tokens + 1) iota: the probability of inserting each token at a place, and none."""
        return torch.nn.functional.pad(self.insertion_logits, (0, 1)).softmax(-1)

    def weights(self) -> Tensor:
        """phi and 1, iota, and the products of each edit with each insertion."""
        window, insertions = super().weights(), self.insertions()
        products = window[..., :-1, None] * insertions.unsqueeze(-2)
        return torch.cat([window, insertions, products.flatten(-2)], -1)

    def edit_counts(self, counts: Tensor) -> Tensor:
        """Counts of edits, with and without an insertion."""
        edits, v = 4 * self.num_tokens**2, self.num_tokens
        inserting = counts[edits + v + 2 :].reshape(edits, v + 1).sum(-1)
        return (counts[:edits] + inserting).reshape(v, v, 4)

    def topology(self, surface: tuple[int, ...]) -> Topology:
        """States "e tokens of the surface emitted, a in the window", and two before anything is read.

        A token is inserted at the start, or together with the token that is written before it.
        """
        v, one, m = self.num_tokens, 4 * self.num_tokens**2, len(surface)
        iota, none = one + 1, self.num_tokens
        product = iota + v + 1
        if not surface:
            return Topology(1, [End(0, iota + none)], [End(0, one)], [])

        def state(emitted: int, window: int) -> int:
            return 2 + emitted * v + window

        def inserted(emitted: int) -> list[tuple[int, int]]:
            """What may be inserted next, and how many tokens are then emitted."""
            nothing = [(none, emitted)]
            return [*nothing, (surface[emitted], emitted + 1)] if emitted < m else nothing

        starts = inserted(0)
        initial = [End(e, iota + what) for what, e in starts]
        final = [End(e, one) for _, e in starts if e == m]
        arcs = [Arc(b, e, state(e, b), one) for _, e in starts for b in range(v) if e < m]
        for e, expected in enumerate(surface):
            final += [
                End(state(e, expected), iota + what) for what, emitted in inserted(e + 1) if emitted == m
            ]
            for a in range(v):
                for b in range(v):
                    here = state(e, a)
                    arcs.append(Arc(b, here, state(e, b), self._edit(a, b, LEFT_ABSORPTION)))
                    arcs.append(Arc(b, here, here, self._edit(a, b, RIGHT_ABSORPTION)))
                    for written, edit, window in ((a, KEEP, b), (b, TRANSPOSITION, a)):
                        if written == expected:
                            first = product + self._edit(a, b, edit) * (v + 1)
                            arcs += [
                                Arc(b, here, state(emitted, window), first + what)
                                for what, emitted in inserted(e + 1)
                                if emitted < m
                            ]
        return Topology(2 + m * v, initial, final, arcs)

    def rewrite(self, underlying: Sequence[int], weights: Tensor) -> list[int]:
        """Slide the window over the string, and insert tokens into what it writes."""
        v = self.num_tokens
        iota = weights[4 * v**2 + 1 :][: v + 1]
        written = super().rewrite(underlying, weights)
        inserted = torch.multinomial(iota, len(written) + 1, replacement=True).tolist()
        shown = [inserted[0]]
        for token, next_one in zip(written, inserted[1:], strict=True):
            shown += [token, next_one]
        return [token for token in shown if token != v]

    def transducer(self, weights: Tensor) -> None:
        """None: a `pyropunct.inference.transducers.Move` writes one token at most."""
        return None
