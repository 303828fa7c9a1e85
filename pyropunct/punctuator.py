"""A fitted model that punctuates text: the object that users hold."""

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, Self, overload

import torch
from torch import Tensor

from pyropunct.errors import MissingPartError, ModelFileError
from pyropunct.fitted.fitted_story import FittedStory
from pyropunct.fitted.model_file import write_model_file
from pyropunct.fitted.recipes import OF_PARSED
from pyropunct.fitted.saved_parts import (
    NETWORKS,
    SavedParts,
    model_fields,
    network_tensors,
    parsed_tensors,
    read_parts,
)
from pyropunct.fitted.stories import in_language, story_tensors
from pyropunct.fitted.variants import Trusted
from pyropunct.inference.threads import FORK_GUARD
from pyropunct.nets.networks import TrainedWordNetwork
from pyropunct.nets.parser import BiaffineParser, Parser, WeightedTree
from pyropunct.nets.pretrained import Pretrained
from pyropunct.nets.reader import RunningReader
from pyropunct.nets.tagger import SlotTagger
from pyropunct.restore.deciding import decide, posterior_draws
from pyropunct.restore.parses import weighted_trees
from pyropunct.restore.posterior import Known, Posterior, evidence_about
from pyropunct.restore.restorer import Restorer
from pyropunct.restore.restoring import Word
from pyropunct.restore.settings import AHEAD_OF_STREAM, RestoreSettings
from pyropunct.restore.stretches import text_in_languages
from pyropunct.shipped import DEFAULT
from pyropunct.text.conventions import MARKS_OF_SCRIPTS, Conventions
from pyropunct.text.languages import Strangeness, not_learned
from pyropunct.text.marks import Surface
from pyropunct.text.raw_reader import RawReader
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree

Parts = Sequence[tuple[int, Any]]
"""The parts of a text: how many characters each has, and its result."""


