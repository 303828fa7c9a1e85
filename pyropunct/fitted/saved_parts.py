"""The parts of a model folder: its story, and the networks beside it, as JSON and tensors and back."""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

from torch import Tensor

from pyropunct.fitted.recipes import Recipe
from pyropunct.fitted.small_tensors import rounded_rows
from pyropunct.fitted.stories import blank_story, settle_story
from pyropunct.models.attach.log_linear import LogLinearAttach
from pyropunct.models.attach.pruning import pruned, rounded
from pyropunct.models.learned import check_buffers, fixed_names, learned_scales, learned_values
from pyropunct.models.story import Story
from pyropunct.models.syntax import HeadOutward
from pyropunct.nets.parser import BiaffineParser
from pyropunct.nets.pretrained import Pretrained, check_same
from pyropunct.nets.tagger import SlotTagger
from pyropunct.nets.trained import TrainedNetwork
from pyropunct.vocabulary import Vocabulary

PARTS = ("parser", "reader", "pretrained", "parsed", "tagger")
"""What a model folder may have tensors of, besides the story."""

Network = TypeVar("Network", bound=TrainedNetwork[Any, Any, Any])


class SavedStory(NamedTuple):
    """A story from a model folder.

    :ivar vocabulary: what it was made for.
    :ivar recipe: how it was trained.
    :ivar story: the story, in evaluation mode.
    :ivar report: how training went.
    :ivar attach_pretrained: gives features of words that its attach model reads, if it reads such.
    """

    vocabulary: Vocabulary
    recipe: Recipe
    story: Story
    report: Mapping[str, Any]
    attach_pretrained: Pretrained | None


def story_tensors(story: Story, small: bool) -> dict[str, Tensor]:
    """The tensors of a fitted story that are saved, by the kind and the name of each.

    :param small: whether to round much, see `pyropunct.models.attach.pruning.rounded`.
    """
    state, parameters = story.state_dict(), dict(story.named_parameters())
    scales = learned_scales(story)
    if isinstance(story.syntax, HeadOutward):
        state["syntax.probabilities"] = state["syntax.probabilities"].float().double()
    if isinstance(story.attach, LogLinearAttach) and not scales:
        left = rounded(story.attach) if small else pruned(story.attach)
        state |= {f"attach.{name}": tensor for name, tensor in left._asdict().items()}
    tensors = {f"value {name}": state[name] for name in learned_values(story)}
    tensors |= {f"scale {name}": scale for name, scale in scales.items()}
    for name in sorted(fixed_names(story)):
        tensors[f"{'parameter' if name in parameters else 'buffer'} {name}"] = state[name]
    return tensors


def saved_story(
    plain: Mapping[str, Any], kinds: Mapping[str, Mapping[str, Tensor]], pretrained: Pretrained | None
) -> SavedStory:
    """The story of a model folder.

    :param plain: its description.
    :param kinds: its tensors, see `by_kind`.
    :param pretrained: gives features of words, if some part of the model reads such.
    :raises ValueError: if description and tensors do not belong together.
    """
    if not isinstance(plain["report"], dict):
        raise ValueError("the report is no object")
    vocabulary = Vocabulary.from_json(plain["vocabulary"])
    recipe = Recipe.from_json(plain["recipe"])
    source = pretrained if "attach" in plain else None
    check_same(source, plain["attach"]["pretrained"] if "attach" in plain else None)
    story = blank_story(vocabulary, recipe, 0 if source is None else source.size)
    unseen = {name: tensor for name, tensor in story.state_dict().items() if name.startswith("syntax.words.")}
    fixed = {**unseen, **kinds["parameter"], **kinds["buffer"]}  # models of older versions have no words
    settle_story(story, fixed, kinds["value"], kinds["scale"])
    check_buffers(story)
    for name, scale in kinds["scale"].items():
        if not bool((scale > 0).all()):
            raise ValueError(f"the scale of {name} is not above zero everywhere")
    return SavedStory(vocabulary, recipe, story, plain["report"], source)


def parsed_story(
    plain: Mapping[str, Any], tensors: Mapping[str, Tensor], pretrained: Pretrained | None
) -> SavedStory:
    """The story for parsed trees, which shares all but its pairs and weights with that of the whole folder.

    :param plain: the description of the whole.
    :param tensors: all tensors.
    :raises ValueError: as `saved_story` does.
    """
    vocabulary = {**plain["vocabulary"], "pairs": plain["parsed"]["pairs"]}
    own = {"vocabulary": vocabulary, "recipe": plain["recipe"], "report": plain["parsed"]["report"]}
    if "attach" in plain:
        own["attach"] = plain["attach"]
    shared = {name: tensor for name, tensor in tensors.items() if _is_of_syntax(name)}
    return saved_story(own, by_kind(own, shared | by_kind(plain, tensors)["parsed"]), pretrained)


def parsed_tensors(story: Story, small: bool) -> dict[str, Tensor]:
    """The tensors of the story for parsed trees that are saved: all that it does not share."""
    own = story_tensors(story, small).items()
    return {f"parsed {name}": tensor for name, tensor in own if not _is_of_syntax(name)}


def by_kind(plain: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> dict[str, dict[str, Tensor]]:
    """The tensors of a model folder by their kinds: of the story itself, or of one of its `PARTS`.

    :param plain: its description.
    :param tensors: by the kind and the name of each.
    :raises ValueError: if there are tensors of a part that is not there.
    """
    kinds: dict[str, dict[str, Tensor]] = {
        name: {} for name in ("value", "scale", "parameter", "buffer", *PARTS)
    }
    for key, tensor in tensors.items():
        kind, _, name = key.partition(" ")
        kinds[kind][name] = tensor
    for part in PARTS:
        if kinds[part] and part not in plain:
            raise ValueError(f"there are tensors of the part {part!r}, but not the part")
    return kinds


def saved_tagger(
    plain: Mapping[str, Any],
    weights: Mapping[str, Tensor],
    vocabulary: Vocabulary,
    parser: BiaffineParser | None,
) -> tuple[SlotTagger, float]:
    """The tagger of a model folder, and its share.

    :raises ValueError: if there is no parser, it knows other marks than the model, or its share is none.
    """
    if parser is None:
        raise ValueError("there is a tagger, but no parser whose states it reads")
    tagger, share = SlotTagger.from_parts(plain, weights, parser), plain["share"]
    tagger.vocabulary.labels.require_marks(vocabulary.tokens)
    if not isinstance(tagger.report, dict):
        raise ValueError("the report of the tagger is no object")
    if type(share) not in (int, float) or not 0 <= share <= 1:
        raise ValueError(f"the share of the tagger is {share!r}, not a number from 0 to 1")
    return tagger, float(share)


def _is_of_syntax(name: str) -> bool:
    """Whether a tensor is one of the syntax model, which is the same for parsed trees as for given ones."""
    return name.partition(" ")[2].startswith("syntax.")


def saved_network(
    kind: type[Network],
    part: str,
    plain: Mapping[str, Any],
    tensors: Mapping[str, Mapping[str, Tensor]],
    pretrained: Pretrained | None,
) -> Network | None:
    """A network of a model folder, None if there is none; some networks read pretrained features."""
    if part not in plain:
        return None
    return kind.from_parts(plain[part], tensors[part], pretrained if "pretrained" in plain[part] else None)


def network_tensors(part: str, weights: Mapping[str, Tensor], small: bool) -> dict[str, Tensor]:
    """The weights of a network, as they are saved; see `pyropunct.Punctuator.save`."""
    return {f"{part} {name}": rounded_rows(one) if small else one for name, one in weights.items()}
