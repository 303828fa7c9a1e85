"""The command ``pyropunct adapt``."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pyropunct.cli import console
from pyropunct.cli.command import command
from pyropunct.cli.loading import check_device, read_file
from pyropunct.cli.options import Json, ModelUse
from pyropunct.cli.training_reports import Checkpoints, fit_watches
from pyropunct.files import model_path
from pyropunct.limits import Placeholder, Seed
from pyropunct.train.text_settings import TextSettings
from pyropunct.treebank.marks import display

if TYPE_CHECKING:
    from pyropunct.punctuator import Punctuator


@dataclass(frozen=True, kw_only=True)
class AdaptOptions(TextSettings, ModelUse):
    """The data to learn from, and the file of the model.

    :ivar treebank: a treebank to learn from as well, such as the one that MODEL was fitted to; repeatable.
    :ivar reader_encoder: train a new reader of running text together with this encoder, which becomes part
        of the model.
    :ivar out: file for the model; without the ending .safetensors, it gets this ending.
    :ivar resume: continue after an interruption.
    :ivar device: device of the weights, as torch names it.
    """

    treebank: tuple[str, ...] = ()
    reader_encoder: Annotated[str | None, Placeholder("PLACE")] = None
    out: str = "pyropunct-model.safetensors"
    resume: bool = False
    device: str = "cpu"
    seed: Seed = 0


@command
def adapt(model: str, texts: tuple[str, ...], *, options: AdaptOptions, json: Json = False) -> None:
    """Let MODEL learn from the punctuation of TEXTS, which need no trees: its parser finds them.

    TEXTS are files, folders, or patterns in quotes, of raw text or CoNLL-U, plain, .gz or .zst; or - for
    standard input.  A line is a sentence, unless marks inside of it end sentences.  Tables, code and other
    languages are left out.  A tenth is held out, on which the model is compared before and after; parts that
    have not become better stay as they were.
    """
    from pyropunct.corpus.inputs import files_of_several, parts_of
    from pyropunct.fitted.model_file import check_writable
    from pyropunct.nets.encoder import Encoder
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
            encoder=Encoder(options.reader_encoder) if options.reader_encoder is not None else None,
            seed=options.seed,
            device=options.device,
            checkpoint=checkpoints.first,
            resume=options.resume,
            watching=fit_watches(0),
        )
        result.save(file)
    _report(result, file, json)


def _report(model: "Punctuator", file: Path, as_json: bool) -> None:
    """Print how much text was used, and the scores on held-out text, before and after."""
    from pyropunct.train.texts import REASONS

    report: dict[str, Any] = model.report["text"]
    if as_json:
        console.print_json({"model": str(file), **report})
        return
    console.say(
        f"{report['read']:,} sentences read, learned from {report['train']:,}, held out {report['dev']:,}"
    )
    if report["every"] > 1:
        console.say(f"one part in {report['every']} is learned from (--most)")
    for reason, count in sorted(report["left_out"].items(), key=lambda item: -item[1]):
        console.say(f"left out: {count:,} {REASONS[reason]}")
    _print_scores(report)
    learned = ", ".join(PARTS[name] for name in report["new"]) or "nothing: no part has become better"
    console.say(f"new parts: {learned}")
    console.say(f"model written to {file}")


PARTS = {
    "parsed": "weights for parsed trees",
    "tagger": "tagger",
    "reader": "reader of running text",
}
"""What the parts are called that learn from text."""


def _print_scores(report: dict[str, Any]) -> None:
    from pyropunct.compare.table import cells_table

    before, after = report["before"], report["after"]
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
    console.show_table(cells_table("Scores", {"held-out text": None, "before": 4, "after": 4}, rows))
