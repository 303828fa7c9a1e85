"""Tables for people or programs, and places in sentences as examples."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pyropunct.cli import console
from pyropunct.limits import Help, Range

if TYPE_CHECKING:
    from pyropunct.compare.table import Column
    from pyropunct.tasks.explain.examples import Example

TableFormat = Annotated[
    Literal["table", "tsv", "csv", "json"],
    Help("A table for people, or all digits for programs: values separated by tabs or commas, or JSON."),
]
Examples = Annotated[
    int,
    Range(0),
    Help("Show so many places in FILE for each, according to the best underlying trees."),
]


def say_examples(title: str, expected: float, examples: "Sequence[Example]") -> None:
    """Print a title and a line for each example; nothing without examples if none is expected.

    :param expected: the expected number of places in the sentences.
    """
    if not examples and not occurs(expected):
        return
    console.say()
    console.say(title if examples else f"{title}: nowhere in the best underlying trees")
    for example in examples:
        console.say(f"  {example.identifier}: {example.text}")


def occurs(expected: float) -> bool:
    """Whether something is expected once, or nearly."""
    from pyropunct.tasks.explain.rules import OCCURRING

    return expected >= OCCURRING


def with_examples(examples: "Sequence[Example] | None") -> "Sequence[Example | None]":
    """The examples of a row, each of which gets a row; None without any."""
    return examples or (None,)


def example_columns() -> "list[Column[Any]]":
    """The columns of an example for programs, which is the last part of a row: its text is in three parts."""
    from pyropunct.compare.table import Column

    def column(key: str, name: str) -> "Column[Any]":
        return Column(key, key, lambda row: getattr(row[-1], name, None))

    return [column("sentence", "identifier"), *(column(part, part) for part in ("before", "place", "after"))]
