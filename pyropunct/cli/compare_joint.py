"""The command ``pyropunct compare-joint``."""

from typing import TYPE_CHECKING

import click

from pyropunct.cli import console
from pyropunct.cli.comparing import (
    check_folders,
    chosen_numbers,
    save_system,
    show_comparison,
    systems_option,
)
from pyropunct.cli.frame import polite
from pyropunct.cli.loading import load_model, read_file, use_threads
from pyropunct.cli.options import (
    WIDEST_BEAM,
    chosen_names,
    json_option,
    permutations_option,
    seed_option,
    threads_option,
    trust_option,
)
from pyropunct.cli.training_reports import step_bar
from pyropunct.shipped import DEFAULT

if TYPE_CHECKING:
    from pyropunct.rivals.zhang_2013.systems import Trained

# Modules that need torch are imported inside the functions, so that --help answers at once.

MOST_SENTENCES = 1000
"""The most sentences of a stream."""


@click.command("compare-joint")
@click.argument("train")
@click.argument("dev")
@click.option(
    "--model",
    default=DEFAULT,
    show_default=True,
    help="The model that restores running text: a model folder, or the model of the package.",
)
@systems_option("crf,unified")
@click.option(
    "--sentences",
    metavar="LIST",
    default="3,10",
    show_default=True,
    help="How many sentences of DEV are put together.",
)
@click.option(
    "--beam", type=click.IntRange(1, WIDEST_BEAM), default=5, show_default=True, help="Width of the beam."
)
@click.option(
    "--iterations",
    type=click.IntRange(1),
    default=15,
    show_default=True,
    help="How often training of parsers sees each sentence.",
)
@click.option(
    "--folds",
    type=click.IntRange(2),
    default=5,
    show_default=True,
    help="Find tags, and marks for the parser that reads them, of each of so many parts of TRAIN by what is "
    "learned from the others.",
)
@click.option(
    "--samples",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="The most draws of restoration for each sentence.",
)
@permutations_option
@click.option("--out", metavar="DIR", help="Save the CRF and each parser in a folder of its own in this one.")
@trust_option
@seed_option
@threads_option
@json_option
@polite
def compare_joint(
    train: str,
    dev: str,
    model: str,
    systems: str | None,
    sentences: str,
    beam: int,
    iterations: int,
    folds: int,
    samples: int,
    permutations: int,
    out: str | None,
    trust_variants: bool,
    seed: int,
    threads: int | None,
    as_json: bool,
) -> None:
    """Find marks, ends of sentences and trees in running words of DEV; both files are CoNLL-U.

    Sentences of a document of DEV are put together, in lower case and without punctuation.  The systems are a
    CRF, a parser that reads its marks, and one that predicts marks itself, after Zhang, Wu, Yang & Li (2013),
    trained on TRAIN; and restoration of running text by a model.
    """
    from pyropunct.rivals.ma_2014 import have_language_tags
    from pyropunct.rivals.zhang_2013 import streams
    from pyropunct.rivals.zhang_2013.comparison import compare_joint as run_comparison
    from pyropunct.rivals.zhang_2013.systems import RESTORATION, STREAM, SYSTEMS, JointSettings
    from pyropunct.treebank.errors import TreebankError

    chosen = chosen_names(systems, SYSTEMS, "systems")
    sizes = chosen_numbers(sentences, "sentences", "numbers", MOST_SENTENCES, "3,10")
    settings = JointSettings(chosen, sizes, beam, iterations, folds, samples, permutations, seed)
    check_folders(out, chosen)
    use_threads(threads)
    restores = load_model(model, trust_variants) if RESTORATION in chosen else None
    treebanks = read_file(train), read_file(dev)
    universal = not all(map(have_language_tags, treebanks))
    learned = streams(treebanks[0], STREAM, universal=universal)
    if len(learned) < 2:
        raise TreebankError(train, f"there is one stream of {STREAM} sentences; tags are learned from others")
    measured = {size: streams(treebanks[1], size, universal=universal) for size in sizes}
    comparison = run_comparison(
        learned, measured, restores, settings, steps=step_bar, done=lambda trained: _save(trained, out)
    )
    if as_json:
        console.print_json(comparison.to_json())
        return
    show_comparison(comparison, "Running words", {1}, treebanks)


def _save(trained: "Trained", out: str | None) -> None:
    for name, part in trained.parts.items():
        save_system(out, name, part)
