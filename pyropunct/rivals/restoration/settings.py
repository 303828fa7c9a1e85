"""What can be chosen about a comparison."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from pyropunct.compare.significance import PERMUTATIONS
from pyropunct.rivals.restoration.conditions import Conditions, require_positive
from pyropunct.rivals.restoration.systems import SYSTEMS

QUICK_SAMPLES = 50
"""Draws for each sentence in a quick run that only checks whether everything works."""

DECIDE_TRAINING = (
    "recipe",
    "rival_recipe",
    "parser_recipe",
    "slot_tagger_recipe",
    "folds",
    "device",
    "encoder",
)
"""The settings that training depends on, apart from the seed, by which trained parts are named.

They can be used again if only other settings change.
"""


@dataclass(frozen=True)
class Settings(Conditions):
    """All settings that determine a comparison, apart from the data and the number of threads.

    :ivar systems: which of `pyropunct.rivals.restoration.systems.SYSTEMS` to compare, always in the order
        of these.
    :ivar shares: for each parser the percentage of the training sentences, from the first on, that it is
        trained on; the tables have the results with the last parser.
    :ivar permutations: the number of permutations in each significance test.
    :ivar seeds: everything is trained and measured with so many seeds, from ``seed`` on.
    :raises ValueError: if one of them is invalid; the message is one line.
    """

    systems: tuple[str, ...] = tuple(SYSTEMS)
    shares: tuple[int, ...] = (100,)
    permutations: int = PERMUTATIONS
    seeds: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        unknown = sorted(set(self.systems) - set(SYSTEMS))
        if unknown or not self.systems:
            raise ValueError(f"systems are some of {','.join(SYSTEMS)}, not {','.join(unknown) or 'none'}")
        if not self.shares or not all(0 < share <= 100 for share in self.shares):
            given = ",".join(map(str, self.shares)) or "none"
            raise ValueError(f"shares are percents from 1 to 100, not {given}")
        for name in ("permutations", "seeds"):
            require_positive(name, getattr(self, name))
        ordered = tuple(name for name in SYSTEMS if name in self.systems)
        object.__setattr__(self, "systems", ordered)
        object.__setattr__(self, "shares", tuple(sorted(set(self.shares))))

    def of_each_seed(self) -> "list[Settings]":
        """The settings of each run, with its own seed."""
        return [replace(self, seed=self.seed + number, seeds=1) for number in range(self.seeds)]

    def quick(self) -> "Settings":
        """The same settings with one epoch of everything and 50 draws, to check that everything works."""
        return replace(
            self,
            samples=QUICK_SAMPLES,
            recipe=replace(self.recipe, epochs=1),
            rival_recipe=replace(self.rival_recipe, epochs=1, least_steps=0),
            parser_recipe=replace(self.parser_recipe, epochs=1, least_steps=0),
            slot_tagger_recipe=replace(self.slot_tagger_recipe, epochs=1, least_steps=0),
        )

    def to_json(self) -> dict[str, Any]:
        """A dictionary of plain JSON types."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain

    def differences(self, others: Mapping[str, Any]) -> list[str]:
        """The names of the settings in `DECIDE_TRAINING` that differ.

        :param others: other settings, as `to_json` gives them.
        """
        own = self.to_json()
        return [name for name in DECIDE_TRAINING if own[name] != others.get(name)]
