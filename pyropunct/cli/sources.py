"""How the commands for restoring and correcting go through the sentences that they read."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from pyropunct.cli import console
from pyropunct.cli.frame import BAD_INPUT, OneLineError
from pyropunct.nets.pretrained import PretrainedError
from pyropunct.restore.parses import NoParserError
from pyropunct.restore.raw_words import RawSentence
from pyropunct.restore.reading import AtHand, BadLine, Item, chunks, read_items
from pyropunct.restore.restoring import Restored, Source, has_marks
from pyropunct.restore.windows import LONGEST_WHOLE
from pyropunct.treebank.errors import NO_SENTENCE, TreebankError
from pyropunct.treebank.lines import ByteLines, Part
from pyropunct.treebank.reading import Omission

if TYPE_CHECKING:
    from pyropunct.cli.restore_output import Output
    from pyropunct.punctuator import Punctuator

Reject = Callable[[TreebankError], None]
"""Takes what is wrong with a line or a sentence."""

Given = TypeVar("Given")
Found = TypeVar("Found")


class Items:
    """Iterates over the sentences that were read, and reports once on what is done with some of them.

    :param items: the sentences that were read, including those that cannot be used.
    :param name: of the file.
    :param quiet: do not report that punctuation is removed.
    :param reject: takes what is wrong with lines and sentences, omitted ones too, and nothing is reported; by
        default it is.
    :ivar omitted: those of a treebank that cannot be used.
    :ivar failed: how many lines or sentences are left as they were because something is wrong with them.
    """

    def __init__(self, items: Iterable[Item], name: str, quiet: bool, reject: Reject | None = None) -> None:
        self._items, self._name, self._reject = items, name, reject
        self._quiet, self._cut = quiet or reject is not None, reject is not None
        self.omitted: list[Omission] = []
        self.failed = 0

    def __iter__(self) -> Iterator[Item]:
        for item in self._items:
            if isinstance(item, Omission):
                self.omitted.append(item)
                if self._reject is not None:
                    self._reject(why_omitted(self._name, item))
            elif isinstance(item, BadLine):
                if item.problem is not None:
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

    def fail(self, problem: TreebankError) -> None:
        """Report on a line or a sentence that is left as it was."""
        if self._reject is None:
            console.tell(f"pyropunct: {problem}; it is left as it was")
        else:
            self._reject(problem)
        self.failed += 1

    def could_not(self, source: Source, error: Exception) -> None:
        """Report on a sentence with which something went wrong."""
        self.fail(what_went_wrong(self._name, source, error))

    def conclude(self) -> None:
        """Say at the end that something was left as it was.

        :raises OneLineError: if that was reported.
        """
        if self.failed and self._reject is None:
            raise OneLineError(f"{self._name}: {self.failed} left as they were because of errors", BAD_INPUT)


def why_omitted(name: str, omission: Omission) -> TreebankError:
    """An omission as an error that names its place."""
    return TreebankError(name, f"omitted: {omission.reason}", omission.line, omission.identifier)


def what_went_wrong(name: str, source: Source, error: Exception) -> TreebankError:
    """An error, with the place of the sentence with which it came, if it does not name that itself."""
    if isinstance(error, TreebankError):
        return error
    what = f"{type(error).__name__}: {error}"
    if isinstance(source, RawSentence):
        return TreebankError(name, what, source.line)
    return TreebankError(name, what, source.layout.block.first_line, source.identifier)


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
        restored = one_after_the_other(usable, restore)
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
    items.conclude()


def show_part(
    part: Part,
    model: "Punctuator",
    restore: Callable[[Sequence[Source]], Iterator[Restored]],
    output: "Output",
    advance: Callable[[], None],
    reject: Reject | None = None,
) -> list[Omission]:
    """`show` what becomes of a text whose lines are sentences, or that is CoNLL-U.

    :param model: which reads its words.
    :param reject: see `Items`; with it no sentence of CoNLL-U that is malformed ends the work.
    :returns: the sentences that were left out.
    """
    lines, tolerant = ByteLines(part.stream), reject is not None
    read = read_items(lines, part.name, part.kind, model.raw_reader, start=part.start, tolerant=tolerant)
    items = Items(read, part.name, True, reject)
    show(items, lines, part.name, restore, output, advance)
    return items.omitted


def one_after_the_other(
    sources: Sequence[Given], restore: Callable[[Sequence[Given]], Iterator[Found]]
) -> "Iterator[Found | Exception]":
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
            yield from one_after_the_other([source], restore)
