"""The command ``pyropunct relations``."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from pyropunct.cli import console
from pyropunct.cli.examples import EXAMPLE_COLUMNS, example_rows, occurs, say_examples
from pyropunct.cli.frame import polite
from pyropunct.cli.loading import load_model, read_file, use_threads
from pyropunct.cli.options import (
    encoder_option,
    examples_option,
    json_option,
    tables_option,
    threads_option,
    trust_option,
)
from pyropunct.cli.outputs import SVG, check_output, write_output
from pyropunct.treebank.marks import displayed_string

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyropunct.tasks.explain.examples import Example, Sprouting
    from pyropunct.tasks.explain.relations import PairShare, RelationPunctemes

# Modules that need torch are imported inside the functions, so that --help answers at once.

NONE = "–"
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


@click.command()
@click.argument("model")
@click.argument("file")
@click.option(
    "--least",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="Leave out relations with fewer constituents.",
)
@click.option(
    "--pairs",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    help="Puncteme pairs to list for each relation.",
)
@examples_option
@click.option("--plot", help="SVG file to write a plot to, with a bar for each relation.")
@tables_option
@threads_option
@trust_option
@encoder_option
@json_option
@polite
def relations(
    model: str,
    file: str,
    least: int,
    pairs: int,
    examples: int,
    plot: str | None,
    shape: str,
    threads: int | None,
    trust_variants: bool,
    encoder: str | None,
    as_json: bool,
) -> None:
    """List the punctemes that each relation sprouts in FILE, a CoNLL-U file, according to MODEL.

    Relations are sorted by the share of symmetric punctemes: the same on both sides, or matching brackets or
    quotation marks.  Shares are expectations under p(T' | T, x).
    """
    from pyropunct.tasks.explain.examples import sprouting_examples
    from pyropunct.tasks.explain.relations import relation_punctemes

    check_output(plot, SVG, (model, file))
    use_threads(threads)
    punctuator, treebank = load_model(model, trust_variants, encoder), read_file(file)
    console.tell_omitted(treebank.path, treebank.omitted)
    with console.sentence_bar("relations", len(treebank)) as advance:
        found = relation_punctemes(punctuator, list(treebank), least=least, advance=advance)
    places: Mapping[Sprouting, Sequence[Example]] = {}
    if examples:
        with console.sentence_bar("examples", len(treebank)) as advance:
            places = sprouting_examples(punctuator, list(treebank), examples, advance)
    if plot is not None:
        from pyropunct.figures.plots import relations_svg

        write_output(plot, relations_svg(found))
    if as_json or shape == "json":
        plain = [_plain(one, pairs, places, examples) for one in found]
        whole = {"model": model, "file": file, "sentences": len(treebank)}
        omissions = console.plain_omissions(treebank.omitted)
        console.print_json({**whole, **omissions, "relations": plain})
    elif shape == "table":
        _tell(found, pairs)
        for one in found if examples else ():
            for pair in one.pairs[:pairs]:
                title = f"{one.name}  {pair.text}  {pair.share:.1%} of {one.count:,}"
                say_examples(title, pair.share * one.count, _places(one, pair, places))
    else:
        rows = _rows(found, pairs, places if examples else None)
        console.print_separated(shape, [*COLUMNS, *(EXAMPLE_COLUMNS if examples else ())], rows)


def _places(
    one: "RelationPunctemes", pair: "PairShare", places: "Mapping[Sprouting, Sequence[Example]]"
) -> "Sequence[Example]":
    return places.get((one.relation, pair.left, pair.right), ())


def _plain(
    one: "RelationPunctemes", pairs: int, places: "Mapping[Sprouting, Sequence[Example]]", examples: int
) -> "dict[str, Any]":
    """A relation in plain JSON types, with examples if they are wanted."""
    plain = one.to_json(pairs)
    for pair, shown in zip(one.pairs, plain["pairs"] if examples else (), strict=False):
        shown["examples"] = [example.to_json() for example in _places(one, pair, places)]
    return plain


def _tell(found: "Sequence[RelationPunctemes]", pairs: int) -> None:
    rows = [
        [
            one.name,
            f"{one.count:,}",
            f"{one.entropy:.2f}",
            f"{100 * one.nonempty:.1f}",
            f"{100 * one.symmetric:.1f}",
            NONE if one.symmetric_of_nonempty is None else f"{100 * one.symmetric_of_nonempty:.1f}",
        ]
        for one in found
    ]
    header = [" relation", "constituents", "bits", "nonempty", "symmetric", "of nonempty"]
    console.print_table("What constituents of each relation sprout", header, rows)
    rows = [
        [
            one.name,
            _side(pair.left),
            _side(pair.right),
            f"{100 * pair.share:.1f}",
            "yes" if pair.is_symmetric else "",
        ]
        for one in found
        for pair in one.pairs[:pairs]
        if occurs(pair.share * one.count)
    ]
    header = [" relation", " left", " right", "share", " symmetric"]
    console.print_table("Their most frequent pairs of punctemes", header, rows)
    console.say(LEGEND)


COLUMNS = (
    "relation",
    "constituents",
    "entropy",
    "nonempty",
    "symmetric",
    "symmetric_of_nonempty",
    "rank",
    "left",
    "right",
    "share",
    "pair_is_symmetric",
)
"""Of the output for programs.  All shares are from 0 to 1."""


def _rows(
    found: "Sequence[RelationPunctemes]", pairs: int, places: "Mapping[Sprouting, Sequence[Example]] | None"
) -> "Iterator[list[Any]]":
    """A row for each pair, or for each of its examples."""
    for one in found:
        whole = [one.name, one.count, one.entropy, one.nonempty, one.symmetric, one.symmetric_of_nonempty]
        for rank, pair in enumerate(one.pairs[:pairs], 1):
            own = [
                rank,
                displayed_string(pair.left),
                displayed_string(pair.right),
                pair.share,
                "yes" if pair.is_symmetric else "no",
            ]
            yield from example_rows([*whole, *own], None if places is None else _places(one, pair, places))


def _side(puncteme: "Sequence[str]") -> str:
    return displayed_string(puncteme) or EMPTY
