"""The command ``pyropunct correct``."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal, TextIO

from pyropunct.cli.options import Json, ModelUse
from pyropunct.cli.texts import text_command
from pyropunct.errors import UserError
from pyropunct.limits import Range
from pyropunct.shipped import DEFAULT
from pyropunct.tasks.settings import CorrectingSettings

if TYPE_CHECKING:
    from pyropunct.corpus.shards import Work


@text_command
def correct(
    model: str = DEFAULT,
    *,
    settings: CorrectingSettings,
    format: Literal["text", "edits", "conllu", "json"] = "text",
    rate: Annotated[float | None, Range(0, 4)] = None,
    find_rate: bool = False,
    use: ModelUse,
    json: Json = False,
) -> "Work":
    """Correct the punctuation of FILE: raw text, one sentence a line, or CoNLL-U.

    MODEL is the file that `pyropunct fit-correction` wrote; without it, it is the English one that comes with
    the package.  FILE may be - for standard input.  CoNLL-U has trees; raw text needs a MODEL with a parser.
    A line that needs no correction is left unchanged.

    :param format: print corrected sentences, or only the edits: each with its probability, and the
        constituent that sprouts the new mark.
    :param rate: how many errors FILE has, times those that MODEL was fitted to.  [default: 1]
    :param find_rate: learn this from all that was read of FILE so far.
    """
    from pyropunct.cli.correct_output import CorrectionPrinter, EditsOutput, JsonCorrections
    from pyropunct.cli.restore_output import ConlluOutput, Output, TextOutput
    from pyropunct.cli.sources import Restore, text_work
    from pyropunct.tasks.correct.correcting import NoisyChannel, load_corrector
    from pyropunct.tasks.correct.hearing import FITTED_RATE, WritersRate

    use.start()
    corrector = load_corrector(model, variants=use.trust_variants, encoder=use.encoder)
    if (find_rate or rate is not None) and not isinstance(corrector, NoisyChannel):
        option = "--find-rate" if find_rate else "--rate"
        raise UserError(f"{option}: {model} is the corrector of the paper, which has none")
    if find_rate and rate is not None:
        raise UserError("--rate tells what --find-rate is to find: give one of the two")
    shape = "json" if json else format
    how = replace(settings, best_tree=shape == "conllu")

    def begin() -> Restore:
        """Each text has a writer."""
        known = FITTED_RATE if rate is None else rate
        return partial(corrector.correct, settings=how, rate=WritersRate(None if find_rate else known))

    def output(out: TextIO, name: str) -> Output:
        kinds = {"text": TextOutput, "conllu": ConlluOutput, "edits": EditsOutput, "json": JsonCorrections}
        return kinds[shape](out, CorrectionPrinter(corrector.model, how.parse))

    return text_work(corrector.model, begin, output)
