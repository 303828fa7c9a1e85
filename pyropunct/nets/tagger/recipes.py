"""How a slot tagger is trained: the settings that `train_slot_tagger` can be given."""

from dataclasses import dataclass

from pyropunct.nets.recipes import AveragedRecipe


@dataclass(frozen=True)
class SlotTaggerRecipe(AveragedRecipe):
    """All settings that determine a slot tagger, apart from the parser, the data and the seed.

    :ivar slot_size: features of a slot, from the states of the words on either side of it.
    """

    epochs: int = 8
    least_steps: int = 1200
    batch_words: int = 500
    learning_rate: float = 0.002
    averaging: float = 0.99
    dropout: float = 0.5
    slot_size: int = 200
