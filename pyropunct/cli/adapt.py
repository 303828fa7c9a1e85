"""The command ``pyropunct adapt``, and its report."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pyropunct.cli.command import command
from pyropunct.cli.loading import Json, ModelUse, check_device, read_file
from pyropunct.cli.report import Report
from pyropunct.cli.training_reports import Checkpoints, fit_watches
from pyropunct.files import model_path
from pyropunct.fitted.recipes import TextSettings
from pyropunct.limits import Placeholder, Seed
from pyropunct.text.marks import display

if TYPE_CHECKING:
    from pyropunct.compare.table import Table
    from pyropunct.punctuator import Punctuator


@dataclass(frozen=True, kw_only=True)
class AdaptOptions(TextSettings, ModelUse):
    """The data to learn from, and the file of the model.

    :ivar treebank: also learn from this treebank, such as the one that MODEL was fitted to; repeatable.
    :ivar reader_encoder: train a new reader of running text together with this encoder, which becomes part of
        the model.
    :ivar out: file for the model; the ending .safetensors is added if it is missing.
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

    TEXTS are files, folders, or quoted patterns, of raw text or CoNLL-U, plain, .gz or .zst; or - for
    standard input.  A line is a sentence, unless it contains marks that end sentences.  Tables, code and
    other languages are left out.  The model is compared before and after on a held-out tenth; parts that do
    not improve stay unchanged.
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
    AdaptationReport(result, file).show("json" if json else "text")


PARTS = {
    "parsed": "weights for parsed trees",
    "tagger": "tagger",
    "reader": "reader of running text",
}
"""What the parts are called that learn from text."""


class AdaptationReport(Report):
    """How much text was used, and the scores on held-out text, before and after."""

    def __init__(self, model: "Punctuator", file: Path) -> None:
        self._text, self._file = model.report["text"], file

    def plain(self) -> dict[str, Any]:
        """The counts and scores."""
        return {"model": str(self._file), **self._text}

    def told(self) -> "Iterator[Table[Any] | str]":
        """Counts of sentences, and a table of scores."""
        from pyropunct.compare.table import cells_table
        from pyropunct.train.texts import REASONS

        text, before, after = self._text, self._text["before"], self._text["after"]
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
        yield f"model written to {self._file}"
