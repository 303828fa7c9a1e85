"""What commands tell, on standard error, of the treebanks that they have read."""

from typing import TYPE_CHECKING

from pyropunct.cli import console
from pyropunct.text.lines import TreebankError

if TYPE_CHECKING:
    from pyropunct.treebank.reading import Treebank

MALFORMED_SHOWN = 20
"""The most malformed sentences that are listed."""


def tell_malformed(treebank: "Treebank") -> None:
    """Tell of the malformed sentences of a file, a line for each of the first."""
    bad = [one for one in treebank.omitted if one.malformed]
    if bad:
        sentences = "1 malformed sentence" if len(bad) == 1 else f"{len(bad):,} malformed sentences"
        console.tell(
            f"pyropunct: {treebank.path}: {sentences} left out; output in CoNLL-U keeps them as they are"
        )
    for one in bad[:MALFORMED_SHOWN]:
        console.tell(f"pyropunct: {TreebankError(treebank.path, one.reason, one.line, one.identifier)}")
    if len(bad) > MALFORMED_SHOWN:
        console.tell(f"pyropunct: {treebank.path}: and {len(bad) - MALFORMED_SHOWN:,} more")


def tell_duplicates(treebank: "Treebank") -> None:
    """Warn if sentences of a file have the same ``sent_id``."""
    if twice := treebank.duplicates:
        identifier, lines = next(iter(twice.items()))
        several = "1 sent_id occurs" if len(twice) == 1 else f"{len(twice):,} sent_ids occur"
        which = repr(identifier) if len(twice) == 1 else f"the first is {identifier!r}"
        places = f"in lines {lines[0]} and {lines[1]}"
        console.tell(f"pyropunct: {treebank.path}: {several} more than once: {which}, {places}")
