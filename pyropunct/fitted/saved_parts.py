"""Converts the parts of a model (the story and the networks) to tensors and back.

A tensor is called ``PART/NAME``; the story for parser output is the part ``parsed`` with its own parts.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from torch import Tensor

from pyropunct.files import digest_of
from pyropunct.fitted.evaluation import SlotStrings
from pyropunct.fitted.model_file import ModelFileError, NoModelError, read_model_file
from pyropunct.fitted.recipes import Recipe
from pyropunct.fitted.small_tensors import rounded_rows
from pyropunct.fitted.stories import SYNTAX_TABLE, blank_story, require_syntax_table, settle_story
from pyropunct.fitted.story import FittedStory
from pyropunct.fitted.variants import Trusted, UnknownVariantError, require_trusted
from pyropunct.models.attach.log_linear import LogLinearAttach
from pyropunct.models.attach.pruning import pruned, rounded
from pyropunct.models.learned import check_buffers, fixed_names, learned_scales, learned_values
from pyropunct.models.story import Story
from pyropunct.models.syntax import HeadOutward
from pyropunct.models.trust import Trust
from pyropunct.nets.adapters import pretrained_from
from pyropunct.nets.networks import TrainedNetwork
from pyropunct.nets.parser import BiaffineParser
from pyropunct.nets.pretrained import Pretrained, PretrainedError
from pyropunct.nets.reader import RunningReader
from pyropunct.nets.tagger import SlotTagger
from pyropunct.shipped import lacking, place_of, shipped_models
from pyropunct.text.conventions import Conventions
from pyropunct.vocabulary import Vocabulary

STORY = frozenset({"story", "scales"})
"""The parts of the story: its values and all else that is fixed, and standard deviations of values."""

PARTS = ("parser", "mark_parser", "reader", "pretrained", "reader_pretrained", "parsed", "tagger", "writer")
"""The other parts of a model that may have tensors; ``writer`` is that of a corrector."""

NEURAL = "neural"
"""An attach model of earlier versions, which had networks that read words."""

NETWORKS = ("parser", "mark_parser", "reader", "pretrained", "reader_pretrained", "tagger")
"""Those that are fields of a model and take themselves apart."""

OF_SYNTAX = "story/syntax."
"""The prefix of the names of the syntax model's tensors, which given and parsed trees share."""

OF_READING = "reading."
"""How the names of the weights begin with which a story reads."""

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


def read_parts(path: str | Path, variants: Trusted = (), encoder: str | Path | None = None) -> SavedParts:
    """Read the parts of a model file; see `pyropunct.Punctuator.load`."""
    try:
        plain, tensors = read_model_file(place_of(path), few=(OF_ATTACH,))
    except NoModelError as error:
        raise NoModelError(f"{error}{lacking(path)}") from None
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
    kept = {name: tensor for name, tensor in shared.items() if name.partition("/")[0] not in plain}
    return {**of_base, **plain}, {**kept, **tensors}


def further_parts(parts: SavedParts, base: str) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The parts that a file needs beyond those of the packaged model named ``base``."""
    plain = {name: parts.plain[name] for name in NETWORKS if name in parts.plain}
    own = {
        name: tensor
        for name, tensor in parts.tensors.items()
        if name.partition("/")[0] in NETWORKS or name.startswith(f"parsed/story/{OF_READING}")
    }
    return {**plain, "base": base, "base_checksum": digest_of(place_of(base))}, own


def inside(part: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of a part, without its prefix."""
    start = f"{part}/"
    return {name.removeprefix(start): tensor for name, tensor in tensors.items() if name.startswith(start)}


