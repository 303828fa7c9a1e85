"""A window of two tokens that slides over the underlying string (Li, Wang & Eisner 2019, section 2.2)."""

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
from pyropunct.models.channel.base import Channel


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
        return self.edit_logits.softmax(-1)
