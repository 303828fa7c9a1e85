"""A fitted model: a fitted story, and the networks that find trees and marks where only words are given."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor

from pyropunct.fitted.model_file import ModelFileError, NoModelError, read_model_file, write_model_file
from pyropunct.fitted.registry import Trusted, UnknownVariantError, require_trusted
from pyropunct.fitted.saved_parts import (
    OF_ATTACH,
    inside,
    network_tensors,
    parsed_story,
    parsed_tensors,
    require_parts,
    saved_network,
    saved_story,
    saved_tagger,
    story_tensors,
)
from pyropunct.fitted.slot_strings import SlotStrings
from pyropunct.fitted.story import FittedStory
from pyropunct.nets.networks import TrainedWordNetwork
from pyropunct.nets.parser import BiaffineParser, Parser, WeightedTree
from pyropunct.nets.pretrained import Pretrained, PretrainedError, remembered
from pyropunct.nets.reader import RunningReader
from pyropunct.nets.tagger import SlotTagger, log_mixture
from pyropunct.nets.tuning import pretrained_from
from pyropunct.shipped import lacking, place_of
from pyropunct.treebank.conventions import Conventions
from pyropunct.treebank.sentence import Sentence


class Parts(NamedTuple):
    """What the file of a model or of a corrector holds, and what may be done with it.

    :ivar path: the file, for messages.
    :ivar plain: the description, in plain JSON types.
    :ivar tensors: all tensors, by part and name.
    :ivar variants: see `FittedModel.load`.
    :ivar encoder: see `FittedModel.load`.
    """

    path: str | Path
    plain: Mapping[str, Any]
    tensors: Mapping[str, Tensor]
    variants: Trusted = ()
    encoder: str | Path | None = None


@dataclass(frozen=True, repr=False)
class FittedModel(FittedStory):
    """A fitted story with the networks that a model file keeps beside it: p(x | words).

    :ivar conventions: how the training treebank writes, for printing restored punctuation.
    :ivar parser: the parser of raw words, None if there is none.
    :ivar mark_parser: the parser of words `pyropunct.nets.words.with_marks`, None if there is none: see
        `pyropunct.tasks.explain.punctuated_trees`.
    :ivar reader: the reader of running text, None if there is none.
    :ivar parsed: the story trained on trees that parsers have found, for such trees: see
        `pyropunct.train.parsed_trees`.  None if there is no such story.
    :ivar tagger: the tagger of words that is mixed with p(x | T) where a parser has found T, None if there is
        none: see `pyropunct.train.tagged_words`.
    :ivar share: the weight of the tagger in this mixture, from 0 to 1.
    """

    conventions: Conventions = field(default_factory=Conventions)
    parser: Parser | None = None
    mark_parser: BiaffineParser | None = None
    reader: RunningReader | None = None
    parsed: FittedStory | None = None
    tagger: SlotTagger | None = None
    share: float = 0.0

    @property
    def for_parsed(self) -> FittedStory:
        """The model for trees that a parser has found: `parsed`, else the model itself."""
        return self if self.parsed is None else self.parsed

    @property
    def pretrained(self) -> Pretrained | None:
        """The source of the pretrained features that parser, reader and attach model read, None without any.

        :raises ValueError: if they read features of different sources.
        """
        networks = [
            one for one in (self.parser, self.mark_parser, self.reader) if isinstance(one, TrainedWordNetwork)
        ]
        sources = [self.attach_pretrained, *(one.pretrained for one in networks)]
        found = [one for one in sources if one is not None]
        if any(one.identity() != found[0].identity() for one in found):
            raise ValueError("parts of the model were trained with different pretrained features of words")
        return found[0] if found else None

    def log_prob_over_trees(
        self, sentences: Sequence[Sentence], parses: Sequence[Sequence[WeightedTree]]
    ) -> Tensor:
        """log p(x | words) of the punctuation of each sentence, in natural logarithms.

        It is averaged over the trees, and with a `tagger` it is the mixture of both::

            p(x | words) = (1 - share) sum over T of p(T | words) p(x | T)  +  share p(x | words, tagger)

        Where trees are given, the tagger is left out.

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
        for given, model in ((True, self), (False, self.for_parsed)):
            places = [place for place, (_, one) in enumerate(flat) if one.given == given]
            if places:
                joint[places] += model.log_prob([flat[place][0] for place in places]).cpu()
        sizes = [len(trees) for trees in parses]
        found = torch.stack([part.logsumexp(0) for part in joint.split(sizes)])
        places = [place for place, trees in enumerate(parses) if not trees[0].given]
        if self.tagger is not None and places:
            some = [sentences[place] for place in places]
            of_words = self.tagger.log_prob([one.tree.forms for one in some], [one.surface for one in some])
            found[places] = log_mixture(found[places], of_words, self.share)
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
        pretrained = self.pretrained
        plain = {
            "vocabulary": self.vocabulary.to_json(),
            "recipe": self.recipe.to_json(),
            "report": dict(self.report),
            "conventions": self.conventions.to_json(),
        }
        if self.slot_strings is not None:
            plain["slot_strings"] = self.slot_strings.to_json()
        tensors = story_tensors(self.story, small)
        if self.parsed is not None:
            pairs = self.parsed.vocabulary.to_json()["pairs"]
            plain["parsed"] = {"pairs": pairs, "report": dict(self.parsed.report)}
            tensors |= parsed_tensors(self.parsed.story, small)
        if self.parser is not None:
            if not isinstance(self.parser, BiaffineParser):
                kind = type(self.parser).__name__
                raise ModelFileError(f"a model cannot be saved with a parser of the kind {kind}")
            plain["parser"], weights = self.parser.to_parts()
            tensors |= network_tensors("parser", weights, small)
        for part, network in (("mark_parser", self.mark_parser), ("reader", self.reader)):
            if network is not None:
                plain[part], weights = network.to_parts()
                tensors |= network_tensors(part, weights, small)
        if self.attach_pretrained is not None:
            plain["attach"] = {"pretrained": self.attach_pretrained.identity()}
        if pretrained is not None:
            plain["pretrained"], weights = pretrained.to_parts()
            tensors |= network_tensors("pretrained", weights, small)
        if self.tagger is not None:
            if self.tagger.parser is not self.parser:
                raise ModelFileError("the model's tagger reads the states of another parser")
            plain["tagger"], weights = self.tagger.to_parts()
            plain["tagger"]["share"] = self.share
            tensors |= network_tensors("tagger", weights, small)
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
    def from_parts(cls, parts: Parts) -> Self:
        """The model that `to_parts` took apart.

        :raises ValueError: as `load` does.
        """
        with refused_unless_whole(parts.path):
            recipe = parts.plain["recipe"]
            named = {"attach model": recipe["attach"], "channel": recipe["channel"]}
            require_trusted(parts.path, named, parts.variants)
            require_parts(parts.plain, parts.tensors)
            return cls._rebuilt(parts)

    @classmethod
    def _rebuilt(cls, parts: Parts) -> Self:
        plain, tensors = parts.plain, parts.tensors
        pretrained = pretrained_from(plain.get("pretrained"), inside("pretrained", tensors), parts.encoder)
        if pretrained is not None and "attach" in plain:
            pretrained = remembered(pretrained)  # parser and attach model read the same sentences
        story = saved_story(plain, tensors, pretrained)
        parser = saved_network(BiaffineParser, "parser", plain, tensors, pretrained)
        tagger, share = None, 0.0
        if "tagger" in plain:
            tagger, share = saved_tagger(plain["tagger"], inside("tagger", tensors), story.vocabulary, parser)
        if "slot_strings" in plain:
            story = replace(story, slot_strings=SlotStrings.from_json(plain["slot_strings"]))
        return cls(
            **vars(story),
            conventions=Conventions.from_json(plain["conventions"]),
            parser=parser,
            mark_parser=saved_network(BiaffineParser, "mark_parser", plain, tensors, pretrained),
            reader=saved_network(RunningReader, "reader", plain, tensors, pretrained),
            parsed=parsed_story(plain, tensors, pretrained) if "parsed" in plain else None,
            tagger=tagger,
            share=share,
        )


def read_parts(path: str | Path, variants: Trusted = (), encoder: str | Path | None = None) -> Parts:
    """The parts of a model, or of a model that comes with the package; see `FittedModel.load`.

    :raises ModelFileError: if the file is missing or damaged.
    """
    try:
        return Parts(path, *read_model_file(place_of(path), few=(OF_ATTACH,)), variants, encoder)
    except NoModelError as error:
        raise NoModelError(f"{error}{lacking(path)}") from None


@contextmanager
def refused_unless_whole(path: str | Path) -> Iterator[None]:
    """Raise `ModelFileError` for anything that goes wrong while a model is made from its parts."""
    try:
        yield
    except (UnknownVariantError, PretrainedError, ModelFileError):
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        kind = type(error).__name__
        raise ModelFileError(f"{path}: cannot be made a model again: {kind}: {error}") from error
