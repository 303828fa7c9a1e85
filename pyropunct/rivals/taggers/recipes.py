"""Settings of the recurrent networks to compare with."""

from dataclasses import dataclass
from math import ceil
from typing import ClassVar

from pyropunct.nets.recipes import Layers, TrainingRecipe


@dataclass(frozen=True)
class RivalRecipe(TrainingRecipe):
    """All settings that determine a rival, apart from its kind, the data and the seed.

    The learning rate is AdamW's at the start; it falls linearly to zero.  Word vectors, the states between
    layers and the final states have the same rate of dropout.

    :ivar word_size: the length of the word vectors.
    :ivar hidden_size: the length of the state of each direction of the recurrent layers.
    :ivar layers: the number of bidirectional recurrent layers.
    :ivar word_dropout: the probability that a form counts as unknown in training.
    :ivar weight_decay: AdamW's.
    :ivar batch_size: the number of sentences in a step.
    :ivar patience: training stops after this many epochs without a gain on dev.  If ``least_steps`` increases
        the number of epochs, the patience grows in proportion.
    """

    second_moment: ClassVar[float] = 0.999
    averaging: ClassVar[float] = 0.0

    epochs: int = 8
    least_steps: int = 1000
    dropout: float = 0.5
    word_size: int = 200
    hidden_size: int = 200
    layers: Layers = 1
    word_dropout: float = 0.2
    weight_decay: float = 0.01
    batch_size: int = 32
    patience: int = 3

    def planned_epochs(self, sentences: int) -> int:
        """The greatest number of epochs for a number of training sentences."""
        return max(self.epochs, ceil(self.least_steps / ceil(sentences / self.batch_size)))

    def planned_patience(self, sentences: int) -> int:
        """The number of epochs without a gain that ends training, for a number of training sentences."""
        return ceil(self.patience * self.planned_epochs(sentences) / self.epochs)
