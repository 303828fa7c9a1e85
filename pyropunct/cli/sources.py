"""How commands go through the sentences of a text."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TextIO, TypeVar

from pyropunct.cli import console
from pyropunct.errors import UserError
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
    from pyropunct.corpus.shards import Reject, Work
    from pyropunct.punctuator import Punctuator
    from pyropunct.restore.restorer import Restorer

Restore = Callable[[Sequence[Source]], Iterator[Restored]]
Given = TypeVar("Given")
Found = TypeVar("Found")


def text_work(
    model: "Punctuator",
    begin: Callable[[], Restore],
    output: "Callable[[TextIO, str], Output]",
    *,
    restorer: "Restorer | None" = None,
    quiet: bool = True,
    few_draws: float = 0.0,
) -> "Work":
    """Work that reads a text, lets its sentences be restored, and shows them in order.

    :param model: reads words.
    :param begin: gives, for a new text, the function that restores its sentences.
    :param output: shows results, given a stream to write to and the name of the text.
    :param restorer: reads the text, which may be running text; by default each line is a sentence.
    :param quiet: do not report that punctuation is removed.
    :param few_draws: fewer effective draws than these make a sentence doubtful.
    """

    def work(
        part: Part, out: TextIO, reject: "Reject | None" = None, advance: Callable[[], None] = lambda: None
    ) -> None:
        tolerant = reject is not None
        items = Items(part.name, quiet, reject, few_draws)
        found: Iterable[Item]
        at_hand: AtHand
        if restorer is not None:
            found = at_hand = restorer.read(part, tolerant=tolerant, tell_long=items.long_line)
        else:
            at_hand = lines = ByteLines(part.stream)
            reader = model.raw_reader
            found = read_items(lines, part.name, part.kind, reader, start=part.start, tolerant=tolerant)
        show(found, items, at_hand, begin(), output(out, part.name), advance)

    return work


class Items:
    """Reports on the sentences of a text, once on each matter.

    :param name: of the text.
    :param quiet: do not report that punctuation is removed.
    :param reject: takes what is wrong with lines and sentences, omitted ones too; by default it is reported.
    :param few_draws: see `text_work`.
    :ivar omitted: sentences of a treebank that cannot be used.
    :ivar failed: the number of lines or sentences that are left as they were, because of errors.
    """

    def __init__(self, name: str, quiet: bool, reject: "Reject | None", few_draws: float) -> None:
        self.name, self._reject, self._few_draws = name, reject, few_draws
        self._quiet, self._cut = quiet or reject is not None, reject is not None
        self.omitted: list[Omission] = []
        self.failed, self._doubtful = 0, 0
        self._first_doubtful: Restored | None = None

    def reported(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items, each of which is reported on if need be."""
        for item in items:
            if isinstance(item, Omission):
                self.omitted.append(item)
                if self._reject is not None:
                    self._reject(why_omitted(self.name, item))
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
            parts = f"{len(item.words)} words; lines of more than {LONGEST_WHOLE} are parsed in parts"
            self._tell(item, f"{parts} (is each sentence on a line of its own?)")
            self._cut = True

    def _tell(self, source: Source, message: str) -> None:
        console.tell(f"pyropunct: {place_in(self.name, source)}: {message}")

    def long_line(self, line: RawSentence) -> None:
        """Report on a line that is too long for a sentence."""
        if self._reject is None:
            self._tell(line, f"{len(line.words)} words; it is read as running text (--running)")

    def fail(self, problem: TreebankError) -> None:
        """Report on a line or a sentence that is left as it was."""
        if self._reject is None:
            console.tell(f"pyropunct: {problem}; it is left as it was")
        else:
            self._reject(problem)
        self.failed += 1

    def weigh(self, restored: Restored) -> None:
        """Count the sentences whose marks leave few draws."""
        if restored.effective_draws is not None and restored.effective_draws < self._few_draws:
            self._doubtful += 1
            self._first_doubtful = self._first_doubtful or restored

    def conclude(self, *, kept: bool) -> None:
        """Report at the end, unless errors are taken elsewhere.

        :param kept: whether omitted sentences were written as they were.
        :raises UserError: if something was left as it was.
        """
        if self._reject is not None:
            return
        if first := self._first_doubtful:
            few = f"{first.effective_draws:.1f} effective draws, which are few: more --samples would help"
            self._tell(first.source, few + f" (and {self._doubtful - 1} more)" * (self._doubtful > 1))
        console.tell_omitted(self.name, self.omitted, kept=kept)
        if self.failed:
            raise UserError(f"{self.name}: {self.failed} left as they were because of errors")


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
    found: Iterable[Item],
    items: Items,
    lines: AtHand,
    restore: Restore,
    output: "Output",
    advance: Callable[[], None],
) -> None:
    """Show the results of all sentences that can be used, and the others in their places.

    :param lines: the text that is read.
    :param advance: called after each part.
    :raises TreebankError: if there is no sentence.
    :raises UserError: at the end, if lines or sentences were left as they were.
    """
    empty = True
    for chunk in chunks(items.reported(found), lines):
        empty = False
        usable = [item for item in chunk if not isinstance(item, Omission | BadLine)]
        results = one_after_the_other(usable, restore)
        for item in chunk:
            if isinstance(item, Omission):
                output.omit(item)
                continue
            if isinstance(item, BadLine):
                output.leave(item)
                continue
            restored = next(results)
            if isinstance(restored, Exception):
                items.fail(what_went_wrong(items.name, item, restored))
                output.leave(item)
            else:
                items.weigh(restored)
                output.add(restored)
        advance()
    if empty:
        raise TreebankError(items.name, NO_SENTENCE)
    output.finish(items.omitted)
    items.conclude(kept=output.keeps_omitted)


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
