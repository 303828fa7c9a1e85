"""Corrects punctuation that may be wrong: a model of right text with an error channel (`NoisyChannel`)."""

import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from pyropunct.errors import InputError, ModelFileError
from pyropunct.fitted.model_file import write_model_file
from pyropunct.fitted.saved_parts import SavedParts, read_parts
from pyropunct.fitted.variants import Trusted
from pyropunct.nets.parser import WeightedTree
from pyropunct.punctuator import Punctuator
from pyropunct.restore.decoders import DECODERS, Decision
from pyropunct.restore.items import require_string
from pyropunct.restore.restoring import Restored, Source, punctuated, raw_text
from pyropunct.restore.rewriting import with_probable_changes, with_whole_pairs
from pyropunct.restore.stretches import text_in_languages
from pyropunct.tasks import USUAL, CorrectingSettings
from pyropunct.tasks.correct.channel import MOST_MARKS, ErrorChannel
from pyropunct.tasks.correct.explaining import changes
from pyropunct.tasks.correct.hearing import FITTED_RATE, Floats, Heard, WritersRate, WrongSentence, hear
from pyropunct.tasks.correct.learner_errors import LEARNERS_LANGUAGE
from pyropunct.text.conventions import Conventions
from pyropunct.text.marks import CLOSERS, PAIRED, parted
from pyropunct.text.raw_sentence import RawSentence
from pyropunct.text.typography import mended
from pyropunct.untrusted import untrusted


@dataclass(frozen=True)
class NoisyChannel:
    """A model of right text, which parses raw words, with an error channel.

    See `pyropunct.tasks.correct.hearing`.  Its file is a model file with one more part.
    """

    model: Punctuator
    errors: ErrorChannel

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
        for code, part in text_in_languages(text, self.model.languages):
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

    def decide(
        self,
        sentences: Sequence[WrongSentence],
        settings: CorrectingSettings = USUAL,
        *,
        rate: WritersRate | None = None,
    ) -> Iterator[Decision]:
        """Decide on the right punctuation of sentences, given their trees; nothing is drawn.

        :param settings: ``trees``, ``parse`` and ``best_tree`` are ignored.
        :param rate: the distribution of the writer's rate of errors, by default `FITTED_RATE`, which is
            averaged over; it learns from these sentences if the rate is unknown.
        :raises KeyError: if there is no such decoder.
        """
        rate = WritersRate(FITTED_RATE) if rate is None else rate
        heard = hear(self.model, self.errors, sentences)
        if heard:
            rate.learn(np.stack([sentence.log_evidence for sentence in heard]))
        return decisions(heard, settings, rate.probabilities)

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

    def save(self, path: str | Path, *, small: bool = False) -> None:
        """Write the model with its error channel to a file; see `Punctuator.save`."""
        plain, tensors = self.model.to_parts(small=small)
        plain["errors"] = {"tokens": self.model.vocabulary.tokens, **self.errors.to_json()}
        write_model_file(path, plain, tensors)

    @classmethod
    def from_parts(cls, parts: SavedParts) -> Self:
        """The corrector of a file; raises `ModelFileError` for damage or another kind."""
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


def load_corrector(
    path: str | Path, *, variants: Trusted = (), encoder: str | Path | None = None
) -> NoisyChannel:
    """Read a saved corrector, or a model that comes with the package.

    :param variants: see `pyropunct.punctuator.Punctuator.load`, as for ``encoder``, that of the model that
        parses.
    :raises ModelFileError: if the file is missing or damaged, or is no corrector of this program.
    """
    return NoisyChannel.from_parts(read_parts(path, variants, encoder))


def decisions(heard: Iterable[Heard], settings: CorrectingSettings, rates: Floats) -> Iterator[Decision]:
    """The right punctuation of sentences, from their joint probabilities and (rates,) those of `RATES`."""
    choose = DECODERS[settings.decoder]
    for sentence in heard:
        wrong = sentence.surfaces[0]
        posterior = with_probable_changes(sentence.posterior(rates), wrong, settings.threshold)
        yield choose(with_whole_pairs(posterior, wrong))
