"""How a tagger is built and trained."""

from dataclasses import asdict, dataclass, fields
from math import ceil
from typing import Any


@dataclass(frozen=True)
class TaggerRecipe:
    """Everything that decides a tagger beside its kind, the data and the seed.

    :ivar word_size: the length of the word vectors.
    :ivar hidden_size: the state of each direction of the recurrent layers.
    :ivar layers: bidirectional recurrent layers.
    :ivar dropout: of word vectors, of the states between layers, and of the states behind them.
    :ivar word_dropout: how often a form counts as unknown in training.
    :ivar learning_rate: of AdamW at the start; it falls to zero in a straight line.
    :ivar weight_decay: of AdamW.
    :ivar batch_size: sentences in a step.
    :ivar epochs: passes over the training treebank, at most, or more:
    :ivar least_steps: as many as this number of steps takes, which matters for small treebanks.
    :ivar patience: training stops after so many of these epochs, or the same share of more of them, without a
        gain on dev.
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
        """How many epochs there are at most, with so many training sentences."""
        return max(self.epochs, ceil(self.least_steps / ceil(sentences / self.batch_size)))

    def planned_patience(self, sentences: int) -> int:
        """After how many epochs without a gain training stops, with so many training sentences."""
        return ceil(self.patience * self.planned_epochs(sentences) / self.epochs)

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary, from which `from_json` makes an equal recipe."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> "TaggerRecipe":
        """The recipe that `to_json` wrote."""
        return cls(**{field.name: plain[field.name] for field in fields(cls)})
