"""Two ways to correct punctuation that may be wrong.

A `NoisyChannel` combines a model of right text with an error channel.  A `TreeCorrector` is the model of Li,
Wang & Eisner (2019, section 6.2)::

    p(x_c | x_e) = sum over T, T'_c of p(T | words) p(T'_c | T'_e) p(x_c | u(T'_c))

where T'_e, the underlying tree of the wrong sentence, is the most probable one under a model of wrong text.
Each constituent draws new punctemes, given those that it sprouted in the wrong sentence.  The best T'_c tells
which constituent sprouts an inserted mark (`Explainer`).
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from pyropunct.draws import Draws
from pyropunct.errors import InputError, ModelFileError
from pyropunct.files import untrusted
from pyropunct.fitted.model_file import write_model_file
from pyropunct.fitted.saved_parts import SavedParts, read_parts, within
from pyropunct.fitted.variants import Trusted
from pyropunct.models.attach.correcting_attach import CorrectingAttach
from pyropunct.nets.parser import WeightedTree
from pyropunct.punctuator import Punctuator
from pyropunct.restore.deciding import decide
from pyropunct.restore.decoders import DECODERS, Decision
from pyropunct.restore.restoring import Restored, Source, punctuated, raw_text
from pyropunct.restore.rewriting import (
    Rewriting,
    with_abbreviation_dots,
    with_given,
    with_own_unknown,
    with_probable_changes,
    with_whole_pairs,
    without_abbreviation_dots,
    without_marks_in,
    without_unknown,
)
from pyropunct.restore.sentence_stream import require_string
from pyropunct.tasks import USUAL, CorrectingSettings
from pyropunct.tasks.correct.channel import MOST_MARKS, ErrorChannel
from pyropunct.tasks.correct.error_trees import changes, read_parses
from pyropunct.tasks.correct.hearing import FITTED_RATE, Floats, Heard, WritersRate, WrongSentence, hear
from pyropunct.tasks.correct.learner_errors import LEARNERS_LANGUAGE
from pyropunct.text.conventions import Conventions
from pyropunct.text.languages import in_languages
from pyropunct.text.marks import CLOSERS, PAIRED, Surface, parted
from pyropunct.text.raw_sentence import RawSentence
from pyropunct.text.typography import mended
from pyropunct.vocabulary import Vocabulary


@dataclass(frozen=True)
class Correcting(ABC):
    """A trained corrector, whose ``model`` parses raw words.  Its file is a model file with one more part."""

    model: Punctuator

    @classmethod
    @abstractmethod
    def from_parts(cls, parts: SavedParts) -> Self:
        """The corrector of a file; raises `ModelFileError` for damage or another kind."""

    def __call__(self, text: str, **settings: Any) -> str:
        """Correct a text, one sentence a line, as the command ``pyropunct correct`` does.

        Of several languages, lines in others than `LEARNERS_LANGUAGE` stay, with a warning.  Example::

            import pyropunct

            correct = pyropunct.load_corrector("en")
            print(correct("However the meeting ended without a vote."))

        :param settings: fields of `CorrectingSettings`; unknown ones raise `TypeError`.
        :raises SettingError: if a setting has a value that is not allowed.
        :raises MissingPartError: if the model has no parser.
        :raises TypeError: if the text is not a string.
        """
        require_string(text)
        chosen = replace(USUAL, **settings)
        if not self.model.languages:
            return self._corrected(text, chosen)
        texts, unknown = list[str](), set[str]()
        for code, part in in_languages(text, self.model.languages):
            if code == LEARNERS_LANGUAGE:
                texts.append(replace(self, model=self.model.of(code))._corrected(part, chosen))
                continue
            texts.append(part)
            if any(map(str.isalpha, part)):
                unknown.add(code)
        if unknown:
            warnings.warn(unlearned(unknown), stacklevel=2)
        return "".join(texts)

    def _corrected(self, text: str, settings: CorrectingSettings) -> str:
        """A text in the language of the model, corrected."""
        lines = [self.model.raw_reader.read(line, number) for number, line in enumerate(text.split("\n"), 1)]
        conventions = self.model.conventions
        return "\n".join(corrected_text(one, conventions) for one in self.correct(lines, settings))

    @abstractmethod
    def decide(
        self,
        sentences: Sequence[WrongSentence],
        settings: CorrectingSettings = USUAL,
        *,
        rate: WritersRate | None = None,
    ) -> Iterator[Decision]:
        """Decide on the right punctuation of sentences, given their trees.

        :param settings: ``trees``, ``parse`` and ``best_tree`` are ignored.
        :param rate: the distribution of the writer's rate of errors, by default `FITTED_RATE`; it learns from
            these sentences if the rate is unknown.
        :raises KeyError: if there is no such decoder.
        """

    def correct(
        self,
        sources: Sequence[Source],
        settings: CorrectingSettings = USUAL,
        *,
        rate: WritersRate | None = None,
    ) -> Iterator[Restored]:
        """Correct the punctuation of sentences; a line without words is unchanged.

        Raw text loses its slips of typing first: `Restored.source` is a line without them.  Its long lines
        are corrected in windows: see `pyropunct.restore.parses`.

        :param rate: that of one writer: see `decide`.
        :raises MissingPartError: if words have to be parsed and the model has no parser.
        :raises InputError: if a slot has more than `MOST_MARKS` marks.
        """

        def decide(batch: Sequence[Source], parses: Sequence[Sequence[WeightedTree]]) -> Iterator[Decision]:
            for slot, marks in (pair for source in batch for pair in enumerate(source.surface)):
                if len(marks) > MOST_MARKS:
                    where = f"{len(marks)} marks behind word {slot}"
                    raise InputError(f"{where}: a place with more than {MOST_MARKS} is not corrected")
            closed = [_closed(source) for source in batch]
            sentences = [
                WrongSentence(trees, tuple(map(tuple, source.surface)), slots)
                for trees, source, slots in zip(parses, batch, closed, strict=True)
            ]
            return self.decide(sentences, settings, rate=rate)

        rules = settings.typing.split()
        sources = [_mended(source, self.model, rules) for source in sources]
        return punctuated(self.model, sources, settings, decide)


def corrected_text(restored: Restored, conventions: Conventions) -> str:
    """A corrected line of raw text; one without changes is as it was, but for slips of typing."""
    source = restored.source
    if isinstance(source, RawSentence) and not changes(source.surface, restored.surface):
        return source.text
    return raw_text(restored, conventions, capital=False)


def unlearned(codes: Iterable[str]) -> str:
    """The message about languages whose errors a corrector has not learned."""
    remedies = (
        "`pyropunct restore --anew` punctuates anew, `pyropunct fit-correction --language` learns errors"
    )
    return f"the model has not learned errors in {' '.join(sorted(codes))} ({remedies})"


def _mended(source: Source, model: Punctuator, rules: Collection[str]) -> Source:
    """A line without slips of typing."""
    if not isinstance(source, RawSentence) or source.settled:
        return source
    text = mended(source.text, model.conventions, rules)
    return source if text == source.text else model.raw_reader.read(text, source.line, source.end)


def _closed(source: Source) -> set[int]:
    """The slots whose marks stay: inside written words, and around a citation behind a sentence."""
    inside = source.inside if isinstance(source, RawSentence) else ()
    ends = set[int]()
    for slot, (closing, opening) in enumerate(map(parted, source.surface)):
        if closing[-1:] in ((".",), ("?",), ("!",)) and opening and opening[0] in CLOSERS:
            ends.add(slot)
    if ends and not PAIRED.isdisjoint(source.surface[-1][-1:]):
        ends.add(len(source.surface) - 1)
    return ends.union(inside)


@dataclass(frozen=True)
class TreeCorrector(Correcting):
    """The paper's corrector; ``writer`` is the model of p(T'_c | T'_e) with its channel."""

    writer: Punctuator

    def decide(
        self,
        sentences: Sequence[WrongSentence],
        settings: CorrectingSettings = USUAL,
        *,
        rate: WritersRate | None = None,
    ) -> Iterator[Decision]:
        """See `Correcting.decide`; the rate is ignored."""
        parses = [parse for sentence in sentences for parse in sentence.trees]
        surfaces = [sentence.wrong for sentence in sentences for _ in sentence.trees]
        trees = iter(read_parses(self.model, parses, surfaces))
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
        """Write the corrector to a file, whole or not at all; raises the errors of `Punctuator.save`."""
        plain, tensors = self.model.to_parts()
        plain["writer"], weights = self.writer.to_parts()
        write_model_file(path, plain, tensors | within("writer", weights))

    @classmethod
    def from_parts(cls, parts: SavedParts) -> Self:
        """See `Correcting.from_parts`."""
        path = parts.path
        reader = Punctuator.from_parts(parts)
        of_writer = SavedParts(path, parts.plain["writer"], parts.inside("writer"), parts.variants)
        writer = Punctuator.from_parts(of_writer)
        if not isinstance(writer.story.attach, CorrectingAttach):
            raise ModelFileError(f"{path}: its writer is not the model of a corrector")
        if reader.vocabulary.tokens != writer.vocabulary.tokens:
            raise ModelFileError(
                f"{path}: its reader and its writer know different marks, so they were not trained together"
            )
        return cls(reader, writer)


