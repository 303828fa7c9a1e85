"""The command ``pyropunct fit-correction``."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pyropunct.cli import console
from pyropunct.cli.command import command
from pyropunct.cli.loading import check_device, read_file
from pyropunct.cli.options import Json, ModelUse
from pyropunct.cli.outputs import is_in
from pyropunct.cli.training_reports import training_watch
from pyropunct.errors import UserError
from pyropunct.files import model_path
from pyropunct.tasks.correct.settings import SimulationSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyropunct.punctuator import Punctuator
    from pyropunct.tasks.correct.learner_errors import ErrorRates
    from pyropunct.treebank.reading import Treebank
    from pyropunct.treebank.sentence import Sentence


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

    learners = train.endswith(".jsonl")
    if learners and (paper or dev is not None):
        raise click.UsageError("--paper and --dev need a treebank, and TRAIN is a file of corrections")
    check_writable(out)
    if is_in(model_path(out), Path(model)):
        raise UserError(f"--out {out}: is the model that is given; choose another name")
    rates = _rates(settings.errors)
    check_device(device)
    clean = use.load(model)
    if learners:
        report, result = _fit_to_learners(clean, train, out)
        _report(out, report, result, json)
        return
    treebanks = _treebanks(train, dev)
    if clean.parser is None and not json:
        console.say(f"{model} has no parser: the corrector will read CoNLL-U, but no raw text")
    fitting = _Simulation(clean, *_parts(treebanks), rates, settings, out)
    report, result = fitting.of_paper(device) if paper else fitting.channel()
    report["treebanks"] = [
        {"path": treebank.path, **console.plain_omissions(treebank.omitted)} for treebank in treebanks
    ]
    _report(out, report, f"{len(fitting.train):,} sentences, {settings.copies} times; {result}", json)


def _report(out: str, report: dict[str, Any], result: str, as_json: bool) -> None:
    if as_json:
        console.print_json({"model": out, **report})
    else:
        console.say(f"{out}: {result}")


def _treebanks(train: str, dev: str | None) -> "list[Treebank]":
    from pyropunct.treebank.reading import require_punctuation

    treebanks = [read_file(path) for path in (train, dev) if path is not None]
    require_punctuation(treebanks[0])
    for treebank in treebanks:
        console.tell_omitted(treebank.path, treebank.omitted)
    return treebanks


def _parts(treebanks: "list[Treebank]") -> "tuple[Sequence[Sentence], Sequence[Sentence]]":
    """The sentences for training, and those to report on."""
    from pyropunct.train.training import held_out

    if len(treebanks) == 1:
        return held_out(treebanks[0])
    train, dev = map(tuple, treebanks)
    return train, dev


@dataclass(frozen=True)
class _Simulation:
    """A corrector that is fitted to simulated errors; each way gives a report and a line about it."""

    clean: "Punctuator"
    train: "Sequence[Sentence]"
    dev: "Sequence[Sentence]"
    rates: "ErrorRates"
    settings: SimulationSettings
    out: str

    def of_paper(self, device: str) -> tuple[dict[str, Any], str]:
        """The corrector of the paper."""
        from pyropunct.tasks.correct.fitting import correction_recipe
        from pyropunct.tasks.correct.fitting import fit_correction as train_corrector

        recipe = correction_recipe(self.clean.recipe, epochs=self.settings.epochs)
        with training_watch(recipe.epochs) as watch:
            corrector = train_corrector(
                self.train,
                self.dev,
                self.clean,
                rates=self.rates,
                copies=self.settings.copies,
                recipe=recipe,
                seed=self.settings.seed,
                device=device,
                watch=watch,
            )
        corrector.save(self.out)
        report = dict(corrector.writer.report)
        return report, f"dev perplexity {report['epochs'][-1]['perplexity']:.4f}"

    def channel(self) -> tuple[dict[str, Any], str]:
        """An error channel."""
        from pyropunct.tasks.correct.channel_fitting import fit_channel, perplexity, simulated_pairs
        from pyropunct.tasks.correct.noisy_channel import NoisyChannel

        seed = self.settings.seed
        seen = simulated_pairs(self.train, self.rates, self.settings.copies, seed, self.clean.parser)
        channel = fit_channel(seen, self.clean.vocabulary.tokens)
        NoisyChannel(self.clean, channel).save(self.out)
        unseen = perplexity(channel, simulated_pairs(self.dev, self.rates, 1, seed + 1))
        errors = len(channel.errors)
        report = {"errors": errors, "weights": len(channel.weights), "perplexity": unseen}
        return report, f"{errors} errors, dev perplexity of wrong marks {unseen:.4f}"


def _fit_to_learners(clean: "Punctuator", path: str, out: str) -> tuple[dict[str, Any], str]:
    """Fit an error channel to a file of corrections, whose words are parsed."""
    from pyropunct.tasks.correct.channel_fitting import fit_channel, pairs_of_learners
    from pyropunct.tasks.correct.learners import read_learners
    from pyropunct.tasks.correct.noisy_channel import NoisyChannel

    learners = read_learners(path)
    channel = fit_channel(pairs_of_learners(clean, learners), clean.vocabulary.tokens)
    NoisyChannel(clean, channel).save(out)
    report = {"errors": len(channel.errors), "weights": len(channel.weights), "pairs": len(learners)}
    return report, f"{len(learners):,} corrections by learners; {len(channel.errors)} errors"


def _rates(factor: float) -> "ErrorRates":
    from pyropunct.tasks.correct.learner_errors import ErrorRates

    try:
        return ErrorRates().times(factor)
    except ValueError as error:
        raise UserError(f"--errors {factor:g}: {error}") from error
