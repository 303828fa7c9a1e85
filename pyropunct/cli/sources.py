"""How commands go through the sentences of a text."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple, Protocol, Self, TextIO, TypeVar

from pyropunct.cli import console
from pyropunct.cli.loading import of_language
from pyropunct.cli.report import SentenceReport
from pyropunct.errors import MissingPartError, UserError
from pyropunct.punctuator import Punctuator
from pyropunct.restore.items import AtHand, BadLine, Item, chunks, read_items
from pyropunct.restore.parses import LONGEST_WHOLE
from pyropunct.restore.restorer import Restorer
from pyropunct.restore.restoring import Restored, Source, has_marks
from pyropunct.restore.stretches import in_languages
from pyropunct.tasks.correct.correcting import unlearned
from pyropunct.text.conventions import UNSPACED_WORD
from pyropunct.text.lines import ByteLines, TextPart, TreebankError
from pyropunct.text.marks import space_between_words
from pyropunct.text.raw_sentence import RawSentence
from pyropunct.treebank.preparing import Omission
from pyropunct.treebank.sentence import Sentence

Restore = Callable[[Sequence[Source]], Iterator[Restored]]
Result = TypeVar("Result")
LONGEST_UNSPACED, SHOWN = 10, 12
"""The most characters of a word in a script without spaces, and how many are shown of a longer word."""

Reject = Callable[[TreebankError], None]
"""Takes what is wrong with a line or a sentence."""


class Work(Protocol):
    """A task on texts with a loaded model; a sentence's result depends only on its own text."""

    def __call__(
        self,
        part: TextPart,
        out: TextIO,
        reject: Reject | None = None,
        advance: Callable[[], None] = lambda: None,
    ) -> None:
        """Write the results of a text.

        :param reject: called with the problem of each unusable line or sentence; by default the user is told,
            and unreadable input raises an error.
        :param advance: called after each part of the text.
        """
        ...


class Tools(NamedTuple):
    """What a model does with a text.

    :ivar begin: gives, for a new text, the function that finds the results of sentences.
    :ivar report: shows results, given a stream to write to and the name of the text.
    :ivar restorer: reads the text, which may be running text; by default each line is a sentence.
    """

    begin: Callable[[], Callable[[Sequence[Any]], Iterator[Any]]]
    report: Callable[[TextIO, str], SentenceReport]
    restorer: Restorer | None = None


def text_work(
    model: Punctuator,
    tools: Callable[[Punctuator], Tools],
    *,
    quiet: bool = True,
    few_draws: float = 0.0,
    force: bool = True,
    running: bool = False,
    languages: Collection[str] | None = None,
) -> Work:
    """Work that reads a text, finds a result for each of its sentences, and shows them in order.

    From a model of several languages, each line or paragraph of a text gets the model of its language.

    :param few_draws: a `Restored` with fewer effective draws is doubtful.
    :param force: work on lines in another language than the model's too.
    :param running: the text is running text.
    :param languages: the languages of the model that the tools know; by default all.
    """

    @cache
    def of(code: str | None) -> tuple[Punctuator, Tools]:
        chosen = model if code is None else of_language(model, code)
        return chosen, tools(chosen)

    if not model.languages:
        of(None)  # wrong settings are told before a text is read

    def work(
        part: TextPart, out: TextIO, reject: Reject | None = None, advance: Callable[[], None] = lambda: None
    ) -> None:
        stretches: Iterable[tuple[str | None, TextPart]] = [(None, part)]
        if model.languages:
            stretches = in_languages(part, model.languages, running)
        find: dict[str | None, Callable[[Sequence[Any]], Iterator[Any]]] = {}
        items = Items(part, reject, quiet)
        shown: SentenceReport | None = None
        doubtful, first = 0, None
        for code, stretch in stretches:
            chosen, (begin, report, restorer) = of(code)
            find[code] = find.get(code) or begin()
            items.read(stretch, chosen, restorer)
            shown = report(out, part.name).after(shown)
            unknown = code if code is not None and languages is not None and code not in languages else None
            for item, result in items.results(find[code], advance, force=force, unknown=unknown):
                if result is None:
                    shown.leave(item)
                else:
                    draws = result.effective_draws if few_draws else None
                    if draws is not None and draws < few_draws:
                        doubtful, first = doubtful + 1, first or result
                    shown.add(item, result)
        assert shown is not None  # as there is a stretch, if only an empty one
        shown.finish(items.omitted)
        items.conclude(doubtful, first, kept=shown.keeps_omitted)

    return work


