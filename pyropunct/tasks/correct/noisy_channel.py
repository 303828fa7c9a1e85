"""Correction by a noisy channel: a model of right text, and one of how it goes wrong.

See `pyropunct.tasks.correct.hearing` for p(x_c | x_e, words), and `pyropunct.tasks.correct.channel` for p(x_e
| x_c).
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pyropunct.fitted import model_file
from pyropunct.fitted.model_file import ModelFileError
from pyropunct.fitted.registry import Trusted
from pyropunct.punctuator import Punctuator
from pyropunct.restore.decoders import DECODERS, Decision
from pyropunct.restore.rewriting import with_probable_changes, with_whole_pairs
from pyropunct.shipped import place_of
from pyropunct.tasks.correct.channel import ErrorChannel
from pyropunct.tasks.correct.hearing import Floats, Heard, WritersRate, WrongSentence, hear
from pyropunct.tasks.correct.settings import USUAL, CorrectingSettings
from pyropunct.tasks.correct.system import Correcting, check_writable

FORMAT, VERSION = "pyropunct errors", 1


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

    def decide(
        self,
        sentences: Sequence[WrongSentence],
        settings: CorrectingSettings = USUAL,
        *,
        rate: WritersRate | None = None,
    ) -> Iterator[Decision]:
        """See `Correcting.decide`; nothing is drawn.

        The rate of the writer is averaged over, given all of these sentences and those before.
        """
        heard = hear(self.source, self.errors, sentences)
        rate = WritersRate() if rate is None else rate
        if heard:
            rate.learn(np.stack([sentence.log_evidence for sentence in heard]))
        return decisions(heard, settings, rate.probabilities)

    def save(self, folder: str | Path, *, small: bool = False) -> None:
        """Write the model with its error channel to a new folder, whole or not at all.

        :param small: see `Punctuator.save`.
        :raises ModelFileError: as `Punctuator.save` does.
        """
        folder = Path(folder)
        check_writable(folder)
        plain = {"format": FORMAT, "version": VERSION, "tokens": self.source.vocabulary.tokens}
        text = json.dumps({**plain, **self.errors.to_json()}, ensure_ascii=False, indent=1)
        with model_file.new_folder(folder) as new:
            self.source.save(new, small=small)
            (new / model_file.BESIDE).write_text(text, encoding="utf-8")

    @classmethod
    def load(
        cls, folder: str | Path, *, variants: Trusted = (), encoder: str | Path | None = None
    ) -> "NoisyChannel":
        """Read what `save` wrote, or a model that comes with the package.  No code in the folder is run.

        :param variants: see `pyropunct.punctuator.Punctuator.load`.
        :param encoder: likewise.
        :raises ModelFileError: if the folder is missing or damaged, has no error channel, or one that was
            fitted for a model with other marks.
        """
        source = Punctuator.load(folder, variants=variants, encoder=encoder)
        return cls(source, read_errors_of(place_of(folder), source))


def decisions(heard: Iterable[Heard], settings: CorrectingSettings, rates: Floats) -> Iterator[Decision]:
    """The right punctuation of sentences that were heard.

    :param rates: (rates,) the probability of each of `pyropunct.tasks.correct.hearing.RATES`.
    """
    choose = DECODERS[settings.decoder]
    for sentence in heard:
        wrong = sentence.surfaces[0]
        posterior = with_probable_changes(sentence.posterior(rates), wrong, settings.threshold)
        yield choose(with_whole_pairs(posterior, wrong))


def read_errors_of(folder: Path, source: Punctuator) -> ErrorChannel:
    """The error channel in the folder of a model.

    :raises ModelFileError: as `NoisyChannel.load` does.
    """
    path = folder / model_file.BESIDE
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(plain, dict) or (plain.get("format"), plain.get("version")) != (FORMAT, VERSION):
            raise ModelFileError(f"{path}: is not version {VERSION} of {FORMAT}")
        errors, tokens = ErrorChannel.from_json(plain), plain["tokens"]
    except FileNotFoundError as error:
        fit = "`pyropunct fit-correction TRAIN --model MODEL`"
        raise ModelFileError(f"{folder}: is no corrector, but a model without errors: {fit}") from error
    except ModelFileError:
        raise
    except (OSError, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ModelFileError(f"{path}: cannot be made an error channel again: {reason}") from error
    if tokens != list(source.vocabulary.tokens):
        raise ModelFileError(f"{path}: was fitted for a model that knows other marks than this one")
    return errors
