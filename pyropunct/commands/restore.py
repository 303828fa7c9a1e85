"""The command ``pyropunct restore``."""

import sys
from collections.abc import Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from pyropunct.commands import console
from pyropunct.commands.frame import BAD_INPUT, OneLineError, polite
from pyropunct.commands.loading import load_model, use_threads
from pyropunct.commands.options import (
    decoding_options,
    encoder_option,
    json_option,
    seed_option,
    threads_option,
    trust_option,
)
from pyropunct.shipped import DEFAULT, place_of

if TYPE_CHECKING:
    from pyropunct.commands.restore_output import Output
    from pyropunct.punctuator import Punctuator
    from pyropunct.restore.cases import CaseMode
    from pyropunct.restore.raw_words import RawSentence

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
    from pyropunct.restore.raw_words import RawReader
    from pyropunct.restore.reading import LONGEST_PIECE, read_items
    from pyropunct.restore.restoring import Restoration
    from pyropunct.restore.running import Finding, FoundItems
    from pyropunct.treebank.lines import LONGEST_LINE, ByteLines, opened

    if keep and score:
        raise click.UsageError("--keep and --score exclude each other: kept marks need no restoring")
    if running and score:
        raise click.UsageError("--running and --score exclude each other: sentences are compared")
    model, file = _model_and_file(places)
    use_threads(threads)
    punctuator = load_model(model, trust_variants, encoder)
    only = None if marks is None else _known_marks(punctuator, marks)
    restoration = Restoration(
        punctuator,
        marks=only,
        keep=keep,
        keep_dots=not score,
        best_tree=shape == "conllu",
        case=case,
        capital=capital,
        **settings,
    )
    finding = Finding(punctuator.reader, running, case, capital, last_end="\n")
    with opened(file) as (stream, name):
        output = _output(punctuator, name, score, "json" if as_json else shape, capital)
        reader = RawReader(punctuator.vocabulary, punctuator.conventions)
        lines = ByteLines(stream, LONGEST_PIECE if running else LONGEST_LINE)
        read = read_items(lines, name, kind, reader, running=running)
        found = FoundItems(read, lines, finding, partial(_tell_long, name))
        items = Items(found, name, quiet=keep or score)
        with console.stream_bar(stream, name) as advance:
            show(items, found, name, restoration.restore, output, advance)
    console.tell_omitted(name, items.omitted, kept=isinstance(output, ConlluOutput))


def _tell_long(name: str, line: "RawSentence") -> None:
    what = f"{len(line.words)} words; it is read as running text (--running)"
    console.tell(f"pyropunct: {name}:{line.line}: {what}")


def _model_and_file(places: Sequence[str]) -> tuple[str, str]:
    """The model and the file of a call; a single argument is the file.

    :raises OneLineError: if the single argument is a model.
    :raises UsageError: if there are more than two.
    """
    if len(places) > 2:
        raise click.UsageError(f"Got unexpected extra arguments ({' '.join(places[2:])})")
    *model, file = places
    if not model and place_of(file).is_dir():
        raise OneLineError(f"{file}: is no text but a folder: give MODEL and FILE, or FILE alone", BAD_INPUT)
    return (model or [DEFAULT])[0], file


def _known_marks(model: "Punctuator", wanted: str) -> Collection[str]:
    """The marks of ``--marks`` as tokens of the model, with directed quotation marks.

    :raises OneLineError: if the model lacks one of them.
    """
    from pyropunct.treebank.quotes import STRAIGHT

    known = [token for token in model.vocabulary.tokens if not token.startswith("\t")]
    chosen: set[str] = set()
    for mark in wanted.split() if len(wanted.split()) > 1 else wanted.strip():
        meant = {mark, *STRAIGHT.get(mark, ())}.intersection(known)
        if not meant:
            raise OneLineError(f"--marks: the model has no mark {mark}, it has {' '.join(known)}", BAD_INPUT)
        chosen |= meant
    return chosen


def _output(model: "Punctuator", name: str, score: bool, shape: str, capital: bool) -> "Output":
    from pyropunct.commands.restore_output import ConlluOutput, JsonOutput, Printer, ScoreOutput, TextOutput

    if score:
        return ScoreOutput(name, shape == "json")
    kinds = {"text": TextOutput, "conllu": ConlluOutput, "json": JsonOutput}
    # The present stream, because a progress bar replaces sys.stdout while it is shown.
    return kinds[shape](sys.stdout, Printer(model, capital))
