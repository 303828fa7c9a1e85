"""A report on heads of marks that a treebank may have wrong."""

from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pyropunct.cli import console

if TYPE_CHECKING:
    from pyropunct.punctuator import Punctuator
    from pyropunct.tasks.explain.doubts import Doubt
    from pyropunct.treebank.sentence import Sentence

_HEADS = tuple(place + part for place in ("head", "proposed") for part in ("", "_form", "_probability"))
COLUMNS = ("file", "line", "sentence", "token", "mark", *_HEADS)
"""Of the report for programs."""


def tell_doubts(model: "Punctuator", sentences: "Sequence[Sentence]", format: str) -> None:
    """Print the marks whose head is less probable than another, the most certain first.

    :param format: "report" for a line of text each, "tsv" for columns.
    """
    from pyropunct.compare.table import Column, Table
    from pyropunct.tasks.explain.doubts import doubts

    with console.sentence_bar("heads of marks", len(sentences)) as advance:
        rows = list(map(_row, doubts(model, sentences, advance)))
    if format == "tsv":
        columns = [Column(key, key, itemgetter(key)) for key in COLUMNS]
        print(Table("", columns, rows).tsv(), end="")
        return
    for row in rows:
        console.say(
            "{file}:{line}: {sentence}: {token} {mark} hangs on {head} {head_form} ({head_probability:.3f}), "
            "not on {proposed} {proposed_form} ({proposed_probability:.3f})".format(**row)
        )


def _row(doubt: "Doubt") -> dict[str, Any]:
    layout = doubt.sentence.layout
    place = layout.block.path, doubt.line, doubt.sentence.identifier, doubt.mark, layout.form(doubt.mark)
    now = doubt.head, layout.form(doubt.head), doubt.probability
    better = doubt.proposed, layout.form(doubt.proposed), doubt.proposed_probability
    return dict(zip(COLUMNS, (*place, *now, *better), strict=True))
