"""The commands ``pyropunct adapt`` and ``pyropunct fit-correction``, which begin with a model."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pyropunct.cli import console
from pyropunct.cli.command import command
from pyropunct.cli.loading import Json, TrainingUse, check_device, is_in, read_file
from pyropunct.cli.progress import Checkpoints, fit_watches
from pyropunct.cli.report import Report
from pyropunct.errors import UserError
from pyropunct.files import model_path
from pyropunct.fitted.recipes import TextSettings
from pyropunct.limits import Seed
from pyropunct.tasks import SimulationSettings
from pyropunct.text.marks import display

if TYPE_CHECKING:
    from pyropunct.punctuator import Punctuator
    from pyropunct.tables import Table

# Modules that need torch are imported inside the functions, so that --help answers at once.


@dataclass(frozen=True, kw_only=True)
class AdaptOptions(TextSettings, TrainingUse):
    """The data to learn from, and the file of the model.

    :ivar treebank: also learn from this treebank, such as the one that MODEL was fitted to; repeatable.
    :ivar out: file for the model; the ending .safetensors is added if it is missing.
    :ivar resume: continue after an interruption.
    :ivar device: device of the weights, as torch names it.
    """

    treebank: tuple[str, ...] = ()
    out: str = "pyropunct-model.safetensors"
    resume: bool = False
    device: str = "cpu"
    seed: Seed = 0


@command
def adapt(model: str, texts: tuple[str, ...], *, options: AdaptOptions, json: Json = False) -> None:
    """Let MODEL learn from the punctuation of TEXTS, which need no trees: its parser finds them.

    TEXTS are files, folders, or quoted patterns, of raw text or CoNLL-U, plain, .gz or .zst; or - for
    standard input.  A line is a sentence, unless it contains marks that end sentences.  Tables, code and
    other languages are left out.  The model is compared before and after on a held-out tenth; parts that do
    not improve stay unchanged.
    """
    from pyropunct.fitted.model_file import check_writable
    from pyropunct.text.inputs import files_of_several, parts_of
    from pyropunct.train.adapting import adapt as adapted

    file = model_path(options.out)
    check_writable(options.out)
    files = files_of_several(texts)
    checkpoints = Checkpoints(file.with_suffix(".unfinished"), options.resume)
    check_device(options.device)
    punctuator = options.load(model)
    treebank = [sentence for path in options.treebank for sentence in read_file(path)]
    with checkpoints.kept():
        result = adapted(
            punctuator,
            parts_of(files),
            treebank,
            options,
            seed=options.seed,
            device=options.device,
            checkpoint=checkpoints.first,
            resume=options.resume,
            watching=fit_watches(0),
        )
        result.save(file)
    adaptation_report(result, file).show("json" if json else "text")


PARTS = {
    "parsed": "weights for parsed trees",
    "tagger": "tagger",
    "reader": "reader of running text",
}
"""What the parts are called that learn from text."""


def adaptation_report(model: "Punctuator", file: Path) -> Report:
    """How much text was used, and the scores on held-out text, before and after."""
    return Report({"model": str(file), **model.report["text"]}, _adaptation(model.report["text"], file))


def _adaptation(text: Mapping[str, Any], file: Path) -> "Iterator[Table[Any] | str]":
    """Counts of sentences, and a table of scores."""
    from pyropunct.tables import cells_table
    from pyropunct.train.texts import REASONS

    before, after = text["before"], text["after"]
    yield (f"{text['read']:,} sentences read, learned from {text['train']:,}, held out {text['dev']:,}")
    if text["every"] > 1:
        yield f"one part in {text['every']} is learned from (--most)"
    for reason, count in sorted(text["left_out"].items(), key=lambda item: -item[1]):
        yield f"left out: {count:,} {REASONS[reason]}"
    names = {
        "perplexity": "perplexity per slot",
        "aed": "edits per slot (AED, by --decoder mbr)",
        "f1": "F1 of all marks (by --decoder f1)",
    }
    rows = [(title, before[name], after[name]) for name, title in names.items()]
    rows += [
        (f"F1 of {display(mark)}", before["marks"].get(mark), after["marks"].get(mark))
        for mark in after["marks"]
    ]
    for name, title in (("ends", "F1 of sentence ends, %"), ("lower_ends", "the same in lower case, %")):
        rows.append((title, before[name], after[name]))
    yield cells_table("Scores", {"held-out text": None, "before": 4, "after": 4}, rows)
    yield f"new parts: {', '.join(PARTS[name] for name in text['new']) or 'none'}"
    if no_better := [title for name, title in PARTS.items() if name not in text["new"]]:
        yield f"unchanged, because no better: {', '.join(no_better)}"
    yield f"model written to {file}"


@command
def fit_correction(
    train: str,
    *,
    model: str,
    dev: str | None = None,
    out: str = "pyropunct-corrector.safetensors",
    settings: SimulationSettings,
    use: TrainingUse,
    json: Json = False,
) -> None:
    """Train a corrector for `pyropunct correct` on TRAIN.

    TRAIN is the CoNLL-U file that MODEL was fitted to, in which errors are simulated; or a .jsonl file of
    learners' sentences with corrections.

    :param model: the model that `pyropunct fit TRAIN` wrote, or en.
    :param dev: treebank to report on; by default a tenth of TRAIN is held out.
    :param out: file for the corrector; the ending .safetensors is added if it is missing.
    """
    from pyropunct.fitted.model_file import check_writable
    from pyropunct.tasks.correct.channel_fitting import (
        fit_channel,
        pairs_of_learners,
        perplexity,
        simulated_pairs,
    )
    from pyropunct.tasks.correct.correcting import NoisyChannel
    from pyropunct.tasks.correct.gold_corrections import read_learners
    from pyropunct.tasks.correct.learner_errors import ErrorRates
    from pyropunct.train.story_training import held_out
    from pyropunct.treebank.reading import require_punctuation

    of_learners = train.endswith(".jsonl")
    if of_learners and dev is not None:
        raise click.UsageError("--dev needs a treebank, and TRAIN is a file of corrections")
    check_writable(out)
    if is_in(model_path(out), Path(model)):
        raise UserError(f"--out {out}: is the model that is given; choose another name")
    try:
        rates = ErrorRates().times(settings.errors)
    except ValueError as error:
        raise UserError(f"--errors {settings.errors:g}: {error}") from error
    clean = use.load_one(model)
    about: dict[str, Any]
    if of_learners:
        learners = read_learners(train)
        pairs, unseen = pairs_of_learners(clean, learners), []
        about, source = {"pairs": len(learners)}, f"{len(learners):,} corrections by learners"
    else:
        treebanks = [read_file(path) for path in (train, dev) if path is not None]
        require_punctuation(treebanks[0])
        for treebank in treebanks:
            console.tell_omitted(treebank.path, treebank.omitted)
        if clean.parser is None and not json:
            console.say(f"{model} has no parser: the corrector will read CoNLL-U, but no raw text")
        learned, measured = held_out(treebanks[0]) if dev is None else treebanks
        pairs = simulated_pairs(learned, rates, settings.copies, settings.seed, clean.parser)
        unseen = simulated_pairs(measured, rates, 1, settings.seed + 1)
        about = {
            "treebanks": [{"path": one.path, **console.plain_omissions(one.omitted)} for one in treebanks]
        }
        source = f"{len(learned):,} sentences, {settings.copies} times"
    channel = fit_channel(pairs, clean.vocabulary.tokens)
    NoisyChannel(clean, channel).save(out)
    report: dict[str, Any] = {"model": out, "errors": len(channel.errors), "weights": len(channel.weights)}
    result = f"{out}: {source}; {len(channel.errors)} errors"
    if unseen:
        report["perplexity"] = perplexity(channel, unseen)
        result += f", dev perplexity of wrong marks {report['perplexity']:.4f}"
    Report(report | about, [result]).show("json" if json else "text")
