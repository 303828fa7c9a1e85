"""Latent punctuation in syntax trees, as a Pyro model with exact inference.

Example, with the model that comes with the package, and with one of one's own::

    import pyropunct

    punctuator = pyropunct.load("en")
    print(punctuator("however the meeting which lasted three hours ended without a vote"))

    from pyropunct import fit, read_treebank

    model = fit(read_treebank("train.conllu"), read_treebank("dev.conllu"))
    model.save("my-model")
    print(model.evaluate(read_treebank("test.conllu")).perplexity)
"""

TYPE_CHECKING = False  # as type checkers know it; typing takes long to import, and an interruption may come

if TYPE_CHECKING:
    from typing import Any

    from pyropunct.fitted.recipes import RECIPES, Recipe, named_recipe
    from pyropunct.punctuator import Punctuator, load
    from pyropunct.tasks.correct.correcting import load_corrector
    from pyropunct.text.lines import TreebankError
    from pyropunct.train.adapting import adapt
    from pyropunct.train.fitting import fit
    from pyropunct.treebank.constituency import read_brackets
    from pyropunct.treebank.reading import Treebank, read_text, read_treebank
    from pyropunct.treebank.sentence import Sentence

_HOMES = {
    "adapt": "train.adapting",
    "fit": "train.fitting",
    "load": "punctuator",
    "load_corrector": "tasks.correct.correcting",
    "read_brackets": "treebank.constituency",
    "Punctuator": "punctuator",
    "RECIPES": "fitted.recipes",
    "Recipe": "fitted.recipes",
    "named_recipe": "fitted.recipes",
    "Sentence": "treebank.sentence",
    "Treebank": "treebank.reading",
    "TreebankError": "text.lines",
    "read_text": "treebank.reading",
    "read_treebank": "treebank.reading",
}

__all__ = [
    "RECIPES",
    "Punctuator",
    "Recipe",
    "Sentence",
    "Treebank",
    "TreebankError",
    "adapt",
    "fit",
    "load",
    "load_corrector",
    "named_recipe",
    "read_brackets",
    "read_text",
    "read_treebank",
]


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> "Any":
    # Importing torch takes seconds, so a name's module is imported when it is first asked for.
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"pyropunct.{_HOMES[name]}"), name)
    if name == "__version__":
        from importlib.metadata import version

        return version("pyropunct")
    raise AttributeError(f"module 'pyropunct' has no attribute {name!r}")
