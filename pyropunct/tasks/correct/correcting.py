"""Two ways to correct punctuation that may be wrong.

A `NoisyChannel` has a model of right text, and one of how it goes wrong.  A `Corrector` has the model of Li,
Wang & Eisner (2019, section 6.2)::

    p(x_c | x_e) = sum over T, T'_c of p(T | words) p(T'_c | T'_e) p(x_c | u(T'_c))

where T'_e, the underlying tree of the wrong sentence, is the most probable one under a model of wrong text.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pyropunct.fitted.model_file import ModelFileError, write_model_file
from pyropunct.fitted.saved_parts import Parts, inside, within
from pyropunct.models.attach.correcting import CorrectingAttach
from pyropunct.punctuator import Punctuator
from pyropunct.restore.deciding import decide
from pyropunct.restore.decoders import Decision
from pyropunct.restore.rewriting import (
    Rewriting,
    rewritten,
    with_abbreviation_dots,
    with_own_unknown,
    with_probable_changes,
    with_whole_pairs,
    without_marks_in,
    without_unknown,
)
from pyropunct.tasks.correct.channel import String
from pyropunct.tasks.correct.hearing import WritersRate, WrongSentence
from pyropunct.tasks.correct.system import Correcting
from pyropunct.tasks.correct.underlying import read_parses
from pyropunct.tasks.settings import CorrectingSettings
from pyropunct.text.marks import ABBREVIATION_DOT, Surface
from pyropunct.vocabulary import Vocabulary

if TYPE_CHECKING:
    from pyropunct.draws import Draws


from collections.abc import Iterable

import numpy as np

from pyropunct.fitted.saved_parts import read_parts
from pyropunct.fitted.variants import Trusted
from pyropunct.restore.decoders import DECODERS
from pyropunct.tasks.correct.channel import ErrorChannel
from pyropunct.tasks.correct.hearing import Floats, Heard, hear


@dataclass(frozen=True)
class Corrector(Correcting):
    """A trained model of correction.

    :ivar reader: the model that finds T'_e in the wrong sentence.  Its parser, if it has one, parses raw
        words, and its weights for trees that a parser finds read these.
    :ivar writer: the model p(T'_c | T'_e) with its channel; its trees are `ErrorTree`.
    """

    reader: Punctuator
    writer: Punctuator

    @property
    def model(self) -> Punctuator:
        """The reader."""
        return self.reader

    def _decide(
        self, sentences: Sequence[WrongSentence], settings: CorrectingSettings, rate: WritersRate
    ) -> Iterator[Decision]:
        """See `Correcting.decide`; the writer's rate is not learned."""
        parses = [parse for sentence in sentences for parse in sentence.trees]
        surfaces = [sentence.wrong for sentence in sentences for _ in sentence.trees]
        trees = iter(read_parses(self.reader, parses, surfaces))
        return decide(
            self.writer,
            [[parse._replace(tree=next(trees)) for parse in sentence.trees] for sentence in sentences],
            decoder=settings.decoder,
            samples=settings.samples,
            seed=settings.seed,
            rewritings=[
                staying_close(sentence.wrong, self.writer.vocabulary, sentence.closed, settings.threshold)
                for sentence in sentences
            ],
        )

    def save(self, path: str | Path) -> None:
        """Write the corrector to a file, whole or not at all: the reader, and the writer as a part of it.

        :raises ModelFileError: as `Punctuator.save` does.
        """
        plain, tensors = self.reader.to_parts()
        plain["writer"], weights = self.writer.to_parts()
        write_model_file(path, plain, tensors | within("writer", weights))

    @classmethod
    def from_parts(cls, parts: Parts) -> Self:
        """See `Correcting.from_parts`."""
        path = parts.path
        if "writer" not in parts.plain:
            raise ModelFileError(f"{path}: is no corrector (fit one with `pyropunct fit-correction`)")
        reader = Punctuator.from_parts(parts)
        weights = inside("writer", parts.tensors)
        writer = Punctuator.from_parts(Parts(path, parts.plain["writer"], weights, parts.variants))
        if not isinstance(writer.story.attach, CorrectingAttach):
            raise ModelFileError(f"{path}: its writer is not the model of a corrector")
        if reader.vocabulary.tokens != writer.vocabulary.tokens:
            raise ModelFileError(f"{path}: its reader and its writer are of two: they know other marks")
        return cls(reader, writer)


