"""How the commands for restoring and correcting go through the sentences that they read."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from pyropunct.commands import console
from pyropunct.commands.frame import BAD_INPUT, OneLineError
from pyropunct.networks.pretrained import PretrainedError
from pyropunct.restore.raw_words import RawSentence
from pyropunct.restore.reading import AtHand, BadLine, Item, chunks
from pyropunct.restore.restoring import NoParserError, Restored, Source, has_marks
from pyropunct.restore.windows import LONGEST_WHOLE
from pyropunct.treebank.conllu_block import NO_SENTENCE, TreebankError
from pyropunct.treebank.reading import Omission

if TYPE_CHECKING:
    from pyropunct.commands.restore_output import Output


class Items:
    """Iterates over the sentences that were read, and reports once on what is done with some of them.

    :param items: the sentences that were read, including those that cannot be used.
    :param name: of the file.
    :param quiet: do not report that punctuation is removed.
    :ivar omitted: those of a treebank that cannot be used.
    :ivar failed: how many lines or sentences are left as they were because something is wrong with them.
    """

    def __init__(self, items: Iterable[Item], name: str, quiet: bool) -> None:
        self._items, self._name, self._quiet = items, name, quiet
        self._cut = False
        self.omitted: list[Omission] = []
        self.failed = 0

    def __iter__(self) -> Iterator[Item]:
        for item in self._items:
            if isinstance(item, Omission):
                self.omitted.append(item)
            elif isinstance(item, BadLine):
                if item.problem:
                    self.fail(item.problem)
            else:
                self._report(item)
            yield item

    def _report(self, item: Source) -> None:
        if not self._quiet and has_marks(item):
            console.tell("pyropunct: existing punctuation is removed first (--keep keeps it)")
            self._quiet = True
        if not self._cut and isinstance(item, RawSentence) and len(item.words) > LONGEST_WHOLE:
            what = f"{len(item.words)} words; lines of more than {LONGEST_WHOLE} are parsed in parts"
            console.tell(
                f"pyropunct: {self._name}:{item.line}: {what} (is each sentence on a line of its own?)"
            )
            self._cut = True

    def fail(self, problem: str) -> None:
        """Report on a line or a sentence that is left as it was."""
        console.tell(f"pyropunct: {problem}; it is left as it was")
        self.failed += 1

    def could_not(self, source: Source, error: Exception) -> None:
        """Report on a sentence with which something went wrong."""
        self.fail(f"{place_in(self._name, source)}: {type(error).__name__}: {error}")


def place_in(name: str, source: Source) -> str:
    """Where a sentence of a file is, for messages.

    :param name: of the file.
    """
    if isinstance(source, RawSentence):
        return f"{name}:{source.line}"
    return f"{name}:{source.layout.block.first_line}: sentence {source.identifier!r}"


def show(
    items: Items,
    lines: AtHand,
    name: str,
    restore: Callable[[Sequence[Source]], Iterator[Restored]],
    output: "Output",
    advance: Callable[[], None],
) -> None:
    """Show what becomes of each sentence that can be used, and those that cannot in their places.

    :param lines: what is read.
    :param name: the name that errors give to it.
    :param advance: called after each part.
    :raises TreebankError: if nothing is there.
    :raises OneLineError: at the end, if lines or sentences were left as they were.
    """
    empty = True
    for some in chunks(items, lines):
        empty = False
        usable = [item for item in some if not isinstance(item, Omission | BadLine)]
        restored = _one_after_the_other(usable, restore)
        for item in some:
            if isinstance(item, Omission):
                output.omit(item)
            elif isinstance(item, BadLine):
                output.leave(item)
            else:
                found = next(restored)
                if isinstance(found, Exception):
                    items.could_not(item, found)
                    output.leave(item)
                else:
                    output.add(found)
        advance()
    if empty:
        raise TreebankError(name, NO_SENTENCE)
    output.finish(items.omitted)
    if items.failed:
        raise OneLineError(f"{name}: {items.failed} left as they were because of errors", BAD_INPUT)


def _one_after_the_other(
    sources: Sequence[Source], restore: Callable[[Sequence[Source]], Iterator[Restored]]
) -> "Iterator[Restored | Exception]":
    """What becomes of each sentence; if something goes wrong, the rest are restored one by one."""
    done = 0
    try:
        for restored in restore(sources) if sources else ():
            yield restored
            done += 1
    except (NoParserError, PretrainedError):
        raise
    except Exception as error:
        if len(sources) == 1:
            yield error
            return
        for source in sources[done:]:
            yield from _one_after_the_other([source], restore)
