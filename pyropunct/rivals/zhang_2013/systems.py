"""The systems that find marks, ends and trees of running words, and their training."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, Protocol

from pyropunct.compare.significance import PERMUTATIONS
from pyropunct.nets.parser.jackknife import folds_of, in_order, others_of
from pyropunct.punctuator import Punctuator
from pyropunct.restore.raw_words import line_of
from pyropunct.restore.reading import CHUNK
from pyropunct.restore.restorer import Restorer
from pyropunct.restore.settings import RestoreSettings
from pyropunct.rivals.ma_2014.comparison import Progress
from pyropunct.rivals.transitions.arc_eager import FULL
from pyropunct.rivals.zhang_2013 import (
    ArcEagerParser,
    ArcEagerRecipe,
    ParsedStream,
    Stream,
    marks_in,
    train_arc_eager,
)
from pyropunct.rivals.zhang_2013.mark_crf import MarkCRF, train_mark_crf

CRF, CASCADED, UNIFIED, RESTORATION = "crf", "cascaded", "unified", "restoration"

SYSTEMS: Mapping[str, str] = {
    CRF: "CRF",
    CASCADED: "CRF, then a parser that reads its marks",
    UNIFIED: "parser that predicts marks",
    RESTORATION: "restoration of running text",
}
"""The systems, and what they are."""

FOLDS = 5
"""In how many parts tags, and marks for the parser that reads them, are jackknifed."""

STREAM = 10
"""How many sentences a stream has in training, as in the paper."""


@dataclass(frozen=True)
class JointSettings:
    """The settings of a comparison.

    :ivar systems: what is compared.
    :ivar sizes: how many sentences the streams have on which it is measured.
    :ivar beam: the width of the beam of parsers.
    :ivar iterations: how often they see each sentence in training.
    :ivar folds: in how many parts tags and marks are jackknifed.
    :ivar samples: the most draws of restoration for each sentence.
    :ivar permutations: how many permutations each test of significance draws.
    :ivar seed: the seed of all.
    """

    systems: tuple[str, ...] = tuple(SYSTEMS)
    sizes: tuple[int, ...] = (3, 10)
    beam: int = ArcEagerRecipe.beam
    iterations: int = ArcEagerRecipe.iterations
    folds: int = FOLDS
    samples: int = RestoreSettings.samples
    permutations: int = PERMUTATIONS
    seed: int = 0


class Found(NamedTuple):
    """What a system makes of the n words of a stream.

    :ivar marks: the mark behind each.
    :ivar ends: whether a sentence ends behind each.
    :ivar heads: their heads from 1, 0 for roots; none if the system finds no trees.
    :ivar relations: their relations to these.
    """

    marks: Sequence[int]
    ends: Sequence[bool]
    heads: Sequence[int] | None = None
    relations: Sequence[str] | None = None


class JointSystem(Protocol):
    """What is compared."""

    def find(self, some: Sequence[Stream]) -> list[Found]:
        """Marks, ends and trees of streams, of which words and tags alone are read."""
        ...


@dataclass(frozen=True)
class CRFAlone:
    """The marks of a CRF, without trees."""

    crf: MarkCRF

    def find(self, some: Sequence[Stream]) -> list[Found]:
        """Its marks, and ends behind full stops."""
        return [Found(marks, [mark == FULL for mark in marks]) for marks in self.crf.predict(some)]


@dataclass(frozen=True)
class Parsing:
    """A parser that predicts marks, and reads those of a CRF if there is one."""

    parser: ArcEagerParser
    crf: MarkCRF | None = None

    def find(self, some: Sequence[Stream]) -> list[Found]:
        """Its marks and trees, and ends behind full stops."""
        read = None if self.crf is None else self.crf.predict(some)
        return [_found(one) for one in self.parser.parse(some, read)]


def _found(one: ParsedStream) -> Found:
    return Found(one.marks, [mark == FULL for mark in one.marks], one.heads, one.relations)


class Restoring:
    """Restoration of running text, whose model finds sentences, parses and punctuates them.

    :raises NoReaderError: if it has no reader of running text.
    """

    def __init__(self, model: Punctuator, samples: int = RestoreSettings.samples, seed: int = 0) -> None:
        settings = RestoreSettings(running=True, samples=samples, seed=seed, best_tree=True)
        self._restorer = Restorer(model, settings)

    def find(self, some: Sequence[Stream]) -> list[Found]:
        """Its marks, and the best trees of the sentences that it finds."""
        cut = [list(self._restorer.sentences([line_of(one.forms)])) if one.forms else [] for one in some]
        lines = [line for sentences in cut for line in sentences]
        parts = (lines[first : first + CHUNK] for first in range(0, len(lines), CHUNK))
        restored = (one for part in parts for one in self._restorer.restore(part))
        return [_joined(list(islice(restored, len(sentences)))) for sentences in cut]


def _joined(sentences: Sequence[Any]) -> Found:
    """Restored sentences as one stream."""
    marks: list[int] = []
    ends: list[bool] = []
    heads: list[int] = []
    relations: list[str] = []
    for one in sentences:
        first = len(heads)
        heads += [head and first + head for head in one.tree.heads]
        relations += one.tree.relations
        marks += marks_in(one.surface)
        ends += [*[False] * (len(one.tree) - 1), True]
    return Found(marks, ends, heads, relations)


class Trained(NamedTuple):
    """What was trained: a CRF and parsers, by the names of the systems that they are of."""

    parts: Mapping[str, MarkCRF | ArcEagerParser]
    seconds: Mapping[str, float]


def restoring(model: Punctuator | None, settings: JointSettings) -> Restoring | None:
    """Restoration by a model, if that is to be compared.

    :raises NoReaderError: if the model has no reader of running text.
    """
    if RESTORATION not in settings.systems or model is None:
        return None
    return Restoring(model, settings.samples, settings.seed)


def trained_on(train: Sequence[Stream], settings: JointSettings, steps: Progress) -> Trained:
    """The CRF and the parsers that are to be compared, or are part of what is."""
    parts: dict[str, MarkCRF | ArcEagerParser] = {}
    seconds: dict[str, float] = {}
    chosen = settings.systems
    if CRF in chosen or CASCADED in chosen:
        with steps("CRFs", 1 + settings.folds * (CASCADED in chosen)) as advance:
            start = time.process_time()
            parts[CRF] = train_mark_crf(train)
            seconds[CRF] = time.process_time() - start
            advance(1)
            found = _jackknifed_marks(train, settings.folds, advance) if CASCADED in chosen else None
            seconds[CASCADED] = time.process_time() - start
    wanted = [name for name in (CASCADED, UNIFIED) if name in chosen]
    with steps("iterations", settings.iterations * len(wanted)) as advance:
        for name in wanted:
            recipe = ArcEagerRecipe(name == CASCADED, settings.beam, settings.iterations, settings.seed)
            start = time.process_time()
            read = found if name == CASCADED else None
            parts[name] = train_arc_eager(train, recipe, found=read, watch=lambda done, wrong: advance(1))
            seconds[name] = seconds.get(name, 0.0) + time.process_time() - start
    return Trained(parts, seconds)


def _jackknifed_marks(
    train: Sequence[Stream], folds: int, advance: Callable[[int], None]
) -> list[tuple[int, ...]]:
    """The marks of CRFs that were trained on other streams."""
    parts = folds_of(train, folds)
    found = []
    for fold, part in enumerate(parts):
        found.append(train_mark_crf(others_of(parts, fold)).predict(part))
        advance(1)
    return in_order(found)


def systems_of(
    trained: Trained, restores: Restoring | None, settings: JointSettings
) -> dict[str, JointSystem]:
    """The systems, by their names."""
    crf, systems = trained.parts.get(CRF), dict[str, JointSystem]()
    for name in settings.systems:
        part = trained.parts.get(name)
        if isinstance(part, MarkCRF):
            systems[name] = CRFAlone(part)
        elif isinstance(part, ArcEagerParser):
            reads = crf if name == CASCADED and isinstance(crf, MarkCRF) else None
            systems[name] = Parsing(part, reads)
        elif restores is not None:
            systems[name] = restores
    return systems
