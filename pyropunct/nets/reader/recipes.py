"""How a reader of running text is trained: the settings that `train_reader` can be given."""

from dataclasses import dataclass

from pyropunct.nets.recipes import NetworkRecipe


@dataclass(frozen=True)
class ReaderRecipe(NetworkRecipe):
    """All settings that determine a reader of running text, apart from the data and the seed.

    :ivar layers: layers of LSTMs.
    :ivar window: the words of a window in training.
    :ivar lower_cased: the share of the windows that lose their capital letters.
    :ivar case_weight: the weight of the cases of words in the training loss.
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
    layers: int = 2
    window: int = 100
    lower_cased: float = 0.5
    case_weight: float = 0.5
