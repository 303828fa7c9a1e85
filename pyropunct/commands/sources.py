"""How the commands for restoring and correcting go through the sentences that they read."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO

from pyropunct.commands import console
from pyropunct.restore.reading import Item, chunks
from pyropunct.restore.restoring import Restored, Source, has_marks
from pyropunct.treebank.conllu_block import NO_SENTENCE, TreebankError
from pyropunct.treebank.reading import Omission

if TYPE_CHECKING:
    from pyropunct.commands.restore_output import Output


class Items:
    """Iterates over the sentences that were read, and reports once on removed punctuation.

    :param items: the sentences that were read, including those that cannot be used.
    :param quiet: do not report that punctuation is removed.
    """

    def __init__(self, items: Iterable[Item], quiet: bool) -> None:
        self._items, self._quiet = items, quiet
        self.omitted: list[Omission] = []

    def __iter__(self) -> Iterator[Item]:
        for item in self._items:
            if isinstance(item, Omission):
                self.omitted.append(item)
            elif not self._quiet and has_marks(item):
                console.tell("pyropunct: existing punctuation is removed first (--keep keeps it)")
                self._quiet = True
            yield item


def show(
    items: Items,
    stream: BinaryIO,
    name: str,
    restore: Callable[[Sequence[Source]], Iterator[Restored]],
    output: "Output",
    advance: Callable[[], None],
) -> None:
    """Show what becomes of each sentence that can be used, and those that cannot in their places.

    :param stream: what is read.
    :param name: the name that errors give to it.
    :param advance: called after each part.
    :raises TreebankError: if nothing is there.
    """
    empty = True
    for some in chunks(items, stream):
        empty = False
        usable = [item for item in some if not isinstance(item, Omission)]
        restored = restore(usable) if usable else iter(())
        for item in some:
            if isinstance(item, Omission):
                output.omit(item)
            else:
                output.add(next(restored))
        advance()
    if empty:
        raise TreebankError(name, NO_SENTENCE)
    output.finish(items.omitted)
