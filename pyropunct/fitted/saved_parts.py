"""Takes a model (its stories and its networks) apart into plain JSON types and tensors, and puts it together.

A tensor is called ``PART/NAME``; the story for parser output is the part ``parsed`` with its own parts.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from torch import Tensor

from pyropunct.errors import ModelFileError
from pyropunct.files import digest_of
from pyropunct.fitted.evaluation import SlotStrings
from pyropunct.fitted.fitted_story import FittedStory
from pyropunct.fitted.model_file import read_model_file
from pyropunct.fitted.recipes import OF_PARSED
from pyropunct.fitted.small_tensors import rounded_rows
from pyropunct.fitted.stories import OF_READING, saved_story, story_tensors
from pyropunct.fitted.variants import Trusted, require_trusted
from pyropunct.models.story import Story
from pyropunct.nets.adapters import pretrained_from
from pyropunct.nets.networks import TrainedNetwork
from pyropunct.nets.parser import BiaffineParser
from pyropunct.nets.pretrained import Pretrained
from pyropunct.nets.reader import RunningReader
from pyropunct.nets.tagger import SlotTagger
from pyropunct.shipped import lacking, place_of, shipped_models
from pyropunct.text.conventions import Conventions
from pyropunct.text.marks import CLAUSE
from pyropunct.untrusted import untrusted
from pyropunct.vocabulary import SHOWS_CLAUSES, Vocabulary

STORY = frozenset({"story", "scales"})
"""The parts of the story: its values and all else that is fixed, and standard deviations of values."""

NEURAL = "neural"
"""An attach model of earlier versions, which had networks that read words."""

NETWORKS = ("parser", "mark_parser", "reader", "reader_beside", "pretrained", "reader_pretrained", "tagger")
"""The parts that are fields of a model and take themselves apart."""

OF_BASE = {"as": "reader"}
"""The description of a ``reader_beside`` that is the reader of the packaged model."""

PARTS = (*NETWORKS, "parsed", "writer")
"""All other parts of a model that may have tensors; ``writer`` is that of a corrector."""

OF_SYNTAX = "story/syntax."
"""The prefix of the names of the syntax model's tensors, which given and parsed trees share."""

OF_ATTACH = "story/attach.weights"
"""How the names of tensors end that may be sparse: of tens of millions of weights most are zero."""

Network = TypeVar("Network", bound=TrainedNetwork[Any, Any, Any])


class SavedParts(NamedTuple):
    """The description and tensors of a model file, and how to load it: see `pyropunct.Punctuator.load`."""

    path: str | Path
    plain: Mapping[str, Any]
    tensors: Mapping[str, Tensor]
    variants: Trusted = ()
    encoder: str | Path | None = None

    def inside(self, part: str) -> dict[str, Tensor]:
        """The tensors of a part, without its prefix."""
        start = f"{part}/"
        return {name.removeprefix(start): one for name, one in self.tensors.items() if name.startswith(start)}

    def source(self, part: str) -> Pretrained | None:
        """A source of pretrained features, None if the file lacks it; raises as `pretrained_from` does."""
        return pretrained_from(self.plain.get(part), self.inside(part), self.encoder)

    def network(self, kind: type[Network], part: str, source: Pretrained | None) -> Network | None:
        """A network, which may read features; None if the file lacks it."""
        if part not in self.plain:
            return None
        plain = self.plain[part]
        return kind.from_parts(plain, self.inside(part), source if "pretrained" in plain else None)

    def story(self) -> FittedStory:
        """The story; raises `ValueError` if description and tensors do not fit."""
        return saved_story(self.plain, self.inside("story"), self.inside("scales"))

    def for_parsed(self) -> "SavedParts":
        """The parts of the story for parser output, which shares all but pairs and weights with the other."""
        own = self.plain["parsed"]
        vocabulary = Vocabulary.from_json({**self.plain["vocabulary"], "pairs": own["pairs"]})
        recipe = own.get("recipe", {**self.plain["recipe"], **OF_PARSED})
        if not recipe["clauses"]:
            vocabulary = vocabulary.without_clauses()
        described = {"vocabulary": vocabulary.to_json(), "recipe": recipe, "report": own["report"]}
        shared = {name: tensor for name, tensor in self.tensors.items() if name.startswith(OF_SYNTAX)}
        return self._replace(plain={**self.plain, **described}, tensors=shared | self.inside("parsed"))

    def tagger(
        self, vocabulary: Vocabulary, parser: BiaffineParser | None
    ) -> tuple[SlotTagger | None, float, float]:
        """The tagger, or None, and the shares of networks; raises `ValueError` if a part does not fit."""
        if "tagger" not in self.plain:
            return None, 0.0, 0.0
        if parser is None:
            raise ValueError("there is a tagger, but no parser whose states it reads")
        plain = self.plain["tagger"]
        tagger = SlotTagger.from_parts(plain, self.inside("tagger"), parser)
        tagger.vocabulary.labels.require_marks(vocabulary.tokens)
        if not isinstance(tagger.report, dict):
            raise ValueError("the report of the tagger is no object")
        shares = plain["share"], plain.get("reader_share", 0.0)  # earlier versions had no second one
        for name, share in zip(("tagger", "reader"), shares, strict=True):
            if type(share) not in (int, float) or not 0 <= share <= 1:
                raise ValueError(f"the share of the {name} is {share!r}, not a number from 0 to 1")
        return tagger, float(shares[0]), float(shares[1])


