"""Trained networks, and how they are saved as plain JSON types and tensors."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Generic, Self, TypeVar

import torch
from torch import Tensor, nn

from pyropunct.models.learned import filled
from pyropunct.nets.pretrained import Pretrained, check_same
from pyropunct.nets.trainer import TrainingRecipe
from pyropunct.untrusted import untrusted

Vocabulary = TypeVar("Vocabulary")
Recipe = TypeVar("Recipe", bound=TrainingRecipe)
Network = TypeVar("Network", bound=nn.Module)


@dataclass(frozen=True)
class TrainedNetwork(ABC, Generic[Vocabulary, Recipe, Network]):
    """A network and everything that its use needs.

    A subclass adds one field, the source of the features that the network reads.

    :ivar vocabulary: a dataclass of plain types with a class method ``from_json``.
    :ivar report: the course of training, in plain JSON types.
    :cvar kinds: the classes of vocabulary, recipe and network.  The network is constructed from a vocabulary,
        a recipe and the size of its input features.
    """

    what: ClassVar[str]
    kinds: ClassVar[tuple[Any, Any, Any]]

    vocabulary: Vocabulary
    recipe: Recipe
    network: Network
    report: Mapping[str, Any]

    @classmethod
    @abstractmethod
    def features_of(cls, source: Any) -> int:
        """The size of the features that a source gives of each word."""

    @classmethod
    def untrained(cls, vocabulary: Vocabulary, recipe: Recipe, source: Any = None) -> Self:
        """A network with initial weights, which reads the features of ``source``."""
        return cls._of(vocabulary, recipe, cls._network(vocabulary, recipe, source), {}, source)

    @property
    def device(self) -> torch.device:
        """The device of its weights."""
        return next(self.network.parameters()).device

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Its parts as plain JSON types and tensors, without the source of its features."""
        parts: dict[str, Any] = {"vocabulary": self.vocabulary, "recipe": self.recipe}
        plain = {name: asdict(part) for name, part in parts.items()}
        return {**plain, "report": dict(self.report)}, dict(self.network.state_dict())

    @classmethod
    def from_parts(cls, plain: Mapping[str, Any], tensors: Mapping[str, Tensor], source: Any = None) -> Self:
        """The network that `to_parts` took apart; raises `ValueError` if a part is missing or damaged."""
        vocabulary_type, recipe_type, _ = cls.kinds
        with untrusted(f"not the parts of {cls.what}"):
            vocabulary = vocabulary_type.from_json(plain["vocabulary"])
            recipe = recipe_type.from_json(plain["recipe"])
            network = filled(lambda: cls._network(vocabulary, recipe, source), tensors)
            return cls._of(vocabulary, recipe, network.eval(), plain["report"], source)

    @classmethod
    def _network(cls, vocabulary: Any, recipe: Any, source: Any) -> Any:
        return cls.kinds[2](vocabulary, recipe, cls.features_of(source))

    @classmethod
    def _of(cls, *fields: Any) -> Self:
        return cls(*fields)


@dataclass(frozen=True)
class TrainedWordNetwork(TrainedNetwork[Vocabulary, Recipe, Network]):
    """A network that reads words, and pretrained features of words unless ``pretrained`` is None."""

    pretrained: Pretrained | None = None

    @classmethod
    def features_of(cls, source: Pretrained | None) -> int:
        """The size of the pretrained features of a word, 0 without them."""
        return 0 if source is None else source.size

    def encode(self, sentences: Sequence[Sequence[str]]) -> Any:
        """Sentences as the network reads them, on its device."""
        vocabulary: Any = self.vocabulary
        return vocabulary.encode(sentences, self.pretrained).to(self.device)

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """See `TrainedNetwork.to_parts`; only the identity of the pretrained features is kept."""
        plain, tensors = super().to_parts()
        if self.pretrained is not None:
            plain["pretrained"] = self.pretrained.identity()
        return plain, tensors

    @classmethod
    def from_parts(
        cls, plain: Mapping[str, Any], tensors: Mapping[str, Tensor], source: Pretrained | None = None
    ) -> Self:
        """See `TrainedNetwork.from_parts`; the pretrained features must have the identity of training."""
        check_same(source, plain.get("pretrained"))
        return super().from_parts(plain, tensors, source)
