"""A report on heads of marks that a treebank may have wrong."""

from collections.abc import Sequence

from pyropunct.cli import console
from pyropunct.compare.table import cells_table
from pyropunct.punctuator import Punctuator
from pyropunct.tasks.explain.doubts import doubts
from pyropunct.treebank.sentence import Sentence

_HEADS = tuple(place + part for place in ("head", "proposed") for part in ("", "_form", "_probability"))
COLUMNS = ("file", "line", "sentence", "token", "mark", *_HEADS)
"""Of the report for programs."""


def tell_doubts(model: Punctuator, sentences: Sequence[Sentence], format: str) -> None:
    """Print the marks whose head is less probable than another, the most certain first.

    :param format: "report" for a line of text each, "tsv" for columns.
    """
    rows = []
    with console.sentence_bar("heads of marks", len(sentences)) as advance:
        for doubt in doubts(model, sentences, advance):
            layout = doubt.sentence.layout
            place = layout.block.path, doubt.line, doubt.sentence.identifier
            now = doubt.head, layout.form(doubt.head), doubt.probability
            better = doubt.proposed, layout.form(doubt.proposed), doubt.proposed_probability
            rows.append((*place, doubt.mark, layout.form(doubt.mark), *now, *better))
    if format == "tsv":
        print(cells_table("", dict.fromkeys(COLUMNS), rows).tsv(), end="")
        return
    for row in rows:
        console.say("{}:{}: {}: {} {} hangs on {} {} ({:.3f}), not on {} {} ({:.3f})".format(*row))