def read_parts(path: str | Path, variants: Trusted = (), encoder: str | Path | None = None) -> SavedParts:
    """Read the parts of a model file; see `pyropunct.Punctuator.load`."""
    file = place_of(path)
    if not file.exists():
        raise ModelFileError(f"{file}: no such model{lacking(path)}")
    plain, tensors = read_model_file(file, few=(OF_ATTACH,))
    if "base" in plain:
        plain, tensors = _with_base(path, plain, tensors)
    return SavedParts(path, plain, tensors, variants, encoder)


def _with_base(
    path: str | Path, plain: Mapping[str, Any], tensors: Mapping[str, Tensor]
) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Add the parts of the packaged model that a file extends; raises `ModelFileError` if it has changed."""
    base = plain["base"]
    if base not in shipped_models() or digest_of(place_of(base)) != plain["base_checksum"]:
        raise ModelFileError(f"{path}: belongs to the model {base!r} of another version of the package")
    of_base, shared = read_model_file(place_of(base), few=(OF_ATTACH,))
    if plain.get("reader_beside") == OF_BASE:
        plain = {**plain, "reader_beside": of_base["reader"]}
        reader = SavedParts(path, of_base, shared).inside("reader")
        tensors = {**tensors, **within("reader_beside", reader)}
    kept = {name: tensor for name, tensor in shared.items() if name.partition("/")[0] not in plain}
    return {**of_base, **plain}, {**kept, **tensors}


def further_parts(parts: SavedParts, base: str) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The parts of a model that differ from the packaged model named ``base``, for a file that extends it."""
    plain = {name: parts.plain[name] for name in NETWORKS if name in parts.plain}
    of_base, _ = read_model_file(place_of(base), few=(OF_ATTACH,))
    both = plain.get("reader_beside"), of_base["reader"]
    beside, known = (json.dumps(one, sort_keys=True) for one in both)  # tuples and lists are the same
    shared = ["reader_beside"] if beside == known else []
    plain |= dict.fromkeys(shared, OF_BASE)
    own = {
        name: tensor
        for name, tensor in parts.tensors.items()
        if name.partition("/")[0] in {*NETWORKS}.difference(shared)
        or name.startswith(f"parsed/story/{OF_READING}")
    }
    return {**plain, "base": base, "base_checksum": digest_of(place_of(base))}, own


def model_fields(parts: SavedParts) -> dict[str, Any]:
    """The fields of the saved `pyropunct.Punctuator`; raises the same errors as its ``load``."""
    plain = parts.plain
    with untrusted(f"{parts.path}: its parts do not make a model", ModelFileError):
        named = {"attach model": plain["recipe"]["attach"], "channel": plain["recipe"]["channel"]}
        if named["attach model"] == NEURAL or "attach" in plain:
            raise ModelFileError(
                f"{parts.path}: its attach model is {named['attach model']!r} and reads words by networks, "
                "which only earlier versions can do: fit the model again"
            )
        if CLAUSE in plain["vocabulary"]["tokens"] and SHOWS_CLAUSES not in plain["vocabulary"]:
            raise ModelFileError(f"{parts.path}: was fitted by version 1.2 or earlier: fit the model again")
        require_trusted(parts.path, named, parts.variants)
        for part in sorted({name.partition("/")[0] for name in parts.tensors} - STORY):
            if part not in PARTS or part not in plain:
                raise ValueError(f"there are tensors of {part!r}, but no description of it")
        source = parts.source("pretrained")
        of_reader = parts.source("reader_pretrained") if "reader_pretrained" in plain else source
        story = parts.story()
        parser = parts.network(BiaffineParser, "parser", source)
        tagger, share, reader_share = parts.tagger(story.vocabulary, parser)
        parsed = parts.for_parsed().story() if "parsed" in plain else None
        if parsed is not None and parsed.story.reading is not None and tagger is None:
            raise ValueError("the story for parsed trees reads a tagger, but there is none")
        reader = parts.network(RunningReader, "reader", of_reader)
        if "reader_beside" in plain and reader is not None:
            reader = replace(reader, beside=parts.network(RunningReader, "reader_beside", None))
        strings = SlotStrings.from_json(plain["slot_strings"]) if "slot_strings" in plain else None
        return vars(story) | {
            "slot_strings": strings,
            "conventions": Conventions.from_json(plain["conventions"]),
            "languages": {
                code: Conventions.from_json(one) for code, one in plain.get("languages", {}).items()
            },
            "parser": parser,
            "mark_parser": parts.network(BiaffineParser, "mark_parser", source),
            "reader": reader,
            "parsed": None if parsed is None else replace(parsed, tagger=tagger),
            "tagger": tagger,
            "share": share,
            "reader_share": reader_share,
        }


def within(part: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors with the prefix of their part."""
    return {f"{part}/{name}": tensor for name, tensor in tensors.items()}


def network_tensors(part: str, weights: Mapping[str, Tensor], small: bool) -> dict[str, Tensor]:
    """The saved weights of a network; ``small`` as for `pyropunct.Punctuator.save`."""
    return within(part, {name: rounded_rows(one) if small else one for name, one in weights.items()})


def parsed_tensors(story: Story, small: bool) -> dict[str, Tensor]:
    """The saved tensors of the story for parser output that it does not share."""
    own = {name: one for name, one in story_tensors(story, small).items() if not name.startswith(OF_SYNTAX)}
    return within("parsed", own)
