"""The settings that all networks have, and those of all that begin with words."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import ceil
from typing import Any, Self

from pyropunct.files import numbers_like


@dataclass(frozen=True)
class TrainingRecipe:
    """How a network is trained.

    :ivar epochs: the number of passes over the training treebank, unless ``least_steps`` needs more.
    :ivar least_steps: small treebanks get as many epochs as this number of steps takes.
    :ivar batch_words: the number of words in a step, exceeded by less than a sentence or a window.
    :ivar learning_rate: Adam's greatest learning rate.
    :ivar second_moment: Adam's beta_2.
    :ivar warm_up: the share of training in which the learning rate rises; then it falls to zero.
    :ivar averaging: a in the moving average of the weights, a average + (1 - a) weights at each step.
    :ivar dropout: the share of features that a training sentence or window loses, at every layer.
    """

    epochs: int = 12
    least_steps: int = 3000
    batch_words: int = 300
    learning_rate: float = 0.003
    second_moment: float = 0.95
    warm_up: float = 0.05
    averaging: float = 0.995
    dropout: float = 0.33

    def planned_epochs(self, words: int) -> int:
        """How many epochs a training treebank of so many words is trained for."""
        return max(self.epochs, ceil(self.least_steps * self.batch_words / words))

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary, from which `from_json` makes an equal recipe."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """The recipe that `to_json` wrote.

        :raises ValueError: if it is none.
        """
        return cls(**numbers_like(asdict(cls()), plain))


@dataclass(frozen=True)
class NetworkRecipe(TrainingRecipe):
    """How a network over words is trained, and how it sees them.

    :ivar form_count: lower-cased words that are rarer in training are known only by their spelling.
    :ivar form_size: features of a word as a whole.
    :ivar character_size: features of a character.
    :ivar spelling_size: features of a word from its characters.
    :ivar lstm_size: features of a word in its context, of each direction.
    :ivar word_dropout: the share of words in training that are shown only by their spelling.
    """

    form_count: int = 2
    form_size: int = 100
    character_size: int = 32
    spelling_size: int = 128
    lstm_size: int = 200
    word_dropout: float = 0.2
