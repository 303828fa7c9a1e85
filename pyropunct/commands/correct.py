"""The command ``pyropunct correct``."""

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from pyropunct.commands import console
from pyropunct.commands.frame import BAD_INPUT, OneLineError, polite
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
    from pyropunct.correct.system import Correcting

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
    help="Print corrected sentences, or only the edits: each with its probability, and the constituent that "
    "sprouts the new mark.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Change a slot only if its new marks have at least this probability.",
)
@click.option(
    "--rate",
    type=click.FloatRange(0, 4),
    help="How many errors FILE has, times those that MODEL was fitted to; by default this is found.",
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
    rate: float | None,
    encoder: str | None,
    trust_variants: bool,
    threads: int | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Correct the punctuation of FILE: raw text, one sentence a line, or CoNLL-U.

    MODEL is the folder that `pyropunct fit-correction` wrote, or en, the model of the package.  FILE may be -
    for standard input.  CoNLL-U has trees; raw text needs a MODEL with a parser.  A line that needs no
    correction is left unchanged.  How many errors FILE has is learned from all that was read of it so far, if
    it is not told.
    """
    from pyropunct.commands.restore_output import ConlluOutput
    from pyropunct.commands.sources import Items, show
    from pyropunct.correct.hearing import WritersRate
    from pyropunct.correct.loading import load_corrector
    from pyropunct.correct.noisy_channel import NoisyChannel
    from pyropunct.correct.system import CorrectingSettings
    from pyropunct.restore.reading import read_items
    from pyropunct.treebank.lines import ByteLines, opened

    use_threads(threads)
    corrector = load_corrector(model, variants=trust_variants, encoder=encoder)
    if rate is not None and not isinstance(corrector, NoisyChannel):
        raise OneLineError(f"--rate: {model} is the corrector of the paper, which has none", BAD_INPUT)
    with opened(file) as (stream, name):
        output = _output(corrector, "json" if as_json else shape, settings["parse"])
        reader = corrector.model.raw_reader
        lines = ByteLines(stream)
        items = Items(read_items(lines, name, kind, reader), name, quiet=True)
        how = CorrectingSettings(best_tree=shape == "conllu", **settings)
        correcting = partial(corrector.correct, settings=how, rate=WritersRate(rate))
        with console.stream_bar(stream, name) as advance:
            show(items, lines, name, correcting, output, advance)
    console.tell_omitted(name, items.omitted, kept=isinstance(output, ConlluOutput))


def _output(corrector: "Correcting", shape: str, parse: bool) -> "Output":
    from pyropunct.commands.correct_output import CorrectionPrinter, EditsOutput, Explained, JsonCorrections
    from pyropunct.commands.restore_output import ConlluOutput, TextOutput
    from pyropunct.correct.explaining import Explainer

    model = corrector.model
    printer = CorrectionPrinter(model, capital=False)
    # The present stream, because a progress bar replaces sys.stdout while it is shown.
    if shape in ("text", "conllu"):
        return {"text": TextOutput, "conllu": ConlluOutput}[shape](sys.stdout, printer)
    explained = Explained(Explainer(model), Explainer(model.for_parsed), parse)
    return {"edits": EditsOutput, "json": JsonCorrections}[shape](sys.stdout, printer, explained)
