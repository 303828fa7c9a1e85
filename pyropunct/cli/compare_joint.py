"""The command ``pyropunct compare-joint``."""

from functools import partial

from pyropunct.cli.command import command
from pyropunct.cli.comparing import Folder, show
from pyropunct.cli.loading import read_file
from pyropunct.cli.options import Json, ModelUse
from pyropunct.cli.training_reports import step_bar
from pyropunct.rivals.settings import CASCADED, RESTORATION, JointSettings
from pyropunct.shipped import DEFAULT


@command
def compare_joint(
    train: str,
    dev: str,
    *,
    settings: JointSettings,
    model: str = DEFAULT,
    out: Folder = None,
    use: ModelUse,
    json: Json = False,
) -> None:
    """Find marks, ends of sentences and trees in running words of DEV; both files are CoNLL-U.

    Sentences of a document of DEV are put together, in lower case and without punctuation.  The systems are a
    CRF, a parser that reads its marks, and one that predicts marks itself, after Zhang, Wu, Yang & Li (2013),
    trained on TRAIN; and restoration of running text by a model.

    :param model: the model that restores running text.
    """
    from pyropunct.rivals.ma_2014.treatments import have_language_tags
    from pyropunct.rivals.zhang_2013.comparison import compare_joint as run
    from pyropunct.rivals.zhang_2013.streams import SENTENCES, streams
    from pyropunct.treebank.errors import TreebankError

    use.start()
    restores = use.load(model) if RESTORATION in settings.systems else None
    treebanks = read_file(train), read_file(dev)
    universal = not all(map(have_language_tags, treebanks))
    learned = streams(treebanks[0], universal=universal)
    if len(learned) < 2 and CASCADED in settings.systems:
        problem = f"there is one stream of {SENTENCES} sentences; marks for {CASCADED} come from others"
        raise TreebankError(train, problem)
    measured = {size: streams(treebanks[1], size, universal=universal) for size in settings.sentences}
    show(partial(run, learned, measured, restores, settings, out, watch=step_bar), json, out, treebanks)
