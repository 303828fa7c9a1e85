"""The command ``pyropunct evaluate``."""

import click

from pyropunct.commands import console
from pyropunct.commands.frame import polite
from pyropunct.commands.loading import load_model, read_file, use_threads
from pyropunct.commands.options import json_option, threads_option, trust_option


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
    use_threads(threads)
    punctuator, treebank = load_model(model, trust_variants), read_file(file)
    console.tell_omitted(treebank.path, treebank.omitted)
    result = punctuator.evaluate(list(treebank))
    values = {
        "sentences": result.sentences,
        **console.plain_omissions(treebank.omitted),
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


def _shown(value: float) -> str:
    """A count in full, another number to four significant digits."""
    return f"{value:,}" if isinstance(value, int) else f"{float(f'{value:.4g}'):,g}"