class Items:
    """The sentences of a text, each reported on at most once for each problem.

    :param reject: takes errors of lines and sentences, omitted ones too; by default they are reported.
    :param quiet: do not report that punctuation is removed.
    :ivar omitted: sentences that cannot be used, without their lines; ``failed`` counts unchanged ones.
    """

    def __init__(self, part: TextPart, reject: Reject | None = None, quiet: bool = True) -> None:
        self._name, self._reject, self._places = part.name, reject, part.lines
        self._quiet, self._cut = quiet, False
        self.omitted: list[Omission] = []
        self.failed = self._unforced = self._code = 0
        self._unlearned = Counter[str]()

    def read(self, part: TextPart, model: Punctuator, restorer: Restorer | None = None) -> Self:
        """Go on with a stretch of the text, in the language of the model.

        :param restorer: reads it, as running text if need be; by default each line is a sentence.
        """
        self._told_unspaced = (UNSPACED_WORD, UNSPACED_WORD) not in model.conventions.spacing.counts
        self._strangeness = model.strangeness()
        self._common, tolerant = model.meant, self._reject is not None
        self._items: Iterable[Item]
        self._lines: AtHand
        if restorer is not None:
            self._items = self._lines = restorer.read(part, tolerant=tolerant, tell_long=self._long_line)
        else:
            self._lines = lines = ByteLines(part.stream)
            self._items = read_items(
                lines, part.name, part.kind, model.raw_reader, start=part.start, tolerant=tolerant
            )
        return self

    def __iter__(self) -> Iterator[Item]:
        """The items, each of which is reported on if need be."""
        for item in self._items:
            if isinstance(item, Sentence):
                item = item.with_marks(self._common)
            if isinstance(item, Omission):
                self.omitted.append(replace(item, lines=()))
                if self._reject is not None:
                    problem = f"omitted: {item.reason}"
                    self._reject(TreebankError(self._name, problem, item.line, item.identifier))
            elif isinstance(item, BadLine):
                if (bad := item.problem) is not None:
                    if self._places and bad.line is not None:
                        bad = TreebankError(self._name, bad.problem, self._place(bad.line))
                    self._fail(bad)
            elif self._reject is None:
                self._report(item)
            yield item

    def results(
        self,
        find: Callable[[Sequence[Source]], Iterator[Result]],
        advance: Callable[[], None],
        *,
        force: bool,
        unknown: str | None = None,
    ) -> Iterator[tuple[Item, Result | None]]:
        """All items, with the result of each sentence; None for items that cannot be used.

        :param force: lines in another language can be used.
        :param unknown: the language of the sentences, if they cannot be used for it.
        """
        for chunk in chunks(self, self._lines):
            if not force and self._strangeness.is_foreign:
                self._unforced += sum(isinstance(item, RawSentence) for item in chunk)
                yield from ((item, None) for item in chunk)
                continue
            if unknown is not None:
                for item in chunk:
                    if isinstance(item, Sentence) or (isinstance(item, RawSentence) and item.words):
                        self._leave(item, unknown)
                yield from ((item, None) for item in chunk)
                continue
            usable = [item for item in chunk if not isinstance(item, Omission | BadLine)]
            results = one_after_the_other(usable, find)
            for item in chunk:
                if isinstance(item, Omission | BadLine):
                    yield item, None
                elif isinstance(result := next(results), Exception):
                    self._fail(self._problem(item, result))
                    yield item, None
                else:
                    yield item, result
            advance()

    def _problem(self, source: Source, what: str | Exception) -> TreebankError:
        """What is to be said of a sentence, with its place."""
        if isinstance(what, TreebankError):
            return what
        if isinstance(what, Exception):
            what = str(what) if isinstance(what, UserError) else f"{type(what).__name__}: {what}"
        if isinstance(source, RawSentence):
            return TreebankError(self._name, what, self._place(source.line))
        return TreebankError(self._name, what, source.layout.block.first_line, source.identifier)

    def _place(self, line: int) -> int:
        """The line of the file in which a line of the text is."""
        return self._places[line - 1] if self._places else line

    def _tell(self, source: Source, what: str) -> None:
        console.tell(f"pyropunct: {self._problem(source, what)}")

    def _report(self, item: Source) -> None:
        if not self._quiet and isinstance(item, Sentence) and has_marks(item):
            console.tell("pyropunct: the punctuation of trees is removed first (--keep keeps it)")
            self._quiet = True
        if isinstance(item, RawSentence):
            self._code += item.settled
            self._strangeness.add(item.words)
            long = next((word for word in item.words if len(word) > LONGEST_UNSPACED), None)
            if not self._told_unspaced and long is not None and not space_between_words(long, long):
                remedy = "put spaces between the words, or install the extra unspaced"
                self._tell(item, f"{long[:SHOWN]}… is read as one word: {remedy}")
                self._told_unspaced = True
        if not self._cut and isinstance(item, RawSentence) and len(item.words) > LONGEST_WHOLE:
            parts = f"{len(item.words)} words; lines of more than {LONGEST_WHOLE} are parsed in parts"
            self._tell(item, f"{parts} (is each sentence on a line of its own?)")
            self._cut = True

    def _long_line(self, line: RawSentence) -> None:
        """Report on a line that is too long for a sentence."""
        if self._reject is None:
            self._tell(line, f"{len(line.words)} words; it is read as running text (--running)")

    def _fail(self, problem: TreebankError) -> None:
        """Report on a line or a sentence that is left as it was."""
        if self._reject is None:
            console.tell(f"pyropunct: {problem}; it is left as it was")
        else:
            self._reject(problem)
        self.failed += 1

    def _leave(self, source: Source, code: str) -> None:
        """Leave a sentence as it was, since the tool does not know its language."""
        if self._reject is not None:
            self._reject(self._problem(source, unlearned([code])))
        self._unlearned[code] += 1

    def conclude(self, doubtful: int, first: Restored | None, *, kept: bool) -> None:
        """Report at the end, unless errors are taken elsewhere. Raises UserError if something is unchanged.

        :param doubtful: the number of sentences with few effective draws, with the first of them.
        :param kept: whether omitted sentences were written unchanged.
        """
        if self._reject is not None:
            return
        if first is not None:
            few = f"{first.effective_draws:.1f} effective draws, which are few: more --samples would help"
            self._tell(first.source, few + f" (and {doubtful - 1} more)" * (doubtful > 1))
        if self._unforced:
            left = f"{self._unforced:,} lines are left as they were (--force restores them)"
            raise UserError(f"{self._name}: {self._strangeness}: {left}")
        if self._unlearned:
            left = f"{self._unlearned.total():,} lines are left as they were"
            raise UserError(f"{self._name}: {left}: {unlearned(self._unlearned)}")
        if self._code:
            console.tell(f"pyropunct: {self._name}: lines of code or markup, left unchanged: {self._code:,}")
        console.tell_omitted(self._name, self.omitted, kept=kept)
        if self.failed:
            raise UserError(f"{self._name}: {self.failed} left as they were because of errors")


def one_after_the_other(
    sources: Sequence[Source], restore: Callable[[Sequence[Source]], Iterator[Result]]
) -> Iterator[Result | Exception]:
    """The result or the error of each sentence; after an error, sentences are restored one by one."""
    done = 0
    try:
        for restored in restore(sources) if sources else ():
            yield restored
            done += 1
    except MissingPartError:
        raise
    except Exception as error:
        if len(sources) == 1:
            yield error
            return
        for source in sources[done:]:
            yield from one_after_the_other([source], restore)
