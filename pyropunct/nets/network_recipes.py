"""Training settings of networks: those that all share, and those of each kind."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import ceil
from typing import Annotated, Any, ClassVar, Self

from pyropunct.files import numbers_like
from pyropunct.limits import Range, forbidden

Layers = Annotated[int, Range(0, 100)]
"""A network is built layer by layer before its tensors are compared with those of a file."""


@dataclass(frozen=True)
class TrainingRecipe:
    """How long, how fast and with how much noise a network is trained.

    :ivar epochs: passes over the training treebank; more if ``least_steps`` needs more.
    :ivar least_steps: minimum number of steps, for small treebanks.
    :ivar learning_rate: Adam's greatest learning rate.
    :ivar dropout: the share of features dropped in training, at every layer.
    :ivar epoch_words: the words of an epoch; larger training data are subsampled in each epoch.
        0 uses all.
    """

    epochs: int = 12
    least_steps: int = 3000
    learning_rate: float = 0.003
    dropout: float = 0.33
    epoch_words: int = 0

    def words_of_epoch(self, words: int) -> int:
        """The words of an epoch, given those of the training data."""
        return min(words, self.epoch_words or words)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """:raises ValueError: if a setting is not a number of the right type, or out of bounds."""
        usual = asdict(cls())
        recipe = cls(**numbers_like(usual, {**usual, **plain}))
        if problem := forbidden(recipe):
            raise ValueError(f"the setting {problem}")
        return recipe


@dataclass(frozen=True)
class AveragedRecipe(TrainingRecipe):
    """How a network with averaged weights is trained; dropout is shared within a sentence.

    :ivar batch_words: words in a step, exceeded by less than a sentence or a window.
    :ivar second_moment: Adam's beta_2.
    :ivar warm_up: the share of training in which the learning rate rises; then it falls to zero.
    :ivar averaging: a in the moving average of the weights, a average + (1 - a) weights at each step.
    :cvar weight_decay: AdamW's.
    """

    batch_words: int = 300
    second_moment: float = 0.95
    warm_up: float = 0.05
    averaging: float = 0.995
    weight_decay: ClassVar[float] = 0.0

    def planned_epochs(self, words: int) -> int:
        """The number of epochs, given the words of each."""
        return max(self.epochs, ceil(self.least_steps * self.batch_words / words))


@dataclass(frozen=True)
class NetworkRecipe(AveragedRecipe):
    """How a network over words is trained, and how it sees them.

    :ivar form_count: lower-cased words with fewer occurrences are known only by their spelling.
    :ivar form_size: features of a word as a whole.
    :ivar character_size: features of a character.
    :ivar spelling_size: features of a word from its characters.
    :ivar lstm_size: features of a word in context, in each direction.
    :ivar word_dropout: the share of words in training that are shown only by their spelling.
    """

    form_count: int = 2
    form_size: int = 100
    character_size: int = 32
    spelling_size: int = 128
    lstm_size: int = 200
    word_dropout: float = 0.2


@dataclass(frozen=True)
class ParserRecipe(NetworkRecipe):
    """All settings of a parser, apart from the data and the seed.

    :ivar tag_size: features of the distribution of a word's tags.
    :ivar lower_layers: layers of LSTMs below the tags.
    :ivar upper_layers: layers between tags and tree.
    :ivar arc_size: features of a word as a head or a dependent, for arcs.
    :ivar relation_size: the same, for relations.
    :ivar tag_weight: the weight of the tags in the training loss.
    """

    tag_size: int = 64
    lower_layers: Layers = 1
    upper_layers: Layers = 1
    arc_size: int = 256
    relation_size: int = 64
    tag_weight: float = 0.5


@dataclass(frozen=True)
class ReaderRecipe(NetworkRecipe):
    """All settings of a reader of running text, apart from the data and the seed.

    :ivar layers: layers of LSTMs.
    :ivar window: the words of a window in training.
    :ivar lower_cased: the share of the windows that are lower-cased.
    :ivar case_weight: the weight of case in the training loss.
    """

    epochs: int = 10
    least_steps: int = 400
    batch_words: int = 1000
    learning_rate: float = 0.004
    averaging: float = 0.99
    form_count: int = 3
    form_size: int = 48
    character_size: int = 24
    spelling_size: int = 64
    lstm_size: int = 96
    dropout: float = 0.25
    layers: Layers = 2
    window: int = 100
    lower_cased: float = 0.5
    case_weight: float = 0.5


@dataclass(frozen=True)
class SlotTaggerRecipe(AveragedRecipe):
    """All settings of a slot tagger, apart from the parser, the data and the seed.

    :ivar slot_size: features of a slot, from the states of the words on either side.
    """

    epochs: int = 8
    least_steps: int = 1200
    batch_words: int = 500
    learning_rate: float = 0.002
    averaging: float = 0.99
    dropout: float = 0.5
    slot_size: int = 200
