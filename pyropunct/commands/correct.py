"""The commands ``pyropunct correct`` and ``pyropunct fit-correction``."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pyropunct.commands import console
from pyropunct.commands.frame import (
    BAD_INPUT,
    OneLineError,
    check_device,
    decoding_options,
    json_option,
    load_model,
    polite,
    read_file,
    seed_option,
    threads_option,
    use_threads,
)

if TYPE_CHECKING:
    from pyropunct.commands.restore_output import Output
    from pyropunct.correct.correcting import Corrector
    from pyropunct.correct.learner_errors import ErrorRates

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
    help="Corrected sentences, or the edits alone.",
)
@seed_option
@threads_option
@json_option
@polite
def correct(
    model: str, file: str, kind: str, shape: str, threads: int | None, as_json: bool, **settings: Any
) -> None:
    """Correct the punctuation of FILE: raw text, one sentence a line, or CoNLL-U.

    MODEL is what `pyropunct fit-correction` wrote.  FILE may be - for standard input.  CoNLL-U has trees;
    raw text needs a MODEL with a parser.  A line that needs no correction stays as it is.
    """
    from pyropunct.commands.sources import Usable
    from pyropunct.correct.correcting import Corrector
    from pyropunct.restore.raw_words import RawReader
    from pyropunct.restore.reading import chunks, read_items
    from pyropunct.treebank.lines import opened

    use_threads(threads)
    corrector = Corrector.load(model)
    with opened(file) as (stream, name):
        output = _output(corrector, "json" if as_json else shape)
        reader = RawReader(corrector.reader.vocabulary, corrector.reader.conventions)
        usable = Usable(read_items(stream, name, kind, reader), quiet=True)
        for sources in chunks(usable, stream):
            for corrected in corrector.correct(sources, best_tree=shape == "conllu", **settings):
                output.add(corrected)
    output.finish(usable.omitted)
    usable.tell_omitted(name)


def _output(corrector: "Corrector", shape: str) -> "Output":
    from pyropunct.commands.correct_output import CorrectionPrinter, EditsOutput, JsonCorrections
    from pyropunct.commands.restore_output import ConlluOutput, TextOutput

    kinds = {"text": TextOutput, "edits": EditsOutput, "conllu": ConlluOutput, "json": JsonCorrections}
    return kinds[shape](sys.stdout, CorrectionPrinter(corrector.reader, capital=False))


@click.command("fit-correction")
@click.argument("train")
@click.option("--model", required=True, help="Folder of the model that `pyropunct fit TRAIN` wrote.")
@click.option("--dev", help="Treebank that the corrector is tried on; else a tenth of TRAIN is held out.")
@click.option("--out", default="pyropunct-corrector", show_default=True, help="Folder for the corrector.")
@click.option(
    "--errors",
    type=click.FloatRange(0, min_open=True),
    default=1.0,
    show_default=True,
    help="How many errors are simulated: the published rates times this.",
)
@click.option(
    "--copies",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="How often each sentence comes in an epoch, each time with other errors.",
)
@click.option("--epochs", type=click.IntRange(1), default=3, show_default=True, help="Passes over the data.")
@click.option("--device", default="cpu", show_default=True, help="Where weights live, as torch names it.")
@seed_option
@threads_option
@json_option
@polite
def fit_correction(
    train: str,
    model: str,
    dev: str | None,
    out: str,
    errors: float,
    copies: int,
    epochs: int,
    device: str,
    seed: int,
    threads: int | None,
    as_json: bool,
) -> None:
    """Train a corrector for `pyropunct correct` on TRAIN, the CoNLL-U file that MODEL was fitted to.

    Text of learners is not needed: their errors are simulated.
    """
    from pyropunct.correct.correcting import check_writable
    from pyropunct.correct.fitting import correction_recipe, held_out
    from pyropunct.correct.fitting import fit_correction as train_corrector
    from pyropunct.treebank.reading import require_punctuation

    check_writable(Path(out))
    rates = _rates(errors)
    use_threads(threads)
    check_device(device)
    clean = load_model(model)
    treebanks = [read_file(path) for path in (train, dev) if path is not None]
    require_punctuation(treebanks[0])
    some, other = held_out(treebanks[0]) if dev is None else (tuple(one) for one in treebanks)
    recipe = correction_recipe(clean.recipe, epochs=epochs)
    if clean.parser is None and not as_json:
        console.say(f"{model} has no parser: the corrector will read CoNLL-U, but no raw text")
    with console.training_bar(recipe.epochs) as watch:
        corrector = train_corrector(
            some,
            other,
            clean,
            rates=rates,
            copies=copies,
            recipe=recipe,
            seed=seed,
            device=device,
            watch=watch,
        )
    corrector.save(out)
    report = {"model": out, **corrector.writer.report}
    if as_json:
        console.print_json(report)
    else:
        perplexity = corrector.writer.report["epochs"][-1]["perplexity"]
        console.say(f"{out}: {len(some):,} sentences, {copies} times; dev perplexity {perplexity:.4f}")


def _rates(factor: float) -> "ErrorRates":
    from pyropunct.correct.learner_errors import ErrorRates

    try:
        return ErrorRates().times(factor)
    except ValueError as error:
        raise OneLineError(f"--errors {factor:g}: {error}", BAD_INPUT) from error
