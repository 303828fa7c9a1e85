"""The systems that read marks, ends of sentences and trees into running words."""

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, NamedTuple

from pyropunct.punctuator import Punctuator
from pyropunct.restore.reading import CHUNK
from pyropunct.restore.restorer import Restorer
from pyropunct.restore.settings import RestoreSettings
from pyropunct.rivals.settings import JointSettings
from pyropunct.rivals.transitions.arc_eager import FULL
from pyropunct.rivals.zhang_2013.mark_crf import MarkCRF
from pyropunct.rivals.zhang_2013.parser import ArcEagerParser
from pyropunct.rivals.zhang_2013.streams import Stream, marks_in
from pyropunct.text.raw_sentence import line_of

Streams = Sequence[Stream]


class SlotReading(NamedTuple):
    """The marks and ends that a system predicts behind the n words of a stream, and the tree.

    :ivar heads: the head of each word from 1, 0 for roots; None without trees.
    """

    marks: Sequence[int]
    ends: Sequence[bool]
    heads: Sequence[int] | None = None
    relations: Sequence[str] | None = None


Reader = Callable[[Streams], list[SlotReading]]
"""Reads marks, ends and trees into streams, of which it reads words and tags alone."""


def crf_system(crf: MarkCRF) -> Reader:
    """The marks of a CRF, without trees; ends are behind full stops."""
    return lambda streams: [_ended(marks) for marks in crf.predict(streams)]


def parser_system(parser: ArcEagerParser, crf: MarkCRF | None = None) -> Reader:
    """The marks and trees of a parser, which may read the marks of a CRF; ends are behind full stops."""

    def read(streams: Streams) -> list[SlotReading]:
        predicted = None if crf is None else crf.predict(streams)
        return [_ended(*parsed) for parsed in parser.parse(streams, predicted)]

    return read


def _ended(
    marks: Sequence[int], heads: Sequence[int] | None = None, relations: Sequence[str] | None = None
) -> SlotReading:
    return SlotReading(marks, [mark == FULL for mark in marks], heads, relations)


def restoration_system(model: Punctuator, settings: JointSettings) -> Reader:
    """Restoration of running text by a model. Raises MissingPartError if it has no reader of it."""
    options = RestoreSettings(
        decoder="mbr",
        running=True,
        samples=settings.samples,
        seed=settings.seed,
        best_tree=True,
        as_written=False,
    )
    restorer = Restorer(model, options)

    def read(streams: Streams) -> list[SlotReading]:
        cut = [list(restorer.sentences([line_of(one.forms)])) if one.forms else [] for one in streams]
        lines = [line for sentences in cut for line in sentences]
        batches = (lines[first : first + CHUNK] for first in range(0, len(lines), CHUNK))
        restored = (sentence for batch in batches for sentence in restorer.restore(batch))
        return [_joined(list(islice(restored, len(sentences)))) for sentences in cut]

    return read


def _joined(sentences: Sequence[Any]) -> SlotReading:
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
    return SlotReading(marks, ends, heads, relations)
