"""The kinds of taggers, and how saved taggers are read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from pyropunct.fitted.model_file import ModelFileError, read_model_file
from pyropunct.models.learned import check_buffers, filled
from pyropunct.nets.pretrained import Pretrained, check_same
from pyropunct.nets.sources import pretrained_from
from pyropunct.nets.tagger.labels import Labels, Spelling
from pyropunct.rivals.taggers.attention import BiGRUAttention
from pyropunct.rivals.taggers.crf import BiLSTMCRF
from pyropunct.rivals.taggers.recipes import RivalRecipe
from pyropunct.rivals.taggers.rival import PRETRAINED, Rival
from pyropunct.rivals.taggers.words import WordVocabulary

RIVALS: dict[str, type[Rival]] = {variant.kind: variant for variant in (BiLSTMCRF, BiGRUAttention)}
"""The taggers by kind."""


def rival_class(kind: str) -> type[Rival]:
    """The class of a kind of tagger.

    :raises ValueError: if there is none.
    """
    if kind not in RIVALS:
        raise ValueError(f"no tagger is called {kind!r}: take {' or '.join(sorted(RIVALS))}")
    return RIVALS[kind]


def from_parts(
    plain: Mapping[str, Any], tensors: Mapping[str, Tensor], pretrained: Pretrained | None = None
) -> Rival:
    """The tagger that `Rival.to_parts` took apart.

    :param pretrained: gives features of words, if it was trained with such; by default what it was trained
        with is looked for where it was.
    :raises ValueError: if these are not the parts of a tagger.
    """
    try:
        words = WordVocabulary.from_json(plain["vocabulary"]["words"])
        labels = Labels.from_json(plain["vocabulary"]["labels"])
        recipe = RivalRecipe.from_json(plain["recipe"])
        variant = rival_class(plain["recipe"]["tagger"])
        weights = {name: tensor for name, tensor in tensors.items() if not name.startswith(PRETRAINED)}
        others = {name.removeprefix(PRETRAINED): tensors[name] for name in tensors.keys() - weights.keys()}
        described = pretrained_from(plain.get("pretrained"), others)
        if pretrained is None:
            pretrained = described
        check_same(pretrained, None if described is None else described.identity())
        tagger = filled(lambda: variant(words, labels, Spelling(labels), recipe, pretrained), weights)
        check_buffers(tagger)
        tagger.report = plain["report"]
    except (LookupError, TypeError, AttributeError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"this is no tagger: {type(error).__name__}: {reason}") from error
    return tagger.eval()


def load_rival(folder: str | Path, pretrained: Pretrained | None = None) -> Rival:
    """Read a tagger that `Rival.save` wrote.  No code in the folder is ever run.

    :param pretrained: see `from_parts`.
    :raises ModelFileError: if the folder is missing or damaged, or does not hold a tagger of this program.
    """
    parts = read_model_file(Path(folder))
    try:
        return from_parts(*parts, pretrained)
    except ValueError as error:
        raise ModelFileError(f"{folder}: {error}") from error
