"""A report on heads of marks that a treebank may have wrong."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyropunct.cli import console

if TYPE_CHECKING:
    from pyropunct.punctuator import Punctuator
    from pyropunct.tasks.explain.doubts import Doubt
    from pyropunct.treebank.sentence import Sentence

COLUMNS = (
    "file",
    "line",
    "sentence",
    "token",
    "mark",
    "head",
    "head_form",
    "head_probability",
    "proposed",
    "proposed_form",
    "proposed_probability",
)
"""Of the report for programs."""


def tell_doubts(model: "Punctuator", sentences: "Sequence[Sentence]", shape: str) -> None:
    """Print the marks whose head is less probable than another, the most certain first.

    :param shape: "report" for a line of text each, "tsv" for columns.
    """
    from pyropunct.tasks.explain.doubts import doubts

    with console.sentence_bar("heads of marks", len(sentences)) as advance:
        found = doubts(model, sentences, advance)
    if shape == "tsv":
        console.print_separated("tsv", COLUMNS, map(_row, found))
        return
    for doubt in found:
        file, line, identifier, mark, form, head, head_form, own, proposed, other_form, other = _row(doubt)
        console.say(
            f"{file}:{line}: {identifier}: {mark} {form} hangs on {head} {head_form} ({own:.3f}), "
            f"not on {proposed} {other_form} ({other:.3f})"
        )


def _row(doubt: "Doubt") -> list[Any]:
    layout = doubt.sentence.layout
    return [
        layout.block.path,
        doubt.line,
        doubt.sentence.identifier,
        doubt.mark,
        layout.form(doubt.mark),
        doubt.head,
        layout.form(doubt.head),
        doubt.probability,
        doubt.proposed,
        layout.form(doubt.proposed),
        doubt.proposed_probability,
    ]
