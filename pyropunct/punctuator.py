"""A fitted model that punctuates text: the object that users hold."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self, overload

import torch
from torch import Tensor

from pyropunct.fitted.model_file import ModelFileError, write_model_file
from pyropunct.fitted.saved_parts import (
    NETWORKS,
    SavedParts,
    model_fields,
    network_tensors,
    parsed_tensors,
    read_parts,
    story_tensors,
)
from pyropunct.fitted.story import FittedStory
from pyropunct.fitted.variants import Trusted
from pyropunct.inference.threads import WHOLE
from pyropunct.nets.networks import TrainedWordNetwork
from pyropunct.nets.parser import BiaffineParser, Parser, WeightedTree
from pyropunct.nets.pretrained import Pretrained
from pyropunct.nets.reader import RunningReader
from pyropunct.nets.tagger import SlotTagger
from pyropunct.restore.deciding import Posteriors, decide
from pyropunct.restore.details import Word
from pyropunct.restore.parses import weighted_trees
from pyropunct.restore.posterior import Known, Posterior, evidence_about
from pyropunct.restore.restorer import Restorer
from pyropunct.restore.settings import RestoreSettings
from pyropunct.shipped import DEFAULT
from pyropunct.text.conventions import Conventions
from pyropunct.text.marks import Surface
from pyropunct.text.raw_reader import RawReader
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree


@dataclass(frozen=True, repr=False)
class Punctuator(FittedStory):
    """A fitted model that punctuates text: it is called like a function.

    It is a fitted story, p(x | T), that holds the parts which read raw words: p(x | words).

    Example::

        import pyropunct

        punctuator = pyropunct.load("en")
        print(punctuator("however the meeting which lasted three hours ended without a vote"))

    :ivar conventions: how the training treebank writes, for printing restored punctuation.
    :ivar parser: the parser of raw words, None if there is none.
    :ivar mark_parser: the parser of words `pyropunct.nets.words.with_marks`, None if there is none: see
        `pyropunct.tasks.explain.punctuated_trees`.
    :ivar reader: the reader of running text, None if there is none.
    :ivar parsed: the story trained on trees that parsers have found, for such trees: see
        `pyropunct.train.parts`.  None if there is no such story.
    :ivar tagger: the tagger of words, which the story for such trees reads, None if there is none: see
        `pyropunct.train.parts`.
    :ivar share: the weight of what is read where it is pooled with the story: `pyropunct.restore.pooling`.
    :ivar settings: how it restores text, unless a call says otherwise.  They are given to `load`, or to a
        call; a punctuator does not change, but ``dataclasses.replace(punctuator, settings=...)`` is another.
    """

    conventions: Conventions = field(default_factory=Conventions)
    parser: Parser | None = None
    mark_parser: BiaffineParser | None = None
    reader: RunningReader | None = None
    parsed: FittedStory | None = None
    tagger: SlotTagger | None = None
    share: float = 0.0
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
    def known_words(self) -> frozenset[str]:
        """The lower-cased words that the story and the parser know."""
        parser = self.parser
        of_parser = parser.vocabulary.forms if isinstance(parser, BiaffineParser) else ()
        return frozenset((*self.vocabulary.forms, *of_parser))

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

        `pyropunct.text.printing.print_words` makes text of the result.

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
        :returns: weighted draws.  Three quarters of them are made with a better proposal than the first.
        :raises ValueError: if the model does not know a hidden mark, or there is evidence for more or fewer
            slots than there are.
        :raises ImpossibleSurfaceError: if nothing explains the evidence; it names slot and sentence.
        :raises NoParserError: if there are raw words and the model has no parser.
        """
        [parses] = weighted_trees(self, [sentence], trees)
        if seed is None:
            seed = int(torch.randint(2**63 - 1, ()))
        evidence = evidence_about(self.vocabulary, known, hidden)
        draws = Posteriors(self).of(parses, evidence, seed)
        for size in (samples // 4, samples - samples // 4):
            if size:
                posterior = draws.more(size)
        return posterior

    @property
    def for_parsed(self) -> FittedStory:
        """The model for trees that a parser has found: `parsed`, else the model itself."""
        return self if self.parsed is None else self.parsed

    def fitted_story(self, given: bool) -> FittedStory:
        """The model for trees that are given, which is this one, or for those of a parser: `for_parsed`."""
        return self if given else self.for_parsed

    @property
    def pretrained(self) -> Pretrained | None:
        """The source of the pretrained features that parsers and attach model read, else that of the reader;
        None without any.

        :raises ValueError: if parsers and attach model read features of different sources.
        """
        parsers: tuple[object, ...] = self.parser, self.mark_parser
        networks = [one for one in parsers if isinstance(one, TrainedWordNetwork)]
        sources = [self.attach_pretrained, *(one.pretrained for one in networks)]
        found = [one for one in sources if one is not None]
        if any(one.identity() != found[0].identity() for one in found):
            raise ValueError("parts of the model were trained with different pretrained features of words")
        return found[0] if found else self._of_reader

    @property
    def reader_pretrained(self) -> Pretrained | None:
        """The source that the reader alone reads beside `pretrained`: an encoder with adapters that
        were trained together with it; None if there is no second source.
        """
        own, shared = self._of_reader, self.pretrained
        return None if own is None or shared is None or own.identity() == shared.identity() else own

    @property
    def _of_reader(self) -> Pretrained | None:
        return None if self.reader is None else self.reader.pretrained

    def log_prob_over_trees(
        self, sentences: Sequence[Sentence], parses: Sequence[Sequence[WeightedTree]]
    ) -> Tensor:
        """log p(x | words) of the punctuation of each sentence, in natural logarithms.

        It is averaged over the trees::

            p(x | words) = sum over T of p(T | words) p(x | T)

        :param parses: the trees of each sentence; their weights stand for p(T | words).
        :returns: (sentences,) double precision.
        :raises ImpossibleSurfaceError: as `log_prob` does.
        """
        flat = [
            (replace(sentence, tree=one.tree), one)
            for sentence, trees in zip(sentences, parses, strict=True)
            for one in trees
        ]
        joint = torch.tensor([one.weight for _, one in flat], dtype=torch.double).log()
        for given in (True, False):
            places = [place for place, (_, one) in enumerate(flat) if one.given == given]
            if places:
                joint[places] += self.fitted_story(given).log_prob([flat[place][0] for place in places]).cpu()
        sizes = [len(trees) for trees in parses]
        found = torch.stack([part.logsumexp(0) for part in joint.split(sizes)])
        return found

    def save(self, path: str | Path, *, small: bool = False) -> None:
        """Write the model to a file, whole or not at all.

        The saved model is smaller than the fitted one.  Weights of the log-linear attach model near zero are
        left out and the others are rounded, see `pyropunct.models.attach.pruning`; the probabilities of the
        syntax model are saved in single precision.  So a loaded model differs slightly from the fitted one,
        in the sixth digit of the perplexity.  Saving a loaded model again does not change it further.  No
        weights are left out of a model that has `scales`.

        :param path: the file; without the ending ``.safetensors``, it gets this ending.
        :param small: round much more, see `pyropunct.models.attach.pruning.rounded` and
            `pyropunct.fitted.small_tensors.rounded_rows`: a zipped file is a quarter as large, and the
            perplexity differs in the fourth digit.
        :raises ModelFileError: if there is a file that is not a model, if it cannot be written, or as
            `to_parts` does.
        :raises ValueError: as `pretrained` does.
        """
        write_model_file(path, *self.to_parts(small=small))

    def to_parts(self, *, small: bool = False) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """The model as plain JSON types and tensors, from which `from_parts` makes it again; see `save`.

        :raises ModelFileError: if the parser is not a `BiaffineParser`, or not the one that the tagger reads.
        :raises ValueError: as `pretrained` does.
        """
        if self.parser is not None and not isinstance(self.parser, BiaffineParser):
            kind = type(self.parser).__name__
            raise ModelFileError(f"a model cannot be saved with a parser of the kind {kind}")
        if self.tagger is None and self.for_parsed.story.reading is not None:
            raise ModelFileError("the story for parsed trees reads a tagger, which the model lacks")
        if self.tagger is not None and self.tagger.parser is not self.parser:
            raise ModelFileError("the model's tagger reads the states of another parser")
        plain: dict[str, Any] = {
            "vocabulary": self.vocabulary.to_json(),
            "recipe": self.recipe.to_json(),
            "report": dict(self.report),
            "conventions": self.conventions.to_json(),
        }
        tensors = story_tensors(self.story, small)
        if self.slot_strings is not None:
            plain["slot_strings"] = self.slot_strings.to_json()
        if self.parsed is not None:
            pairs = self.parsed.vocabulary.to_json()["pairs"]
            plain["parsed"] = {"pairs": pairs, "report": dict(self.parsed.report)}
            tensors |= parsed_tensors(self.parsed.story, small)
        if self.attach_pretrained is not None:
            plain["attach"] = {"pretrained": self.attach_pretrained.identity()}
        networks: dict[str, Any] = {name: getattr(self, name) for name in NETWORKS}
        for name, network in networks.items():
            if network is not None:
                plain[name], weights = network.to_parts()
                tensors |= network_tensors(name, weights, small)
        if self.tagger is not None:
            plain["tagger"]["share"] = self.share
        return plain, tensors

    @classmethod
    def load(cls, path: str | Path, *, variants: Trusted = (), encoder: str | Path | None = None) -> Self:
        """Read a model that `save` wrote.  No code that the file names is ever run.

        An encoder that the model was trained with is not in the file.  It is opened when it is first
        needed: when words are parsed, or for any tree if the attach model reads what it says of words.

        :param path: its file, with or without the ending ``.safetensors``, or the name of a model that comes
            with the package.
        :param variants: attach models and channels outside the package, each as ``module:Class``, that may be
            imported if the file names them, which runs the code of their modules; True for any.
        :param encoder: where that encoder is now: see `pyropunct.nets.encoder.Encoder`.  By default it is
            looked for where it was in training.
        :raises ModelFileError: if the file is missing or damaged, or is not a model of this program.
        :raises PretrainedError: if ``encoder`` is given, but the model was trained without.
        :raises UntrustedVariantError: if it names an attach model or a channel outside the package that is
            not among ``variants``; its module has not been imported.
        :raises UnknownVariantError: if its attach model or channel cannot be found.
        """
        return cls.from_parts(read_parts(path, variants, encoder))

    @classmethod
    def from_parts(cls, parts: SavedParts) -> Self:
        """The model that `to_parts` took apart.

        :raises ValueError: as `load` does.
        """
        return cls(**model_fields(parts))


def load(
    model: str | Path = DEFAULT,
    *,
    variants: Trusted = (),
    encoder: str | Path | None = None,
    **settings: Any,
) -> Punctuator:
    """A model that punctuates text.

    :param model: the name of a model that comes with the package, or the path of a model.
    :param variants: see `Punctuator.load`.
    :param encoder: see `Punctuator.load`.
    :param settings: how it restores text, by the names of `RestoreSettings`.
    :raises ModelFileError: if there is no such model, or it is damaged.
    """
    return replace(
        Punctuator.load(model, variants=variants, encoder=encoder), settings=RestoreSettings(**settings)
    )
