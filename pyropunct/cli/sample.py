"""The command ``pyropunct sample``."""

import click

from pyropunct.cli.frame import polite
from pyropunct.cli.loading import prepare
from pyropunct.cli.options import encoder_option, json_option, seed_option, threads_option, trust_option
from pyropunct.cli.showing import in_order, tell_each


@click.command()
@click.argument("model")
@click.argument("file")
@click.option("--samples", type=click.IntRange(1), default=1, show_default=True, help="Draws for each tree.")
@click.option(
    "--format", "shape", type=click.Choice(["text", "conllu", "json"]), default="text", show_default=True
)
@click.option(
    "--balanced", is_flag=True, help="Draw only punctuation whose brackets and quotation marks are paired."
)
@seed_option
@trust_option
@encoder_option
@threads_option
@json_option
@polite
def sample(
    model: str,
    file: str,
    samples: int,
    shape: str,
    balanced: bool,
    seed: int,
    trust_variants: bool,
    encoder: str | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Draw surface punctuation for the trees of FILE; the punctuation in FILE is ignored."""
    shape = "json" if as_json else shape
    punctuator, treebank = prepare(model, file, seed, threads, trust_variants, encoder)
    tell_each(
        "sampling",
        treebank,
        in_order(treebank, None, shape),
        punctuator.sample(list(treebank), samples, balanced=balanced),
        shape,
        {
            "text": lambda sentence, draw: sentence.text(draw),
            "conllu": lambda sentence, draw: sentence.conllu_with_surface(draw),
            "json": lambda sentence, draws: {"texts": [sentence.text(draw) for draw in draws]},
        },
    )
