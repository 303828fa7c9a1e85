"""Correcting punctuation that may be wrong.

The model is that of Li, Wang & Eisner (2019, section 6.2)::

    p(x_c | x_e) = sum over T, T'_c of p(T | words) p(T'_c | T'_e) p(x_c | u(T'_c))

where T'_e, the underlying tree of the wrong sentence, is the most probable one under a model of wrong text.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pyropunct.correct.error_trees import read_parses
from pyropunct.files import real, recover
from pyropunct.models.attach.correcting import CorrectingAttach
from pyropunct.parsing.protocol import WeightedTree
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
    decide,
    in_windows,
    weighted_trees,
    words_of,
)
from pyropunct.restore.rewriting import (
    Rewriting,
    rewritten,
    with_abbreviation_dots,
    with_whole_pairs,
    without_marks_in,
    without_unknown,
)
from pyropunct.training import model_folder
from pyropunct.training.model_folder import ModelFolderError
from pyropunct.training.registry import Trusted
from pyropunct.treebank.marks import ABBREVIATION_DOT, UNKNOWN, Surface, marks_of
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree
from pyropunct.vocabulary import Vocabulary

if TYPE_CHECKING:
    from pyropunct.draws import Draws

String = tuple[str, ...]

PARTS = ("reader", "writer")
"""The subfolders of a corrector's folder."""


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
class Corrector:
    """A trained model of correction.

    :ivar reader: the model that finds T'_e in the wrong sentence.  Its parser, if it has one, parses raw
        words, and its weights for trees that a parser finds read these.
    :ivar writer: the model p(T'_c | T'_e) with its channel; its trees are `ErrorTree`.
    """

    reader: Punctuator
    writer: Punctuator

    def decide(
        self,
        parses: Sequence[Sequence[WeightedTree]],
        wrong: Sequence[Surface],
        *,
        decoder: str = "mbr",
        samples: int = SAMPLES,
        seed: int | None = None,
        closed: Sequence[Sequence[int]] | None = None,
    ) -> Iterator[Decision]:
        """The right punctuation of some sentences, given their trees.

        :param parses: for each sentence its trees T, with weights that add up to 1.
        :param wrong: x_e: the existing punctuation of each sentence, in the slots 0..n.
        :param decoder: one of `pyropunct.restore.decoders.DECODERS`.
        :param samples: the least number of draws of x_c for each sentence; its trees share them.
        :param seed: equal seeds give equal results.
        :param closed: for each sentence the slots where no mark can stand; by default none.
        :raises KeyError: if there is no such decoder.
        """
        flat = [(parse, surface) for some, surface in zip(parses, wrong, strict=True) for parse in some]
        found = iter(read_parses(self.reader, [parse for parse, _ in flat], [surface for _, surface in flat]))
        trees = [[parse._replace(tree=next(found)) for parse in some] for some in parses]
        slots = closed if closed is not None else [()] * len(wrong)
        rewritings = [
            staying_close(surface, self.writer.vocabulary, some)
            for surface, some in zip(wrong, slots, strict=True)
        ]
        return decide(self.writer, trees, decoder=decoder, samples=samples, seed=seed, rewritings=rewritings)

    def correct(
        self,
        sources: Sequence[Source],
        *,
        decoder: str = "mbr",
        samples: int = SAMPLES,
        trees: int = TREES,
        seed: int = 0,
        parse: bool = False,
        best_tree: bool = False,
    ) -> Iterator[Restored]:
        """Correct the punctuation of some sentences; a line without words is unchanged.

        Long lines of raw text are corrected in windows: see `pyropunct.restore.windows`.

        :param decoder: one of `pyropunct.restore.decoders.DECODERS`.
        :param samples: the least number of draws for each sentence.
        :param trees: the greatest number of the parser's trees to average over.
        :param seed: equal seeds give equal results.
        :param parse: parse the words of treebanks anew.
        :param best_tree: see `pyropunct.restore.restoring.Restoration`.
        :raises CannotParseError: if words have to be parsed and there is no parser.
        """

        def correct(some: Sequence[Source]) -> Iterator[Restored]:
            return self._correct(some, decoder, samples, trees, seed, parse, best_tree)

        yield from in_windows(sources, correct)

    def _correct(
        self,
        sources: Sequence[Source],
        decoder: str,
        samples: int,
        trees: int,
        seed: int,
        parse: bool,
        best_tree: bool,
    ) -> Iterator[Restored]:
        used = [source for source in sources if words_of(source)]
        to_parse = [self._to_parse(source, parse) for source in used]
        parses = weighted_trees(self.reader, to_parse, trees)
        wrong = [source.surface for source in used]
        closed = [source.inside if isinstance(source, RawSentence) else () for source in used]
        decisions = self.decide(parses, wrong, decoder=decoder, samples=samples, seed=seed, closed=closed)
        told = weighted_trees(self.reader, to_parse, 1) if best_tree else parses
        yield from as_decided(sources, told, decisions)

    def _to_parse(self, source: Source, anew: bool) -> Sequence[str] | Tree:
        if isinstance(source, Sentence) and not anew:
            return source.tree
        if self.reader.parser is None:
            raise CannotParseError
        return words_of(source)

    def save(self, folder: str | Path) -> None:
        """Write the corrector, a model folder for each of its models, to a new folder, whole or not at all.

        :raises ModelFolderError: if the folder exists and is not a corrector, or cannot be written.
        """
        folder = Path(folder)
        check_writable(folder)
        with model_folder.new_folder(folder) as new:
            for name in PARTS:
                getattr(self, name).save(new / name)

    @classmethod
    def load(
        cls, folder: str | Path, *, variants: Trusted = (), encoder: str | Path | None = None
    ) -> "Corrector":
        """Read a corrector that `save` wrote.  No code in the folder is ever run, and none that it names.

        :param variants: see `pyropunct.punctuator.Punctuator.load`.
        :param encoder: likewise, of the model that parses.
        :raises ModelFolderError: if the folder is missing or damaged, or is not a corrector of this program.
        """
        folder = Path(folder)
        recover(real(folder))
        if folder.is_dir() and not all((folder / name).is_dir() for name in PARTS):
            raise ModelFolderError(f"{folder}: is no corrector (fit one with `pyropunct fit-correction`)")
        if not folder.is_dir():
            raise ModelFolderError(f"{folder}: no such corrector folder")
        reader = Punctuator.load(folder / "reader", variants=variants, encoder=encoder)
        writer = Punctuator.load(folder / "writer", variants=variants)
        if not isinstance(writer.story.attach, CorrectingAttach):
            raise ModelFolderError(f"{folder / 'writer'}: is not the model of a corrector")
        return cls(reader, writer)


