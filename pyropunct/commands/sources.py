"""What the commands that restore and correct say about the sentences that they read."""

from collections.abc import Iterable, Iterator

from pyropunct.commands import console
from pyropunct.restore.reading import Item
from pyropunct.restore.restoring import Source, has_marks
from pyropunct.treebank.reading import Omission


class Usable:
    """The sentences that can be used; what is said about them once, beside the results.

    :param items: all that was read.
    :param quiet: do not say that punctuation is taken off.
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
                console.tell("pyropunct: punctuation that is there already is taken off (--keep keeps it)")
                self._quiet = True
            yield item

    def tell_omitted(self, name: str) -> None:
        """Say how many sentences were left out, if any were."""
        if self.omitted:
            console.tell(f"pyropunct: {name}: {self.omitted} omitted; the first: {self._first_omitted}")
