"""NOISYCHANNEL: from the underlying to the surface string of a slot (Li, Wang & Eisner 2019, section 2.2)."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyro.distributions as dist
import torch
from pyro.nn import PyroModule, PyroSample
from torch import Tensor

from pyropunct.inference.automata import Arc, Automata, End, Packed, Topology, join_automata, pack
from pyropunct.inference.pyro.surface import Surface, Underlying
from pyropunct.inference.transducers import END, HALT, NOTHING, Move, Start, Transducer, mixed

KEEP, LEFT_ABSORPTION, RIGHT_ABSORPTION, TRANSPOSITION = range(4)
"""The edits of two neighbours a b, as seen on the page: to a b, to b, to a, and to b a."""

EDITS = ("keep", "left absorption", "right absorption", "transposition")


class Channel(PyroModule):
    """Base class of noisy channels: p(x_i | u_i) for each slot i, independently.

    A variant defines three methods: `topology`, `weights` and `rewrite`.  It is written for a machine
    that reads from left to right; with ``direction="right"`` the same machine reads, and writes, the
    strings from right to left.  A fourth, `transducer`, makes many draws quick.

    :param num_tokens: the number of token types.
    :param direction: "left" to read from left to right, "right" to read from right to left.
    :raises ValueError: if the direction is neither.
    """

    def __init__(self, num_tokens: int, direction: str = "left") -> None:
        super().__init__()
        if direction not in ("left", "right"):
            raise ValueError(f'a channel\'s direction is "left" or "right", not {direction!r}')
        self.num_tokens, self.direction = num_tokens, direction
        self._packed: dict[tuple[int, ...], Packed] = {}

    def topology(self, surface: tuple[int, ...]) -> Topology:
        """The automaton of one surface string: it accepts each u with weight p(surface | u)."""
        raise NotImplementedError

    def weights(self) -> Tensor:
        """(..., P) the probabilities to which the topologies refer."""
        raise NotImplementedError

    def rewrite(self, underlying: Sequence[int], weights: Tensor) -> list[int]:
        """Draw a surface string.

        :param underlying: token ids, in the order of reading.
        :param weights: (P,) what `weights` returned.
        """
        raise NotImplementedError

    def automata(self, surfaces: Sequence[tuple[int, ...]], weights: Tensor) -> Automata:
        """The automata of some surface strings, to be read from left to right on the page."""
        num_weights = weights.shape[-1]
        for surface in surfaces:
            if surface not in self._packed:
                self._packed[surface] = pack(self.page_topology(surface, num_weights), self.num_tokens)
        return join_automata([self._packed[surface] for surface in surfaces], weights)

    def page_topology(self, surface: tuple[int, ...], num_weights: int) -> Topology:
        """The automaton of a surface string, to be read from left to right on the page.

        :param num_weights: the number P of the channel's weights.
        """
        if self.direction == "left":
            return self.topology(surface)
        return self.topology(surface[::-1]).reversed()

    def draw(self, underlying: Sequence[int], weights: Tensor) -> list[int]:
        """Draw the surface string, as on the page, of an underlying string, as on the page."""
        if self.direction == "left":
            return self.rewrite(underlying, weights)
        return self.rewrite(underlying[::-1], weights)[::-1]

    def transducer(self, weights: Tensor) -> Transducer | None:
        """What `draw` does, as a machine that can be run very often; None if there is no such machine.

        Whoever overrides `rewrite` or `draw` overrides this too.

        :param weights: (P,) what `weights` returned.
        """
        return None

    def edit_table(self) -> Tensor | None:
        """(..., tokens, tokens, 4) how a is edited before b, see `EDITS`, if the channel edits."""
        return None

    def edit_counts(self, counts: Tensor) -> Tensor | None:
        """How often each edit was used, (tokens, tokens, 4), if the channel edits.

        :param counts: (P,) how often each of the channel's weights was used.
        """
        return None

    def surface(self, underlying: Underlying, weights: Tensor) -> Surface:
        """The distribution of the surface strings of the slots of ``underlying``.

        :param weights: (..., P) what `weights` returned.
        """
        return Surface(underlying, self, weights)


class Window(Channel):
    """A window of two tokens that slides over u once; each pair a b in it gets one edit.

    The edit is drawn from phi[a, b]: keep (emit a, the window is b), left absorption (the window is b),
    right absorption (the window is a) or transposition (emit b, the window is a).  At the end the window
    is emitted.  Where phi comes from, `edit_table`, is for a variant to say.
    Source: Li, Wang & Eisner (2019, section 2.2).
    """

    def edit_table(self) -> Tensor:
        """(..., tokens, tokens, 4) phi[a, b]: how a on the page before b is edited, see `EDITS`."""
        raise NotImplementedError

    def weights(self) -> Tensor:
        """phi, and a last weight of 1."""
        phi = self.edit_table().flatten(-3)
        return torch.cat([phi, torch.ones_like(phi[..., :1])], -1)

    def edit_counts(self, counts: Tensor) -> Tensor:
        """Counts of edits."""
        return counts[:-1].reshape(self.num_tokens, self.num_tokens, 4)

    def _edit(self, read: int, new: int, edit: int) -> int:
        """Which weight belongs to an edit of the token in the window and the one just read."""
        if self.direction == "left":
            return (read * self.num_tokens + new) * 4 + edit
        mirrored = (KEEP, RIGHT_ABSORPTION, LEFT_ABSORPTION, TRANSPOSITION)[edit]
        return (new * self.num_tokens + read) * 4 + mirrored

    def topology(self, surface: tuple[int, ...]) -> Topology:
        """States "e tokens of the surface emitted, a in the window", and one before anything is read."""
        v, one = self.num_tokens, self.num_tokens**2 * 4
        if not surface:
            return Topology(1, [End(0, one)], [End(0, one)], [])

        def state(emitted: int, window: int) -> int:
            return 1 + emitted * v + window

        arcs = [Arc(b, 0, state(0, b), one) for b in range(v)]
        for e, expected in enumerate(surface):
            for a in range(v):
                for b in range(v):
                    here = state(e, a)
                    arcs.append(Arc(b, here, state(e, b), self._edit(a, b, LEFT_ABSORPTION)))
                    arcs.append(Arc(b, here, here, self._edit(a, b, RIGHT_ABSORPTION)))
                    if e + 1 < len(surface) and a == expected:
                        arcs.append(Arc(b, here, state(e + 1, b), self._edit(a, b, KEEP)))
                    if e + 1 < len(surface) and b == expected:
                        arcs.append(Arc(b, here, state(e + 1, a), self._edit(a, b, TRANSPOSITION)))
        last = state(len(surface) - 1, surface[-1])
        return Topology(1 + len(surface) * v, [End(0, one)], [End(last, one)], arcs)

    def rewrite(self, underlying: Sequence[int], weights: Tensor) -> list[int]:
        """Slide the window over the string."""
        if not underlying:
            return []
        window, out = underlying[0], []
        for token in underlying[1:]:
            places = [self._edit(window, token, edit) for edit in range(4)]
            edit = int(torch.multinomial(weights[places], 1))
            if edit in (KEEP, TRANSPOSITION):
                out.append(window if edit == KEEP else token)
            if edit in (KEEP, LEFT_ABSORPTION):
                window = token
        return [*out, window]

    def transducer(self, weights: Tensor) -> Transducer | None:
        """State 0 before anything is read, and states "a in the window"."""
        v, chance = self.num_tokens, weights.tolist()
        moves = [Move(0, END, 1.0, NOTHING, HALT)]
        for a in range(v):
            moves += [Move(0, a, 1.0, NOTHING, 1 + a), Move(1 + a, END, 1.0, a, HALT)]
            for b in range(v):
                for edit, written, window in (
                    (KEEP, a, b),
                    (LEFT_ABSORPTION, NOTHING, b),
                    (RIGHT_ABSORPTION, NOTHING, a),
                    (TRANSPOSITION, b, a),
                ):
                    moves.append(Move(1 + a, b, chance[self._edit(a, b, edit)], written, 1 + window))
        return Transducer(1 + v, [Start(0, 1.0, self.direction == "right")], moves)


class SlidingWindow(Window):
    """A `Window` with one learned distribution phi[a, b] of the edits of each pair a b.

    Source: Li, Wang & Eisner (2019, section 2.2).

    :param prior_scale: the standard deviation of the normal prior of the logits of phi.
    :param prior_keep: the mean of that prior for keep; it is zero for the other edits.
    """

    def __init__(
        self, num_tokens: int, direction: str = "left", prior_scale: float = 2.0, prior_keep: float = 0.0
    ) -> None:
        super().__init__(num_tokens, direction)
        mean = torch.zeros(num_tokens, num_tokens, 4)
        mean[..., KEEP] = prior_keep
        self._prior_mean: Tensor
        self.register_buffer("_prior_mean", mean)  # which moves with the module
        # a tensor when read
        self.edit_logits: Any = PyroSample(
            lambda channel: dist.Normal(channel._prior_mean, prior_scale).to_event(3)
        )

    def edit_table(self) -> Tensor:
        """(..., tokens, tokens, 4) phi[a, b], see `Window`."""
        return self.edit_logits.softmax(-1)


class Identity(Channel):
    """The channel that changes nothing: the attach-only ablation (Li, Wang & Eisner 2019, section 4)."""

    def topology(self, surface: tuple[int, ...]) -> Topology:
        """One state after each token."""
        arcs = [Arc(token, place, place + 1, 0) for place, token in enumerate(surface)]
        return Topology(len(surface) + 1, [End(0, 0)], [End(len(surface), 0)], arcs)

    def weights(self) -> Tensor:
        """A single weight of 1."""
        return torch.ones(1)

    def rewrite(self, underlying: Sequence[int], weights: Tensor) -> list[int]:
        """The same string."""
        return list(underlying)

    def transducer(self, weights: Tensor) -> Transducer:
        """One state, which writes what it reads."""
        moves = [Move(0, token, 1.0, token, 0) for token in range(self.num_tokens)]
        return Transducer(1, [Start(0, 1.0, False)], [*moves, Move(0, END, 1.0, NOTHING, HALT)])


class TokenBigrams(torch.nn.Module):
    """A smoothed bigram model of non-empty surface strings, fixed before training.

    Every string of known tokens has a positive probability::

        q(x_1 .. x_m) = q(x_1 | start) q(x_2 | x_1) ... q(stop | x_m)

    except that the start token can only come first, and is no choice: a string either has it or not.

    :param strings: the non-empty surface strings of a training treebank.
    :param num_tokens: the number of token types.
    :param start_token: the token that stands at the left of every sentence, if any.
    :param smoothing: what is added to every bigram's count.
    """

    def __init__(
        self,
        strings: Iterable[Sequence[int]],
        num_tokens: int,
        start_token: int | None = None,
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
        if start_token is not None:
            counts[:, start_token] = 0
        self.probabilities: Tensor
        self.register_buffer("probabilities", torch.from_numpy(counts / counts.sum(-1, keepdims=True)))

    def _steps(self, string: Sequence[int], stop: int) -> Iterable[tuple[int, int]]:
        tokens = list(string) if string[0] == self.start_token else [stop, *string]
        return zip(tokens, [*tokens[1:], stop], strict=True)

    def probability(self, string: Sequence[int]) -> float:
        """q of a non-empty string."""
        stop = len(self.probabilities) - 1
        return float(np.prod([float(self.probabilities[pair]) for pair in self._steps(string, stop)]))

    def sample(self, with_start: bool) -> list[int]:
        """Draw a non-empty string, beginning with the start token or not."""
        stop = len(self.probabilities) - 1
        tokens = [self.start_token if with_start and self.start_token is not None else stop]
        while len(tokens) == 1 or tokens[-1] != stop:
            tokens.append(int(torch.multinomial(self.probabilities[tokens[-1]], 1)))
        return tokens[:-1] if with_start else tokens[1:-1]

    def transducer(self) -> Transducer:
        """A machine that looks whether a string begins with the start token, and does what `sample` does.

        State 0 is before anything is read; state 1 + a means that the last token written is a, or none if
        a is the number of tokens.
        """
        stop = len(self.probabilities) - 1
        moves = [
            Move(0, token, 1.0, *((token, 1 + token) if token == self.start_token else (NOTHING, 1 + stop)))
            for token in range(stop)
        ]
        moves += [Move(1 + a, token, 1.0, NOTHING, 1 + a) for a in range(stop + 1) for token in range(stop)]
        for state, row in enumerate(self.probabilities[[stop, *range(stop + 1)]].tolist()):
            moves += [Move(state, END, row[b], b, 1 + b) for b in range(stop)]
            moves.append(Move(state, END, row[stop], NOTHING, HALT))
        return Transducer(stop + 2, [Start(0, 1.0, False)], moves)


class Slip(Channel):
    """Another channel that now and then slips: a slot ignores u and shows a string of its own.

    With a small probability, the same for every slot and learned, the surface is drawn from a
    `TokenBigrams` model instead.  Since that string is not empty, an empty surface still has an
    underlying string of probability 1 - slip alone; and since every string is possible, every sentence has
    a positive probability.

    :param channel: the channel that works otherwise.
    :param bigrams: what a slip shows.
    :param prior_mean: the mean of the normal prior of the slip's log-odds.
    :param prior_scale: its standard deviation.
    """

    def __init__(
        self, channel: Channel, bigrams: TokenBigrams, prior_mean: float = -7.0, prior_scale: float = 1.0
    ) -> None:
        super().__init__(channel.num_tokens, channel.direction)
        self.channel, self.bigrams = channel, bigrams
        # a tensor when read
        self.slip_logit: Any = PyroSample(dist.Normal(torch.tensor(prior_mean), prior_scale))

    def weights(self) -> Tensor:
        """The other channel's weights, the same times 1 - slip, slip, and 1."""
        weights = self.channel.weights().to(self.slip_logit.device)
        slip = self.slip_logit.sigmoid().unsqueeze(-1)
        parts = [weights, weights * (1 - slip), slip, torch.ones_like(slip)]
        batch = torch.broadcast_shapes(*(part.shape[:-1] for part in parts))
        return torch.cat([part.expand(*batch, -1) for part in parts], -1)

    def edit_table(self) -> Tensor | None:
        """The other channel's edits."""
        return self.channel.edit_table()

    def edit_counts(self, counts: Tensor) -> Tensor | None:
        """Counts of the other channel's edits."""
        plain = (len(counts) - 2) // 2
        return self.channel.edit_counts(counts[:plain] + counts[plain : 2 * plain])

    def page_topology(self, surface: tuple[int, ...], num_weights: int) -> Topology:
        """The other channel's automaton, with one or two states more if the surface is not empty."""
        plain = (num_weights - 2) // 2
        inner = self.channel.page_topology(surface, plain)
        initial = [End(end.state, end.weight + plain, end.factor) for end in inner.initial]
        if not surface:
            return inner._replace(initial=initial)
        slip, one, state = 2 * plain, 2 * plain + 1, inner.num_states
        initial.append(End(state, slip, self.bigrams.probability(surface)))
        start = self.bigrams.start_token
        arcs = list(inner.arcs)
        if surface[0] == start:  # what a slip shows begins with the start token if and only if u does
            arcs.append(Arc(start, state, state + 1, one))
            state += 1
        arcs += [Arc(token, state, state, one) for token in range(self.num_tokens) if token != start]
        return Topology(state + 1, initial, [*inner.final, End(state, one)], arcs)

    def draw(self, underlying: Sequence[int], weights: Tensor) -> list[int]:
        """Draw from the bigram model, seldom, or else from the other channel."""
        plain = (len(weights) - 2) // 2
        if torch.rand(()) < weights[2 * plain]:
            return self.bigrams.sample(bool(underlying) and underlying[0] == self.bigrams.start_token)
        return self.channel.draw(underlying, weights[:plain])

    def transducer(self, weights: Tensor) -> Transducer | None:
        """Either the other channel's machine or that of the bigram model."""
        plain = (len(weights) - 2) // 2
        channel, slip = self.channel.transducer(weights[:plain]), float(weights[2 * plain])
        return channel and mixed([(1 - slip, channel), (slip, self.bigrams.transducer())])
