"""One way from text to sentences to trees to decisions to text."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from pyropunct.draws import Draws
from pyropunct.errors import UserError
from pyropunct.fitted.model import FittedModel
from pyropunct.nets.parser.protocol import WeightedTree
from pyropunct.restore.cases import in_their_cases
from pyropunct.restore.deciding import decide, decide_given
from pyropunct.restore.decoders import Decision
from pyropunct.restore.given import evidence_of_marks
from pyropunct.restore.raw_words import RawReader, RawSentence
from pyropunct.restore.reading import LONGEST_PIECE, Item, read_items
from pyropunct.restore.restoring import Restored, Source, punctuated, raw_text
from pyropunct.restore.rewriting import (
    Rewriting,
    with_abbreviation_dots,
    with_given,
    with_marks_only,
    with_own_unknown,
    without_marks_in,
    without_unknown,
)
from pyropunct.restore.running import SentenceStream, require_reader
from pyropunct.restore.settings import RestoreSettings
from pyropunct.treebank.lines import LONGEST_LINE, ByteLines, Part
from pyropunct.treebank.marks import STRAIGHT


class MarkError(UserError, ValueError):
    """Raised when settings name marks that the model does not know, or none."""


class Restorer:
    """Restores the punctuation of text, by a model and settings.

    Each step can be taken by itself: `text` is `sentences`, `restore` and printing; files of any length are
    `read` sentence by sentence.

    Example::

        import pyropunct
        from pyropunct.restore.restorer import Restorer
        from pyropunct.restore.settings import RestoreSettings

        restorer = Restorer(pyropunct.load("en"), RestoreSettings(keep=True))
        print(restorer.text("Ann , a doctor sings"))

    :param model: the model.
    :param settings: how text is restored.
    :param raw_reader: reads lines; by default one for the model.
    :raises NoReaderError: if running text is to be read, or case to be restored, and the model has no reader
        of running text.
    :raises MarkError: if ``marks`` or ``hidden`` names a mark that the model does not know, if ``hidden``
        names no mark, or if both are given.
    """

    def __init__(
        self,
        model: FittedModel,
        settings: RestoreSettings | None = None,
        raw_reader: RawReader | None = None,
    ) -> None:
        self.model = model
        self.settings = RestoreSettings() if settings is None else settings
        marks, hidden = self.settings.marks, self.settings.hidden
        if marks is not None and hidden is not None:
            raise MarkError("hidden and marks exclude each other: all marks but the hidden ones stay")
        self._marks = None if marks is None else _known_marks(model, marks)
        self._hidden = frozenset() if hidden is None else _known_marks(model, hidden)
        if hidden is not None and not self._hidden:
            raise MarkError("hidden: there is no mark")
        require_reader(model.reader, self.settings)
        self.raw_reader = raw_reader or RawReader(model.vocabulary, model.conventions)

    def text(self, text: str) -> str:
        """A text with its punctuation restored, of as many lines unless it is running text."""
        lines = text.split("\n")
        read = (
            self.raw_reader.read(line, number, "\n" * (number < len(lines)))
            for number, line in enumerate(lines, 1)
        )
        return "".join(
            raw_text(restored, self.model.conventions, capital=self.settings.capital) + restored.source.end
            for restored in self.restore(list(self.sentences(read)))
            if isinstance(restored.source, RawSentence)
        )

    def sentences(self, lines: Iterable[RawSentence]) -> Iterator[RawSentence]:
        """The sentences of lines: each line is one, unless it is running text."""
        stream = SentenceStream(lines, self.model.reader, self.settings)
        return (item for item in stream if isinstance(item, RawSentence))

    def read(
        self, part: Part, *, tolerant: bool = False, tell_long: Callable[[RawSentence], None] | None = None
    ) -> SentenceStream:
        """The sentences of a file, or a part of a file, as soon as they are certain.

        :param part: raw text or CoNLL-U.
        :param tolerant: give malformed sentences of CoNLL-U as bad lines.
        :param tell_long: called with lines that are running text because they are too long for sentences.
        :raises TreebankError: as `read_items` does.
        """
        running = self.settings.running
        lines = ByteLines(part.stream, LONGEST_PIECE if running else LONGEST_LINE)
        items: Iterator[Item] = read_items(
            lines, part.name, part.kind, self.raw_reader, running=running, start=part.start, tolerant=tolerant
        )
        return SentenceStream(
            items, self.model.reader, self.settings, lines=lines, tell_long=tell_long, last_end="\n"
        )

    def restore(self, sources: Sequence[Source]) -> Iterator[Restored]:
        """Restore sentences, which may have punctuation already; a line without words is unchanged.

        Long lines of raw text are restored in windows: see `pyropunct.restore.windows`.

        :raises NoParserError: if words have to be parsed and the model has no parser.
        """
        return punctuated(self.model, self._in_their_cases(sources), self.settings, self._decide)

    def _in_their_cases(self, sources: Sequence[Source]) -> Sequence[Source]:
        """The sources; lines of raw text are in the case that they are to have."""
        if self.model.reader is None:
            return sources
        raw = [source for source in sources if isinstance(source, RawSentence) and not source.found]
        cased = iter(in_their_cases(raw, self.model.reader, self.settings.case, self.settings.capital))
        return [
            next(cased) if isinstance(source, RawSentence) and not source.found else source
            for source in sources
        ]

    def _decide(
        self, sources: Sequence[Source], parses: Sequence[Sequence[WeightedTree]]
    ) -> Iterator[Decision]:
        settings = self.settings
        options: dict[str, Any] = {
            "decoder": settings.decoder or "f1",
            "threshold": settings.threshold,
            "samples": settings.samples,
            "seed": settings.seed,
        }
        rewritings = [self._rewriting(source) for source in sources]
        if not (settings.keep or self._hidden):
            return decide(self.model, parses, rewritings=rewritings, **options)
        evidence = [
            evidence_of_marks(
                self.model.vocabulary,
                source.surface,
                hidden=self._hidden,
                keep=settings.keep,
                closed=source.inside if isinstance(source, RawSentence) else (),
            )
            for source in sources
        ]
        return decide_given(self.model, parses, evidence, rewritings, **options)

    def _rewriting(self, source: Source) -> Rewriting:
        def rewriting(draws: Draws) -> Draws:
            if self._hidden:
                return with_own_unknown(draws, source.surface, self.model.vocabulary.tokens)
            draws = without_unknown(draws) if self._marks is None else with_marks_only(draws, self._marks)
            if isinstance(source, RawSentence):
                draws = without_marks_in(draws, source.inside)
            if self.settings.keep:
                return with_given(draws, source.surface)
            if self.settings.keep_dots and isinstance(source, RawSentence):
                return with_abbreviation_dots(draws, source.surface)
            return draws

        return rewriting


def _known_marks(model: FittedModel, wanted: str | Collection[str]) -> frozenset[str]:
    """The marks of a setting as tokens of the model, with directed quotation marks."""
    if isinstance(wanted, str):
        wanted = wanted.split() if len(wanted.split()) > 1 else wanted.strip()
    known = [token for token in model.vocabulary.tokens if not token.startswith("\t")]
    chosen: set[str] = set()
    for mark in wanted:
        meant = {mark, *STRAIGHT.get(mark, ())}.intersection(known)
        if not meant:
            raise MarkError(f"the model has no mark {mark}, it has {' '.join(known)}")
        chosen |= meant
    return frozenset(chosen)
