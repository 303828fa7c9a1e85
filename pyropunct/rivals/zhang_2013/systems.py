"""The systems that read marks, ends of sentences and trees into running words, and their training."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from pyropunct.compare.experiment import Advance, Experiment, Trained
from pyropunct.nets.jackknife import folds_of, in_order, others_of
from pyropunct.punctuator import Punctuator
from pyropunct.restore.reading import CHUNK
from pyropunct.restore.restorer import Restorer
from pyropunct.restore.settings import RestoreSettings
from pyropunct.rivals.settings import CASCADED, CRF, RESTORATION, UNIFIED, JointSettings
from pyropunct.rivals.transitions.arc_eager import FULL
from pyropunct.rivals.zhang_2013.mark_crf import MarkCRF, train_mark_crf
from pyropunct.rivals.zhang_2013.parser import ArcEagerParser, ArcEagerRecipe, train_arc_eager
from pyropunct.rivals.zhang_2013.streams import Stream, marks_in
from pyropunct.text.raw_sentence import line_of

Streams = Sequence[Stream]


class Reading(NamedTuple):
    """The marks, ends and trees that a system reads into the n words of a stream.

    :ivar marks: the mark behind each word.
    :ivar ends: whether a sentence ends behind each word.
    :ivar heads: the head of each word from 1, 0 for roots; None if the system finds no trees.
    :ivar relations: the relation of each word to its head.
    """

    marks: Sequence[int]
    ends: Sequence[bool]
    heads: Sequence[int] | None = None
    relations: Sequence[str] | None = None


Reader = Callable[[Streams], list[Reading]]
"""Reads marks, ends and trees into streams, of which it reads words and tags alone."""


def crf_system(crf: MarkCRF) -> Reader:
    """The marks of a CRF, without trees; ends are behind full stops."""
    return lambda streams: [_ended(marks) for marks in crf.predict(streams)]


def parser_system(parser: ArcEagerParser, crf: MarkCRF | None = None) -> Reader:
    """The marks and trees of a parser, which reads the marks of a CRF if there is one.

    Ends are behind full stops.
    """

    def read(streams: Streams) -> list[Reading]:
        predicted = None if crf is None else crf.predict(streams)
        return [_ended(*parsed) for parsed in parser.parse(streams, predicted)]

    return read


def _ended(
    marks: Sequence[int], heads: Sequence[int] | None = None, relations: Sequence[str] | None = None
) -> Reading:
    return Reading(marks, [mark == FULL for mark in marks], heads, relations)


def restoration_system(model: Punctuator, settings: JointSettings) -> Reader:
    """Restoration of running text, whose model finds sentences, parses and punctuates them.

    Trees are the best trees of the sentences that it finds.

    :raises NoReaderError: if the model has no reader of running text.
    """
    options = RestoreSettings(
        decoder="mbr",
        running=True,
        samples=settings.samples,
        seed=settings.seed,
        best_tree=True,
        as_written=False,
    )
    restorer = Restorer(model, options)

    def read(streams: Streams) -> list[Reading]:
        cut = [list(restorer.sentences([line_of(one.forms)])) if one.forms else [] for one in streams]
        lines = [line for sentences in cut for line in sentences]
        batches = (lines[first : first + CHUNK] for first in range(0, len(lines), CHUNK))
        restored = (sentence for batch in batches for sentence in restorer.restore(batch))
        return [_joined(list(islice(restored, len(sentences)))) for sentences in cut]

    return read


def _joined(sentences: Sequence[Any]) -> Reading:
    """Restored sentences as one stream."""
    marks: list[int] = []
    ends: list[bool] = []
    heads: list[int] = []
    relations: list[str] = []
    for sentence in sentences:
        first = len(heads)
        heads += [head and first + head for head in sentence.tree.heads]
        relations += sentence.tree.relations
        marks += marks_in(sentence.surface)
        ends += [*[False] * (len(sentence.tree) - 1), True]
    return Reading(marks, ends, heads, relations)


@dataclass(frozen=True)
class Training:
    """Trains the CRF and the parsers, or loads them if they were trained before.

    :ivar train: the training streams.
    :ivar experiment: trains and keeps parts.
    :ivar restoration: the system that needs no training, if it is compared.
    """

    train: Streams
    experiment: Experiment
    restoration: Reader | None = None

    def crf(self) -> Trained[MarkCRF]:
        """The CRF."""
        return self._trained(CRF, 1, lambda advance: train_mark_crf(self.train), MarkCRF)

    def parser(self, name: str) -> Trained[ArcEagerParser]:
        """The parser of a system."""
        settings, cascaded = self.experiment.settings, name == CASCADED
        recipe = ArcEagerRecipe(cascaded, settings.beam, settings.iterations, settings.seed)

        def train(advance: Advance) -> ArcEagerParser:
            marks = self._jackknifed_marks(advance) if cascaded else None
            return train_arc_eager(self.train, recipe, found=marks, advance=advance)

        return self._trained(name, settings.iterations + cascaded * settings.folds, train, ArcEagerParser)

    def _jackknifed_marks(self, advance: Advance) -> list[tuple[int, ...]]:
        """The marks of CRFs that were trained on other streams."""
        parts, marks = folds_of(self.train, self.experiment.settings.folds), []
        for fold, part in enumerate(parts):
            marks.append(train_mark_crf(others_of(parts, fold)).predict(part))
            advance(1)
        return in_order(marks)

    def _trained(self, name: str, size: int, train: Callable[[Advance], Any], kind: Any) -> Trained[Any]:
        def watched() -> Any:
            with self.experiment.watch(f"training {name}: steps", size) as advance:
                return train(advance)

        return self.experiment.trained_parts(name, watched, kind.from_parts)

    def system(self, name: str) -> tuple[Reader, float | None]:
        """A system, and the seconds of its training, with that of the systems that it reads."""
        if name == RESTORATION:
            assert self.restoration is not None
            return self.restoration, None
        if name == CRF:
            crf, seconds = self.crf()
            return crf_system(crf), seconds
        parser, seconds = self.parser(name)
        if name == UNIFIED:
            return parser_system(parser), seconds
        crf, before = self.crf()
        return parser_system(parser, crf), before + seconds
