"""The command ``pyropunct compare-parsers``."""

from functools import partial
from typing import TYPE_CHECKING

from pyropunct.cli.command import command
from pyropunct.cli.comparing import Folder, show
from pyropunct.cli.loading import read_file
from pyropunct.cli.options import Json
from pyropunct.cli.training_reports import step_bar
from pyropunct.rivals.settings import ParserSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyropunct.rivals.ma_2014.treatments import MarkedSentence


@command
def compare_parsers(
    train: str, dev: str, *, settings: ParserSettings, out: Folder = None, json: Json = False
) -> None:
    """Parse DEV by shift-reduce parsers of Ma, Zhang & Zhu (2014), trained on TRAIN; both are CoNLL-U files.

    Marks are treated in four ways, and trees are searched for with beams of several widths.  Prints how many
    words get the right head, and which differences from marks as tokens are significant.
    """
    from pyropunct.rivals.ma_2014.comparison import compare_parsers as run
    from pyropunct.rivals.ma_2014.treatments import have_language_tags, marked_sentences

    treebanks = read_file(train), read_file(dev)
    universal = not all(map(have_language_tags, treebanks))
    learned, measured = (marked_sentences(treebank, universal=universal) for treebank in treebanks)
    _require_trees(learned, train)
    show(partial(run, learned, measured, settings, out, watch=step_bar), json, out, treebanks)


def _require_trees(sentences: "Sequence[MarkedSentence]", path: str) -> None:
    """Make sure that there is something to learn from.

    :raises TreebankError: if there is not.
    """
    from pyropunct.treebank.errors import TreebankError

    if not any(sentence.marks.count(False) > 1 for sentence in sentences):
        raise TreebankError(path, "there is no sentence of two words or more, so no arc to learn from")
