"""What can be chosen about a comparison."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from pyropunct.comparison.conditions import Conditions, require_positive
from pyropunct.comparison.significance import PERMUTATIONS
from pyropunct.comparison.systems import SYSTEMS

QUICK_SAMPLES = 50
"""Draws for each sentence when it is only to be seen whether everything works."""

DECIDE_TRAINING = ("recipe", "tagger_recipe", "parser_recipe", "seed", "device")
"""The settings that decide what the trained parts are; with other settings they can be used again."""


@dataclass(frozen=True)
class Settings(Conditions):
    """Everything that decides a comparison beside the data and the number of threads.

    :ivar systems: which of `pyropunct.comparison.systems.SYSTEMS`; they are taken in the order of these.
    :ivar shares: on how many percent of the training sentences, from the first on, parsers are trained; the
        tables have the results with the last parser.
    :ivar permutations: of the significance tests.
    :raises ValueError: if one of them makes no sense; the message is one line.
    """

    systems: tuple[str, ...] = tuple(SYSTEMS)
    shares: tuple[int, ...] = (100,)
    permutations: int = PERMUTATIONS

    def __post_init__(self) -> None:
        super().__post_init__()
        unknown = sorted(set(self.systems) - set(SYSTEMS))
        if unknown or not self.systems:
            raise ValueError(f"systems are some of {','.join(SYSTEMS)}, not {','.join(unknown) or 'none'}")
        if not self.shares or not all(0 < share <= 100 for share in self.shares):
            given = ",".join(map(str, self.shares)) or "none"
            raise ValueError(f"shares are percents from 1 to 100, not {given}")
        require_positive("permutations", self.permutations)
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
