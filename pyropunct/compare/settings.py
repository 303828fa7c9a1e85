"""The settings that every experiment has, and how lists of them are written."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from pyropunct.errors import SettingError
from pyropunct.limits import Count, NamesIn, Seed, forbidden


@dataclass(frozen=True, kw_only=True)
class ExperimentSettings:
    """The settings of an experiment.

    :ivar permutations: permutations in each significance test.
    :ivar seed: equal seeds give equal results, on the same machine with the same number of threads.
    :cvar TRAINING: the names of the settings that affect training; if only others change, trained parts are
        reused.
    :raises SettingError: if a number is out of its bounds; the message is one line.
    """

    permutations: Count = 10_000
    seed: Seed = 0
    TRAINING: ClassVar[tuple[str, ...]] = ("seed",)

    def __post_init__(self) -> None:
        if problem := forbidden(self):
            raise SettingError(problem)

    @property
    def tests(self) -> tuple[int, int]:
        """The number of permutations of each significance test, and their seed."""
        return self.permutations, self.seed

    def to_json(self) -> dict[str, Any]:
        """A dictionary of plain JSON types."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain


def names_of(registry: str, kind: str) -> Callable[[str], tuple[str, ...]]:
    """A reader of names separated by commas, for an option; ``kind`` is for messages.

    :param registry: ``module:NAME`` of the collection of all names; the module is imported when needed.
    """

    def names(text: str) -> tuple[str, ...]:
        return chosen(text.split(","), NamesIn(registry).names, kind)

    return names


def chosen(names: "list[str] | tuple[str, ...]", known: tuple[str, ...], kind: str) -> tuple[str, ...]:
    """The names without duplicates. Raises SettingError if a name is unknown, or there is no name."""
    for name in names or ("",):
        if name not in known:
            raise SettingError(f"there is no {kind} {name!r}; there are {', '.join(known)}")
    return tuple(dict.fromkeys(names))


def numbers_to(most: int, kind: str) -> Callable[[str], tuple[int, ...]]:
    """A function that reads distinct whole numbers from 1 to ``most``, separated by commas."""

    def numbers(text: str) -> tuple[int, ...]:
        items = text.split(",")
        if not all(item.isdecimal() and 1 <= int(item) <= most for item in items):
            raise SettingError(f"give {kind} from 1 to {most} with commas between them, not {text!r}")
        return tuple(dict.fromkeys(map(int, items)))

    return numbers
