"""The command ``pyropunct correct``."""

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

import click

from pyropunct.cli import console
from pyropunct.cli.frame import BAD_INPUT, OneLineError, polite
from pyropunct.cli.loading import use_threads
from pyropunct.cli.options import (
    decoding_options,
    encoder_option,
    json_option,
    seed_option,
    threads_option,
    trust_option,
)

if TYPE_CHECKING:
    from pyropunct.cli.restore_output import Output
    from pyropunct.cli.sources import Reject
    from pyropunct.corpus.shards import Work
    from pyropunct.tasks.correct.system import Correcting
    from pyropunct.treebank.lines import Part

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
    from pyropunct.cli.restore_output import ConlluOutput
    from pyropunct.cli.sources import show_part
    from pyropunct.tasks.correct.hearing import WritersRate
    from pyropunct.tasks.correct.system import CorrectingSettings
    from pyropunct.treebank.lines import Part, opened

    use_threads(threads)
    corrector = _loaded(model, rate, encoder, trust_variants)
    with opened(file) as (stream, name):
        # The present stream, because a progress bar replaces sys.stdout while it is shown.
        output = _output(corrector, "json" if as_json else shape, settings["parse"], sys.stdout)
        how = CorrectingSettings(best_tree=shape == "conllu", **settings)
        correcting = partial(corrector.correct, settings=how, rate=WritersRate(rate))
        with console.stream_bar(stream, name) as advance:
            omitted = show_part(Part(stream, name, kind), corrector.model, correcting, output, advance)
    console.tell_omitted(name, omitted, kept=isinstance(output, ConlluOutput))


def work(
    model: str,
    shape: str,
    rate: float | None,
    encoder: str | None,
    trust_variants: bool,
    **settings: Any,
) -> "Work":
    """What the command does with a part of a corpus, which is by a writer of its own."""
    from pyropunct.cli.sources import show_part
    from pyropunct.tasks.correct.hearing import WritersRate
    from pyropunct.tasks.correct.system import CorrectingSettings

    corrector = _loaded(model, rate, encoder, trust_variants)
    how = CorrectingSettings(best_tree=shape == "conllu", **settings)

    def corrected(part: "Part", out: TextIO, reject: "Reject") -> None:
        output = _output(corrector, shape, how.parse, out)
        correcting = partial(corrector.correct, settings=how, rate=WritersRate(rate))
        show_part(part, corrector.model, correcting, output, lambda: None, reject)

    return corrected


def _loaded(model: str, rate: float | None, encoder: str | None, trust_variants: bool) -> "Correcting":
    """:raises OneLineError: if there is a rate of errors, and the corrector has no use for it."""
    from pyropunct.tasks.correct.loading import load_corrector
    from pyropunct.tasks.correct.noisy_channel import NoisyChannel

    corrector = load_corrector(model, variants=trust_variants, encoder=encoder)
    if rate is not None and not isinstance(corrector, NoisyChannel):
        raise OneLineError(f"--rate: {model} is the corrector of the paper, which has none", BAD_INPUT)
    return corrector


def _output(corrector: "Correcting", shape: str, parse: bool, out: TextIO) -> "Output":
    from pyropunct.cli.correct_output import CorrectionPrinter, EditsOutput, Explained, JsonCorrections
    from pyropunct.cli.restore_output import ConlluOutput, TextOutput
    from pyropunct.tasks.correct.explaining import Explainer

    model = corrector.model
    printer = CorrectionPrinter(model, capital=False)
    if shape in ("text", "conllu"):
        return {"text": TextOutput, "conllu": ConlluOutput}[shape](out, printer)
    explained = Explained(Explainer(model), Explainer(model.for_parsed), parse)
    return {"edits": EditsOutput, "json": JsonCorrections}[shape](out, printer, explained)
