"""The command ``pyropunct sample``."""

from typing import Literal

from pyropunct.cli.command import command
from pyropunct.cli.loading import read_file
from pyropunct.cli.options import Drawing, Json
from pyropunct.cli.showing import in_order, tell_each
from pyropunct.limits import Count


@command
def sample(
    model: str,
    file: str,
    *,
    samples: Count = 1,
    format: Literal["text", "conllu", "json"] = "text",
    balanced: bool = False,
    use: Drawing,
    json: Json = False,
) -> None:
    """Draw surface punctuation for the trees of FILE; the punctuation in FILE is ignored.

    :param samples: draws for each tree.
    :param balanced: draw only punctuation whose brackets and quotation marks are paired.
    """
    shape = "json" if json else format
    punctuator, treebank = use.load(model), read_file(file)
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
