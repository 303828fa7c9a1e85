"""The command ``pyropunct fit-correction``."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pyropunct.commands import console
from pyropunct.commands.frame import BAD_INPUT, OneLineError, polite
from pyropunct.commands.loading import check_device, load_model, read_file, use_threads
from pyropunct.commands.options import (
    encoder_option,
    json_option,
    seed_option,
    threads_option,
    trust_option,
)
from pyropunct.commands.outputs import is_in
from pyropunct.commands.training_reports import training_watch

if TYPE_CHECKING:
    from pyropunct.correct.learner_errors import ErrorRates

# Modules that need torch are imported inside the functions, so that --help answers at once.


@click.command("fit-correction")
@click.argument("train")
@click.option("--model", required=True, help="Folder of the model that `pyropunct fit TRAIN` wrote.")
@click.option("--dev", help="Treebank to report perplexity on; by default a tenth of TRAIN is held out.")
@click.option("--out", default="pyropunct-corrector", show_default=True, help="Folder for the corrector.")
@click.option(
    "--errors",
    type=click.FloatRange(0, min_open=True),
    default=1.0,
    show_default=True,
    help="Factor of the published error rates in the simulation.",
)
@click.option(
    "--copies",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="Copies of each sentence in an epoch, each with other errors.",
)
@click.option("--epochs", type=click.IntRange(1), default=3, show_default=True, help="Passes over the data.")
@click.option("--device", default="cpu", show_default=True, help="Device of the weights, as torch names it.")
@encoder_option
@seed_option
@trust_option
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
    encoder: str | None,
    seed: int,
    trust_variants: bool,
    threads: int | None,
    as_json: bool,
) -> None:
    """Train a corrector for `pyropunct correct` on TRAIN, the CoNLL-U file that MODEL was fitted to.

    No text written by learners is needed: their errors are simulated.
    """
    from pyropunct.correct.correcting import check_writable
    from pyropunct.correct.fitting import correction_recipe
    from pyropunct.correct.fitting import fit_correction as train_corrector
    from pyropunct.training.fitting import held_out
    from pyropunct.treebank.reading import require_punctuation

    check_writable(Path(out))
    if is_in(Path(out), Path(model)):
        raise OneLineError(
            f"--out {out}: is the model that is given, or in it; choose another folder", BAD_INPUT
        )
    rates = _rates(errors)
    use_threads(threads)
    check_device(device)
    clean = load_model(model, trust_variants, encoder)
    treebanks = [read_file(path) for path in (train, dev) if path is not None]
    require_punctuation(treebanks[0])
    for treebank in treebanks:
        console.tell_omitted(treebank.path, treebank.omitted)
    some, other = held_out(treebanks[0]) if dev is None else (tuple(one) for one in treebanks)
    recipe = correction_recipe(clean.recipe, epochs=epochs)
    if clean.parser is None and not as_json:
        console.say(f"{model} has no parser: the corrector will read CoNLL-U, but no raw text")
    with training_watch(recipe.epochs) as watch:
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
    omissions = [{"path": one.path, **console.plain_omissions(one.omitted)} for one in treebanks]
    report = {"model": out, **corrector.writer.report, "treebanks": omissions}
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
