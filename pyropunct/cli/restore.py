"""The command ``pyropunct restore``."""

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

import click

from pyropunct.cli import console
from pyropunct.cli.frame import BAD_INPUT, OneLineError, polite
from pyropunct.cli.loading import load_model, model_and_file, use_threads
from pyropunct.cli.options import (
    decoding_options,
    encoder_option,
    json_option,
    seed_option,
    threads_option,
    trust_option,
)

if TYPE_CHECKING:
    from pyropunct.cli.restore_output import Output
    from pyropunct.cli.sources import Reject
    from pyropunct.corpus.shards import Work
    from pyropunct.punctuator import Punctuator
    from pyropunct.restore.cases import CaseMode
    from pyropunct.restore.raw_words import RawSentence
    from pyropunct.restore.restoring import Restoration, Restored, Source
    from pyropunct.treebank.lines import Part
    from pyropunct.treebank.reading import Omission

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

    A line that is too long for a sentence, or in which marks end sentences, is running text, as with
    --running, if MODEL can read such.
    FILE may be - for standard input.  Without MODEL, it is the English one that comes with the package.
    CoNLL-U has trees; raw words need a MODEL fitted with --parser.  Punctuation that FILE already has is
    removed first.  Empty lines are kept.
    """
    from pyropunct.cli.restore_output import ConlluOutput
    from pyropunct.treebank.lines import Part, opened

    if keep and score:
        raise click.UsageError("--keep and --score exclude each other: kept marks need no restoring")
    if running and score:
        raise click.UsageError("--running and --score exclude each other: sentences are compared")
    model, file = model_and_file(places)
    use_threads(threads)
    settings |= {"marks": marks, "keep": keep, "hidden": hidden, "capital": capital, "running": running}
    settings |= {"case": case, "shape": shape, "encoder": encoder, "trust_variants": trust_variants}
    way = Way(model, keep_dots=not score, **settings)
    with opened(file) as (stream, name):
        output = _output(way.model, name, score, "json" if as_json else shape, capital)
        quiet = bool(keep or score or hidden)
        with console.stream_bar(stream, name) as advance:
            omitted, doubted = way.show(Part(stream, name, kind), output, advance, quiet=quiet)
    if doubted.first:
        _tell_doubted(name, doubted.first, doubted.number)
    console.tell_omitted(name, omitted, kept=isinstance(output, ConlluOutput))


class Way:
    """A way to restore texts, with a model.

    :param model: its folder.
    :param keep_dots: see `Restoration`.
    :param settings: the options of the command that have other names here.
    :raises UsageError: if options exclude each other.
    :raises OneLineError: if the model does not know a mark in an option.
    """

    def __init__(
        self,
        model: str,
        *,
        marks: str | None,
        hidden: str | None,
        running: bool,
        case: "CaseMode",
        capital: bool,
        shape: str,
        encoder: str | None,
        trust_variants: bool,
        **settings: Any,
    ) -> None:
        from pyropunct.restore.restoring import Restoration
        from pyropunct.restore.running import Finding

        if hidden is not None and marks is not None:
            raise click.UsageError(
                "--hidden and --marks exclude each other: all marks but the hidden ones stay"
            )
        self.model = load_model(model, trust_variants, encoder)
        unseen = () if hidden is None else _known_marks(self.model, hidden, "--hidden")
        if hidden is not None and not unseen:
            raise OneLineError("--hidden: there is no mark", BAD_INPUT)
        self._running = running
        self._finding = Finding(self.model.reader, running, case, capital, last_end="\n")
        self._restoration = Restoration(
            self.model,
            marks=None if marks is None else _known_marks(self.model, marks, "--marks"),
            hidden=unseen,
            best_tree=shape == "conllu",
            case=case,
            capital=capital,
            **settings,
        )

    def show(
        self,
        part: "Part",
        output: "Output",
        advance: Callable[[], None],
        *,
        quiet: bool = False,
        reject: "Reject | None" = None,
    ) -> "tuple[list[Omission], _Doubted]":
        """Restore a text.

        :param advance: called after each piece of it.
        :param quiet: see `Items`.
        :param reject: see `Items`; with it no sentence of CoNLL-U that is malformed ends the work.
        :returns: the sentences that were left out, and how many could be doubted.
        """
        from pyropunct.cli.sources import Items, show
        from pyropunct.restore.reading import LONGEST_PIECE, read_items
        from pyropunct.restore.running import FoundItems
        from pyropunct.treebank.lines import LONGEST_LINE, ByteLines

        lines = ByteLines(part.stream, LONGEST_PIECE if self._running else LONGEST_LINE)
        read = read_items(
            lines,
            part.name,
            part.kind,
            self.model.raw_reader,
            running=self._running,
            start=part.start,
            tolerant=reject is not None,
        )
        tell = partial(_tell_long, part.name) if reject is None else _tell_nothing
        found = FoundItems(read, lines, self._finding, tell)
        items, doubted = Items(found, part.name, quiet, reject), _Doubted(self._restoration)
        show(items, found, part.name, doubted.restore, output, advance)
        return items.omitted, doubted


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
    from pyropunct.cli.sources import place_in

    what = f"{first.effective_draws:.1f} effective draws, which are few: more --samples would help"
    console.tell(
        f"pyropunct: {place_in(name, first.source)}: {what}" + f" (and {number - 1} more)" * (number > 1)
    )


def _tell_long(name: str, line: "RawSentence") -> None:
    what = f"{len(line.words)} words; it is read as running text (--running)"
    console.tell(f"pyropunct: {name}:{line.line}: {what}")


def work(model: str, shape: str, capital: bool, **settings: Any) -> "Work":
    """What the command does with a part of a corpus."""
    from pyropunct.cli.restore_output import ConlluOutput, Printer, TextOutput

    way = Way(model, keep_dots=True, shape=shape, capital=capital, **settings)
    printer = Printer(way.model, capital)
    kind = {"text": TextOutput, "conllu": ConlluOutput}[shape]

    def restored(part: "Part", out: TextIO, reject: "Reject") -> None:
        way.show(part, kind(out, printer), lambda: None, reject=reject)

    return restored


def _tell_nothing(line: "RawSentence") -> None:
    """For where nobody watches."""


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
    from pyropunct.cli.restore_output import ConlluOutput, JsonOutput, Printer, ScoreOutput, TextOutput

    if score:
        return ScoreOutput(name, shape == "json")
    kinds = {"text": TextOutput, "conllu": ConlluOutput, "json": JsonOutput}
    # The present stream, because a progress bar replaces sys.stdout while it is shown.
    return kinds[shape](sys.stdout, Printer(model, capital))
