"""Windows of two tokens that slide over the underlying string (Li, Wang & Eisner 2019, section 2.2)."""

from collections.abc import Iterator, Mapping

import torch
from torch import Tensor

from pyropunct.inference.machines.moves import END, Move
from pyropunct.inference.machines.products import (
    KEEP,
    LEFT_ABSORPTION,
    RIGHT_ABSORPTION,
    TRANSPOSITION,
    TokenEdit,
)
from pyropunct.models.channel.noisy_channel import Channel


class Window(Channel):
    """A window of two tokens that slides over u once; each pair a b in it gets one edit.

    The edit is drawn from phi[a, b]: keep (emit a, the window is b), left absorption (the window is b), right
    absorption (the window is a) or transposition (emit b, the window is a). At the end the window is emitted.
    Subclasses compute phi in `edit_table`. Source: Li, Wang & Eisner (2019, section 2.2).
    """

    def edit_table(self) -> Tensor:
        """(..., tokens, tokens, 4) phi[a, b]: how a on the page before b is edited."""
        raise NotImplementedError

    def weights(self) -> Mapping[str, Tensor]:
        """phi."""
        return {"edit": self.edit_table()}

    def moves(self) -> Iterator[Move]:
        """States: "empty" before anything is read, and a when the window holds a."""
        tokens = range(self.num_tokens)
        yield Move("empty", END)
        for a in tokens:
            yield Move("empty", a, target=a)
            yield Move(a, END, written=(a,))
            for b in tokens:
                yield self._edit(TokenEdit(a, b, KEEP), written=(a,), window=b)
                yield self._edit(TokenEdit(a, b, LEFT_ABSORPTION), written=(), window=b)
                yield self._edit(TokenEdit(a, b, RIGHT_ABSORPTION), written=(), window=a)
                yield self._edit(TokenEdit(a, b, TRANSPOSITION), written=(b,), window=a)

    def _edit(self, edit: TokenEdit, written: tuple[int, ...], window: int) -> Move:
        on_page = edit.mirrored() if self.direction == "right" else edit
        return Move(edit.first, edit.second, (("edit", *on_page),), written, window, edit)


class SlidingWindow(Window):
    """A `Window` with one learned distribution phi[a, b] of the edits of each pair a b.

    :param prior_scale: the standard deviation of the normal prior of the logits of phi.
    :param prior_keep: the mean of that prior for keep; it is zero for the other edits.
    """

    def __init__(
        self, num_tokens: int, direction: str = "left", prior_scale: float = 2.0, prior_keep: float = 0.0
    ) -> None:
        super().__init__(num_tokens, direction)
        mean = torch.zeros(num_tokens, num_tokens, 4)
        mean[..., KEEP] = prior_keep
        self.edit_logits = self.normal_site("_prior_mean", mean, prior_scale)

    def edit_table(self) -> Tensor:
        """(..., tokens, tokens, 4) phi[a, b], see `Window`."""
        return self.edit_logits.double().softmax(-1)


class Strength(Window):
    """A `Window` whose edits follow from one strength of each mark.

    The footnote of the paper proposes V strengths in place of 2 V^2 absorption probabilities. Here a mark a
    has a strength s[a], and a pair a b has logits of keep and transposition::

        phi[a, b] = softmax(keep[a, b], s[b] - s[a], s[a] - s[b], transposition[a, b])

    over keep, left absorption (b stays), right absorption (a stays) and transposition. So the log-odds that b
    absorbs a, rather than a absorbs b, are 2 (s[b] - s[a]), even for unseen pairs. Only differences of
    strengths matter; the prior puts their mean near 0.

    :param prior_scale: the standard deviation of the normal priors of strengths and logits.
    :param prior_keep: the mean of the prior of the logits of keep; it is zero for transposition.
    """

    def __init__(
        self, num_tokens: int, direction: str = "left", prior_scale: float = 2.0, prior_keep: float = 0.0
    ) -> None:
        super().__init__(num_tokens, direction)
        logits = torch.tensor([prior_keep, 0.0]).repeat(num_tokens, num_tokens, 1)
        self.strength = self.normal_site("_prior_strength", torch.zeros(num_tokens), prior_scale)
        self.pair_logits = self.normal_site("_prior_logits", logits, prior_scale)

    def edit_table(self) -> Tensor:
        """(..., tokens, tokens, 4) phi[a, b], see `Strength`."""
        strength = self.strength
        stronger = strength.unsqueeze(-2) - strength.unsqueeze(-1)  # [a, b]: by how much b is
        keep, transposition = self.pair_logits.unbind(-1)
        return torch.stack([keep, stronger, -stronger, transposition], -1).double().softmax(-1)


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
        return (self.all_logits.unsqueeze(-2).unsqueeze(-2) + marks + self.pair_logits).double().softmax(-1)
