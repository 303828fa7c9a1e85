"""Trained networks over words, with what it takes to use them, as parts of a model folder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Self, TypeVar

from torch import Tensor, nn

from pyropunct.models.learned import filled
from pyropunct.nets.pretrained import Pretrained, check_same
from pyropunct.nets.recipes import NetworkRecipe
from pyropunct.nets.words import WordBatch, WordTypes

Vocabulary = TypeVar("Vocabulary", bound=WordTypes)
Recipe = TypeVar("Recipe", bound=NetworkRecipe)
Network = TypeVar("Network", bound=nn.Module)


@dataclass(frozen=True)
class TrainedNetwork(Generic[Vocabulary, Recipe, Network]):
    """A network that was trained.

    :ivar vocabulary: the types that it knows.
    :ivar recipe: how it was trained.
    :ivar network: gives the scores.
    :ivar report: what happened in training, in plain JSON types.
    :ivar pretrained: gives the pretrained features of words that the network reads, None if it reads none.
    :cvar what: what it is, for messages.
    :cvar kinds: the classes of the vocabulary, the recipe and the network.
    """

    what: ClassVar[str]
    kinds: ClassVar[tuple[type[WordTypes], type[NetworkRecipe], type[nn.Module]]]

    vocabulary: Vocabulary
    recipe: Recipe
    network: Network
    report: Mapping[str, Any]
    pretrained: Pretrained | None = None

    def encode(self, sentences: Sequence[Sequence[str]]) -> WordBatch:
        """Sentences as the network reads them, on its device."""
        return self.vocabulary.encode(sentences, self.pretrained).to(next(self.network.parameters()).device)

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """It as plain JSON types and tensors, as `pyropunct.fitted.model_file` writes them.

        Of `pretrained` there is only what it takes to know it again.
        """
        plain: dict[str, Any] = {
            "vocabulary": self.vocabulary.to_json(),
            "recipe": self.recipe.to_json(),
            "report": dict(self.report),
        }
        if self.pretrained is not None:
            plain["pretrained"] = self.pretrained.identity()
        return plain, dict(self.network.state_dict())

    @classmethod
    def from_parts(
        cls,
        plain: Mapping[str, Any],
        tensors: Mapping[str, Tensor],
        pretrained: Pretrained | None = None,
    ) -> Self:
        """What `to_parts` took apart.

        :param pretrained: what it was trained with.
        :raises ValueError: if these are not the parts of such a network.
        """
        vocabulary_type, recipe_type, network_type = cls.kinds
        try:
            vocabulary: Any = vocabulary_type.from_json(plain["vocabulary"])
            recipe: Any = recipe_type.from_json(plain["recipe"])
            check_same(pretrained, plain.get("pretrained"))
            size = 0 if pretrained is None else pretrained.size
            network: Any = filled(lambda: network_type(vocabulary, recipe, size), tensors)
            return cls(vocabulary, recipe, network, plain["report"], pretrained)
        except (LookupError, TypeError, ValueError, AttributeError, RuntimeError) as error:
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            raise ValueError(f"not the parts of {cls.what}: {reason}") from error
