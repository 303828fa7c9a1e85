"""The channel that changes nothing."""

from collections.abc import Iterator, Mapping

from torch import Tensor

from pyropunct.inference.machines.moves import END, Move
from pyropunct.models.channel.base import Channel


class Identity(Channel):
    """The channel that changes nothing: the attach-only ablation (Li, Wang & Eisner 2019, section 4)."""

    def weights(self) -> Mapping[str, Tensor]:
        """None: it leaves nothing to chance."""
        return {}

    def moves(self) -> Iterator[Move]:
        """One state, in which it writes what it reads."""
        for token in range(self.num_tokens):
            yield Move("copying", token, written=(token,), target="copying")
        yield Move("copying", END)
