"""Messages about the sentences that the commands for restoring and correcting read."""

from collections.abc import Iterable, Iterator

from pyropunct.commands import console
from pyropunct.restore.reading import Item
from pyropunct.restore.restoring import Source, has_marks
from pyropunct.treebank.reading import Omission


class Usable:
    """Iterates over the sentences that can be used, and reports once on removed punctuation.

    :param items: the sentences that were read, including those that cannot be used.
    :param quiet: do not report that punctuation is removed.
    """

    def __init__(self, items: Iterable[Item], quiet: bool) -> None:
        self._items, self._quiet = items, quiet
        self.omitted, self._first_omitted = 0, ""

    def __iter__(self) -> Iterator[Source]:
        for item in self._items:
            if isinstance(item, Omission):
                self.omitted += 1
                self._first_omitted = self._first_omitted or f"sentence {item.identifier!r}: {item.reason}"
                continue
            if not self._quiet and has_marks(item):
                console.tell("pyropunct: existing punctuation is removed first (--keep keeps it)")
                self._quiet = True
            yield item

    def tell_omitted(self, name: str) -> None:
        """Report how many sentences were left out, if any."""
        if self.omitted:
            console.tell(f"pyropunct: {name}: {self.omitted} omitted; the first: {self._first_omitted}")