def within(part: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors with the prefix of their part."""
    return {f"{part}/{name}": tensor for name, tensor in tensors.items()}


def model_fields(parts: SavedParts) -> dict[str, Any]:
    """The fields of the saved `pyropunct.Punctuator`; raises the same errors as its ``load``."""
    plain, tensors = parts.plain, parts.tensors
    try:
        named = {"attach model": plain["recipe"]["attach"], "channel": plain["recipe"]["channel"]}
        if named["attach model"] == NEURAL or "attach" in plain:
            raise ModelFileError(
                f"{parts.path}: its attach model is {named['attach model']!r} and reads words by networks, "
                "which only earlier versions can do: fit the model again"
            )
        require_trusted(parts.path, named, parts.variants)
        for part in sorted({name.partition("/")[0] for name in tensors} - STORY):
            if part not in PARTS or part not in plain:
                raise ValueError(f"there are tensors of {part!r}, but no description of it")
        pretrained = pretrained_from(plain.get("pretrained"), inside("pretrained", tensors), parts.encoder)
        of_reader, own = pretrained, "reader_pretrained"
        if own in plain:
            of_reader = pretrained_from(plain[own], inside(own, tensors), parts.encoder)
        fields: dict[str, Any] = dict(vars(saved_story(plain, tensors)))
        fields["parser"] = saved_network(BiaffineParser, "parser", plain, tensors, pretrained)
        tagger, share = None, 0.0
        if "tagger" in plain:
            weights = inside("tagger", tensors)
            tagger, share = saved_tagger(plain["tagger"], weights, fields["vocabulary"], fields["parser"])
        parsed = parsed_story(plain, tensors) if "parsed" in plain else None
        if parsed is not None and parsed.story.reading is not None and tagger is None:
            raise ValueError("the story for parsed trees reads a tagger, but there is none")
        if "slot_strings" in plain:
            fields["slot_strings"] = SlotStrings.from_json(plain["slot_strings"])
        return fields | {
            "conventions": Conventions.from_json(plain["conventions"]),
            "mark_parser": saved_network(BiaffineParser, "mark_parser", plain, tensors, pretrained),
            "reader": saved_network(RunningReader, "reader", plain, tensors, of_reader),
            "parsed": None if parsed is None else replace(parsed, tagger=tagger),
            "tagger": tagger,
            "share": share,
        }
    except (UnknownVariantError, PretrainedError, ModelFileError):
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        kind = type(error).__name__
        raise ModelFileError(f"{parts.path}: its parts do not make a model: {kind}: {error}") from error


def story_tensors(story: Story, small: bool) -> dict[str, Tensor]:
    """The saved tensors of a fitted story; ``small`` as for `pyropunct.Punctuator.save`."""
    state, scales = story.state_dict(), learned_scales(story)
    if isinstance(story.syntax, HeadOutward):
        state[SYNTAX_TABLE] = state[SYNTAX_TABLE].float().double()
    if isinstance(story.attach, LogLinearAttach) and not scales:
        left = rounded(story.attach) if small else pruned(story.attach)
        state |= {f"attach.{name}": tensor for name, tensor in left._asdict().items()}
    names = [*learned_values(story), *sorted(fixed_names(story))]
    return within("story", {name: state[name].to_dense() for name in names}) | within("scales", scales)


def saved_story(plain: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> FittedStory:
    """The story of a model file; raises `ValueError` if description and tensors do not fit."""
    if not isinstance(plain["report"], dict):
        raise ValueError("the report is no object")
    vocabulary = Vocabulary.from_json(plain["vocabulary"])
    recipe = Recipe.from_json(plain["recipe"])
    learned, scales = inside("story", tensors), inside("scales", tensors)
    require_syntax_table(learned, vocabulary)
    story = blank_story(vocabulary, recipe)
    if any(name.startswith(OF_READING) for name in learned):
        story.reading = Trust(vocabulary.inventory)
    fixed = {name: learned.pop(name) for name in fixed_names(story) & learned.keys()}
    settle_story(story, fixed, learned, scales)
    check_buffers(story)
    for name, scale in scales.items():
        if not bool((scale > 0).all()):
            raise ValueError(f"the scale of {name} is not above zero everywhere")
    return FittedStory(vocabulary, recipe, story, plain["report"])


def parsed_story(plain: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> FittedStory:
    """The story for parser output, which shares all but pairs and weights with the model's story."""
    vocabulary = {**plain["vocabulary"], "pairs": plain["parsed"]["pairs"]}
    recipe = {
        **plain["recipe"],
        "economy_weight": 0.0,
        "parts": False,
    }  # as `pyropunct.train.parser_output.fit_parsed` trains it
    parsed = {**plain, "vocabulary": vocabulary, "recipe": recipe, "report": plain["parsed"]["report"]}
    shared = {name: tensor for name, tensor in tensors.items() if name.startswith(OF_SYNTAX)}
    return saved_story(parsed, shared | inside("parsed", tensors))


def parsed_tensors(story: Story, small: bool) -> dict[str, Tensor]:
    """The saved tensors of the story for parser output that it does not share."""
    tensors = story_tensors(story, small).items()
    return within("parsed", {name: one for name, one in tensors if not name.startswith(OF_SYNTAX)})


def saved_tagger(
    plain: Mapping[str, Any],
    weights: Mapping[str, Tensor],
    vocabulary: Vocabulary,
    parser: BiaffineParser | None,
) -> tuple[SlotTagger, float]:
    """The tagger of a model, and its share; raises `ValueError` if the parser or the marks do not fit."""
    if parser is None:
        raise ValueError("there is a tagger, but no parser whose states it reads")
    tagger, share = SlotTagger.from_parts(plain, weights, parser), plain["share"]
    tagger.vocabulary.labels.require_marks(vocabulary.tokens)
    if not isinstance(tagger.report, dict):
        raise ValueError("the report of the tagger is no object")
    if type(share) not in (int, float) or not 0 <= share <= 1:
        raise ValueError(f"the share of the tagger is {share!r}, not a number from 0 to 1")
    return tagger, float(share)


def saved_network(
    kind: type[Network],
    part: str,
    plain: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    pretrained: Pretrained | None,
) -> Network | None:
    """A network of a model file, None if the file lacks it."""
    if part not in plain:
        return None
    features = pretrained if "pretrained" in plain[part] else None
    return kind.from_parts(plain[part], inside(part, tensors), features)


def network_tensors(part: str, weights: Mapping[str, Tensor], small: bool) -> dict[str, Tensor]:
    """The saved weights of a network; ``small`` as for `pyropunct.Punctuator.save`."""
    return within(part, {name: rounded_rows(one) if small else one for name, one in weights.items()})
