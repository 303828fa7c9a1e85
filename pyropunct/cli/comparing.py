"""What the commands that compare systems have in common."""

from collections.abc import Container, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from pyropunct.cli import console
from pyropunct.cli.frame import BAD_INPUT, OneLineError

if TYPE_CHECKING:
    from torch import Tensor

    from pyropunct.treebank.reading import Treebank

# Modules that need torch are imported inside the functions, so that --help answers at once.


class Compared(Protocol):
    """What a comparison has found."""

    def table(self) -> tuple[list[str], list[list[str]]]:
        """The header and the rows of its table."""

    def notes(self) -> list[str]:
        """How to read the table."""

    def to_json(self) -> dict[str, Any]:
        """All numbers."""


class Trained(Protocol):
    """A system that can be saved."""

    def to_parts(self) -> "tuple[dict[str, Any], dict[str, Tensor]]":
        """What is written to its folder."""


def systems_option(example: str) -> Any:
    """The option for the names of systems, for `pyropunct.cli.options.chosen_names`."""
    return click.option(
        "--systems", help=f"Compare only these, such as {example}; an unknown name lists all."
    )


def chosen_numbers(given: str, option: str, what: str, most: int, example: str) -> tuple[int, ...]:
    """The numbers in an option, each once.

    :param given: numbers with commas between them.
    :param option: what it is called, without dashes.
    :param what: what they are.
    :raises OneLineError: if one is not from 1 to ``most``.
    """
    numbers = given.split(",")
    if not all(number.isdecimal() and 1 <= int(number) <= most for number in numbers):
        raise OneLineError(f"--{option} {given}: give {what} from 1 to {most}, such as {example}", BAD_INPUT)
    return tuple(dict.fromkeys(map(int, numbers)))


def aligned(header: Sequence[str], left: Container[int]) -> list[str]:
    """The header of a table for `console.print_table`: a space before a name aligns its column on the left.

    :param left: the numbers of these columns.
    """
    return [f" {name}" if number in left else name for number, name in enumerate(header)]


def show_comparison(
    comparison: Compared, title: str, left: Container[int], treebanks: "Iterable[Treebank]" = ()
) -> None:
    """Print what a comparison has found as a table for people.

    :param left: the numbers of columns of words.
    :param treebanks: what was read for it.
    """
    for treebank in treebanks:
        for line in console.describe_treebank(treebank):
            console.say(line)
    header, rows = comparison.table()
    console.print_table(title, aligned(header, left), rows)
    for line in comparison.notes():
        console.say(line)


def check_folders(out: str | None, names: Iterable[str]) -> None:
    """Make sure, before anything is trained, that systems can be saved in folders of ``out``.

    :raises ModelFileError: if one cannot.
    """
    from pyropunct.fitted.model_file import check_writable

    if out is not None:
        for name in names:
            check_writable(Path(out) / name)


def save_system(out: str | None, name: str, system: Trained) -> None:
    """Save a system in a folder of ``out``, if it is to be saved."""
    from pyropunct.fitted.model_file import write_model_file

    if out is not None:
        write_model_file(Path(out) / name, *system.to_parts())
