"""The settings and recipes with which all systems of a comparison are trained and used."""

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import ClassVar, Self

from pyropunct.errors import SettingError
from pyropunct.fitted.recipes import Recipe
from pyropunct.nets.encoder import Encoder
from pyropunct.nets.pretrained import Kept
from pyropunct.nets.recipes import ParserRecipe, SlotTaggerRecipe
from pyropunct.restore.decoders import DECODERS
from pyropunct.rivals.settings import RestorationSettings
from pyropunct.rivals.taggers.words import RivalRecipe

QUICK_SAMPLES = 50
"""The most draws for each sentence in a quick run that only checks whether everything works."""


@dataclass(frozen=True, kw_only=True)
class Conditions(RestorationSettings):
    """The settings of a comparison, and the recipes of everything that is trained.

    :ivar recipe: of the models of latent punctuation; ``rival_recipe``, of the taggers of words.
    :ivar slot_tagger_recipe: of the tagger that is mixed with the model.
    """

    recipe: Recipe = field(default_factory=Recipe)
    rival_recipe: RivalRecipe = field(default_factory=RivalRecipe)
    parser_recipe: ParserRecipe = field(default_factory=ParserRecipe)
    slot_tagger_recipe: SlotTaggerRecipe = field(default_factory=SlotTaggerRecipe)
    TRAINING: ClassVar[tuple[str, ...]] = (
        "recipe",
        "rival_recipe",
        "parser_recipe",
        "slot_tagger_recipe",
        *RestorationSettings.TRAINING,
    )

    def __post_init__(self) -> None:
        if self.decoder not in DECODERS:
            raise SettingError(f"no decoder is called {self.decoder!r}: take {', '.join(DECODERS)}")
        super().__post_init__()

    def quick(self) -> Self:
        """The same with one epoch and at most 50 draws, to check that everything works."""
        return replace(
            self,
            samples=min(self.samples, QUICK_SAMPLES),
            recipe=self.recipe.changed(epochs=1),
            rival_recipe=replace(self.rival_recipe, epochs=1, least_steps=0),
            parser_recipe=replace(self.parser_recipe, epochs=1, least_steps=0),
            slot_tagger_recipe=replace(self.slot_tagger_recipe, epochs=1, least_steps=0),
        )

    @property
    def pretrained(self) -> Kept | None:
        """The encoder, opened once, with its features kept, or None; raises MissingPartError if it fails."""
        return None if self.encoder is None else _opened(self.encoder)


@lru_cache(1)
def _opened(place: str) -> Kept:
    encoder = Encoder(place)
    encoder.open()
    return Kept(encoder)
