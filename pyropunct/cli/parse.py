"""The command ``pyropunct parse``."""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, TextIO

import click

from pyropunct.cli import console
from pyropunct.cli.frame import BAD_INPUT, OneLineError, polite
from pyropunct.cli.loading import load_model, model_and_file, use_threads
from pyropunct.cli.options import (
    encoder_option,
    input_option,
    json_option,
    threads_option,
    trust_option,
)

if TYPE_CHECKING:
    from pyropunct.cli.restore_output import Output
    from pyropunct.cli.sources import Reject
    from pyropunct.corpus.shards import Work
    from pyropunct.punctuator import Punctuator
    from pyropunct.restore.restoring import Restored, Source
    from pyropunct.treebank.lines import Part

# Modules that need torch are imported inside the functions, so that --help answers at once.


@click.command()
@click.argument("places", nargs=-1, required=True, metavar="[MODEL] FILE")
@input_option
@click.option(
    "--draws",
    type=click.IntRange(1),
    default=200,
    show_default=True,
    help="Trees of the parser that are drawn for each sentence, and weighed by their marks.",
)
@click.option(
    "--strength",
    type=click.FloatRange(0, 10),
    default=1.0,
    show_default=True,
    help="How much marks count: 1 as Bayes' rule says, 0 not at all.",
)
@click.option("--format", "shape", type=click.Choice(["conllu", "json"]), default="conllu", show_default=True)
@click.option("--score", is_flag=True, help="Compare with the trees of FILE, and print only the scores.")
@encoder_option
@trust_option
@threads_option
@json_option
@polite
def parse(
    places: tuple[str, ...],
    kind: str,
    draws: int,
    strength: float,
    shape: str,
    score: bool,
    encoder: str | None,
    trust_variants: bool,
    threads: int | None,
    as_json: bool,
) -> None:
    """Find the trees of FILE by its words and its punctuation, and the head of each mark.

    FILE is raw text, one sentence a line with spaces between words, or CoNLL-U, whose own trees do not count;
    it may be - for standard input.  Without MODEL, it is the English one that comes with the package; another
    one must be fitted with --parser.
    """
    from pyropunct.cli.sources import show_part
    from pyropunct.treebank.lines import Part, opened

    model, file = model_and_file(places)
    use_threads(threads)
    punctuator = _with_parser(model, trust_variants, encoder)
    parsing = partial(_parsed, punctuator, draws, strength)
    with opened(file) as (stream, name):
        output = _output(punctuator, name, score, "json" if as_json else shape)
        with console.stream_bar(stream, name) as advance:
            omitted = show_part(Part(stream, name, kind), punctuator, parsing, output, advance)
    console.tell_omitted(name, omitted, kept=not score)


def work(model: str, draws: int, strength: float, encoder: str | None, trust_variants: bool) -> "Work":
    """What the command does with a part of a corpus."""
    from pyropunct.cli.parse_output import TreePrinter
    from pyropunct.cli.restore_output import ConlluOutput
    from pyropunct.cli.sources import show_part

    punctuator = _with_parser(model, trust_variants, encoder)
    parsing, printer = partial(_parsed, punctuator, draws, strength), TreePrinter(punctuator)

    def parsed(part: "Part", out: TextIO, reject: "Reject") -> None:
        show_part(part, punctuator, parsing, ConlluOutput(out, printer), lambda: None, reject)

    return parsed


def _with_parser(model: str, trust_variants: bool, encoder: str | None) -> "Punctuator":
    """:raises OneLineError: if the model has no parser."""
    punctuator = load_model(model, trust_variants, encoder)
    if punctuator.parser is None:
        raise OneLineError(f"{model}: has no parser: fit one with `pyropunct fit TRAIN --parser`", BAD_INPUT)
    return punctuator


def _parsed(
    model: "Punctuator", draws: int, strength: float, sources: "Sequence[Source]"
) -> "Iterator[Restored]":
    """Sentences with their trees; a line without words has none."""
    from pyropunct.restore.restoring import Restored, words_of
    from pyropunct.tasks.explain.punctuated_trees import least_risk_tree, trees_given_marks

    given = [(words_of(source), source.surface) for source in sources if words_of(source)]
    found = trees_given_marks(model, given, draws, strength)
    for source in sources:
        if words_of(source):
            tree, risk = least_risk_tree(next(found))
            yield Restored(source, source.surface, risk, tree)
        else:
            yield Restored(source, source.surface, 0.0, None)


def _output(model: "Punctuator", name: str, score: bool, shape: str) -> "Output":
    from pyropunct.cli.parse_output import JsonTrees, TreePrinter, TreeScores
    from pyropunct.cli.restore_output import ConlluOutput

    if score:
        return TreeScores(name, shape == "json")
    kinds: dict[str, Callable[..., Output]] = {"conllu": ConlluOutput, "json": JsonTrees}
    return kinds[shape](sys.stdout, TreePrinter(model))
