"""The common base of all correctors: from lines or sentences to decisions."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Self

from pyropunct.fitted.saved_parts import Parts, read_parts
from pyropunct.fitted.variants import Trusted
from pyropunct.nets.parser import WeightedTree
from pyropunct.punctuator import Punctuator
from pyropunct.restore.decoders import Decision
from pyropunct.restore.restoring import Restored, Source, punctuated
from pyropunct.tasks.correct.channel import String
from pyropunct.tasks.correct.hearing import FITTED_RATE, WritersRate, WrongSentence
from pyropunct.tasks.settings import USUAL, CorrectingSettings
from pyropunct.text.marks import Surface, marks_of
from pyropunct.text.raw_sentence import RawSentence


class Change(NamedTuple):
    """A slot in which a correction changes something.

    :ivar slot: its number, from 0 for the slot before the first word to n.
    :ivar before: its marks as they were.
    :ivar after: its marks as they should be.
    """

    slot: int
    before: String
    after: String


def changes(wrong: Surface, right: Surface) -> list[Change]:
    """The changes from one punctuation of a sentence to another, slot by slot.

    :raises ValueError: if one has more slots than the other.
    """
    pairs = enumerate(zip(wrong, right, strict=True))
    both = ((slot, marks_of(before), marks_of(after)) for slot, (before, after) in pairs)
    return [Change(slot, before, after) for slot, before, after in both if before != after]


class Correcting(ABC):
    """A trained way to correct punctuation.  Its file is that of a model of right text with one part more."""

    @classmethod
    @abstractmethod
    def from_parts(cls, parts: Parts) -> Self:
        """The corrector that a file holds.

        :raises ModelFileError: if it is damaged, or is not that of such a corrector.
        """

    @classmethod
    def load(cls, path: str | Path, *, variants: Trusted = (), encoder: str | Path | None = None) -> Self:
        """Read a corrector that was saved, or a model that comes with the package.

        :param variants: see `pyropunct.punctuator.Punctuator.load`.
        :param encoder: see `pyropunct.punctuator.Punctuator.load`; it is that of the model that parses.
        :raises ModelFileError: if the file is missing or damaged, or is not that of such a corrector.
        """
        return cls.from_parts(read_parts(path, variants, encoder))

    @property
    @abstractmethod
    def model(self) -> Punctuator:
        """The model of right text, whose parser reads raw words."""

    def decide(
        self,
        sentences: Sequence[WrongSentence],
        settings: CorrectingSettings = USUAL,
        *,
        rate: WritersRate | None = None,
    ) -> Iterator[Decision]:
        """The right punctuation of sentences, given their trees.

        :param settings: their ``trees``, ``parse`` and ``best_tree`` have no effect here.
        :param rate: the distribution of the writer's rate of errors, for systems that use it; it learns from
            these sentences if the rate is not known.  By default it is `FITTED_RATE`.
        :raises KeyError: if there is no such decoder.
        """
        return self._decide(sentences, settings, WritersRate(FITTED_RATE) if rate is None else rate)

    @abstractmethod
    def _decide(
        self, sentences: Sequence[WrongSentence], settings: CorrectingSettings, rate: WritersRate
    ) -> Iterator[Decision]:
        """See `decide`."""

    def correct(
        self,
        sources: Sequence[Source],
        settings: CorrectingSettings = USUAL,
        *,
        rate: WritersRate | None = None,
    ) -> Iterator[Restored]:
        """Correct the punctuation of some sentences; a line without words is unchanged.

        Long lines of raw text are corrected in windows: see `pyropunct.restore.parses`.

        :param rate: see `decide`; it is that of one writer.
        :raises NoParserError: if words have to be parsed and the model has no parser.
        """
        known = WritersRate(FITTED_RATE) if rate is None else rate

        def decide(batch: Sequence[Source], parses: Sequence[Sequence[WeightedTree]]) -> Iterator[Decision]:
            closed = [source.inside if isinstance(source, RawSentence) else () for source in batch]
            sentences = [
                WrongSentence(trees, tuple(map(tuple, source.surface)), slots)
                for trees, source, slots in zip(parses, batch, closed, strict=True)
            ]
            return self.decide(sentences, settings, rate=known)

        return punctuated(self.model, sources, settings, decide)