def staying_close(
    wrong: Surface, vocabulary: Vocabulary, closed: Collection[int] = (), threshold: float = 0.0
) -> Rewriting:
    """A rewriting of draws of x_c that keeps unknown marks, abbreviation dots and whole pairs of x_e.

    The model draws all marks that it does not know as unknown.  An unknown mark becomes the one that the slot
    has in x_e; if there is none, it is left out.  Abbreviation dots are part of the spelling of words, so
    they stay where x_e has them, and none are added.  Draws with more halves of pairs than x_e has
    are left out.

    :param vocabulary: the model's types.
    :param closed: slots where no mark can stand.
    :param threshold: the probability that a change must have.
    """

    def rewriting(draws: "Draws") -> "Draws":
        draws = with_own_unknown(draws, wrong, vocabulary.token_number)
        draws = without_marks_in(rewritten(without_unknown(draws), _without_dot), closed)
        draws = with_probable_changes(with_abbreviation_dots(draws, wrong), wrong, threshold)
        return with_whole_pairs(draws, wrong)

    return rewriting


def _without_dot(drawn: String) -> String:
    return tuple(mark for mark in drawn if mark != ABBREVIATION_DOT)


@dataclass(frozen=True)
class NoisyChannel(Correcting):
    """A corrector of two parts: p(x_c | words) and p(x_e | x_c).

    See `pyropunct.tasks.correct.hearing` for p(x_c | x_e, words).

    :ivar source: the model of right text.
    :ivar errors: the error channel.
    """

    source: Punctuator
    errors: ErrorChannel

    @property
    def model(self) -> Punctuator:
        """The model of right text."""
        return self.source

    def _decide(
        self, sentences: Sequence[WrongSentence], settings: CorrectingSettings, rate: WritersRate
    ) -> Iterator[Decision]:
        """See `Correcting.decide`; nothing is drawn.

        The rate of the writer is averaged over, given all of these sentences and those before.
        """
        heard = hear(self.source, self.errors, sentences)
        if heard:
            rate.learn(np.stack([sentence.log_evidence for sentence in heard]))
        return decisions(heard, settings, rate.probabilities)

    def save(self, path: str | Path, *, small: bool = False) -> None:
        """Write the model with its error channel to a file, whole or not at all.

        :param small: see `Punctuator.save`.
        :raises ModelFileError: as `Punctuator.save` does.
        """
        plain, tensors = self.source.to_parts(small=small)
        plain["errors"] = {"tokens": self.source.vocabulary.tokens, **self.errors.to_json()}
        write_model_file(path, plain, tensors)

    @classmethod
    def from_parts(cls, parts: Parts) -> Self:
        """See `Correcting.from_parts`."""
        path, plain = parts[:2]
        if "errors" not in plain:
            fit = "`pyropunct fit-correction TRAIN --model MODEL`"
            raise ModelFileError(f"{path}: is no corrector, but a model without errors: {fit}")
        source = Punctuator.from_parts(parts)
        try:
            errors, tokens = ErrorChannel.from_json(plain["errors"]), plain["errors"]["tokens"]
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            raise ModelFileError(f"{path}: cannot be made an error channel again: {reason}") from error
        if tokens != list(source.vocabulary.tokens):
            raise ModelFileError(f"{path}: its errors are those of other marks than its model knows")
        return cls(source, errors)


def load_corrector(
    path: str | Path, *, variants: Trusted = (), encoder: str | Path | None = None
) -> Correcting:
    """Read a corrector of either kind that was saved, or a model that comes with the package.

    See `Correcting.load`.

    :raises ModelFileError: if the file is missing or damaged, or is no corrector of this program.
    """
    parts = read_parts(path, variants, encoder)
    kind: type[Correcting] = Corrector if "writer" in parts.plain else NoisyChannel
    return kind.from_parts(parts)


def decisions(heard: Iterable[Heard], settings: CorrectingSettings, rates: Floats) -> Iterator[Decision]:
    """The right punctuation of sentences that were heard.

    :param rates: (rates,) the probability of each of `pyropunct.tasks.correct.hearing.RATES`.
    """
    choose = DECODERS[settings.decoder]
    for sentence in heard:
        wrong = sentence.surfaces[0]
        posterior = with_probable_changes(sentence.posterior(rates), wrong, settings.threshold)
        yield choose(with_whole_pairs(posterior, wrong))
