"""Correction by a noisy channel: a model of right text, and one of how it goes wrong.

See `pyropunct.tasks.correct.hearing` for p(x_c | x_e, words), and `pyropunct.tasks.correct.channel` for p(x_e
| x_c).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from pyropunct.fitted.model_file import ModelFileError, write_model_file
from pyropunct.fitted.saved_parts import Parts, read_parts
from pyropunct.fitted.variants import Trusted
from pyropunct.punctuator import Punctuator
from pyropunct.restore.decoders import DECODERS, Decision
from pyropunct.restore.rewriting import with_probable_changes, with_whole_pairs
from pyropunct.tasks.correct.channel import ErrorChannel
from pyropunct.tasks.correct.correcting import Corrector
from pyropunct.tasks.correct.hearing import Floats, Heard, WritersRate, WrongSentence, hear
from pyropunct.tasks.correct.settings import CorrectingSettings
from pyropunct.tasks.correct.system import Correcting


@dataclass(frozen=True)
class NoisyChannel(Correcting):
    """A corrector of two parts: p(x_c | words) and p(x_e | x_c).

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