def check_writable(folder: Path) -> None:
    """Check that a corrector can be written to a folder, without changing the folder.

    What a process that was killed has left beside it is cleared away.

    :raises ModelFolderError: if the folder holds something else or cannot be written.
    """
    recover(real(folder))
    if not folder.is_dir() or {path.name for path in folder.iterdir()} != set(PARTS):
        model_folder.check_writable(folder)
        return
    for name in PARTS:
        model_folder.check_writable(folder / name)


def staying_close(wrong: Surface, vocabulary: Vocabulary, closed: Sequence[int] = ()) -> Rewriting:
    """A rewriting of draws of x_c that keeps unknown marks, abbreviation dots and whole pairs of x_e.

    The model draws all marks that it does not know as unknown.  An unknown mark becomes the one that the slot
    has in x_e; if there is none, it is left out.  Abbreviation dots are part of the spelling of words, so
    they stay where x_e has them, and none are added.  Draws with more halves of pairs than x_e has
    are left out.

    :param vocabulary: the model's types.
    :param closed: slots where no mark can stand.
    """

    def rewriting(draws: "Draws") -> "Draws":
        for slot, string in enumerate(wrong):
            strange = tuple(mark for mark in string if mark not in vocabulary.token_number)
            if strange:
                draws = rewritten(draws, partial(_named, strange), [slot])
        draws = without_marks_in(rewritten(without_unknown(draws), _without_dot), closed)
        return with_whole_pairs(with_abbreviation_dots(draws, wrong), wrong)

    return rewriting


def _named(strange: String, drawn: String) -> String:
    """The drawn string, whose unknown marks are replaced from left to right by those of the wrong string."""
    names = iter(strange)
    return tuple(next(names, UNKNOWN) if mark == UNKNOWN else mark for mark in drawn)


def _without_dot(drawn: String) -> String:
    return tuple(mark for mark in drawn if mark != ABBREVIATION_DOT)
