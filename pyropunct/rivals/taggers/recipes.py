"""How a tagger is built and trained."""

from dataclasses import asdict, dataclass
from math import ceil
from typing import Any

from pyropunct.files import numbers_like


@dataclass(frozen=True)
class RivalRecipe:
    """All settings that determine a tagger, apart from its kind, the data and the seed.

    :ivar word_size: the length of the word vectors.
    :ivar hidden_size: the length of the state of each direction of the recurrent layers.
    :ivar layers: the number of bidirectional recurrent layers.
    :ivar dropout: the rate for word vectors, for the states between layers, and for the final states.
    :ivar word_dropout: the probability that a form counts as unknown in training.
    :ivar learning_rate: AdamW's at the start; it falls linearly to zero.
    :ivar weight_decay: AdamW's.
    :ivar batch_size: the number of sentences in a step.
    :ivar epochs: the greatest number of passes over the training treebank, unless ``least_steps`` needs more.
    :ivar least_steps: small treebanks get as many epochs as this number of steps takes.
    :ivar patience: training stops after this many epochs without a gain on dev.  If ``least_steps`` increases
        the number of epochs, the patience grows in proportion.
    """

    word_size: int = 200
    hidden_size: int = 200
    layers: int = 1
    dropout: float = 0.5
    word_dropout: float = 0.2
    learning_rate: float = 0.003
    weight_decay: float = 0.01
    batch_size: int = 32
    epochs: int = 8
    least_steps: int = 1000
    patience: int = 3

    def planned_epochs(self, sentences: int) -> int:
        """The greatest number of epochs for a number of training sentences."""
        return max(self.epochs, ceil(self.least_steps / ceil(sentences / self.batch_size)))

    def planned_patience(self, sentences: int) -> int:
        """The number of epochs without a gain that ends training, for a number of training sentences."""
        return ceil(self.patience * self.planned_epochs(sentences) / self.epochs)

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary, from which `from_json` makes an equal recipe."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> "RivalRecipe":
        """The recipe that `to_json` wrote.

        :raises ValueError: if it is none.
        """
        return cls(**numbers_like(asdict(cls()), plain))
