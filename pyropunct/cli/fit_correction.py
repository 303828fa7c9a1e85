"""The command ``pyropunct fit-correction``."""

from pathlib import Path
from typing import Any

import click

from pyropunct.cli import console
from pyropunct.cli.command import command
from pyropunct.cli.loading import check_device, read_file
from pyropunct.cli.options import Json, ModelUse
from pyropunct.cli.outputs import is_in
from pyropunct.cli.training_reports import training_watch
from pyropunct.errors import UserError
from pyropunct.files import model_path
from pyropunct.tasks.settings import SimulationSettings


@command
def fit_correction(
    train: str,
    *,
    model: str,
    dev: str | None = None,
    out: str = "pyropunct-corrector.safetensors",
    paper: bool = False,
    device: str = "cpu",
    settings: SimulationSettings,
    use: ModelUse,
    json: Json = False,
) -> None:
    """Train a corrector for `pyropunct correct` on TRAIN.

    TRAIN is the CoNLL-U file that MODEL was fitted to: no text written by learners is needed, for errors are
    simulated in its sentences.  Or it is a .jsonl file of what learners wrote, with its corrections.

    :param model: the model that `pyropunct fit TRAIN` wrote, or en.
    :param dev: treebank to report on; by default a tenth of TRAIN is held out.
    :param out: file for the corrector; without the ending .safetensors, it gets this ending.
    :param paper: train the corrector of Li, Wang & Eisner (2019, section 6.2) instead of an error channel.
    :param device: device of the weights, as torch names it, with --paper.
    """
    from pyropunct.fitted.model_file import check_writable
    from pyropunct.tasks.correct.channel_fitting import (
        fit_channel,
        pairs_of_learners,
        perplexity,
        simulated_pairs,
    )
    from pyropunct.tasks.correct.correcting import NoisyChannel
    from pyropunct.tasks.correct.fitting import correction_recipe
    from pyropunct.tasks.correct.fitting import fit_correction as train_corrector
    from pyropunct.tasks.correct.learner_errors import ErrorRates
    from pyropunct.tasks.correct.learners import read_learners
    from pyropunct.train.training import held_out
    from pyropunct.treebank.reading import require_punctuation

    of_learners = train.endswith(".jsonl")
    if of_learners and (paper or dev is not None):
        raise click.UsageError("--paper and --dev need a treebank, and TRAIN is a file of corrections")
    check_writable(out)
    if is_in(model_path(out), Path(model)):
        raise UserError(f"--out {out}: is the model that is given; choose another name")
    try:
        rates = ErrorRates().times(settings.errors)
    except ValueError as error:
        raise UserError(f"--errors {settings.errors:g}: {error}") from error
    check_device(device)
    clean = use.load(model)
    report: dict[str, Any]
    if of_learners:
        learners = read_learners(train)
        channel = fit_channel(pairs_of_learners(clean, learners), clean.vocabulary.tokens)
        NoisyChannel(clean, channel).save(out)
        report = {"errors": len(channel.errors), "weights": len(channel.weights), "pairs": len(learners)}
        _tell(out, report, f"{len(learners):,} corrections by learners; {len(channel.errors)} errors", json)
        return
    treebanks = [read_file(path) for path in (train, dev) if path is not None]
    require_punctuation(treebanks[0])
    for treebank in treebanks:
        console.tell_omitted(treebank.path, treebank.omitted)
    if clean.parser is None and not json:
        console.say(f"{model} has no parser: the corrector will read CoNLL-U, but no raw text")
    learned, measured = held_out(treebanks[0]) if dev is None else treebanks
    if paper:
        recipe = correction_recipe(clean.recipe, epochs=settings.epochs)
        drawn: dict[str, Any] = {"rates": rates, "copies": settings.copies, "seed": settings.seed}
        with training_watch() as watch:
            corrector = train_corrector(
                learned, measured, clean, recipe=recipe, device=device, watch=watch, **drawn
            )
        corrector.save(out)
        report = dict(corrector.writer.report)
        result = f"dev perplexity {report['epochs'][report['chosen'] - 1]['perplexity']:.4f}"
    else:
        pairs = simulated_pairs(learned, rates, settings.copies, settings.seed, clean.parser)
        channel = fit_channel(pairs, clean.vocabulary.tokens)
        NoisyChannel(clean, channel).save(out)
        unseen = perplexity(channel, simulated_pairs(measured, rates, 1, settings.seed + 1))
        errors = len(channel.errors)
        report = {"errors": errors, "weights": len(channel.weights), "perplexity": unseen}
        result = f"{errors} errors, dev perplexity of wrong marks {unseen:.4f}"
    report["treebanks"] = [{"path": one.path, **console.plain_omissions(one.omitted)} for one in treebanks]
    _tell(out, report, f"{len(learned):,} sentences, {settings.copies} times; {result}", json)


def _tell(out: str, report: dict[str, Any], result: str, as_json: bool) -> None:
    if as_json:
        console.print_json({"model": out, **report})
    else:
        console.say(f"{out}: {result}")
