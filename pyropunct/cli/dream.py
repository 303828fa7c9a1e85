"""The command ``pyropunct dream``."""

import click

from pyropunct.cli import console
from pyropunct.cli.frame import FAILURE, OneLineError, polite
from pyropunct.cli.loading import load_model, use_threads
from pyropunct.cli.options import json_option, seed_option, threads_option, trust_option

# Modules that need torch are imported inside the functions, so that --help answers at once.


@click.command()
@click.argument("model")
@click.option("--samples", type=click.IntRange(1), default=10, show_default=True, help="Sentences to draw.")
@click.option(
    "--format",
    "shape",
    type=click.Choice(["text", "brackets", "json"]),
    default="text",
    show_default=True,
    help="Print words and surface marks, or the underlying tree.",
)
@seed_option
@trust_option
@threads_option
@json_option
@polite
def dream(
    model: str,
    samples: int,
    shape: str,
    seed: int,
    trust_variants: bool,
    threads: int | None,
    as_json: bool,
) -> None:
    """Draw whole sentences from MODEL: trees, words, underlying punctuation and surface punctuation.

    Of a word that is not in the vocabulary of MODEL the tag is printed.
    """
    import pyro

    from pyropunct.models.syntax import OverlongTreeError
    from pyropunct.tasks.explain.dreams import surface_texts, underlying_brackets

    use_threads(threads)
    punctuator = load_model(model, trust_variants)
    pyro.set_rng_seed(seed)
    found = []
    try:
        for told in punctuator.dream(samples):
            (text,) = surface_texts(told, punctuator.vocabulary)
            (underlying,) = underlying_brackets(told, punctuator.vocabulary)
            found.append({"text": text, "underlying": underlying})
            if shape != "json" and not as_json:
                console.say(text if shape == "text" else underlying)
    except OverlongTreeError as error:
        raise OneLineError(str(error), FAILURE) from error
    if shape == "json" or as_json:
        console.print_json({"sentences": found})
