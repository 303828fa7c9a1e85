"""The commands ``pyropunct restore``, ``parse`` and ``correct``, for texts and treebanks."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal, TextIO

import click

from pyropunct.cli.command import text_command
from pyropunct.cli.loading import ModelUse
from pyropunct.errors import UserError
from pyropunct.limits import Count, Help, Range
from pyropunct.restore.settings import RestoreSettings
from pyropunct.shipped import DEFAULT
from pyropunct.tasks import CorrectingSettings

if TYPE_CHECKING:
    from pyropunct.cli.report import SentenceReport
    from pyropunct.cli.sources import Restore, Work
    from pyropunct.punctuator import Punctuator

# Modules that need torch are imported inside the functions, so that --help answers at once.


@text_command
def restore(
    model: str = DEFAULT,
    *,
    settings: RestoreSettings,
    format: Literal["text", "conllu", "json"] = "text",
    score: bool = False,
    use: ModelUse,
) -> "Work":
    """Punctuate FILE: raw text, one sentence a line with spaces between words, or CoNLL-U.

    A line that is too long for a sentence, or contains marks that end sentences, is running text, as with
    --running, if MODEL supports it.  FILE may be - for standard input.  The default MODEL is the English
    en-encoder where its encoder is installed, else the English en.  CoNLL-U has trees; raw words need a MODEL
    fitted with --parser.  Existing punctuation of raw text stays, unless --anew is given.  Empty lines are
    kept.

    :param score: compare with the punctuation of FILE, and print only the scores.
    """
    from pyropunct.cli.sources import Tools, text_work
    from pyropunct.cli.text_reports import RestorationReport
    from pyropunct.restore.posterior import FEW_DRAWS
    from pyropunct.restore.restorer import Restorer

    if settings.keep and score:
        raise click.UsageError("--keep and --score exclude each other: kept marks need no restoring")
    if settings.running and score:
        raise click.UsageError("--running and --score exclude each other: sentences are compared")
    decoder = settings.decoder or ("mbr" if score else None)
    settings = replace(settings, decoder=decoder, best_tree=format == "conllu", as_written=not score)
    if score:
        settings = replace(settings, keep=False)

    def tools(punctuator: "Punctuator") -> Tools:
        restorer = Restorer(punctuator, settings)

        def report(out: TextIO, name: str) -> "SentenceReport":
            if score:
                from pyropunct.cli.score_reports import RestorationScoreReport

                return RestorationScoreReport(name, format)
            return RestorationReport(format, out, punctuator, settings.capital)

        return Tools(lambda: restorer.restore, report, restorer)

    return text_work(
        use.load(model),
        tools,
        quiet=bool(settings.keep is not None or score or settings.hidden),
        few_draws=min(FEW_DRAWS, settings.samples / 2) if settings.keep or settings.hidden else 0,
        force=settings.force,
        running=settings.running,
    )


restore.sections = {
    "Input and output": "input field format json score language force",
    "Marks": "marks keep hidden style threshold decoder",
    "Sentences and capital letters": "running ends ahead case capital",
}


@text_command
def parse(
    model: str = DEFAULT,
    *,
    draws: Count = 200,
    strength: Annotated[float, Range(0, 10)] = 1.0,
    format: Literal["conllu", "json"] = "conllu",
    score: bool = False,
    use: ModelUse,
) -> "Work":
    """Find the trees of FILE from its words and punctuation, and the head of each mark.

    FILE is raw text, one sentence a line with spaces between words, or CoNLL-U, whose trees are ignored; - is
    standard input.  The default MODEL is the English en-encoder where its encoder is installed, else the
    English en; others must be fitted with --parser, and find better trees if fitted with --mark-parser too.

    :param draws: trees that the parser draws for each sentence, to be weighted by their marks.
    :param strength: weight of the probability of the marks given a tree: 1 as in Bayes' rule, 0 to ignore it.
    :param score: compare with the trees of FILE, and print only the scores.
    """
    from pyropunct.cli.score_reports import TreeScoreReport
    from pyropunct.cli.sources import Tools, text_work
    from pyropunct.cli.text_reports import TreeReport, parsed

    whole = use.load(model)
    if whole.parser is None:
        raise UserError(f"{model}: has no parser: fit one with `pyropunct fit TRAIN --parser`")

    def tools(punctuator: "Punctuator") -> Tools:
        def report(out: TextIO, name: str) -> "SentenceReport":
            return TreeScoreReport(name, format) if score else TreeReport(format, out, punctuator)

        return Tools(lambda: partial(parsed, punctuator, draws, strength), report)

    return text_work(whole, tools)


@text_command
def correct(
    model: str = DEFAULT,
    *,
    settings: CorrectingSettings,
    format: Literal["text", "edits", "conllu", "misc", "json"] = "text",
    rate: Annotated[float | None, Range(0, 4)] = None,
    find_rate: bool = False,
    force: Annotated[bool, Help("Also change text in another language than the one of MODEL.")] = False,
    use: ModelUse,
) -> "Work":
    """Correct the punctuation of FILE: raw text, one sentence a line, or CoNLL-U.

    MODEL is a file written by `pyropunct fit-correction`.  The default is the English en-encoder where its
    encoder is installed, else the English en.  FILE may be - for standard input.  CoNLL-U has trees; raw text
    needs a MODEL with a parser.  Lines that need no correction are unchanged, and so are those in another
    language than English if MODEL is of several.

    :param format: print corrected sentences, or only the edits: each with its probability, and the
        constituent that sprouts the new mark; misc leaves a treebank as it is, and writes them into MISC.
    :param rate: error rate of FILE, relative to the text that MODEL was fitted to.  [default: 1]
    :param find_rate: learn the rate from the part of FILE read so far.
    """
    from pyropunct.cli.loading import of_language
    from pyropunct.cli.sources import Tools, text_work
    from pyropunct.cli.text_reports import CorrectionReport
    from pyropunct.tasks.correct.correcting import load_corrector, unlearned
    from pyropunct.tasks.correct.hearing import FITTED_RATE, WritersRate
    from pyropunct.tasks.correct.learner_errors import LEARNERS_LANGUAGE

    use.start()
    corrector = load_corrector(model, variants=use.trust_variants, encoder=use.encoder)
    if find_rate and rate is not None:
        raise UserError("--rate tells what --find-rate is to find: give one of the two")
    if corrector.model.languages and use.language not in (None, LEARNERS_LANGUAGE):
        raise UserError(f"--language {use.language}: {unlearned([use.language])}")
    how = replace(settings, best_tree=format in ("conllu", "misc"))
    whole = corrector.model if use.language is None else of_language(corrector.model, use.language)

    def tools(punctuator: "Punctuator") -> Tools:
        of_text = replace(corrector, model=punctuator)

        def begin() -> "Restore":
            """Each text has a writer."""
            known = FITTED_RATE if rate is None else rate
            return partial(of_text.correct, settings=how, rate=WritersRate(None if find_rate else known))

        def report(out: TextIO, name: str) -> CorrectionReport:
            return CorrectionReport(format, out, punctuator, how.parse)

        return Tools(begin, report)

    return text_work(whole, tools, force=force, languages=(LEARNERS_LANGUAGE,))
