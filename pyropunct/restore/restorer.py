"""Restoration of text: from text to sentences to trees to decisions to text."""

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, compress, islice
from typing import Any

from pyropunct.draws import Draws
from pyropunct.errors import SettingError
from pyropunct.inference.threads import FORK_GUARD
from pyropunct.nets.parser import WeightedTree
from pyropunct.restore.casing import in_their_cases
from pyropunct.restore.deciding import decide, decide_given
from pyropunct.restore.decoders import Decision
from pyropunct.restore.items import CHUNK, LONGEST_PIECE, Item, WordsOfPieces, read_items, require_string
from pyropunct.restore.marks_there import MarksThere
from pyropunct.restore.parses import FittedModel
from pyropunct.restore.restoring import Restored, Source, Word, details_of_text, punctuated, raw_text
from pyropunct.restore.rewriting import (
    with_abbreviation_dots,
    with_end_beside,
    with_given,
    with_inverted_marks,
    with_marks_only,
    with_own_unknown,
    with_sentence_end,
    without_abbreviation_dots,
    without_marks_in,
    without_unknown,
    writes_inverted_marks,
)
from pyropunct.restore.sentence_stream import SentenceStream, require_reader
from pyropunct.restore.settings import RestoreSettings
from pyropunct.text.languages import Strangeness
from pyropunct.text.lines import LONGEST_LINE, ByteLines, TextPart
from pyropunct.text.marks import ABBREVIATION_DOT, STRAIGHT
from pyropunct.text.prose import is_restorable
from pyropunct.text.raw_reader import RawReader
from pyropunct.text.raw_sentence import RawSentence


