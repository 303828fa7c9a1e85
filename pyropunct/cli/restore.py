"""The command ``pyropunct restore``."""

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TextIO

import click

from pyropunct.cli.options import Json, ModelUse
from pyropunct.cli.texts import text_command
from pyropunct.restore.settings import RestoreSettings
from pyropunct.shipped import DEFAULT

if TYPE_CHECKING:
    from pyropunct.corpus.shards import Work


@text_command
def restore(
    model: str = DEFAULT,
    *,
    settings: RestoreSettings,
    format: Literal["text", "conllu", "json"] = "text",
    score: bool = False,
    use: ModelUse,
    json: Json = False,
) -> "Work":
    """Punctuate FILE: raw text, one sentence a line with spaces between words, or CoNLL-U.

    A line that is too long for a sentence, or in which marks end sentences, is running text, as with
    --running, if MODEL can read such.
    FILE may be - for standard input.  Without MODEL, it is the English one that comes with the package.
    CoNLL-U has trees; raw words need a MODEL fitted with --parser.  Punctuation that raw text already has
    stays, unless --anew is given.  Empty lines are kept.

    :param score: compare with the punctuation of FILE, and print only the scores.
    """
    from pyropunct.cli.restore_output import (
        ConlluOutput,
        JsonOutput,
        Output,
        Printer,
        ScoreOutput,
        TextOutput,
    )
    from pyropunct.cli.sources import text_work
    from pyropunct.restore.posterior import FEW_DRAWS
    from pyropunct.restore.restorer import Restorer

    if settings.keep and score:
        raise click.UsageError("--keep and --score exclude each other: kept marks need no restoring")
    if settings.running and score:
        raise click.UsageError("--running and --score exclude each other: sentences are compared")
    punctuator = use.load(model)
    shape = "json" if json else format
    decoder = settings.decoder or ("mbr" if score else None)
    settings = replace(settings, decoder=decoder, best_tree=shape == "conllu", as_written=not score)
    if score:
        settings = replace(settings, keep=False)
    restorer = Restorer(punctuator, settings)

    def output(out: TextIO, name: str) -> Output:
        if score:
            return ScoreOutput(name, shape == "json")
        kinds = {"text": TextOutput, "conllu": ConlluOutput, "json": JsonOutput}
        return kinds[shape](out, Printer(punctuator, settings.capital))

    return text_work(
        punctuator,
        lambda: restorer.restore,
        output,
        restorer=restorer,
        quiet=bool(settings.keep is not None or score or settings.hidden),
        few_draws=min(FEW_DRAWS, settings.samples / 2) if settings.keep or settings.hidden else 0,
    )
