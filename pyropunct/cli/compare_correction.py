"""The command ``pyropunct compare-correction``."""

from functools import partial
from typing import Annotated

from pyropunct.cli import console
from pyropunct.cli.command import command
from pyropunct.cli.comparing import show
from pyropunct.cli.loading import read_file
from pyropunct.cli.options import Json, ModelUse
from pyropunct.cli.training_reports import step_bar
from pyropunct.errors import UserError
from pyropunct.limits import Placeholder
from pyropunct.rivals.settings import CorrectionSettings
from pyropunct.shipped import DEFAULT


@command
def compare_correction(
    train: str,
    dev: str,
    *,
    settings: CorrectionSettings,
    model: str = DEFAULT,
    learners: Annotated[str | None, Placeholder("FILE.jsonl")] = None,
    use: ModelUse,
    json: Json = False,
) -> None:
    """Correct simulated errors in DEV by several systems that were fitted to TRAIN.

    The systems are: leaving all as it is, the corrector of Li, Wang & Eisner (2019, section 6.2), a
    BiLSTM-CRF that reads the wrong punctuation, and the noisy channel.

    :param model: the model of right text, which was fitted to TRAIN.
    :param learners: measure on sentences of learners too.
    """
    from pyropunct.rivals.correction.comparison import compare_correction as run
    from pyropunct.tasks.correct.learners import read_learners
    from pyropunct.treebank.reading import require_punctuation

    written = [] if learners is None else read_learners(learners)
    clean = use.load(model)
    if written and clean.parser is None:
        raise UserError(f"--learners: {model} has no parser for the sentences of learners")
    treebanks = read_file(train), read_file(dev)
    for treebank in treebanks:
        require_punctuation(treebank)
        console.tell_omitted(treebank.path, treebank.omitted)
    learned, measured = map(list, treebanks)
    show(partial(run, learned, measured, clean, settings, learners=written, watch=step_bar), json)
