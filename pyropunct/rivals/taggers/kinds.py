"""The kinds of rivals, and how saved rivals are read."""

from pathlib import Path

from pyropunct.fitted.model_file import ModelFileError, read_model_file
from pyropunct.nets.pretrained import Pretrained
from pyropunct.rivals.taggers.attention import BiGRUAttention
from pyropunct.rivals.taggers.crf import BiLSTMCRF
from pyropunct.rivals.taggers.rival import Rival

RIVALS: dict[str, type[Rival]] = {rival.kind: rival for rival in (BiLSTMCRF, BiGRUAttention)}
"""The rivals by kind."""


def rival_class(kind: object) -> type[Rival]:
    """The class of a kind of rival.

    :raises ValueError: if there is no such kind.
    """
    if not isinstance(kind, str) or kind not in RIVALS:
        raise ValueError(f"no rival is called {kind!r}: take {' or '.join(sorted(RIVALS))}")
    return RIVALS[kind]


def load_rival(path: str | Path, pretrained: Pretrained | None = None) -> Rival:
    """Read a rival that `Rival.save` wrote.  No code in the file is ever run.

    :param pretrained: gives the features of words that it read in training, if any.
    :raises ModelFileError: if the file is missing or damaged, or does not hold a rival of this program.
    """
    plain, tensors = read_model_file(Path(path))
    try:
        return rival_class(dict(plain["recipe"]).get("kind")).from_parts(plain, tensors, pretrained)
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"{path}: {error}") from error
