"""What was learned, as tables for people or programs or as JSON, with places in sentences as examples."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pyropunct.cli import console
from pyropunct.limits import Help, Range

if TYPE_CHECKING:
    from pyropunct.compare.table import Table
    from pyropunct.punctuator import Punctuator
    from pyropunct.tasks.explain.examples import Example
    from pyropunct.treebank.sentence import Sentence

    Found = Mapping[Any, Sequence[Example]]

TableFormat = Annotated[
    Literal["table", "markdown", "latex", "tsv", "csv", "json"],
    Help("A table for people, or all digits for programs: values separated by tabs or commas, or JSON."),
]
Examples = Annotated[
    int,
    Range(0),
    Help("Show so many places in FILE for each, according to the best underlying trees."),
]

EXAMPLE = ("sentence", "before", "place", "after")
"""The columns of an example for programs."""


def examples_of(
    find: "Callable[..., Found]", model: "Punctuator", sentences: "Sequence[Sentence]", most: int
) -> "Found | None":
    """At most so many examples for each key; None if that is 0.

    :param find: such as `pyropunct.tasks.explain.examples.rule_examples`.
    """
    if not most:
        return None
    with console.sentence_bar("examples", len(sentences)) as advance:
        return find(model, sentences, most, advance)


class Learned(NamedTuple):
    """Something that was learned, and is shown in a row for programs.

    :ivar key: its key among the examples.
    :ivar title: the line above its examples.
    :ivar expected: the expected number of places in the sentences.
    :ivar cells: its row.
    """

    key: Hashable
    title: str
    expected: float
    cells: tuple[Any, ...]

    @property
    def occurs(self) -> bool:
        """Whether it is expected once, or nearly."""
        from pyropunct.tasks.explain.rules import OCCURRING

        return self.expected >= OCCURRING


class Report(NamedTuple):
    """All that was learned.

    :ivar columns: of the table for programs.
    :ivar learned: its rows.
    :ivar whole: everything in plain JSON types.
    :ivar parts: the part of it that is about each row.
    :ivar tables: tables for people, and lines between them.
    :ivar prominent: what people see examples of.
    """

    columns: Sequence[str]
    learned: Sequence[Learned]
    whole: dict[str, Any]
    parts: Sequence[dict[str, Any]]
    tables: "Sequence[Table[Any] | str]"
    prominent: Sequence[Learned]

    def show(self, form: str, examples: "Found | None") -> None:
        """Print it.

        :param examples: by their keys; None if they are not wanted.
        """
        found: Found = {} if examples is None else examples
        if form == "json":
            for one, part in zip(self.learned, self.parts, strict=True) if examples is not None else ():
                part["examples"] = [example.to_json() for example in found.get(one.key, ())]
            console.print_json(self.whole)
        elif form == "table":
            for table in self.tables:
                console.say(table) if isinstance(table, str) else console.show_table(table)
            for one in self.prominent if examples is not None else ():
                _say_examples(one, found.get(one.key, ()))
        elif form in ("markdown", "latex"):
            written = (table.written(form) for table in self.tables if not isinstance(table, str))
            print("\n".join(written), end="")
        else:
            from pyropunct.compare.table import cells_table

            titles = self.columns if examples is None else (*self.columns, *EXAMPLE)
            nowhere = [(None,) * len(EXAMPLE)]
            rows = [(*one.cells, *place) for one in self.learned for place in found.get(one.key) or nowhere]
            print(cells_table("", dict.fromkeys(titles), rows).written(form), end="")


def _say_examples(one: Learned, examples: "Sequence[Example]") -> None:
    """Print a title and a line for each example; nothing without examples if none is expected."""
    if examples or one.occurs:
        console.say()
        console.say(one.title if examples else f"{one.title}: nowhere in the best underlying trees")
    for example in examples:
        console.say(f"  {example.identifier}: {example.text}")
