"""The command ``pyropunct evaluate``."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import click

from pyropunct.commands import console
from pyropunct.commands.frame import polite
from pyropunct.commands.loading import load_model, use_threads
from pyropunct.commands.options import json_option, threads_option, trust_option

if TYPE_CHECKING:
    from pyropunct.treebank.reading import Omission
    from pyropunct.treebank.sentence import Sentence

# Modules that need torch are imported inside the functions, so that --help answers at once.


@click.command()
@click.argument("model")
@click.argument("file")
@trust_option
@threads_option
@json_option
@polite
def evaluate(
    model: str,
    file: str,
    trust_variants: bool,
    threads: int | None,
    as_json: bool,
) -> None:
    """Measure how well MODEL predicts the punctuation of FILE, a CoNLL-U file, given its trees."""
    from pyropunct.treebank.lines import opened, read_lines
    from pyropunct.treebank.reading import nothing_kept, read_sentences

    use_threads(threads)
    punctuator = load_model(model, trust_variants)
    omitted: list[Omission] = []
    with opened(file) as (stream, name), console.stream_bar(stream, name) as advance:
        sentences = _kept(read_sentences(read_lines(stream, name), name), omitted, advance)
        first = next(sentences, None)
        if first is None:
            raise nothing_kept(name, omitted)
        result = punctuator.evaluate(chain([first], sentences))
    console.tell_omitted(name, omitted)
    values = {
        "sentences": result.sentences,
        **console.plain_omissions(omitted),
        "slots": result.slots,
        "log_likelihood": result.log_likelihood,
        "perplexity": result.perplexity,
    }
    if as_json:
        console.print_json(values)
    else:
        rows = [
            [name.replace("_", " "), _shown(value)] for name, value in values.items() if name != "omissions"
        ]
        console.print_table(file, [" ", "value"], rows)


def _kept(
    items: "Iterable[Sentence | Omission]", omitted: "list[Omission]", advance: Callable[[], None]
) -> "Iterator[Sentence]":
    """The sentences that are not omitted; the others are remembered, but not their lines."""
    from pyropunct.treebank.reading import Omission

    for item in items:
        advance()
        if isinstance(item, Omission):
            omitted.append(replace(item, lines=()))
        else:
            yield item


def _shown(value: float) -> str:
    """A count in full, another number to four significant digits."""
    return f"{value:,}" if isinstance(value, int) else f"{float(f'{value:.4g}'):,g}"
