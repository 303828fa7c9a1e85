"""The command ``pyropunct compare``."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pyropunct.cli import console
from pyropunct.cli.comparing import aligned
from pyropunct.cli.frame import BAD_INPUT, FAILURE, OneLineError, interrupts, polite
from pyropunct.cli.loading import check_device, read_file, use_threads
from pyropunct.cli.options import decoder_option, json_option, seed_option, threads_option, trees_option
from pyropunct.cli.training_reports import step_bar
from pyropunct.fitted.recipes import RECIPES, named_recipe

if TYPE_CHECKING:
    from pyropunct.rivals.restoration import Comparison, Settings
    from pyropunct.treebank.reading import Treebank

# Modules that need torch are imported inside the functions, so that --help answers at once.

LEAST_PERMUTATIONS = 10_000


@click.command()
@click.argument("train")
@click.argument("dev")
@click.option("--test", help="Measure on this treebank; DEV then only says when training stops.")
@click.option("--out", default="comparison", show_default=True, help="Folder for trained parts and results.")
@click.option(
    "--systems",
    help="Compare only these systems, such as trivial,crf,full; an unknown name prints the list of all.",
)
@click.option(
    "--shares",
    default="100",
    show_default=True,
    help="Train a parser on each of these percents of TRAIN, such as 10,20,50,100.",
)
@click.option(
    "--samples", type=click.IntRange(1), help="Draws for each sentence; by default 1000, or 50 with --quick."
)
@decoder_option
@trees_option
@click.option(
    "--permutations",
    type=click.IntRange(LEAST_PERMUTATIONS),
    default=LEAST_PERMUTATIONS,
    show_default=True,
    help="Permutations in each significance test.",
)
@click.option(
    "--seeds",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Train and measure with so many seeds, from --seed on; tables have mean and standard deviation.",
)
@click.option("--recipe", type=click.Choice(list(RECIPES)), default="default", show_default=True)
@click.option(
    "--folds",
    type=click.IntRange(0),
    default=4,
    show_default=True,
    help="Parse each of so many parts of TRAIN by what is learned from the others, and train systems with "
    "trees on these trees too; 0 for gold trees alone.",
)
@click.option(
    "--encoder",
    metavar="PLACE",
    help="An encoder that the package transformers loads, whose states parsers and taggers read besides, and "
    "the attach model with --recipe neural: see `pyropunct fit --help`.",
)
@click.option("--quick", is_flag=True, help="Train everything for one epoch, to check that it works.")
@click.option("--device", default="cpu", show_default=True, help="Where to train, as torch names it.")
@seed_option
@threads_option
@json_option
@polite
def compare(
    train: str,
    dev: str,
    test: str | None,
    out: str,
    device: str,
    threads: int | None,
    as_json: bool,
    **choices: Any,
) -> None:
    """Train all systems on TRAIN and compare them on DEV, or on --test; all are CoNLL-U files.

    Prints perplexity and average edit distance with gold and with predicted trees, and which differences are
    significant.  The folder --out gets the tables in Markdown, all results in JSON, and a plot.  Trained
    parts are kept there: after an interruption, the same command continues with them.
    """
    from pyropunct.rivals.restoration import compare as run_comparison
    from pyropunct.treebank.reading import require_punctuation

    use_threads(threads)
    check_device(device)
    settings = _settings(device=device, **choices)
    treebanks = read_file(train), read_file(dev)
    measured = None if test is None else read_file(test)
    require_punctuation(treebanks[0])
    settings.require_encoder()
    try:
        with interrupts():
            comparison = run_comparison(*treebanks, settings, out, step_bar, test=measured)
    except KeyboardInterrupt:
        raise OneLineError(
            f"interrupted: trained parts are kept in {out}; continue with the same command", FAILURE
        ) from None
    if as_json:
        console.print_json(comparison.to_json())
    else:
        _tell(comparison, treebanks if measured is None else (*treebanks, measured), Path(out))


def _settings(
    systems: str | None, shares: str, samples: int | None, recipe: str, quick: bool, **others: Any
) -> "Settings":
    from pyropunct.rivals.restoration import Settings

    if systems is not None:
        others["systems"] = tuple(filter(None, systems.split(",")))
    try:
        settings = Settings(shares=_percents(shares), recipe=named_recipe(recipe), **others)
    except ValueError as error:
        raise OneLineError(f"--{error}", BAD_INPUT) from error
    settings = settings.quick() if quick else settings
    return settings if samples is None else replace(settings, samples=samples)


def _percents(shares: str) -> tuple[int, ...]:
    try:
        return tuple(map(int, shares.split(",")))
    except ValueError:
        raise ValueError(f"shares are percents from 1 to 100, not {shares}") from None


def _tell(comparison: "Comparison", treebanks: "Iterable[Treebank]", folder: Path) -> None:
    """Print the tables."""
    from pyropunct.rivals.restoration.tables import notes, parser_table, system_table

    for treebank in treebanks:
        for line in console.describe_treebank(treebank):
            console.say(line)
    header, rows = system_table(comparison, "* {}".format)
    console.print_table("Comparison", aligned(header, {0}), rows)
    if comparison.parsers:
        header, rows = parser_table(comparison)
        console.print_table("Trees", aligned(header, {0}), rows)
    for line in notes(comparison, "*"):
        console.say(line)
    console.say(f"table, plot and all numbers written to {folder}")
