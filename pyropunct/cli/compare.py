"""The command ``pyropunct compare``."""

from functools import partial
from typing import Annotated

from pyropunct.cli.command import command
from pyropunct.cli.comparing import show
from pyropunct.cli.loading import check_device, read_file
from pyropunct.cli.options import Json, Machine
from pyropunct.cli.training_reports import step_bar
from pyropunct.fitted.recipes import named_recipe
from pyropunct.limits import NamesIn, Placeholder
from pyropunct.rivals.settings import RestorationSettings


@command
def compare(
    train: str,
    dev: str,
    *,
    test: Annotated[str | None, Placeholder("FILE")] = None,
    out: Annotated[str, Placeholder("DIR")] = "comparison",
    settings: RestorationSettings,
    recipe: Annotated[str, NamesIn("pyropunct.fitted.recipes:RECIPES")] = "default",
    quick: bool = False,
    machine: Machine,
    json: Json = False,
) -> None:
    """Train all systems on TRAIN and compare them on DEV, or on --test; all are CoNLL-U files.

    Prints perplexity and average edit distance with gold and with predicted trees, and which differences are
    significant.  The folder --out gets the tables in Markdown, all results in JSON, and a plot.  Trained
    parts are kept there: after an interruption, the same command continues with them.

    :param test: measure on this treebank; DEV then only says when training stops.
    :param out: folder for trained parts and results.
    :param recipe: the recipe of the models of latent punctuation: see `pyropunct fit --help`.
    :param quick: train everything for one epoch and take at most 50 draws, to check that it works.
    """
    from pyropunct.rivals.restoration.conditions import Conditions
    from pyropunct.rivals.restoration.measuring import compare as run
    from pyropunct.treebank.reading import require_punctuation

    machine.start()
    check_device(settings.device)
    conditions = Conditions(**vars(settings), recipe=named_recipe(recipe))
    treebanks = [read_file(path) for path in (train, dev, test) if path is not None]
    require_punctuation(treebanks[0])
    _ = conditions.pretrained  # a missing encoder is an error before anything is trained
    learned, measured, *tests = treebanks
    conditions = conditions.quick() if quick else conditions
    make = partial(run, learned, measured, conditions, out, step_bar, test=tests[0] if tests else None)
    show(make, json, out, treebanks)
