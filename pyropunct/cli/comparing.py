"""How the commands that compare systems report: progress, tables, and results for programs."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated

from pyropunct.cli import console
from pyropunct.cli.frame import interrupts
from pyropunct.limits import Help, Placeholder

if TYPE_CHECKING:
    from pyropunct.compare.comparison import Comparison
    from pyropunct.treebank.reading import Treebank

Folder = Annotated[
    str | None,
    Placeholder("DIR"),
    Help(
        "Folder for trained parts and results. After an interruption, the same command continues with them."
    ),
]


def show(
    compare: "Callable[[], Comparison]",
    json: bool,
    folder: str | None = None,
    treebanks: "Iterable[Treebank]" = (),
) -> None:
    """Print the results of a comparison: one JSON object, or tables for people.

    :param compare: compares; after an interruption, the user is told that trained parts are kept.
    :param folder: the folder of the comparison; None if nothing is kept.
    :param treebanks: the treebanks that were read for it.
    """
    try:
        with interrupts():
            comparison = compare()
    except KeyboardInterrupt:
        if folder is None:
            raise
        kept = f": trained parts are kept in {folder}; continue with the same command"
        raise KeyboardInterrupt(kept) from None
    if json:
        console.print_json(comparison.to_json())
        return
    console.describe_treebanks(treebanks)
    for table in comparison.tables:
        console.show_table(table)
    if folder is not None:
        console.say(f"tables and all numbers written to {folder}")
