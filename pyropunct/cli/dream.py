"""The command ``pyropunct dream``."""

from typing import Literal

from pyropunct.cli import console
from pyropunct.cli.command import command
from pyropunct.cli.options import Drawing, Json
from pyropunct.limits import Count


@command
def dream(
    model: str,
    *,
    samples: Count = 10,
    format: Literal["text", "brackets", "json"] = "text",
    use: Drawing,
    json: Json = False,
) -> None:
    """Draw whole sentences from MODEL: trees, words, underlying punctuation and surface punctuation.

    A word outside the vocabulary of MODEL is printed as its tag.

    :param samples: sentences to draw.
    :param format: print words and surface marks, or the underlying tree.
    """
    from pyropunct.tasks.explain.brackets import surface_texts, underlying_brackets

    shape = "json" if json else format
    punctuator = use.load(model)
    sentences = []
    for drawn in punctuator.dream(samples):
        (text,) = surface_texts(drawn, punctuator.vocabulary)
        (underlying,) = underlying_brackets(drawn, punctuator.vocabulary)
        sentences.append({"text": text, "underlying": underlying})
        if shape != "json":
            console.say(text if shape == "text" else underlying)
    if shape == "json":
        console.print_json({"sentences": sentences})