@dataclass(frozen=True, repr=False)
class Punctuator(FittedStory):
    """A fitted model that punctuates text; call it like a function.

    It is a fitted story, p(x | T), together with the parts that read raw words: p(x | words).

    Example::

        import pyropunct

        punctuator = pyropunct.load("en")
        print(punctuator("however the meeting which lasted three hours ended without a vote"))

    :ivar conventions: how the training treebank prints punctuation.
    :ivar parser: parses raw words.
    :ivar mark_parser: parses words `pyropunct.nets.word_batches.with_marks`: see
        `pyropunct.tasks.explain.punctuated_trees`.
    :ivar reader: reads running text.
    :ivar parsed: the story trained on parser output: see `pyropunct.train.parser_output`.
    :ivar tagger: the tagger that `parsed` reads.
    :ivar share: the weight of the networks when pooled with the story: `pyropunct.restore.pooling`.
    :ivar reader_share: the weight of the reader among the networks, between the words of a sentence.
    :ivar languages: the conventions of each language of a model of several: see `of`.
    :ivar settings: defaults for restoring text; change them by ``dataclasses.replace``.
    """

    conventions: Conventions = field(default_factory=Conventions)
    parser: Parser | None = None
    mark_parser: BiaffineParser | None = None
    reader: RunningReader | None = None
    parsed: FittedStory | None = None
    tagger: SlotTagger | None = None
    share: float = 0.0
    reader_share: float = 0.0
    settings: RestoreSettings = field(default_factory=RestoreSettings)
    languages: Mapping[str, Conventions] = field(default_factory=dict)

    @overload
    def __call__(self, text: str, **settings: Any) -> str: ...

    @overload
    def __call__(self, text: Iterator[str], **settings: Any) -> Iterator[str]: ...

    @overload
    def __call__(self, text: Iterable[str], **settings: Any) -> list[str]: ...

    def __call__(
        self, text: str | Iterable[str], *, language: str | None = None, **settings: Any
    ) -> str | Iterator[str] | list[str]:
        """Restore punctuation in text, as the command ``pyropunct restore`` does.

        Words and spaces stay, and so does existing punctuation unless ``keep`` is false.  Several texts in
        one call are faster than one by one.  A model of several languages finds the language of each line,
        or paragraph of running text, and warns once if it has not learned from it: see `of`.  One of a single
        language warns of texts of 100 letters or more in another one, and leaves them as they are, unless
        ``force`` is true.

        :param text: a text or several, with one sentence a line, or running text.  If the model has a reader,
            lines that are too long or contain sentence ends are read as running text.
        :param language: the language of the texts, by its code, for a model of several.
        :param settings: fields of `RestoreSettings`, for this call.
        :returns: as many texts, with the same lines unless they are running text; None and NaN, as tables
            have them, stay.  An iterator, such as a generator or a file, gives an iterator that is read a few
            texts at a time.
        :raises TypeError: if a setting is unknown, a text is not a string, or several are a mapping.
        :raises SettingError: if a setting is out of bounds or not one of its choices, or if ``marks`` or
            ``hidden`` contains a mark that the model does not know.
        :raises MissingPartError: if the model has no parser, or no reader that running text or case needs, or
            if ``language`` is given for a model of one language.
        """
        if language is not None:
            return self._of_language(language)(text, **settings)
        if self.languages:
            running = _changed("punctuator", self.settings, settings).running
            return self._in_their_languages(
                text, lambda model, one: model(one, **settings), _joined_texts, running
            )
        restorer = self._restorer("punctuator", settings)
        if isinstance(text, str):
            return restorer.text(text)
        if isinstance(text, Iterator):
            return restorer.texts(text)
        if isinstance(text, Mapping):
            raise TypeError("a text is a string, or several are, not a mapping: give its values()")
        if not isinstance(text, Iterable) or isinstance(text, bytes):
            return list(restorer.texts(text))  # raises an error that says what is wrong
        texts = list(text)
        restored = restorer.texts(one for one in texts if not _is_missing(one))
        return [one if _is_missing(one) else next(restored) for one in texts]

    def stream(self, pieces: Iterable[str], **settings: Any) -> Iterator[str]:
        """Restore live text, such as that of a speech recogniser.  A sentence is given once it is certain.

        The same text gives the same sentences, whatever its pieces, which may break words; the end of a piece
        is no end of a sentence.

        :param pieces: the text, cut anywhere.
        :param settings: fields of `RestoreSettings`; by default ``ahead`` is `AHEAD_OF_STREAM`.
        :raises MissingPartError: if the model has no reader, or knows several languages and none is named.
        """
        if self.languages:
            raise MissingPartError("a stream is in one language: name it, as in load(MODEL, language='de')")
        chosen = _changed("stream", self.settings, {"running": True, "ahead": AHEAD_OF_STREAM, **settings})
        return Restorer(self, chosen, self.raw_reader).stream(pieces)

    @overload
    def details(self, text: str, **settings: Any) -> list[Word]: ...

    @overload
    def details(self, text: Iterator[str], **settings: Any) -> Iterator[list[Word]]: ...

    @overload
    def details(self, text: Iterable[str], **settings: Any) -> list[list[Word]]: ...

    def details(
        self, text: str | Iterable[str], *, language: str | None = None, **settings: Any
    ) -> list[Word] | Iterator[list[Word]] | list[list[Word]]:
        """The words of a text with the marks around them and their probabilities (shares of the draws).

        Takes the same parameters and raises the same errors as `__call__`.  Example::

            for word in punctuator.details("however the meeting ended"):
                print(word.text, word.start, word.behind.marks, word.behind.probability)

        :returns: the words of a text; several texts give a list of lists, an iterator an iterator of lists.
        """
        if language is not None:
            return self._of_language(language).details(text, **settings)
        if self.languages:
            running = _changed("details", self.settings, settings).running
            return self._in_their_languages(
                text, lambda model, one: model.details(one, **settings), _joined_words, running
            )
        restorer = self._restorer("details", settings)
        if isinstance(text, str):
            return next(restorer.details([text]))
        found = restorer.details(text)
        return found if isinstance(text, Iterator) else list(found)

    def _restorer(self, call: str, settings: Mapping[str, Any]) -> Restorer:
        """What restores the texts of a call."""
        return Restorer(self, _changed(call, self.settings, settings), self.raw_reader, self.strangeness)

    def _in_their_languages(
        self, text: Any, do: Callable[[Self, str], Any], join: Callable[[Parts], Any], running: bool
    ) -> Any:
        """The results of texts: the model of its language works on each line."""
        if isinstance(text, str):
            parts = text_in_languages(text, self.languages, running)
            return join([(len(part), do(self._of_language(code), part)) for code, part in parts])
        if isinstance(text, Mapping | bytes) or not isinstance(text, Iterable):
            return self.of("")(text)  # type: ignore[arg-type]  # raises an error that says what is wrong
        done = (
            self._in_their_languages(one, do, join, running)
            if isinstance(one, str)
            else one
            if _is_missing(one)
            else do(self.of(""), one)  # raises an error that says what is wrong
            for one in text
        )
        return done if isinstance(text, Iterator) else list(done)

    def _of_language(self, code: str) -> Self:
        """The model of a language, made once; warns if it has not learned from this one."""
        if code not in self._of_code:
            self._of_code[code] = self.of(code)
            if code not in self.languages:
                warnings.warn(not_learned(code, self.languages), stacklevel=4)
        return self._of_code[code]

    @cached_property
    def _of_code(self) -> dict[str, Self]:
        """The models of languages that have been asked for."""
        return {}

    @cached_property
    def known_words(self) -> frozenset[str]:
        """The lower-cased words that the story and the parser know."""
        parser = self.parser
        of_parser = parser.vocabulary.forms if isinstance(parser, BiaffineParser) else ()
        return frozenset((*self.vocabulary.forms, *of_parser))

    def strangeness(self) -> Strangeness:
        """Judges whether a text is in another language."""
        return Strangeness(self.known_words if len(self.vocabulary.treebanks) == 1 else None)

    @cached_property
    def meant(self) -> Mapping[str, str]:
        """The model's mark for each mark that stands for it in a treebank: see `Treebank.with_marks`."""
        return self.conventions.meant(self.vocabulary.tokens)

    @cached_property
    def raw_reader(self) -> RawReader:
        """Splits lines of raw text into words and marks."""
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
        """Punctuation for raw words or trees (Li, Wang & Eisner 2019, section 6.1).

        Print the result with `pyropunct.text.raw_sentence.print_words`.

        :param sentences: the words of each sentence, which are parsed, or its tree.
        :param decoder: one of `pyropunct.restore.decoders.DECODERS`.
        :param samples: draws for each sentence.
        :param trees: the draws of a sentence are spread over at most this many parses.
        :param seed: equal seeds give equal results; by default torch draws a seed.
        :returns: for each sentence of n words the tokens of the slots 0..n.
        :raises MissingPartError: if there are raw words and the model has no parser.
        :raises TypeError: if a sentence is a string instead of a list of words.
        """
        with FORK_GUARD:
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
        """Draw the punctuation of a sentence of n words given evidence: p(x, T | words, evidence).

        :param sentence: its words, which are parsed, or its tree.
        :param known: for each of the slots 0..n its marks, None if unknown, or evidence, see
            `pyropunct.inference.machines.evidence`; the first token of slot 0 is the sentence start.
        :param hidden: marks that may be missing from slots with given marks; present ones are removed first.
        :param trees: average over at most this many parses.
        :param seed: equal seeds give equal draws; by default torch draws a seed.
        :returns: weighted draws; three quarters come from an improved proposal.
        :raises ValueError: if a hidden mark is unknown, or ``known`` does not have n + 1 slots.
        :raises ImpossibleSurfaceError: if the evidence is impossible; names the slot and the sentence.
        :raises MissingPartError: if there are raw words and the model has no parser.
        """
        [parses] = weighted_trees(self, [sentence], trees)
        if seed is None:
            seed = int(torch.randint(2**63 - 1, ()))
        evidence = evidence_about(self.vocabulary, known, hidden)
        draws = posterior_draws(self, parses, evidence, seed)
        for size in (samples // 4, samples - samples // 4):
            if size:
                posterior = draws.more(size)
        return posterior

    def of(self, language: str) -> Self:
        """The model of one language, by its code, out of a model of several.

        A language that it has not learned from gets what all of them have in common.  Sentences of a treebank
        have their own marks: give the model ``treebank.with_marks(model.meant)``.

        :raises MissingPartError: if it is no model of several languages.
        """
        if not self.languages:
            raise MissingPartError(f"the model is of one language, so that it has none called {language!r}")
        report = {name: value for name, value in self.report.items() if name != "languages"}
        counts = self.report.get("languages")
        if isinstance(counts, dict) and isinstance(own := counts.get(language), dict):
            report["trained_pairs"] = own.get("pairs")
        parsed = None if self.parsed is None else in_language(self.parsed, language)
        conventions = self.languages.get(language)
        if conventions is None:
            conventions = replace(
                self.conventions, quotes={**self.conventions.quotes, **MARKS_OF_SCRIPTS.get(language, {})}
            )
        found = in_language(self, language)
        return replace(found, report=report, parsed=parsed, conventions=conventions, languages={})

    @property
    def for_parsed(self) -> FittedStory:
        """The story for parser output: `parsed`, or the model itself."""
        return self if self.parsed is None else self.parsed

    def fitted_story(self, given: bool) -> FittedStory:
        """The story for given trees, or for parser output."""
        return self if given else self.for_parsed

    @property
    def pretrained(self) -> Pretrained | None:
        """The source of features of parsers or reader. Different ones raise a ValueError."""
        parsers: tuple[object, ...] = self.parser, self.mark_parser
        networks = [one for one in parsers if isinstance(one, TrainedWordNetwork)]
        found = [one.pretrained for one in networks if one.pretrained is not None]
        if any(one.identity() != found[0].identity() for one in found):
            raise ValueError("parts of the model were trained with different pretrained features of words")
        return found[0] if found else self._of_reader

    @property
    def reader_pretrained(self) -> Pretrained | None:
        """The reader's own source of features, an encoder with trained adapters, if not `pretrained`."""
        own, shared = self._of_reader, self.pretrained
        return None if own is None or shared is None or own.identity() == shared.identity() else own

    @property
    def reader_beside(self) -> RunningReader | None:
        """The reader beside the reader."""
        return None if self.reader is None else self.reader.beside

    @property
    def _of_reader(self) -> Pretrained | None:
        return None if self.reader is None else self.reader.pretrained

    def log_prob_over_trees(
        self, sentences: Sequence[Sentence], parses: Sequence[Sequence[WeightedTree]]
    ) -> Tensor:
        """(sentences,) log p(x | words), averaged over the trees of each sentence with weights p(T | words)::

            p(x | words) = sum over T of p(T | words) p(x | T)

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
        """Write the model to a file, atomically.

        Log-linear weights near zero are dropped and the others rounded (`pyropunct.models.attach.pruning`),
        and the syntax model is saved in single precision.  This changes the sixth digit of the perplexity.
        Saving a loaded model again changes nothing.  Weights with `scales` are kept.

        :param path: ``.safetensors`` is appended if missing.
        :param small: round more, see `pyropunct.models.attach.pruning.rounded` and
            `pyropunct.fitted.small_tensors.rounded_rows`.  The zipped file is a quarter of the size, and the
            fourth digit of the perplexity changes.
        :raises ModelFileError: if the file exists and is not a model, if it cannot be written, or as
            `to_parts` does.
        :raises ValueError: as `pretrained` does.
        """
        write_model_file(path, *self.to_parts(small=small))

    def to_parts(self, *, small: bool = False) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """The model as plain JSON types and tensors, for `from_parts`; see `save`.

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
        if self.languages:
            plain["languages"] = {code: one.to_json() for code, one in self.languages.items()}
        tensors = story_tensors(self.story, small)
        if self.slot_strings is not None:
            plain["slot_strings"] = self.slot_strings.to_json()
        if self.parsed is not None:
            pairs = self.parsed.vocabulary.to_json()["pairs"]
            plain["parsed"] = {"pairs": pairs, "report": dict(self.parsed.report)}
            if self.parsed.recipe != self.recipe.changed(**OF_PARSED):  # as without trees of a parser
                plain["parsed"]["recipe"] = self.parsed.recipe.to_json()
            tensors |= parsed_tensors(self.parsed.story, small)
        networks: dict[str, Any] = {name: getattr(self, name) for name in NETWORKS}
        for name, network in networks.items():
            if network is not None:
                plain[name], weights = network.to_parts()
                tensors |= network_tensors(name, weights, small)
        if self.tagger is not None:
            plain["tagger"] |= {"share": self.share, "reader_share": self.reader_share}
        return plain, tensors

    @classmethod
    def load(cls, path: str | Path, *, variants: Trusted = (), encoder: str | Path | None = None) -> Self:
        """Read a model that `save` wrote.  No code named in the file is run.

        The file does not contain a pretrained encoder.  The encoder is opened when it is first needed.

        :param path: its file, ``.safetensors`` optional, or the name of a model that comes with the package.
        :param variants: attach models and channels outside the package, as ``module:Class``, that may be
            imported if the file names them (this runs their code); True allows all.
        :param encoder: where the encoder is now, see `pyropunct.nets.encoder.Encoder`; defaults to its place
            in training.
        :raises ModelFileError: if the file is missing, damaged, or not a model of this program.
        :raises MissingPartError: if ``encoder`` is given, but the model uses none.
        :raises VariantError: if it names a class outside the package that is not in ``variants``, or an
            attach model or channel that cannot be found.
        """
        return cls.from_parts(read_parts(path, variants, encoder))

    @classmethod
    def from_parts(cls, parts: SavedParts) -> Self:
        """The model that `to_parts` took apart. Raises ValueError as `load` does."""
        return cls(**model_fields(parts))


def _joined_texts(parts: Parts) -> str:
    return "".join(text for _, text in parts)


def _joined_words(parts: Parts) -> list[Word]:
    """The words of a text, with their offsets in it."""
    words, first = list[Word](), 0
    for size, found in parts:
        words += [word._replace(start=word.start + first, end=word.end + first) for word in found]
        first += size
    return words


def _is_missing(text: object) -> bool:
    """Whether a table has no text there: None, NaN, which differs from itself, or pandas' NA."""
    try:
        return text is None or bool(text != text)
    except TypeError:  # nobody knows whether NA differs from NA
        return True


def load(
    model: str | Path = DEFAULT,
    *,
    variants: Trusted = (),
    encoder: str | Path | None = None,
    language: str | None = None,
    **settings: Any,
) -> Punctuator:
    """Load a model that punctuates text: one of the package by its name, or a file.

    :param variants: see `Punctuator.load`.
    :param encoder: see `Punctuator.load`.
    :param language: the language of all texts, for a model of several: see `Punctuator.of`.  By default it is
        found for each line, or paragraph of running text.
    :param settings: defaults for restoring text, fields of `RestoreSettings`.
    :raises ModelFileError: if there is no such model, or it is damaged.
    :raises MissingPartError: if ``language`` is given for a model of one language.
    :raises TypeError: if a setting is unknown.
    :raises SettingError: as `Punctuator.__call__` does.
    """
    chosen = _changed("load", RestoreSettings(), settings, ("variants", "encoder", "language"))
    loaded = replace(Punctuator.load(model, variants=variants, encoder=encoder), settings=chosen)
    return loaded if language is None else loaded.of(language)


def _changed(
    call: str, defaults: RestoreSettings, settings: Mapping[str, Any], others: Sequence[str] = ()
) -> RestoreSettings:
    """Settings of a call; `others` are its other parameters.  Unknown ones raise `TypeError`."""
    known = [*others, *(one.name for one in fields(defaults))]
    for name in settings:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"the nearest is {near[0]!r}" if near else f"it has {', '.join(known)}"
            raise TypeError(f"{call}() has no setting {name!r} ({hint})")
    return replace(defaults, **settings)
