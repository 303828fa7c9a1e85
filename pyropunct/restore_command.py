"""The command ``pyropunct restore``."""

import sys
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from pyropunct import console
from pyropunct.commands import (
    BAD_INPUT,
    OneLineError,
    decoding_options,
    json_option,
    load_model,
    polite,
    seed_option,
    threads_option,
    use_threads,
)

if TYPE_CHECKING:
    from pyropunct.punctuator import Punctuator
    from pyropunct.restore_input import Item
    from pyropunct.restore_output import Output
    from pyropunct.restoring import Source

# Modules that need torch are imported inside the functions, so that --help answers at once.

CHUNK = 100
"""Sentences that are restored together."""


@click.command()
@click.argument("model")
@click.argument("file")
@decoding_options
@click.option(
    "--marks",
    help='Restore these marks alone, such as ".,?!"; separate marks of several characters by spaces.',
)
@click.option(
    "--keep", is_flag=True, help="Keep the punctuation that is there, and fill only slots that are empty."
)
@click.option(
    "--capital/--no-capital",
    default=True,
    show_default=True,
    help="Begin the text of raw words with a capital letter.",
)
@click.option(
    "--format", "shape", type=click.Choice(["text", "conllu", "json"]), default="text", show_default=True
)
@click.option(
    "--score", is_flag=True, help="Compare with the punctuation that FILE has; print the scores alone."
)
@seed_option
@threads_option
@json_option
@polite
def restore(
    model: str,
    file: str,
    kind: str,
    marks: str | None,
    keep: bool,
    capital: bool,
    shape: str,
    score: bool,
    threads: int | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Punctuate FILE: raw text, one sentence a line with spaces between words, or CoNLL-U.

    FILE may be - for standard input.  CoNLL-U has trees; raw words need a MODEL fitted with --parser.
    Punctuation that is there already is taken off first.  Empty lines stay.
    """
    from pyropunct.raw_words import RawReader
    from pyropunct.restore_input import opened, read_items
    from pyropunct.restoring import Restoration

    if keep and score:
        raise click.UsageError("--keep gives away what --score asks for: take one of them")
    use_threads(threads)
    punctuator = load_model(model)
    only = None if marks is None else _known_marks(punctuator, marks)
    restoration = Restoration(punctuator, marks=only, keep=keep, keep_dots=not score, **settings)
    with opened(file) as (stream, name):
        output = _output(punctuator, name, score, "json" if as_json else shape, capital)
        reader = RawReader(punctuator.vocabulary, punctuator.conventions)
        usable = _Usable(read_items(stream, name, kind, reader), quiet=keep or score)
        with console.stream_bar(stream, name) as advance:
            for sources in _chunks(usable, 1 if stream.isatty() else CHUNK):
                for restored in restoration.restore(sources):
                    output.add(restored)
                advance()
    output.finish(usable.omitted)
    usable.tell_omitted(name)


def _known_marks(model: "Punctuator", wanted: str) -> Collection[str]:
    """The marks of ``--marks`` as the model has them, quotation marks directed."""
    from pyropunct.quotes import STRAIGHT

    known = [token for token in model.vocabulary.tokens if not token.startswith("\t")]
    chosen: set[str] = set()
    for mark in wanted.split() if len(wanted.split()) > 1 else wanted.strip():
        meant = {mark, *STRAIGHT.get(mark, ())}.intersection(known)
        if not meant:
            raise OneLineError(f"--marks: the model has no mark {mark}, it has {' '.join(known)}", BAD_INPUT)
        chosen |= meant
    return chosen


def _output(model: "Punctuator", name: str, score: bool, shape: str, capital: bool) -> "Output":
    from pyropunct.restore_output import ConlluOutput, JsonOutput, Printer, ScoreOutput, TextOutput

    if score:
        return ScoreOutput(name, shape == "json")
    kinds = {"text": TextOutput, "conllu": ConlluOutput, "json": JsonOutput}
    # The stream as it is now: while a progress bar is shown, it takes the place of sys.stdout.
    return kinds[shape](sys.stdout, Printer(model, capital))


class _Usable:
    """The sentences that can be restored; what is said about them once, beside the results.

    :param items: all that was read.
    :param quiet: do not say that punctuation is taken off.
    """

    def __init__(self, items: "Iterable[Item]", quiet: bool) -> None:
        self._items, self._quiet = items, quiet
        self.omitted, self._first_omitted = 0, ""

    def __iter__(self) -> "Iterator[Source]":
        from pyropunct.restoring import has_marks
        from pyropunct.treebank import Omission

        for item in self._items:
            if isinstance(item, Omission):
                self.omitted += 1
                self._first_omitted = self._first_omitted or f"sentence {item.identifier!r}: {item.reason}"
                continue
            if not self._quiet and has_marks(item):
                console.tell("pyropunct: punctuation that is there already is taken off (--keep keeps it)")
                self._quiet = True
            yield item

    def tell_omitted(self, name: str) -> None:
        """Say how many sentences were left out, if any were."""
        if self.omitted:
            console.tell(f"pyropunct: {name}: {self.omitted} omitted; the first: {self._first_omitted}")


def _chunks(sources: "Iterable[Source]", size: int) -> "Iterator[list[Source]]":
    rest = iter(sources)
    while chunk := list(islice(rest, size)):
        yield chunk
