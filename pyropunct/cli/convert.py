"""The command ``pyropunct convert``."""

from typing import TYPE_CHECKING, Annotated

import click

from pyropunct.cli import console
from pyropunct.cli.command import command
from pyropunct.cli.loading import CONLLU, Json, check_output, text_output
from pyropunct.limits import Placeholder

if TYPE_CHECKING:
    from pyropunct.treebank.brackets import Conversion

# Modules that are slow to import are imported inside the functions, so that --help answers at once.

SHOWN = 10
"""The most unknown tags and labels that are listed."""


@command
def convert(
    files: Annotated[tuple[str, ...], Placeholder("FILE...")],
    *,
    out: str | None = None,
    head_rules: Annotated[str, Placeholder("english|chinese|FILE")] = "english",
    json: Json = False,
) -> None:
    """Convert phrase-structure trees to dependency trees in CoNLL-U, which the other commands read.

    Each FILE has bracketed trees as in the Penn Treebank; - is standard input.  Each maximal projection
    becomes a subtree, and its label becomes a relation.  Traces are left out.

    :param out: CoNLL-U file to write; by default standard output.
    :param head_rules: which daughter is the head of a phrase.
    """
    from pyropunct.text.lines import opened, read_lines
    from pyropunct.treebank.brackets import Conversion
    from pyropunct.treebank.head_rules import load_head_rules

    if json and out is None:
        raise click.UsageError("--json reports what was written: give a file with --out")
    conversion = Conversion(load_head_rules(head_rules))
    check_output(out, CONLLU, (*files, head_rules))
    with text_output(out) as output:
        for file in files:
            with opened(file) as (stream, name), console.stream_bar(stream, name) as advance:
                for block in conversion.blocks(read_lines(stream, name), name):
                    output.write(block)
                    advance()
    if json:
        console.print_json({"files": list(files), "out": out, **conversion.to_json()})
    else:
        _tell(conversion, ", ".join(files), out)


def _tell(conversion: "Conversion", source: str, out: str | None) -> None:
    if out is not None:
        counts = f"{conversion.trees:,} trees, {conversion.words:,} words, {conversion.marks:,} marks"
        console.say(f"{source}: {counts}, written to {out}")
    if conversion.empty:
        console.tell(f"pyropunct: {source}: trees of empty elements alone, left out: {conversion.empty}")
    for what, seen in (
        ("labels without a head rule, so that the default held", conversion.unknown_phrases),
        ("tags without a universal tag, which became X", conversion.unknown_tags),
    ):
        if seen:
            shown = [f"{label} {count}" for label, count in seen.most_common(SHOWN)]
            more = ", ..." if len(seen) > SHOWN else ""
            console.tell(f"pyropunct: {source}: {what}: {', '.join(shown)}{more}")
