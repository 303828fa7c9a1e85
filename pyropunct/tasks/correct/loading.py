"""Reading correctors of either kind."""

from pathlib import Path

from pyropunct.fitted.model import read_parts
from pyropunct.fitted.registry import Trusted
from pyropunct.tasks.correct.correcting import Corrector
from pyropunct.tasks.correct.noisy_channel import NoisyChannel
from pyropunct.tasks.correct.system import Correcting


def load_corrector(
    path: str | Path, *, variants: Trusted = (), encoder: str | Path | None = None
) -> Correcting:
    """Read a corrector that was saved, or a model that comes with the package; see `Correcting.load`.

    :raises ModelFileError: if the file is missing or damaged, or is no corrector of this program.
    """
    plain, tensors = read_parts(path)
    kind: type[Correcting] = Corrector if "writer" in plain else NoisyChannel
    return kind.from_parts(path, plain, tensors, variants, encoder)
