"""The command ``pyropunct relations``."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pyropunct.commands import console
from pyropunct.commands.frame import polite
from pyropunct.commands.loading import load_model, read_file, use_threads
from pyropunct.commands.options import json_option, threads_option, trust_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyropunct.explain.relations import RelationPunctemes

# Modules that need torch are imported inside the functions, so that --help answers at once.


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
@click.option("--plot", help="SVG file to write a plot to, with a bar for each relation.")
@trust_option
@threads_option
@json_option
@polite
def relations(
    model: str,
    file: str,
    least: int,
    pairs: int,
    plot: str | None,
    trust_variants: bool,
    threads: int | None,
    as_json: bool,
) -> None:
    """List the punctemes that each relation sprouts in FILE, a CoNLL-U file, according to MODEL.

    Relations are sorted by the share of symmetric punctemes: the same on both sides, or matching brackets or
    quotation marks.  Shares are expectations under p(T' | T, x).
    """
    from pyropunct.explain.relations import relation_punctemes

    use_threads(threads)
    punctuator, treebank = load_model(model, trust_variants), read_file(file)
    with console.sentence_bar("relations", len(treebank)) as advance:
        found = relation_punctemes(punctuator, list(treebank), least=least, advance=advance)
    if plot is not None:
        from pyropunct.figures.relations import relations_svg

        Path(plot).write_bytes(relations_svg(found))
    if as_json:
        plain = [one.to_json(pairs) for one in found]
        console.print_json({"model": model, "file": file, "sentences": len(treebank), "relations": plain})
    else:
        _tell(found, pairs)


def _tell(found: "Sequence[RelationPunctemes]", pairs: int) -> None:
    rows = [
        [
            one.name,
            f"{one.count:,}",
            f"{one.entropy:.2f}",
            f"{one.nonempty:.1%}",
            f"{one.symmetric:.1%}",
            "–" if one.symmetric_of_nonempty is None else f"{one.symmetric_of_nonempty:.1%}",
            *(f"{pair.text}\n{100 * pair.share:.1f}" for pair in one.pairs[:pairs]),
        ]
        for one in found
    ]
    header = [" relation", "count", "bits", "nonempty", "symmetric", "of nonempty"]
    ranks = [f"pair {rank}" for rank in range(1, pairs + 1)]
    console.print_table("Punctemes of each relation, pairs with percentages", header + ranks, rows)
