"""A fitted model that punctuates text: the object that users hold."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import torch

from pyropunct.fitted.model import FittedModel
from pyropunct.fitted.variants import Trusted
from pyropunct.inference.threads import WHOLE
from pyropunct.restore.deciding import Posteriors, decide, tagged
from pyropunct.restore.details import Word
from pyropunct.restore.given import Known, evidence_about
from pyropunct.restore.parses import weighted_trees
from pyropunct.restore.posterior import Posterior
from pyropunct.restore.raw_words import RawReader
from pyropunct.restore.restorer import Restorer
from pyropunct.restore.settings import RestoreSettings
from pyropunct.shipped import DEFAULT
from pyropunct.treebank.marks import Surface
from pyropunct.treebank.tree import Tree


@dataclass(frozen=True, repr=False)
class Punctuator(FittedModel):
    """A fitted model that punctuates text: it is called like a function.

    Example::

        import pyropunct

        punctuator = pyropunct.load("en")
        print(punctuator("however the meeting which lasted three hours ended without a vote"))

    :ivar settings: how it restores text, unless a call says otherwise.  They are given to `load`, or to a
        call; a punctuator does not change, but ``dataclasses.replace(punctuator, settings=...)`` is another.
    """

    settings: RestoreSettings = field(default_factory=RestoreSettings)

    @overload
    def __call__(self, text: str, **settings: Any) -> str: ...

    @overload
    def __call__(self, text: Iterator[str], **settings: Any) -> Iterator[str]: ...

    @overload
    def __call__(self, text: Iterable[str], **settings: Any) -> list[str]: ...

    def __call__(self, text: str | Iterable[str], **settings: Any) -> str | Iterator[str] | list[str]:
        """Text with its punctuation restored, as the command ``pyropunct restore`` prints it.

        Punctuation that is there stays, unless ``keep`` is false; words and the spaces between them stay.
        Several texts together are quicker than one by one.

        :param text: a text or several, with one sentence a line unless they are running text.  Lines that
            are too long for a sentence, or with marks inside that end sentences, are running text if the
            model has a reader of running text.
        :param settings: changes of `settings` for this call, by the names of `RestoreSettings`.
        :returns: as many texts, of as many lines unless they are running text.  Of an iterator, such as a
            generator or a file, an iterator: some texts are read, restored and given at a time.
        :raises TypeError: if there is no setting of such a name, or a text is no string.
        :raises DecisionSettingError: if a setting is out of its bounds, or none of its choices.
        :raises NoParserError: if the model has no parser.
        :raises NoReaderError: if running text is to be read, or case to be restored, and the model has no
            reader of running text.
        :raises MarkError: if the model does not know a mark in ``marks`` or ``hidden``.
        """
        restorer = Restorer(self, replace(self.settings, **settings), self.raw_reader)
        if isinstance(text, str):
            return restorer.text(text)
        restored = restorer.texts(text)
        return restored if isinstance(text, Iterator) else list(restored)

    @overload
    def details(self, text: str, **settings: Any) -> list[Word]: ...

    @overload
    def details(self, text: Iterator[str], **settings: Any) -> Iterator[list[Word]]: ...

    @overload
    def details(self, text: Iterable[str], **settings: Any) -> list[list[Word]]: ...

    def details(
        self, text: str | Iterable[str], **settings: Any
    ) -> list[Word] | Iterator[list[Word]] | list[list[Word]]:
        """The words of a text as they stand there, with the marks around them and how probable these are.

        The probabilities are those that the decision is made from: shares of the draws, see `restore`.

        Example::

            for word in punctuator.details("however the meeting ended"):
                print(word.text, word.start, word.behind.marks, word.behind.probability)

        :param text: see `__call__`; so are ``settings`` and what is raised.
        :returns: the words of a text; of several texts as many lists, of an iterator an iterator of lists.
        """
        restorer = Restorer(self, replace(self.settings, **settings), self.raw_reader)
        if isinstance(text, str):
            return next(restorer.details([text]))
        found = restorer.details(text)
        return found if isinstance(text, Iterator) else list(found)

    @cached_property
    def raw_reader(self) -> RawReader:
        """Reads lines of raw text as words and marks."""
        return RawReader(self.vocabulary, self.conventions)

    def restore(
        self,
        sentences: Sequence[Sequence[str] | Tree],
        *,
        decoder: str = "mbr",
        samples: int = RestoreSettings.samples,
        trees: int = RestoreSettings.trees,
        seed: int | None = None,
    ) -> list[Surface]:
        """Punctuation for raw words, or for trees (Li, Wang & Eisner 2019, section 6.1).

        `pyropunct.treebank.printing.print_words` makes text of the result.

        :param sentences: for each sentence its words, which are parsed, or its tree.
        :param decoder: one of `pyropunct.restore.decoders.DECODERS`.
        :param samples: how many draws each sentence has; more draws estimate the expected loss better.
        :param trees: at most this many trees of the parser share the draws of a sentence.
        :param seed: equal seeds give equal results; by default torch draws a seed.
        :returns: for each sentence of n words the tokens of the slots 0..n.
        :raises NoParserError: if there are raw words and the model has no parser.
        :raises TypeError: if a string stands where words are needed: see `__call__`.
        """
        with WHOLE:
            parses = weighted_trees(self, sentences, trees)
            decisions = decide(self, parses, decoder=decoder, samples=samples, seed=seed)
            return [decision.surface for decision in decisions]

    def posterior(
        self,
        sentence: Sequence[str] | Tree,
        known: Sequence[Known],
        *,
        hidden: Collection[str] = (),
        samples: int = RestoreSettings.samples,
        trees: int = RestoreSettings.trees,
        seed: int | None = None,
    ) -> Posterior:
        """The punctuation of a sentence of n words, given what is known of it: p(x, T | words, evidence).

        :param sentence: its words, which are parsed, or its tree.
        :param known: for each of the slots 0..n its marks, None if nothing is known, or evidence, see
            `pyropunct.inference.machines.evidence`; that of slot 0 has the sentence start as its first token.
        :param hidden: marks that may be lacking in slots whose marks are given; those that are there are
            left out first.
        :param samples: how many draws.
        :param trees: at most this many trees of the parser are averaged over.
        :param seed: equal seeds give equal draws; by default torch draws a seed.
        :returns: weighted draws.  Three quarters of those of the trees are made with a better proposal than
            the first.  If the model has a tagger and the words are parsed, as many again are the tagger's.
        :raises ValueError: if the model does not know a hidden mark, or there is evidence for more or fewer
            slots than there are.
        :raises ImpossibleSurfaceError: if nothing explains the evidence; it names slot and sentence.
        :raises NoParserError: if there are raw words and the model has no parser.
        """
        [parses] = weighted_trees(self, [sentence], trees)
        if seed is None:
            seed = int(torch.randint(2**63 - 1, ()))
        evidence = evidence_about(self.vocabulary, known, hidden)
        [of_words] = tagged(self, [parses])
        draws = Posteriors(self).of(parses, evidence, seed, of_words)
        for size in (samples // 4, samples - samples // 4):
            if size:
                posterior = draws.more(size)
        return posterior


def load(
    model: str | Path = DEFAULT,
    *,
    variants: Trusted = (),
    encoder: str | Path | None = None,
    **settings: Any,
) -> Punctuator:
    """A model that punctuates text.

    :param model: the name of a model that comes with the package, or the path of a model.
    :param variants: see `FittedModel.load`.
    :param encoder: see `FittedModel.load`.
    :param settings: how it restores text, by the names of `RestoreSettings`.
    :raises ModelFileError: if there is no such model, or it is damaged.
    """
    return replace(
        Punctuator.load(model, variants=variants, encoder=encoder), settings=RestoreSettings(**settings)
    )