class Restorer:
    """Restores the punctuation of text, by a model and settings.

    `text` does `sentences`, `restore` and printing; `read` streams files of any length.

    Example::

        import pyropunct
        from pyropunct.restore.restorer import Restorer
        from pyropunct.restore.settings import RestoreSettings

        restorer = Restorer(pyropunct.load("en"), RestoreSettings(case="keep"))
        print(restorer.text("Ann , a doctor sings"))

    :param strangeness: makes the judges of `texts`: those in another language stay as they are.
    :raises MissingPartError: if running text or case needs a reader and the model has none.
    :raises SettingError: if ``marks`` or ``hidden`` contains an unknown mark, if ``hidden`` is empty, or if
        both are given.
    """

    def __init__(
        self,
        model: FittedModel,
        settings: RestoreSettings | None = None,
        raw_reader: RawReader | None = None,
        strangeness: Callable[[], Strangeness] | None = None,
    ) -> None:
        self.model = model
        conventions = model.conventions
        given = RestoreSettings() if settings is None else settings
        self.settings = given.in_language(conventions.caution, conventions.ends)
        marks, hidden = self.settings.marks, self.settings.hidden
        if marks is not None and hidden is not None:
            raise SettingError("hidden and marks exclude each other: all marks but the hidden ones stay")
        self._marks = None if marks is None else _known_marks(model, marks)
        self._hidden = frozenset() if hidden is None else _known_marks(model, hidden)
        if hidden is not None and not self._hidden:
            raise SettingError("hidden: there is no mark")
        self._restorable = frozenset(filter(is_restorable, model.vocabulary.tokens)) | {ABBREVIATION_DOT}
        self._inverts = marks is None and hidden is None and writes_inverted_marks(model.vocabulary)
        require_reader(model.reader, self.settings)
        self.raw_reader = raw_reader or RawReader(model.vocabulary, conventions)
        self._strangeness, self._has_warned = strangeness, False

    def text(self, text: str) -> str:
        """Restore a text, with the same lines unless it is running text."""
        return next(self.texts([text]))

    def texts(self, texts: Iterable[str]) -> Iterator[str]:
        """Restore texts: see `text` and `sentences_of_texts`."""
        for sentences in self.sentences_of_texts(texts):
            yield "".join(
                raw_text(restored, self.model.conventions, capital=self.settings.capital)
                + restored.source.end
                for restored in sentences
                if isinstance(restored.source, RawSentence)
            )

    def details(self, texts: Iterable[str]) -> Iterator[list[Word]]:
        """The words of texts with their marks: see `pyropunct.restore.restoring` and `sentences_of_texts`."""
        for sentences in self.sentences_of_texts(texts):
            yield details_of_text(sentences, self.model.conventions)

    def sentences_of_texts(self, texts: Iterable[str]) -> Iterator[list[Restored]]:
        """The restored sentences of each text, in growing batches; raises `TypeError` for non-strings."""
        if not isinstance(texts, Iterable):
            raise TypeError(f"a text is a string, or several are, not of the type {type(texts).__name__}")
        batch, size = list[list[RawSentence]](), 1
        for text in [texts] if isinstance(texts, bytes) else texts:  # bytes are numbers to a loop
            batch.append(list(self._lines(text)))
            if sum(map(len, batch)) >= size:
                yield from self._together(batch)
                batch, size = [], min(2 * size, CHUNK)
        yield from self._together(batch)

    def _lines(self, text: str) -> Iterator[RawSentence]:
        require_string(text)
        lines = text.split("\n")
        for number, line in enumerate(lines, 1):
            yield self.raw_reader.read(line, number, "\n" * (number < len(lines)))

    def _together(self, texts: Sequence[Sequence[RawSentence]]) -> list[list[Restored]]:
        """The restored sentences of the lines of each text of a batch."""
        with FORK_GUARD:
            found = self._sentences_of_each([*map(self._unless_foreign, texts)])
            restored = self.restore([*chain.from_iterable(found)])
            return [list(islice(restored, len(sentences))) for sentences in found]

    def _unless_foreign(self, lines: Sequence[RawSentence]) -> Sequence[RawSentence]:
        """The lines of a text, which stay if it is in another language; warns of the first such text."""
        if self._strangeness is None or self.settings.force:
            return lines
        found = self._strangeness()
        for line in lines:
            found.add(line.words)
        if not found.is_foreign:
            return lines
        if not self._has_warned:
            warnings.warn(f"{found}: it is left as it was (force=True restores it)", stacklevel=7)
            self._has_warned = True
        return [line.as_it_is() for line in lines]

    def _sentences_of_each(self, texts: Sequence[Sequence[RawSentence]]) -> list[list[RawSentence]]:
        """The sentences of the lines of each text; the reader looks at lines of several texts together."""
        if self.settings.running:
            stay = [all(line.settled for line in lines) for lines in texts]
            pairs = zip(texts, stay, strict=True)
            return [list(lines if stays else self.sentences(lines)) for lines, stays in pairs]
        lines = list(chain.from_iterable(texts))
        owner = [text for text, of_text in enumerate(texts) for _ in of_text]
        found: list[list[RawSentence]] = [[] for _ in texts]
        for one in self.sentences(replace(line, line=place) for place, line in enumerate(lines)):
            found[owner[one.line]].append(replace(one, line=lines[one.line].line))
        return found

    def stream(self, pieces: Iterable[str]) -> Iterator[str]:
        """The restored sentences of running text that comes in pieces, each as soon as it is certain.

        The same text gives the same sentences, whatever its pieces; they may break words.  See
        `RestoreSettings.ahead`.
        """
        words = WordsOfPieces(pieces, self.raw_reader)
        for group in SentenceStream(words, self.model.reader, self.settings, lines=words).groups():
            sentences = [item for item in group if isinstance(item, RawSentence)]
            for sentence, restored in zip(sentences, self.restore(sentences), strict=True):
                yield raw_text(restored, self.model.conventions, capital=self.settings.capital) + sentence.end

    def sentences(self, lines: Iterable[RawSentence]) -> Iterator[RawSentence]:
        """The sentences of lines: each line is one, unless it is running text."""
        stream = SentenceStream(lines, self.model.reader, self.settings)
        return (item for item in stream if isinstance(item, RawSentence))

    def read(
        self,
        part: TextPart,
        *,
        tolerant: bool = False,
        tell_long: Callable[[RawSentence], None] | None = None,
    ) -> SentenceStream:
        """The sentences of raw text or CoNLL-U, as soon as they are certain; see `read_items`.

        :param tolerant: give malformed sentences of CoNLL-U as bad lines.
        :param tell_long: called with lines that are read as running text because they are too long.
        """
        running = self.settings.running
        lines = ByteLines(part.stream, LONGEST_PIECE if running else LONGEST_LINE, eager=running)
        items: Iterator[Item] = read_items(
            lines, part.name, part.kind, self.raw_reader, running=running, start=part.start, tolerant=tolerant
        )
        return SentenceStream(
            items, self.model.reader, self.settings, lines=lines, tell_long=tell_long, last_end="\n"
        )

    def restore(self, sources: Sequence[Source]) -> Iterator[Restored]:
        """Restore sentences, which may have punctuation; a line without words is unchanged.

        :raises MissingPartError: if words must be parsed and the model has no parser.
        """
        return punctuated(self.model, self.in_their_cases(sources), self.settings, self._decide)

    def in_their_cases(self, sources: Sequence[Any]) -> Sequence[Any]:
        """The sources, with the case of raw text restored."""
        reader, settings = self.model.reader, self.settings
        return sources if reader is None else in_their_cases(sources, reader, settings.case, settings.capital)

    def _decide(
        self, sources: Sequence[Source], parses: Sequence[Sequence[WeightedTree]]
    ) -> Iterator[Decision]:
        settings = self.settings
        there = [MarksThere(source, settings, self._hidden) for source in sources]
        rewritings = [partial(self._rewritten, marks) for marks in there]
        readings = [source.marks if isinstance(source, RawSentence) else None for source in sources]
        tell = [marks.tell for marks in there]
        given = decide_given(
            self.model,
            list(compress(parses, tell)),
            [marks.evidence(self.model.vocabulary) for marks in compress(there, tell)],
            list(compress(rewritings, tell)),
            list(compress(readings, tell)),
            settings,
        )
        others = [not told for told in tell]
        free = decide(
            self.model,
            list(compress(parses, others)),
            decoder=settings.decoder or "f1",
            threshold=settings.threshold,
            samples=settings.samples,
            seed=settings.seed,
            rewritings=list(compress(rewritings, others)),
            readings=list(compress(readings, others)),
        )
        decided = (next(given if told else free) for told in tell)
        return map(with_inverted_marks, decided) if self._inverts else decided

    def _rewritten(self, there: MarksThere, draws: Draws) -> Draws:
        """The draws with the wanted marks only, and with those that stay."""
        surface, tokens = there.source.surface, self.model.vocabulary.tokens
        if self._hidden:
            return with_own_unknown(draws, surface, tokens)
        is_raw, as_written = isinstance(there.source, RawSentence), self.settings.as_written
        if self._marks is not None:
            draws = with_marks_only(draws, self._marks)
        elif as_written and is_raw:
            draws = with_marks_only(draws, self._restorable)
        else:
            draws = without_unknown(draws)
        goes_on = isinstance(there.source, RawSentence) and there.source.goes_on
        if goes_on and ABBREVIATION_DOT not in surface[-1]:
            draws = with_sentence_end(draws)
        if as_written and not is_raw:  # of raw text, "mr" is "Mr."
            draws = without_abbreviation_dots(draws)
        draws = without_marks_in(draws, there.closed)
        if there.stay:
            draws = with_given(draws, (*surface[:-1], ()) if there.lacks_end else surface)
        if there.lacks_end:
            draws = with_end_beside(draws, surface)
        return with_abbreviation_dots(draws, surface) if as_written else draws


def _known_marks(model: FittedModel, wanted: str | Collection[str]) -> frozenset[str]:
    """The marks of a setting as tokens of the model, with directed quotation marks."""
    if isinstance(wanted, str):
        wanted = wanted.split() if len(wanted.split()) > 1 else wanted.strip()
    known = [token for token in model.vocabulary.tokens if not token.startswith("\t")]
    chosen: set[str] = set()
    for mark in wanted:
        meant = {mark, *STRAIGHT.get(mark, ())}.intersection(known)
        if not meant:
            raise SettingError(f"the model has no mark {mark}, it has {' '.join(known)}")
        chosen |= meant
    return frozenset(chosen)
