"""What all ways to correct punctuation have in common: from lines or sentences to decisions."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pyropunct.files import real, recover
from pyropunct.fitted import model_file
from pyropunct.nets.parser.protocol import WeightedTree
from pyropunct.punctuator import Punctuator
from pyropunct.restore.decoders import Decision
from pyropunct.restore.raw_words import RawSentence
from pyropunct.restore.restoring import (
    SAMPLES,
    TREES,
    NoParserError,
    Restored,
    Source,
    as_decided,
    in_windows,
    weighted_trees,
    words_of,
)
from pyropunct.tasks.correct.hearing import WritersRate
from pyropunct.treebank.marks import Surface, marks_of
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree

String = tuple[str, ...]

PARTS = ("reader", "writer")
"""The subfolders of the folder of a corrector of two models."""


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


class CannotParseError(NoParserError):
    """Raised when raw words are given to a corrector without a parser."""

    def __init__(self) -> None:
        ValueError.__init__(
            self,
            "the corrector has no parser, so it cannot correct raw text: fit it with a MODEL that was fitted "
            "with `pyropunct fit TRAIN --parser`, or give CoNLL-U input",
        )


@dataclass(frozen=True)
class CorrectingSettings:
    """How sentences are corrected.

    :ivar decoder: one of `pyropunct.restore.decoders.DECODERS`.
    :ivar samples: the greatest number of draws of x_c for each sentence, for systems that draw.
    :ivar trees: the greatest number of the parser's trees to average over.
    :ivar seed: equal seeds give equal results.
    :ivar parse: parse the words of treebanks anew.
    :ivar best_tree: see `pyropunct.restore.restoring.Restoration`.
    :ivar threshold: the probability that the string of a slot must have for the slot to be changed.
    """

    decoder: str = "mbr"
    samples: int = SAMPLES
    trees: int = TREES
    seed: int = 0
    parse: bool = False
    best_tree: bool = False
    threshold: float = 0.0


USUAL = CorrectingSettings()
"""How sentences are corrected, unless something else is said."""


class Correcting(ABC):
    """A trained way to correct punctuation."""

    @property
    @abstractmethod
    def model(self) -> Punctuator:
        """The model of right text, whose parser reads raw words."""

    @abstractmethod
    def decide(
        self,
        parses: Sequence[Sequence[WeightedTree]],
        wrong: Sequence[Surface],
        settings: CorrectingSettings = USUAL,
        *,
        closed: Sequence[Sequence[int]] | None = None,
        rate: WritersRate | None = None,
    ) -> Iterator[Decision]:
        """The right punctuation of some sentences, given their trees.

        :param parses: for each sentence its trees T, with weights that add up to 1.
        :param wrong: x_e: the existing punctuation of each sentence, in the slots 0..n.
        :param settings: what they say of trees counts for nothing here.
        :param closed: for each sentence the slots where no mark can stand; by default none.
        :param rate: what is known of the writer's rate of errors, for systems that ask for it; it learns from
            these sentences.  By default they are all that is known.
        :raises KeyError: if there is no such decoder.
        """

    def correct(
        self,
        sources: Sequence[Source],
        settings: CorrectingSettings = USUAL,
        *,
        rate: WritersRate | None = None,
    ) -> Iterator[Restored]:
        """Correct the punctuation of some sentences; a line without words is unchanged.

        Long lines of raw text are corrected in windows: see `pyropunct.restore.windows`.

        :param rate: see `decide`; it is that of one writer.
        :raises CannotParseError: if words have to be parsed and there is no parser.
        """
        known = WritersRate() if rate is None else rate
        yield from in_windows(sources, lambda some: self._correct(some, settings, known))

    def _correct(
        self, sources: Sequence[Source], settings: CorrectingSettings, rate: WritersRate
    ) -> Iterator[Restored]:
        used = [source for source in sources if words_of(source)]
        to_parse = [self._to_parse(source, settings.parse) for source in used]
        parses = weighted_trees(self.model, to_parse, settings.trees)
        wrong = [source.surface for source in used]
        closed = [source.inside if isinstance(source, RawSentence) else () for source in used]
        decisions = self.decide(parses, wrong, settings, closed=closed, rate=rate)
        told = weighted_trees(self.model, to_parse, 1) if settings.best_tree else parses
        yield from as_decided(sources, told, decisions)

    def _to_parse(self, source: Source, anew: bool) -> Sequence[str] | Tree:
        if isinstance(source, Sentence) and not anew:
            return source.tree
        if self.model.parser is None:
            raise CannotParseError
        return words_of(source)


def check_writable(folder: Path) -> None:
    """Check that a corrector can be written to a folder, without changing the folder.

    What a process that was killed has left beside it is cleared away.

    :raises ModelFileError: if the folder holds something else or cannot be written.
    """
    recover(real(folder))
    if not folder.is_dir() or {path.name for path in folder.iterdir()} != set(PARTS):
        model_file.check_writable(folder)
        return
    for name in PARTS:
        model_file.check_writable(folder / name)
