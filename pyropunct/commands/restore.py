"""The command ``pyropunct restore``."""

import sys
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from pyropunct.commands import console
from pyropunct.commands.frame import BAD_INPUT, OneLineError, polite
from pyropunct.commands.loading import load_model, model_and_file, use_threads
from pyropunct.commands.options import (
    decoding_options,
    encoder_option,
    json_option,
    seed_option,
    threads_option,
    trust_option,
)

if TYPE_CHECKING:
    from pyropunct.commands.restore_output import Output
    from pyropunct.punctuator import Punctuator
    from pyropunct.restore.cases import CaseMode
    from pyropunct.restore.raw_words import RawSentence
    from pyropunct.restore.restoring import Restoration, Restored, Source

# Modules that need torch are imported inside the functions, so that --help answers at once.


@click.command()
@click.argument("places", nargs=-1, required=True, metavar="[MODEL] FILE")
@decoding_options
@click.option(
    "--marks",
    help='Restore only these marks, such as ".,?!"; separate marks of several characters by spaces.',
)
@click.option("--keep", is_flag=True, help="Keep the punctuation of FILE, and fill only its empty slots.")
@click.option(
    "--hidden",
    metavar="MARKS",
    help='Restore only these marks, such as ",", and take all others of FILE as they are: they tell where '
    "these belong.",
)
@click.option(
    "--capital/--no-capital",
    default=True,
    show_default=True,
    help="Begin sentences of raw text with a capital letter.",
)
@click.option(
    "--running",
    is_flag=True,
    help="FILE is running text, with sentences that end anywhere in lines: find them.  Blank lines part "
    "paragraphs.",
)
@click.option(
    "--case",
    type=click.Choice(["auto", "restore", "keep"]),
    default="auto",
    show_default=True,
    help="Restore capital letters, of names too: in raw text that has none, or nothing else; in all raw "
    "text; or nowhere.",
)
@click.option(
    "--format", "shape", type=click.Choice(["text", "conllu", "json"]), default="text", show_default=True
)
@click.option(
    "--score", is_flag=True, help="Compare with the punctuation of FILE, and print only the scores."
)
@encoder_option
@seed_option
@trust_option
@threads_option
@json_option
@polite
def restore(
    places: tuple[str, ...],
    kind: str,
    marks: str | None,
    keep: bool,
    hidden: str | None,
    capital: bool,
    running: bool,
    case: "CaseMode",
    shape: str,
    score: bool,
    encoder: str | None,
    trust_variants: bool,
    threads: int | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Punctuate FILE: raw text, one sentence a line with spaces between words, or CoNLL-U.

    A line that is too long for a sentence is running text, as with --running, if MODEL can read such.
    FILE may be - for standard input.  Without MODEL, it is the English one that comes with the package.
    CoNLL-U has trees; raw words need a MODEL fitted with --parser.  Punctuation that FILE already has is
    removed first.  Empty lines are kept.
    """
    from pyropunct.commands.restore_output import ConlluOutput
    from pyropunct.commands.sources import Items, show
    from pyropunct.restore.reading import LONGEST_PIECE, read_items
    from pyropunct.restore.restoring import Restoration
    from pyropunct.restore.running import Finding, FoundItems
    from pyropunct.treebank.lines import LONGEST_LINE, ByteLines, opened

    if keep and score:
        raise click.UsageError("--keep and --score exclude each other: kept marks need no restoring")
    if hidden is not None and marks is not None:
        raise click.UsageError("--hidden and --marks exclude each other: all marks but the hidden ones stay")
    if running and score:
        raise click.UsageError("--running and --score exclude each other: sentences are compared")
    model, file = model_and_file(places)
    use_threads(threads)
    punctuator = load_model(model, trust_variants, encoder)
    only = None if marks is None else _known_marks(punctuator, marks, "--marks")
    unseen = () if hidden is None else _known_marks(punctuator, hidden, "--hidden")
    if hidden is not None and not unseen:
        raise OneLineError("--hidden: there is no mark", BAD_INPUT)
    restoration = Restoration(
        punctuator,
        marks=only,
        keep=keep,
        hidden=unseen,
        keep_dots=not score,
        best_tree=shape == "conllu",
        case=case,
        capital=capital,
        **settings,
    )
    finding = Finding(punctuator.reader, running, case, capital, last_end="\n")
    with opened(file) as (stream, name):
        output = _output(punctuator, name, score, "json" if as_json else shape, capital)
        lines = ByteLines(stream, LONGEST_PIECE if running else LONGEST_LINE)
        read = read_items(lines, name, kind, punctuator.raw_reader, running=running)
        found = FoundItems(read, lines, finding, partial(_tell_long, name))
        items = Items(found, name, quiet=bool(keep or score or unseen))
        doubted = _Doubted(restoration)
        with console.stream_bar(stream, name) as advance:
            show(items, found, name, doubted.restore, output, advance)
    if doubted.first:
        _tell_doubted(name, doubted.first, doubted.number)
    console.tell_omitted(name, items.omitted, kept=isinstance(output, ConlluOutput))


class _Doubted:
    """Restores, and counts the sentences whose marks leave few draws: less than half of those wanted, too.

    :ivar number: how many such sentences there were.
    :ivar first: the first of them.
    """

    def __init__(self, restoration: "Restoration") -> None:
        self._restoration, self.number = restoration, 0
        self.first: Restored | None = None

    def restore(self, sources: "Sequence[Source]") -> "Iterator[Restored]":
        """What becomes of some sentences."""
        from pyropunct.restore.posterior import FEW_DRAWS

        few = min(FEW_DRAWS, self._restoration.samples / 2)
        for restored in self._restoration.restore(sources):
            if restored.effective_draws is not None and restored.effective_draws < few:
                self.number, self.first = self.number + 1, self.first or restored
            yield restored


def _tell_doubted(name: str, first: "Restored", number: int) -> None:
    from pyropunct.commands.sources import place_in

    what = f"{first.effective_draws:.1f} effective draws, which are few: more --samples would help"
    console.tell(
        f"pyropunct: {place_in(name, first.source)}: {what}" + f" (and {number - 1} more)" * (number > 1)
    )


def _tell_long(name: str, line: "RawSentence") -> None:
    what = f"{len(line.words)} words; it is read as running text (--running)"
    console.tell(f"pyropunct: {name}:{line.line}: {what}")


def _known_marks(model: "Punctuator", wanted: str, option: str) -> Collection[str]:
    """The marks of an option as tokens of the model, with directed quotation marks.

    :raises OneLineError: if the model lacks one of them.
    """
    from pyropunct.treebank.quotes import STRAIGHT

    known = [token for token in model.vocabulary.tokens if not token.startswith("\t")]
    chosen: set[str] = set()
    for mark in wanted.split() if len(wanted.split()) > 1 else wanted.strip():
        meant = {mark, *STRAIGHT.get(mark, ())}.intersection(known)
        if not meant:
            raise OneLineError(f"{option}: the model has no mark {mark}, it has {' '.join(known)}", BAD_INPUT)
        chosen |= meant
    return chosen


def _output(model: "Punctuator", name: str, score: bool, shape: str, capital: bool) -> "Output":
    from pyropunct.commands.restore_output import ConlluOutput, JsonOutput, Printer, ScoreOutput, TextOutput

    if score:
        return ScoreOutput(name, shape == "json")
    kinds = {"text": TextOutput, "conllu": ConlluOutput, "json": JsonOutput}
    # The present stream, because a progress bar replaces sys.stdout while it is shown.
    return kinds[shape](sys.stdout, Printer(model, capital))
