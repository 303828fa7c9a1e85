"""Latent punctuation in syntax trees, as a Pyro model with exact inference.

Example::

    from pyropunct import fit, read_treebank

    model = fit(read_treebank("train.conllu"), read_treebank("dev.conllu"))
    model.save("my-model")
    print(model.evaluate(read_treebank("test.conllu")).perplexity)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyropunct.constituency import read_brackets
    from pyropunct.fitting import fit
    from pyropunct.punctuator import Punctuator
    from pyropunct.recipes import RECIPES, Recipe, named_recipe
    from pyropunct.sentence import Sentence
    from pyropunct.treebank import Treebank, TreebankError, read_text, read_treebank

_HOMES = {
    "fit": "fitting",
    "read_brackets": "constituency",
    "Punctuator": "punctuator",
    "RECIPES": "recipes",
    "Recipe": "recipes",
    "named_recipe": "recipes",
    "Sentence": "sentence",
    "Treebank": "treebank",
    "TreebankError": "treebank",
    "read_text": "treebank",
    "read_treebank": "treebank",
}

__all__ = [
    "RECIPES",
    "Punctuator",
    "Recipe",
    "Sentence",
    "Treebank",
    "TreebankError",
    "fit",
    "named_recipe",
    "read_brackets",
    "read_text",
    "read_treebank",
]


def __getattr__(name: str) -> Any:
    # Importing torch takes seconds, so a name's module is imported when it is first asked for.
    if name in _HOMES:
        return getattr(import_module(f"pyropunct.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'pyropunct' has no attribute {name!r}")
