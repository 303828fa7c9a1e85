"""The conditions under which every system of a comparison is trained and used."""

from dataclasses import dataclass, field
from functools import lru_cache

from pyropunct.fitted.recipes import Recipe
from pyropunct.nets.encoder import Encoder
from pyropunct.nets.parser import FOLDS, ParserRecipe
from pyropunct.nets.pretrained import Kept
from pyropunct.nets.tagger.recipes import SlotTaggerRecipe
from pyropunct.restore.decoders import DECODERS
from pyropunct.restore.settings import DecisionSettings
from pyropunct.rivals.taggers.recipes import RivalRecipe


@dataclass(frozen=True)
class Conditions:
    """The settings that are the same for all systems.

    :ivar decoder: one of `pyropunct.restore.decoders.DECODERS`, for the systems that draw.
    :ivar samples: the number of their draws for each sentence.
    :ivar trees: the greatest number of a parser's trees to average over.
    :ivar recipe: the settings of the models of latent punctuation.
    :ivar rival_recipe: the settings of the recurrent rivals.
    :ivar parser_recipe: the settings of the parsers.
    :ivar slot_tagger_recipe: the settings of the tagger that is mixed with the model.
    :ivar folds: in how many folds the training sentences are parsed, so that systems with trees are also
        trained on trees as a parser finds them; 0 to train them on gold trees alone.
    :ivar seed: equal seeds give equal results, on the same machine with the same number of threads.
    :ivar encoder: the place of a pretrained encoder whose features parsers and taggers read, and attach
        models that read such: see `pyropunct.nets.encoder.Encoder`; None for none.
    :ivar device: where models and taggers are trained, as torch names it.
    :raises ValueError: if one of them is invalid; the message is one line.
    """

    decoder: str = "mbr"
    samples: int = DecisionSettings.samples
    trees: int = DecisionSettings.trees
    recipe: Recipe = field(default_factory=Recipe)
    rival_recipe: RivalRecipe = field(default_factory=RivalRecipe)
    parser_recipe: ParserRecipe = field(default_factory=ParserRecipe)
    slot_tagger_recipe: SlotTaggerRecipe = field(default_factory=SlotTaggerRecipe)
    folds: int = FOLDS
    seed: int = 0
    device: str = "cpu"
    encoder: str | None = None

    def __post_init__(self) -> None:
        if self.decoder not in DECODERS:
            raise ValueError(f"no decoder is called {self.decoder!r}: take {', '.join(DECODERS)}")
        for name in ("samples", "trees"):
            require_positive(name, getattr(self, name))
        if self.folds < 0 or self.folds == 1:
            raise ValueError(f"folds are two or more, or 0 for none, not {self.folds}")

    @property
    def pretrained(self) -> Kept | None:
        """The encoder, whose features are kept; it is opened.

        :raises PretrainedError: if it cannot be.
        """
        return None if self.encoder is None else _opened(self.encoder)

    def require_encoder(self) -> None:
        """Open the encoder, if there is to be one.

        :raises PretrainedError: if it cannot be opened.
        """
        _ = self.pretrained


@lru_cache(1)
def _opened(place: str) -> Kept:
    encoder = Encoder(place)
    encoder.open()
    return Kept(encoder)


def require_positive(name: str, value: int) -> None:
    """Refuse a setting that must be 1 or more.

    :raises ValueError: if it is less.
    """
    if value < 1:
        raise ValueError(f"{name} is {value}: it must be 1 or more")
