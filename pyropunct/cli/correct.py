"""The commands ``pyropunct correct`` and ``pyropunct fit-correction``, and how corrections are shown."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

import click

from pyropunct.cli import console
from pyropunct.cli.command import command, text_command
from pyropunct.cli.loading import Json, ModelUse, check_device, is_in, read_file
from pyropunct.cli.restore import RestorationReport
from pyropunct.cli.training_reports import training_watch
from pyropunct.errors import UserError
from pyropunct.files import model_path
from pyropunct.limits import Range
from pyropunct.shipped import DEFAULT
from pyropunct.tasks.settings import CorrectingSettings, SimulationSettings
from pyropunct.text.marks import display, displayed
from pyropunct.treebank.sentence import Sentence

if TYPE_CHECKING:
    from pyropunct.cli.sources import Restore
    from pyropunct.corpus.shards import Work
    from pyropunct.punctuator import Punctuator
    from pyropunct.restore.reading import Item
    from pyropunct.restore.restoring import Restored, Source
    from pyropunct.tasks.correct.underlying import SlotChange, Sprout

# Modules that need torch are imported inside the functions, so that --help answers at once.

NOTHING = "∅"
"""Stands for a slot without marks."""

WORDS_SHOWN = 6
"""Of a longer constituent only the first and the last words are shown."""


@text_command
def correct(
    model: str = DEFAULT,
    *,
    settings: CorrectingSettings,
    format: Literal["text", "edits", "conllu", "json"] = "text",
    rate: Annotated[float | None, Range(0, 4)] = None,
    find_rate: bool = False,
    use: ModelUse,
) -> "Work":
    """Correct the punctuation of FILE: raw text, one sentence a line, or CoNLL-U.

    MODEL is a file written by `pyropunct fit-correction`.  The default is the English en-encoder where its
    encoder is installed, else the English en.  FILE may be - for standard input.  CoNLL-U has trees; raw text
    needs a MODEL with a parser.  Lines that need no correction are unchanged.

    :param format: print corrected sentences, or only the edits: each with its probability, and the
        constituent that sprouts the new mark.
    :param rate: error rate of FILE, relative to the text that MODEL was fitted to.  [default: 1]
    :param find_rate: learn the rate from the part of FILE read so far.
    """
    from pyropunct.cli.sources import text_work
    from pyropunct.tasks.correct.correcting import NoisyChannel, load_corrector
    from pyropunct.tasks.correct.hearing import FITTED_RATE, WritersRate

    use.start()
    corrector = load_corrector(model, variants=use.trust_variants, encoder=use.encoder)
    if (find_rate or rate is not None) and not isinstance(corrector, NoisyChannel):
        option = "--find-rate" if find_rate else "--rate"
        raise UserError(f"{option}: {model} is the corrector of the paper, which has none")
    if find_rate and rate is not None:
        raise UserError("--rate tells what --find-rate is to find: give one of the two")
    how = replace(settings, best_tree=format == "conllu")

    def begin() -> "Restore":
        """Each text has a writer."""
        known = FITTED_RATE if rate is None else rate
        return partial(corrector.correct, settings=how, rate=WritersRate(None if find_rate else known))

    def report(out: TextIO, name: str) -> CorrectionReport:
        return CorrectionReport(format, out, corrector.model, how.parse)

    return text_work(corrector.model, begin, report)


class CorrectionReport(RestorationReport):
    """Corrected sentences, where right lines of raw text are unchanged; or only their edits.

    "edits" has a line for each changed slot, with tabs between columns: the line number in raw text, or the
    identifier in a treebank; the words beside the slot; the change; its probability; and the constituents
    that sprout the new marks.

    In JSON each sentence has its ``edits``: the ``slot``, its marks ``before`` and ``after`` the edit, the
    ``probability`` of the latter, and ``sprouted``, for new marks the ``relation`` and the ``words`` of the
    constituent that sprouts each ``mark``.

    :param parse: whether the words of treebanks were parsed anew.
    """

    def __init__(self, form: str, out: TextIO, model: "Punctuator", parse: bool) -> None:
        from pyropunct.tasks.correct.underlying import Explainer

        super().__init__(form, out, model, capital=False)
        self._given, self._parsed, self._parse = Explainer(model), Explainer(model.for_parsed), parse

    def text(self, source: "Source", restored: "Restored") -> str:
        """A sentence as text."""
        from pyropunct.tasks.correct.underlying import changes

        if not isinstance(source, Sentence) and not changes(source.surface, restored.surface):
            return source.text
        return super().text(source, restored)

    def _changes(
        self, source: "Source", restored: "Restored"
    ) -> "Iterator[tuple[SlotChange, float, list[Sprout]]]":
        """The changes of a sentence: the new marks of the slot, their probability, and what sprouts them."""
        from pyropunct.tasks.correct.underlying import changes

        found = changes(source.surface, restored.surface)
        if restored.tree is None or not found:
            return
        explainer = self._given if isinstance(source, Sentence) and not self._parse else self._parsed
        sprouts = explainer.explain(restored.tree, restored.surface, found)
        for one, why in zip(found, sprouts, strict=True):
            yield one, restored.probability(one.slot), why

    def add(self, source: "Source", *results: "Restored") -> None:
        """Print a sentence, or the lines of its edits."""
        from pyropunct.restore.restoring import words_of

        if self.form != "edits":
            super().add(source, *results)
            return
        words = words_of(source)
        place = source.identifier if isinstance(source, Sentence) else source.line
        for change, probability, sprouts in self._changes(source, *results):
            before = words[change.slot - 1] if change.slot else "^"
            after = words[change.slot] if change.slot < len(words) else "$"
            old, new = (" ".join(displayed(marks)) or NOTHING for marks in (change.before, change.after))
            reasons = "; ".join(map(_reason, sprouts))
            self.write(f"{place}\t{before} [{old} → {new}] {after}\t{probability:.2f}\t{reasons}\n")

    def leave(self, item: "Item") -> None:
        """Print what cannot be used unchanged; it has no edits."""
        if self.form != "edits":
            super().leave(item)

    def more(self, source: "Source", restored: "Restored") -> dict[str, Any]:
        """The edits."""
        edits = [
            {
                "slot": change.slot,
                "before": displayed(change.before),
                "after": displayed(change.after),
                "probability": probability,
                "sprouted": [
                    {"mark": display(mark), "relation": relation, "words": list(words)}
                    for mark, relation, words in sprouts
                ],
            }
            for change, probability, sprouts in self._changes(source, restored)
        ]
        return {"edits": edits}


def _reason(sprout: "Sprout") -> str:
    words = sprout.words
    if len(words) > WORDS_SHOWN:
        half = WORDS_SHOWN // 2
        words = (*words[:half], "…", *words[-half:])
    return f"{display(sprout.mark)} of {sprout.relation}: {' '.join(words)}"


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

    TRAIN is the CoNLL-U file that MODEL was fitted to, in which errors are simulated; or a .jsonl file of
    learners' sentences with corrections.

    :param model: the model that `pyropunct fit TRAIN` wrote, or en.
    :param dev: treebank to report on; by default a tenth of TRAIN is held out.
    :param out: file for the corrector; the ending .safetensors is added if it is missing.
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
