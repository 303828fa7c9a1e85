"""The command ``pyropunct compare-parsers``."""

from typing import TYPE_CHECKING

import click

from pyropunct.cli import console
from pyropunct.cli.comparing import check_folders, chosen_numbers, save_system, show_comparison
from pyropunct.cli.frame import BAD_INPUT, OneLineError, polite
from pyropunct.cli.loading import read_file
from pyropunct.cli.options import (
    WIDEST_BEAM,
    chosen_names,
    json_option,
    permutations_option,
    seed_option,
)
from pyropunct.cli.training_reports import step_bar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyropunct.rivals.ma_2014 import MarkedSentence, Treatment
    from pyropunct.rivals.ma_2014.comparison import ParserSettings, ParserSystem

# Modules that need torch are imported inside the functions, so that --help answers at once.


@click.command("compare-parsers")
@click.argument("train")
@click.argument("dev")
@click.option(
    "--marks",
    metavar="LIST",
    default="tokens,away,paired,all",
    show_default=True,
    help="What becomes of marks: tokens like words, taken away, paired ones as properties of words, or all.",
)
@click.option("--beams", metavar="LIST", default="1,4,16", show_default=True, help="Widths of beams.")
@click.option(
    "--tags",
    type=click.Choice(["gold", "jackknifed"]),
    default="gold",
    show_default=True,
    help="Parts of speech of the treebanks, or of a tagger.",
)
@click.option(
    "--iterations",
    type=click.IntRange(1),
    default=25,
    show_default=True,
    help="How often training sees each sentence.",
)
@click.option(
    "--folds",
    type=click.IntRange(2),
    default=10,
    show_default=True,
    help="Tag each of so many parts of TRAIN by what is learned from the others.",
)
@permutations_option
@click.option(
    "--oracle",
    type=click.Choice(["static", "dynamic"]),
    default="static",
    show_default=True,
    help="Which transitions training takes for right: those of one way to the tree, or all that lose "
    "nothing, for --beams 1.",
)
@click.option("--out", metavar="DIR", help="Save each parser in a folder of its own in this one.")
@seed_option
@json_option
@polite
def compare_parsers(
    train: str,
    dev: str,
    marks: str,
    beams: str,
    tags: str,
    iterations: int,
    folds: int,
    permutations: int,
    oracle: str,
    out: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Parse DEV by shift-reduce parsers of Ma, Zhang & Zhu (2014), trained on TRAIN; both are CoNLL-U files.

    Marks are treated in four ways, and trees are searched for with beams of several widths.  Prints how many
    words get the right head, and which differences from marks as tokens are significant.
    """
    from pyropunct.rivals.ma_2014 import Oracle, Treatment, have_language_tags, marked_sentences
    from pyropunct.rivals.ma_2014.comparison import ParserSettings
    from pyropunct.rivals.ma_2014.comparison import compare_parsers as run_comparison

    widths = chosen_numbers(beams, "beams", "widths", WIDEST_BEAM, "1,16")
    if oracle == Oracle.DYNAMIC and widths != (1,):
        raise OneLineError(f"--oracle dynamic: trains parsers with --beams 1, not {beams}", BAD_INPUT)
    treatments = tuple(map(Treatment, chosen_names(marks, list(Treatment), "marks", "treatment")))
    settings = ParserSettings(
        treatments, widths, tags == "gold", iterations, folds, permutations, seed, Oracle(oracle)
    )
    check_folders(out, _folders(settings))
    treebanks = read_file(train), read_file(dev)
    universal = not all(map(have_language_tags, treebanks))
    learned, measured = (marked_sentences(treebank, universal=universal) for treebank in treebanks)
    _require_trees(learned, train, settings)
    comparison = run_comparison(
        learned, measured, settings, steps=step_bar, done=lambda system: _save(system, out)
    )
    if as_json:
        console.print_json(comparison.to_json())
        return
    show_comparison(comparison, "Parsers", {1}, treebanks)


def _require_trees(sentences: "Sequence[MarkedSentence]", path: str, settings: "ParserSettings") -> None:
    """Make sure that there is something to learn from.

    :raises TreebankError: if there is not.
    """
    from pyropunct.treebank.errors import TreebankError

    if not any(sentence.marks.count(False) > 1 for sentence in sentences):
        raise TreebankError(path, "there is no sentence of two words or more, so no arc to learn from")
    if not settings.gold_tags and len(sentences) < 2:
        raise TreebankError(
            path, "there is one sentence: its tags cannot be learned from others (--tags gold)"
        )


def _folders(settings: "ParserSettings") -> list[str]:
    """Where parsers are saved."""
    return [_folder(treatment, beam) for treatment in settings.treatments for beam in settings.beams]


def _folder(treatment: "Treatment", beam: int) -> str:
    return f"{treatment.value}-{beam}"


def _save(system: "ParserSystem", out: str | None) -> None:
    save_system(out, _folder(system.treatment, system.beam), system.parser)
