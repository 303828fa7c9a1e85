"""How a parser is trained: the settings that `train_parser` can be given."""

from dataclasses import dataclass

from pyropunct.nets.recipes import NetworkRecipe


@dataclass(frozen=True)
class ParserRecipe(NetworkRecipe):
    """All settings that determine a parser, apart from the data and the seed.

    :ivar tag_size: features of the distribution of a word's tags.
    :ivar lower_layers: layers of LSTMs under the tags.
    :ivar upper_layers: layers between tags and tree.
    :ivar arc_size: features of a word as a head or a dependent, to find arcs.
    :ivar relation_size: the same, to find the relation of an arc.
    :ivar tag_weight: the weight of the tags in the training loss.
    """

    tag_size: int = 64
    lower_layers: int = 1
    upper_layers: int = 1
    arc_size: int = 256
    relation_size: int = 64
    tag_weight: float = 0.5
