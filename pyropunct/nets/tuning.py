"""Training of a network together with a copy of the encoder whose states it reads."""

from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

from torch import Tensor, nn

from pyropunct.nets.encoder import Encoder, Opened, TunedEncoder
from pyropunct.nets.pretrained import Pretrained, bare
from pyropunct.nets.training import Model, NetworkTraining


class TunedNetwork(nn.Module):
    """A network, and the encoder whose states it reads, which is trained with it.

    :param reading: the network.
    :param encoder: gives the states.
    """

    def __init__(self, reading: nn.Module, encoder: nn.Module) -> None:
        super().__init__()
        self.reading, self.encoder = reading, encoder


class Tuning(NetworkTraining[Model]):
    """What a training has more if its encoder is trained too; mixed into the training of a kind of network.

    :param encoder_rate: the greatest learning rate of the encoder's weights.
    """

    network: TunedNetwork
    best: TunedNetwork
    source: Encoder

    def __init__(self, *arguments: Any, encoder_rate: float, **settings: Any) -> None:
        self.encoder_rate = encoder_rate
        super().__init__(*arguments, **settings)

    def untrained(self) -> TunedNetwork:
        """The network with its first weights, and a copy of the encoder."""
        opened = self.source.open()
        TunedEncoder.of(opened, self.source.place)  # an encoder that cannot be kept is refused now
        return TunedNetwork(super().untrained(), deepcopy(opened.model))

    def groups(self) -> list[tuple[list[nn.Parameter], float]]:
        """The encoder's weights have their own learning rate."""
        parts = (self.network.reading, self.recipe.learning_rate), (self.network.encoder, self.encoder_rate)
        return [(list(part.parameters()), rate) for part, rate in parts]

    def _encoder_of(self, network: TunedNetwork) -> Opened:
        """The encoder with the weights that it has in a network."""
        return replace(self.source.open(), model=network.encoder)

    def with_weights(self, network: TunedNetwork) -> Model:
        """The model of a network, with the encoder as it is now."""
        encoder = TunedEncoder({"size": self.source.size}, {}, self._encoder_of(network))
        model: Any = self.model
        return replace(model, network=network.reading, pretrained=encoder)

    def features(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """(sentences, longest, size) the states of words now: gradients go on into the encoder."""
        return self._encoder_of(self.network).features(sentences)

    def result(self) -> Model:
        """The model and the encoder of the best epoch."""
        model: Any = super().result()
        return replace(model, pretrained=TunedEncoder.of(self._encoder_of(self.best), self.source.place))

    def data(self) -> Iterable[object]:
        """The encoder, its learning rate and the data."""
        return [self.encoder_rate, *super().data()]


def tunable(pretrained: Pretrained | None) -> Encoder:
    """The encoder that gives pretrained features.

    :raises ValueError: if it is none.
    """
    source = bare(pretrained)
    if not isinstance(source, Encoder):
        raise ValueError("there is no encoder that could be trained further")
    return source
