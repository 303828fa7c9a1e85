"""What can be chosen about a comparison."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from pyropunct.baselines.recipes import TaggerRecipe
from pyropunct.comparison.significance import PERMUTATIONS
from pyropunct.comparison.systems import SYSTEMS
from pyropunct.parsing import ParserRecipe
from pyropunct.restore.decoders import DECODERS
from pyropunct.restore.restoring import SAMPLES, TREES
from pyropunct.training.recipes import Recipe

QUICK_SAMPLES = 50
"""Draws for each sentence when it is only to be seen whether everything works."""

DECIDE_TRAINING = ("recipe", "tagger_recipe", "parser_recipe", "seed", "device")
"""The settings that decide what the trained parts are; with other settings they can be used again."""


@dataclass(frozen=True)
class Settings:
    """Everything that decides a comparison beside the data and the number of threads.

    :ivar systems: which of `pyropunct.comparison.systems.SYSTEMS`; they are taken in the order of these.
    :ivar shares: on how many percent of the training sentences, from the first on, parsers are trained; the
        tables have the results with the last parser.
    :ivar decoder: one of `pyropunct.restore.decoders.DECODERS`, for the systems that draw.
    :ivar samples: their draws for each sentence.
    :ivar trees: trees of the parser to average over.
    :ivar permutations: of the significance tests.
    :ivar recipe: of the models of latent punctuation.
    :ivar tagger_recipe: of the taggers.
    :ivar parser_recipe: of the parsers.
    :ivar seed: equal seeds give equal results, on the same machine with the same number of threads.
    :ivar device: where models and taggers are trained, as torch names it.
    :raises ValueError: if one of them makes no sense; the message is one line.
    """

    systems: tuple[str, ...] = tuple(SYSTEMS)
    shares: tuple[int, ...] = (100,)
    decoder: str = "mbr"
    samples: int = SAMPLES
    trees: int = TREES
    permutations: int = PERMUTATIONS
    recipe: Recipe = field(default_factory=Recipe)
    tagger_recipe: TaggerRecipe = field(default_factory=TaggerRecipe)
    parser_recipe: ParserRecipe = field(default_factory=ParserRecipe)
    seed: int = 0
    device: str = "cpu"

    def __post_init__(self) -> None:
        unknown = sorted(set(self.systems) - set(SYSTEMS))
        if unknown or not self.systems:
            raise ValueError(f"systems are some of {','.join(SYSTEMS)}, not {','.join(unknown) or 'none'}")
        if not self.shares or not all(0 < share <= 100 for share in self.shares):
            given = ",".join(map(str, self.shares)) or "none"
            raise ValueError(f"shares are percents from 1 to 100, not {given}")
        if self.decoder not in DECODERS:
            raise ValueError(f"no decoder is called {self.decoder!r}: take {', '.join(DECODERS)}")
        for name in ("samples", "trees", "permutations"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}: it must be 1 or more")
        ordered = tuple(name for name in SYSTEMS if name in self.systems)
        object.__setattr__(self, "systems", ordered)
        object.__setattr__(self, "shares", tuple(sorted(set(self.shares))))

    def quick(self) -> "Settings":
        """The same with one epoch of everything and 50 draws: to see that it works."""
        return replace(
            self,
            samples=QUICK_SAMPLES,
            recipe=replace(self.recipe, epochs=1),
            tagger_recipe=replace(self.tagger_recipe, epochs=1, least_steps=0),
            parser_recipe=replace(self.parser_recipe, epochs=1, least_steps=0),
        )

    def to_json(self) -> dict[str, Any]:
        """A dictionary of plain JSON types."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain

    def differences(self, others: Mapping[str, Any]) -> list[str]:
        """The names of those settings that decide training and are not the same.

        :param others: what `to_json` gave.
        """
        own = self.to_json()
        return [name for name in DECIDE_TRAINING if own[name] != others.get(name)]
