"""The command ``pyropunct compare-commas``."""

from typing import TYPE_CHECKING

import click

from pyropunct.cli import console
from pyropunct.cli.comparing import show_comparison
from pyropunct.cli.frame import BAD_INPUT, OneLineError, polite
from pyropunct.cli.options import (
    chosen_names,
    encoder_option,
    json_option,
    permutations_option,
    seed_option,
    threads_option,
    trust_option,
)

if TYPE_CHECKING:
    from pyropunct.punctuator import Punctuator
    from pyropunct.rivals.shieber_tao_2003.comparison import CommaSystem

# Modules that need torch are imported inside the functions, so that --help answers at once.


@click.command("compare-commas")
@click.argument("train", metavar="TRAIN.mrg")
@click.argument("dev", metavar="DEV.mrg")
@click.option(
    "--models", help="Compare only these models, such as 1,10c; an unknown name prints the list of all."
)
@click.option(
    "--model",
    help="Compare with this model, and on trees of its parser too: a model folder, or en, the model of the "
    "package.",
)
@click.option(
    "--samples",
    type=click.IntRange(1),
    default=300,
    show_default=True,
    help="Draws of the model's posterior for each sentence.",
)
@click.option(
    "--smoothing",
    type=click.Choice(["witten-bell", "katz"]),
    default="witten-bell",
    show_default=True,
    help="How probabilities of what was rarely seen are estimated.",
)
@click.option(
    "--least",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="Words that TRAIN has fewer times count as one, the unknown word.",
)
@permutations_option
@trust_option
@encoder_option
@seed_option
@threads_option
@json_option
@polite
def compare_commas(
    train: str,
    dev: str,
    models: str | None,
    model: str | None,
    samples: int,
    smoothing: str,
    least: int,
    permutations: int,
    trust_variants: bool,
    encoder: str | None,
    seed: int,
    threads: int | None,
    as_json: bool,
) -> None:
    """Restore the commas of DEV by the models of Shieber & Tao (2003), trained on TRAIN.

    Both are files of bracketed trees as in the Penn Treebank.  All words and other marks are given, and the
    trees.  Prints how good the commas are, and which differences are significant.
    """
    from pyropunct.rivals.shieber_tao_2003.comparison import ON_PARSED_TREES, CommaSettings
    from pyropunct.rivals.shieber_tao_2003.comparison import compare_commas as run_comparison
    from pyropunct.rivals.shieber_tao_2003.models import MODELS
    from pyropunct.rivals.shieber_tao_2003.sentences import read_comma_sentences, require_commas
    from pyropunct.rivals.shieber_tao_2003.story_commas import story_systems

    settings = CommaSettings(chosen_names(models, MODELS, "models"), smoothing, least, permutations, seed)
    story = None if model is None else _story(model, threads, trust_variants, encoder)
    parser = None if story is None else story.parser
    learned, measured = read_comma_sentences(train), read_comma_sentences(dev)
    require_commas(learned, train)
    others: list[CommaSystem] = []
    if story is not None:
        with console.sentence_bar("sentences", 2 * len(measured)) as advance:
            others = story_systems(story, dev, measured, samples=samples, seed=seed, progress=advance)
        if not others:
            problem = "the model has no parser (fit --parser), and was not fitted to converted trees"
            raise OneLineError(f"{model}: {problem}", BAD_INPUT)
    steps = len(settings.models)
    if parser is not None:
        steps += sum(model in settings.models for model in ON_PARSED_TREES.values())
    with console.sentence_bar("models", steps) as advance:
        comparison = run_comparison(learned, measured, settings, parser, others, progress=advance)
    if as_json:
        console.print_json(comparison.to_json())
        return
    show_comparison(comparison, "Commas", range(3))


def _story(folder: str, threads: int | None, trust_variants: bool, encoder: str | None) -> "Punctuator":
    """The model of a folder, with the threads to use it.

    :raises OneLineError: if it has no comma.
    """
    from pyropunct.cli.loading import load_model, use_threads
    from pyropunct.rivals.shieber_tao_2003.sentences import COMMA

    use_threads(threads)
    model = load_model(folder, trust_variants, encoder)
    if COMMA not in model.vocabulary.tokens:
        raise OneLineError(f"{folder}: the model has no comma among its marks", BAD_INPUT)
    return model
