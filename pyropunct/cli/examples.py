"""Showing places in sentences as examples."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyropunct.cli import console

if TYPE_CHECKING:
    from pyropunct.tasks.explain.examples import Example

EXAMPLE_COLUMNS = ("sentence", "before", "place", "after")
"""Of an example in output for programs: the identifier, and the text in three parts."""


def say_examples(title: str, expected: float, examples: "Sequence[Example]") -> None:
    """Print a title and a line for each example; nothing of what is not expected, and is nowhere.

    :param expected: how often it is expected in the sentences.
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


def example_rows(row: Sequence[Any], examples: "Sequence[Example] | None") -> Iterator[list[Any]]:
    """The row once for each example, with the columns of the example, which are empty where there is none.

    :param examples: None if they are not wanted: then there are no such columns.
    """
    if examples is None:
        yield list(row)
        return
    for example in examples:
        yield [*row, *example]
    if not examples:
        yield [*row, *[None] * len(EXAMPLE_COLUMNS)]
