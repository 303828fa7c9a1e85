"""The command ``pyropunct relations``."""

from typing import TYPE_CHECKING, Any

from pyropunct.cli import console
from pyropunct.cli.command import command
from pyropunct.cli.examples import (
    Examples,
    TableFormat,
    example_columns,
    occurs,
    say_examples,
    with_examples,
)
from pyropunct.cli.loading import read_file
from pyropunct.cli.options import Json, ModelUse
from pyropunct.cli.outputs import SVG, check_output, write_output
from pyropunct.limits import Count
from pyropunct.treebank.marks import displayed_string

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyropunct.compare.table import Column
    from pyropunct.tasks.explain.examples import Example, Sprouting
    from pyropunct.tasks.explain.relations import PairShare, RelationPunctemes

EMPTY = "ε"

LEGEND = """\
constituents   how many have the relation
bits           entropy of the pair of punctemes
nonempty       share that sprouts anything, in percent
symmetric      share that sprouts the same on both sides, or facing marks
of nonempty    share of symmetric pairs among those that are not empty
left, right    what a constituent sprouts on either side; ε is nothing
share          of the constituents of the relation, in percent
All shares are expectations, given the text.  Rare relations are left out
(--least), and pairs that are not expected once (--pairs lists more of others)."""


@command
def relations(
    model: str,
    file: str,
    *,
    least: Count = 10,
    pairs: Count = 5,
    examples: Examples = 0,
    plot: str | None = None,
    format: TableFormat = "table",
    use: ModelUse,
    json: Json = False,
) -> None:
    """List the punctemes that each relation sprouts in FILE, a CoNLL-U file, according to MODEL.

    Relations are sorted by the share of symmetric punctemes: the same on both sides, or matching brackets or
    quotation marks.  Shares are expectations under p(T' | T, x).

    :param least: leave out relations with fewer constituents.
    :param pairs: puncteme pairs to list for each relation.
    :param plot: SVG file to write a plot to, with a bar for each relation.
    """
    from pyropunct.compare.table import Table
    from pyropunct.tasks.explain.examples import sprouting_examples
    from pyropunct.tasks.explain.relations import relation_punctemes

    check_output(plot, SVG, (model, file))
    punctuator, treebank = use.load(model), read_file(file)
    console.tell_omitted(treebank.path, treebank.omitted)
    with console.sentence_bar("relations", len(treebank)) as advance:
        learned = relation_punctemes(punctuator, list(treebank), least=least, advance=advance)
    places: Mapping[Sprouting, Sequence[Example]] = {}
    if examples:
        with console.sentence_bar("examples", len(treebank)) as advance:
            places = sprouting_examples(punctuator, list(treebank), examples, advance)
    if plot is not None:
        from pyropunct.figures.plots import relations_svg

        write_output(plot, relations_svg(learned))
    if json or format == "json":
        plain = [_plain(relation, pairs, places if examples else None) for relation in learned]
        whole = {"model": model, "file": file, "sentences": len(treebank)}
        omissions = console.plain_omissions(treebank.omitted)
        console.print_json({**whole, **omissions, "relations": plain})
    elif format == "table":
        _tell(learned, pairs)
        for relation in learned if examples else ():
            for pair in relation.pairs[:pairs]:
                title = f"{relation.name}  {pair.text}  {pair.share:.1%} of {relation.count:,}"
                say_examples(title, pair.share * relation.count, _places(relation, pair, places))
    else:
        rows = [
            (relation, pair, rank, example)
            for relation in learned
            for rank, pair in enumerate(relation.pairs[:pairs], 1)
            for example in with_examples(_places(relation, pair, places) if examples else None)
        ]
        columns = [*_columns(), *(example_columns() if examples else ())]
        print(Table("", columns, rows).written(format), end="")


def _places(
    relation: "RelationPunctemes", pair: "PairShare", places: "Mapping[Sprouting, Sequence[Example]]"
) -> "Sequence[Example]":
    return places.get((relation.relation, pair.left, pair.right), ())


def _plain(
    relation: "RelationPunctemes", pairs: int, places: "Mapping[Sprouting, Sequence[Example]] | None"
) -> "dict[str, Any]":
    """A relation in plain JSON types, with examples if they are wanted."""
    plain = relation.to_json(pairs)
    for pair, shown in zip(relation.pairs, () if places is None else plain["pairs"], strict=False):
        shown["examples"] = [example.to_json() for example in _places(relation, pair, places or {})]
    return plain


def _tell(learned: "Sequence[RelationPunctemes]", pairs: int) -> None:
    from pyropunct.compare.table import Column, Table

    whole: list[Column[RelationPunctemes]] = [
        Column("relation", "relation", lambda row: row.name),
        Column("constituents", "constituents", lambda row: row.count),
        Column("entropy", "bits", lambda row: row.entropy, 2),
        Column("nonempty", "nonempty", lambda row: 100 * row.nonempty, 1),
        Column("symmetric", "symmetric", lambda row: 100 * row.symmetric, 1),
        Column("of_nonempty", "of nonempty", lambda row: _percent(row.symmetric_of_nonempty), 1),
    ]
    of_pairs: list[Column[Any]] = [
        Column("relation", "relation", lambda row: row[0].name),
        Column("left", "left", lambda row: displayed_string(row[1].left) or EMPTY),
        Column("right", "right", lambda row: displayed_string(row[1].right) or EMPTY),
        Column("share", "share", lambda row: 100 * row[1].share, 1),
        Column("symmetric", "symmetric", lambda row: "yes" if row[1].is_symmetric else ""),
    ]
    rows = [
        (relation, pair)
        for relation in learned
        for pair in relation.pairs[:pairs]
        if occurs(pair.share * relation.count)
    ]
    console.show_table(Table("What constituents of each relation sprout", whole, learned))
    console.show_table(Table("Their most frequent pairs of punctemes", of_pairs, rows, [LEGEND]))


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _columns() -> "list[Column[Any]]":
    """The columns for programs: a row for each pair, or for each of its examples.  Shares are from 0 to 1."""
    from pyropunct.compare.table import Column

    return [
        Column("relation", "", lambda row: row[0].name),
        Column("constituents", "", lambda row: row[0].count),
        Column("entropy", "", lambda row: row[0].entropy),
        Column("nonempty", "", lambda row: row[0].nonempty),
        Column("symmetric", "", lambda row: row[0].symmetric),
        Column("symmetric_of_nonempty", "", lambda row: row[0].symmetric_of_nonempty),
        Column("rank", "", lambda row: row[2]),
        Column("left", "", lambda row: displayed_string(row[1].left)),
        Column("right", "", lambda row: displayed_string(row[1].right)),
        Column("share", "", lambda row: row[1].share),
        Column("pair_is_symmetric", "", lambda row: row[1].is_symmetric),
    ]