def staying_close(
    wrong: Surface, vocabulary: Vocabulary, closed: Collection[int] = (), threshold: float = 0.0
) -> Rewriting:
    """A rewriting of draws of x_c that keeps unknown marks, abbreviation dots and whole pairs of x_e.

    An unknown mark in a draw becomes the unknown mark of the same slot in x_e, or is left out.  Abbreviation
    dots belong to words, so they stay as in x_e.  Draws with more halves of pairs than x_e are left out.

    :param closed: slots whose marks stay.
    :param threshold: the least probability of a change.
    """

    def rewriting(draws: Draws) -> Draws:
        draws = with_own_unknown(draws, wrong, vocabulary.token_number)
        draws = without_marks_in(without_abbreviation_dots(without_unknown(draws)), closed)
        draws = with_given(draws, [marks if slot in closed else () for slot, marks in enumerate(wrong)])
        draws = with_probable_changes(with_abbreviation_dots(draws, wrong), wrong, threshold)
        return with_whole_pairs(draws, wrong)

    return rewriting


@dataclass(frozen=True)
class NoisyChannel(Correcting):
    """A model of right text with an error channel: see `pyropunct.tasks.correct.hearing`."""

    errors: ErrorChannel

    def decide(
        self,
        sentences: Sequence[WrongSentence],
        settings: CorrectingSettings = USUAL,
        *,
        rate: WritersRate | None = None,
    ) -> Iterator[Decision]:
        """See `Correcting.decide`; nothing is drawn, and the rate is averaged over."""
        rate = WritersRate(FITTED_RATE) if rate is None else rate
        heard = hear(self.model, self.errors, sentences)
        if heard:
            rate.learn(np.stack([sentence.log_evidence for sentence in heard]))
        return decisions(heard, settings, rate.probabilities)

    def save(self, path: str | Path, *, small: bool = False) -> None:
        """Write the model with its error channel to a file; see `Punctuator.save`."""
        plain, tensors = self.model.to_parts(small=small)
        plain["errors"] = {"tokens": self.model.vocabulary.tokens, **self.errors.to_json()}
        write_model_file(path, plain, tensors)

    @classmethod
    def from_parts(cls, parts: SavedParts) -> Self:
        """See `Correcting.from_parts`."""
        path, plain = parts[:2]
        if "errors" not in plain:
            fit = "`pyropunct fit-correction TRAIN --model MODEL`"
            raise ModelFileError(f"{path}: is a model, not a corrector: make one by {fit}")
        model = Punctuator.from_parts(parts)
        with untrusted(f"{path}: its parts do not make an error channel", ModelFileError):
            errors, tokens = ErrorChannel.from_json(plain["errors"]), plain["errors"]["tokens"]
        if tokens != list(model.vocabulary.tokens):
            raise ModelFileError(f"{path}: its errors are those of other marks than its model knows")
        return cls(model, errors)


def load_corrector(
    path: str | Path, *, variants: Trusted = (), encoder: str | Path | None = None
) -> Correcting:
    """Read a saved corrector of either kind, or a model that comes with the package.

    :param variants: see `pyropunct.punctuator.Punctuator.load`, as for ``encoder``, that of the model that
        parses.
    :raises ModelFileError: if the file is missing or damaged, or is no corrector of this program.
    """
    parts = read_parts(path, variants, encoder)
    kind: type[Correcting] = TreeCorrector if "writer" in parts.plain else NoisyChannel
    return kind.from_parts(parts)


def decisions(heard: Iterable[Heard], settings: CorrectingSettings, rates: Floats) -> Iterator[Decision]:
    """The right punctuation of sentences, from their joint probabilities and (rates,) those of `RATES`."""
    choose = DECODERS[settings.decoder]
    for sentence in heard:
        wrong = sentence.surfaces[0]
        posterior = with_probable_changes(sentence.posterior(rates), wrong, settings.threshold)
        yield choose(with_whole_pairs(posterior, wrong))
