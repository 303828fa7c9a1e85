"""The command ``pyropunct restore``."""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

import click

from pyropunct.cli import console
from pyropunct.cli.frame import polite
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
    from pyropunct.restore.raw_words import RawSentence
    from pyropunct.restore.restorer import Restorer
    from pyropunct.restore.restoring import Restored, Source
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
    case: str,
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
    :param settings: see `RestoreSettings`.
    """

    def __init__(
        self, model: str, *, shape: str, encoder: str | None, trust_variants: bool, **settings: Any
    ) -> None:
        from pyropunct.restore.restorer import Restorer
        from pyropunct.restore.settings import RestoreSettings

        self.model = load_model(model, trust_variants, encoder)
        self._restorer = Restorer(self.model, RestoreSettings(best_tree=shape == "conllu", **settings))

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

        tell = partial(_tell_long, part.name) if reject is None else None
        read = self._restorer.read(part, tolerant=reject is not None, tell_long=tell)
        items, doubted = Items(read, part.name, quiet, reject), _Doubted(self._restorer)
        show(items, read, part.name, doubted.restore, output, advance)
        return items.omitted, doubted


class _Doubted:
    """Restores, and counts the sentences whose marks leave few draws: less than half of those wanted, too.

    :ivar number: how many such sentences there were.
    :ivar first: the first of them.
    """

    def __init__(self, restorer: "Restorer") -> None:
        self._restorer, self.number = restorer, 0
        self.first: Restored | None = None

    def restore(self, sources: "Sequence[Source]") -> "Iterator[Restored]":
        """What becomes of some sentences."""
        from pyropunct.restore.posterior import FEW_DRAWS

        few = min(FEW_DRAWS, self._restorer.settings.samples / 2)
        for restored in self._restorer.restore(sources):
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


def _output(model: "Punctuator", name: str, score: bool, shape: str, capital: bool) -> "Output":
    from pyropunct.cli.restore_output import ConlluOutput, JsonOutput, Printer, ScoreOutput, TextOutput

    if score:
        return ScoreOutput(name, shape == "json")
    kinds = {"text": TextOutput, "conllu": ConlluOutput, "json": JsonOutput}
    # The present stream, because a progress bar replaces sys.stdout while it is shown.
    return kinds[shape](sys.stdout, Printer(model, capital))
