"""Restoring text from Python: a model that is called like a function."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import overload

from pyropunct.punctuator import Punctuator
from pyropunct.restore.cases import CaseMode
from pyropunct.restore.restoring import SAMPLES, TREES
from pyropunct.shipped import DEFAULT
from pyropunct.training.registry import Trusted


@dataclass(frozen=True)
class Restorer:
    """Punctuates text, as ``pyropunct restore`` does: see `Punctuator.restore_text`.

    Example::

        import pyropunct

        restorer = pyropunct.load("en")
        print(restorer("however the meeting which lasted three hours ended without a vote"))

    :ivar model: the model, of which much else can be asked.
    :ivar decoder: one of `pyropunct.restore.decoders.DECODERS`.
    :ivar samples: how many draws each sentence has.
    :ivar trees: how many trees of the parser the draws of a sentence are spread over.
    :ivar seed: equal seeds give equal results, which do not depend on what else is restored.
    :ivar capital: whether sentences begin with a capital letter.
    :ivar running: whether texts are running text, whose sentences are to be found.
    :ivar case: which words get the case that the model finds probable: "auto" if they have none, "restore",
        or "keep".
    """

    model: Punctuator
    decoder: str = "mbr"
    samples: int = SAMPLES
    trees: int = TREES
    seed: int = 0
    capital: bool = True
    running: bool = False
    case: CaseMode = "auto"

    @overload
    def __call__(self, text: str) -> str: ...  # type: ignore[overload-overlap]  # the first one is meant

    @overload
    def __call__(self, text: Iterable[str]) -> list[str]: ...

    def __call__(self, text: str | Iterable[str]) -> str | list[str]:
        """Text with its punctuation restored; several texts together are quicker than one by one.

        :param text: a text, or some, with one sentence a line, unless they are running text.
        :returns: as many texts.
        :raises NoParserError: if the model has no parser.
        :raises NoReaderError: if it has no reader of running text, but needs one.
        """
        if isinstance(text, str):
            return self._restored(text)
        texts = list(text)
        if self.running:
            return [self._restored(one) for one in texts]
        lines = iter(self._restored("\n".join(texts)).split("\n"))
        return ["\n".join(islice(lines, one.count("\n") + 1)) for one in texts]

    def _restored(self, text: str) -> str:
        return self.model.restore_text(
            text,
            decoder=self.decoder,
            samples=self.samples,
            trees=self.trees,
            seed=self.seed,
            capital=self.capital,
            running=self.running,
            case=self.case,
        )


def load(
    model: str | Path = DEFAULT, *, variants: Trusted = (), encoder: str | Path | None = None
) -> Restorer:
    """A model for restoring text.

    :param model: the name of a model that comes with the package, or a model folder.
    :param variants: see `Punctuator.load`.
    :param encoder: see `Punctuator.load`.
    :raises ModelFolderError: if there is no such model, or it is damaged.
    """
    return Restorer(Punctuator.load(model, variants=variants, encoder=encoder))
