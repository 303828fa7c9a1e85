"""The command ``pyropunct correct``."""

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from pyropunct.commands import console
from pyropunct.commands.frame import polite
from pyropunct.commands.loading import use_threads
from pyropunct.commands.options import (
    decoding_options,
    encoder_option,
    json_option,
    seed_option,
    threads_option,
    trust_option,
)

if TYPE_CHECKING:
    from pyropunct.commands.restore_output import Output
    from pyropunct.correct.correcting import Corrector

# Modules that need torch are imported inside the functions, so that --help answers at once.


@click.command()
@click.argument("model")
@click.argument("file")
@decoding_options
@click.option(
    "--format",
    "shape",
    type=click.Choice(["text", "edits", "conllu", "json"]),
    default="text",
    show_default=True,
    help="Print corrected sentences, or only the edits.",
)
@encoder_option
@seed_option
@trust_option
@threads_option
@json_option
@polite
def correct(
    model: str,
    file: str,
    kind: str,
    shape: str,
    encoder: str | None,
    trust_variants: bool,
    threads: int | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Correct the punctuation of FILE: raw text, one sentence a line, or CoNLL-U.

    MODEL is the folder that `pyropunct fit-correction` wrote.  FILE may be - for standard input.  CoNLL-U
    has trees; raw text needs a MODEL with a parser.  A line that needs no correction is left unchanged.
    """
    from pyropunct.commands.restore_output import ConlluOutput
    from pyropunct.commands.sources import Items, show
    from pyropunct.correct.correcting import Corrector
    from pyropunct.restore.reading import read_items
    from pyropunct.treebank.lines import ByteLines, opened

    use_threads(threads)
    corrector = Corrector.load(model, variants=trust_variants, encoder=encoder)
    with opened(file) as (stream, name):
        output = _output(corrector, "json" if as_json else shape)
        reader = corrector.reader.raw_reader
        lines = ByteLines(stream)
        items = Items(read_items(lines, name, kind, reader), name, quiet=True)
        correcting = partial(corrector.correct, best_tree=shape == "conllu", **settings)
        show(items, lines, name, correcting, output, lambda: None)
    console.tell_omitted(name, items.omitted, kept=isinstance(output, ConlluOutput))


def _output(corrector: "Corrector", shape: str) -> "Output":
    from pyropunct.commands.correct_output import CorrectionPrinter, EditsOutput, JsonCorrections
    from pyropunct.commands.restore_output import ConlluOutput, TextOutput

    kinds = {"text": TextOutput, "edits": EditsOutput, "conllu": ConlluOutput, "json": JsonCorrections}
    return kinds[shape](sys.stdout, CorrectionPrinter(corrector.reader, capital=False))
