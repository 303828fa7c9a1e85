"""The options of a comparison of systems that restore commas."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from pyropunct.compare.settings import ComparisonSettings, chosen, names_of
from pyropunct.limits import Count, NamesIn, Range

PLACE = "pyropunct.rivals.shieber_tao_2003"


@dataclass(frozen=True, kw_only=True)
class CommaSettings(ComparisonSettings):
    """The options of a comparison.

    :ivar models: compare only these models, such as 1,10c; by default all.
    :ivar smoothing: how the probabilities of rare events are estimated.
    :ivar least: words that training has fewer times count as one word, the unknown word.
    :ivar folds: with --fit: parse each of so many parts of TRAIN by parsers trained on the others.
    :ivar samples: draws of the posterior of a model of latent punctuation for each sentence.
    :raises SettingError: if a model is unknown.
    """

    models: Annotated[
        tuple[str, ...], names_of("pyropunct.rivals.shieber_tao_2003.models:MODELS", "model")
    ] = ()
    smoothing: Annotated[str, NamesIn(f"{PLACE}.smoothing:SMOOTHINGS")] = "witten-bell"
    least: Count = 3
    folds: Annotated[int, Range(2)] = 4
    samples: Count = 300
    TRAINING: ClassVar[tuple[str, ...]] = (*ComparisonSettings.TRAINING, "folds")

    def __post_init__(self) -> None:
        from pyropunct.rivals.shieber_tao_2003.models import MODELS  # slow to import

        super().__post_init__()
        object.__setattr__(self, "models", chosen(self.models or tuple(MODELS), tuple(MODELS), "model"))
