"""The command ``pyropunct fit-correction``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pyropunct.cli import console
from pyropunct.cli.frame import BAD_INPUT, OneLineError, polite
from pyropunct.cli.loading import check_device, load_model, read_file, use_threads
from pyropunct.cli.options import (
    encoder_option,
    json_option,
    seed_option,
    threads_option,
    trust_option,
)
from pyropunct.cli.outputs import is_in
from pyropunct.cli.training_reports import training_watch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyropunct.punctuator import Punctuator
    from pyropunct.tasks.correct.learner_errors import ErrorRates
    from pyropunct.treebank.reading import Treebank
    from pyropunct.treebank.sentence import Sentence

# Modules that need torch are imported inside the functions, so that --help answers at once.


@click.command("fit-correction")
@click.argument("train")
@click.option("--model", required=True, help="Folder of the model that `pyropunct fit TRAIN` wrote, or en.")
@click.option("--dev", help="Treebank to report on; by default a tenth of TRAIN is held out.")
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
    help="Copies of each sentence, each with other errors.",
)
@click.option(
    "--paper",
    is_flag=True,
    help="Train the corrector of Li, Wang & Eisner (2019, section 6.2) instead of an error channel.",
)
@click.option(
    "--epochs",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="Passes over the data, with --paper.",
)
@click.option(
    "--device",
    default="cpu",
    show_default=True,
    help="Device of the weights, as torch names it, with --paper.",
)
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
    paper: bool,
    epochs: int,
    device: str,
    encoder: str | None,
    seed: int,
    trust_variants: bool,
    threads: int | None,
    as_json: bool,
) -> None:
    """Train a corrector for `pyropunct correct` on TRAIN.

    TRAIN is the CoNLL-U file that MODEL was fitted to: no text written by learners is needed, for errors are
    simulated in its sentences.  Or it is a .jsonl file of what learners wrote, with its corrections.
    """
    from pyropunct.tasks.correct.system import check_writable

    if train.endswith(".jsonl") and (paper or dev is not None):
        raise click.UsageError("--paper and --dev need a treebank, and TRAIN is a file of corrections")
    check_writable(Path(out))
    if is_in(Path(out), Path(model)):
        raise OneLineError(
            f"--out {out}: is the model that is given, or in it; choose another folder", BAD_INPUT
        )
    rates = _rates(errors)
    use_threads(threads)
    check_device(device)
    clean = load_model(model, trust_variants, encoder)
    if train.endswith(".jsonl"):
        _fit_to_learners(clean, train, out, as_json)
        return
    treebanks = _treebanks(train, dev)
    if clean.parser is None and not as_json:
        console.say(f"{model} has no parser: the corrector will read CoNLL-U, but no raw text")
    some, other = _parts(treebanks)
    omissions = [{"path": one.path, **console.plain_omissions(one.omitted)} for one in treebanks]
    if paper:
        report = _fit_paper(clean, some, other, rates, copies, epochs, seed, device, out)
        told = f"dev perplexity {report['epochs'][-1]['perplexity']:.4f}"
    else:
        report = _fit_channel(clean, some, other, rates, copies, seed, out)
        told = f"{report['errors']} errors, dev perplexity of wrong marks {report['perplexity']:.4f}"
    if as_json:
        console.print_json({"model": out, **report, "treebanks": omissions})
    else:
        console.say(f"{out}: {len(some):,} sentences, {copies} times; {told}")


def _treebanks(train: str, dev: str | None) -> "list[Treebank]":
    from pyropunct.treebank.reading import require_punctuation

    treebanks = [read_file(path) for path in (train, dev) if path is not None]
    require_punctuation(treebanks[0])
    for treebank in treebanks:
        console.tell_omitted(treebank.path, treebank.omitted)
    return treebanks


def _parts(treebanks: "list[Treebank]") -> "list[tuple[Sentence, ...]]":
    from pyropunct.train.fitting import held_out

    return list(held_out(treebanks[0]) if len(treebanks) == 1 else map(tuple, treebanks))


def _fit_paper(
    clean: "Punctuator",
    some: "Sequence[Sentence]",
    other: "Sequence[Sentence]",
    rates: "ErrorRates",
    copies: int,
    epochs: int,
    seed: int,
    device: str,
    out: str,
) -> dict[str, Any]:
    from pyropunct.tasks.correct.fitting import correction_recipe
    from pyropunct.tasks.correct.fitting import fit_correction as train_corrector

    recipe = correction_recipe(clean.recipe, epochs=epochs)
    how: dict[str, Any] = {"rates": rates, "copies": copies, "recipe": recipe, "seed": seed, "device": device}
    with training_watch(recipe.epochs) as watch:
        corrector = train_corrector(some, other, clean, **how, watch=watch)
    corrector.save(out)
    return dict(corrector.writer.report)


def _fit_channel(
    clean: "Punctuator",
    some: "Sequence[Sentence]",
    other: "Sequence[Sentence]",
    rates: "ErrorRates",
    copies: int,
    seed: int,
    out: str,
) -> dict[str, Any]:
    from pyropunct.tasks.correct.channel_fitting import fit_channel, perplexity, simulated_pairs
    from pyropunct.tasks.correct.noisy_channel import NoisyChannel

    seen = simulated_pairs(some, rates, copies, seed, clean.parser)
    channel = fit_channel(seen, clean.vocabulary.tokens)
    NoisyChannel(clean, channel).save(out)
    unseen = perplexity(channel, simulated_pairs(other, rates, 1, seed + 1))
    return {"errors": len(channel.errors), "weights": len(channel.weights), "perplexity": unseen}


def _fit_to_learners(clean: "Punctuator", path: str, out: str, as_json: bool) -> None:
    """Fit an error channel to a file of corrections, whose words are parsed."""
    from pyropunct.tasks.correct.channel_fitting import fit_channel, pairs_of_learners
    from pyropunct.tasks.correct.learners import read_learners
    from pyropunct.tasks.correct.noisy_channel import NoisyChannel

    learners = read_learners(path)
    channel = fit_channel(pairs_of_learners(clean, learners), clean.vocabulary.tokens)
    NoisyChannel(clean, channel).save(out)
    if as_json:
        report = {"errors": len(channel.errors), "weights": len(channel.weights), "pairs": len(learners)}
        console.print_json({"model": out, **report})
    else:
        console.say(f"{out}: {len(learners):,} corrections by learners; {len(channel.errors)} errors")


def _rates(factor: float) -> "ErrorRates":
    from pyropunct.tasks.correct.learner_errors import ErrorRates

    try:
        return ErrorRates().times(factor)
    except ValueError as error:
        raise OneLineError(f"--errors {factor:g}: {error}", BAD_INPUT) from error
