"""The command ``pyropunct compare-correction``."""

from typing import TYPE_CHECKING

import click

from pyropunct.cli import console
from pyropunct.cli.comparing import aligned, systems_option
from pyropunct.cli.frame import BAD_INPUT, OneLineError, polite
from pyropunct.cli.loading import load_model, read_file, use_threads
from pyropunct.cli.options import (
    chosen_names,
    encoder_option,
    json_option,
    seed_option,
    threads_option,
    trees_option,
    trust_option,
)
from pyropunct.shipped import DEFAULT

if TYPE_CHECKING:
    from pyropunct.rivals.taggers.correction import CorrectionComparison

# Modules that need torch are imported inside the functions, so that --help answers at once.


@click.command("compare-correction")
@click.argument("train")
@click.argument("dev")
@click.option(
    "--model",
    default=DEFAULT,
    show_default=True,
    help="The model of right text: a model folder that was fitted to TRAIN, or the model of the package.",
)
@systems_option("alone,channel")
@click.option(
    "--learners",
    metavar="FILE.jsonl",
    help="Measure on what learners wrote, too.",
)
@click.option("--curve", is_flag=True, help="Measure at several rates of errors, which no system is told.")
@click.option(
    "--copies",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="Copies of each sentence of TRAIN, each with other errors.",
)
@click.option(
    "--epochs",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="Passes over TRAIN of the corrector of the paper.",
)
@click.option(
    "--samples",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="The most draws of the corrector of the paper for each sentence.",
)
@trees_option
@encoder_option
@trust_option
@seed_option
@threads_option
@json_option
@polite
def compare_correction(
    train: str,
    dev: str,
    model: str,
    systems: str | None,
    learners: str | None,
    curve: bool,
    copies: int,
    epochs: int,
    samples: int,
    trees: int,
    encoder: str | None,
    trust_variants: bool,
    seed: int,
    threads: int | None,
    as_json: bool,
) -> None:
    """Correct simulated errors in DEV by several systems that were fitted to TRAIN.

    The systems are: leaving all as it is, the corrector of Li, Wang & Eisner (2019, section 6.2), a
    BiLSTM-CRF that reads the wrong punctuation, and the noisy channel.
    """
    from pyropunct.rivals.taggers.correction import CURVE, SYSTEMS, CorrectionSettings
    from pyropunct.rivals.taggers.correction import compare_correction as run_comparison
    from pyropunct.tasks.correct.learners import read_learners
    from pyropunct.treebank.reading import require_punctuation

    chosen = chosen_names(systems, SYSTEMS, "systems")
    settings = CorrectionSettings(chosen, copies, epochs, samples, trees, seed=seed)
    written = [] if learners is None else read_learners(learners)
    use_threads(threads)
    clean = load_model(model, trust_variants, encoder)
    if written and clean.parser is None:
        raise OneLineError(f"--learners: {model} has no parser for what learners wrote", BAD_INPUT)
    learned, measured = read_file(train), read_file(dev)
    for treebank in (learned, measured):
        require_punctuation(treebank)
        console.tell_omitted(treebank.path, treebank.omitted)
    rates = CURVE if curve else ()
    steps = len(settings.systems) * (3 + len(rates) + bool(written)) + bool(written)
    with console.sentence_bar("fitting and correcting", steps) as advance:
        comparison = run_comparison(
            list(learned), list(measured), clean, settings, learners=written, curve=rates, progress=advance
        )
    if as_json:
        console.print_json(comparison.to_json())
    else:
        _print(comparison)


def _print(comparison: "CorrectionComparison") -> None:
    tables = {
        "Simulated errors": comparison.simulated,
        "Learners, all corrections": comparison.learners,
        "Learners, the closest correction of each sentence": comparison.closest,
    }
    for title, rows in tables.items():
        if rows:
            header, cells = comparison.table(rows)
            console.print_table(title, aligned(header, range(2)), cells)
    if comparison.curve:
        header, cells = comparison.curve_table()
        console.print_table("AED at several rates of errors", header, cells)
    console.say("p: of the difference in edits from the best system; M2 edits for precision, recall and F0.5")
