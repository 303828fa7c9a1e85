"""A channel that stays close to another channel, for learning from few examples."""

from torch import Tensor

from pyropunct.models.channel.window import SlidingWindow


class CentredWindow(SlidingWindow):
    """A `SlidingWindow` whose logits have a normal prior around given logits.

    In correction, they are those of the channel of correct text (Li, Wang & Eisner 2019, section 6.2).
    """

    _prior_mean: Tensor

    def centre(self, logits: Tensor) -> None:
        """Set the prior's mean to (tokens, tokens, 4) logits of a `SlidingWindow` of the same direction.

        :raises ValueError: if the shape differs.
        """
        if logits.shape != self._prior_mean.shape:
            wanted, given = tuple(self._prior_mean.shape), tuple(logits.shape)
            raise ValueError(f"the logits of this channel have the shape {wanted}, not {given}")
        self._prior_mean.copy_(logits)
