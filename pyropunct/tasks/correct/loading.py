"""Reading correctors of either kind."""

from pathlib import Path

from pyropunct.files import real, recover
from pyropunct.fitted.registry import Trusted
from pyropunct.tasks.correct.correcting import Corrector
from pyropunct.tasks.correct.noisy_channel import NoisyChannel
from pyropunct.tasks.correct.system import PARTS, Correcting


def load_corrector(
    folder: str | Path, *, variants: Trusted = (), encoder: str | Path | None = None
) -> Correcting:
    """Read a corrector that was saved, or a model that comes with the package.

    :param variants: see `pyropunct.punctuator.Punctuator.load`.
    :param encoder: likewise.
    :raises ModelFileError: if the folder is missing or damaged, or is no corrector of this program.
    """
    place = Path(folder)
    recover(real(place))
    if place.is_dir() and any((place / name).is_dir() for name in PARTS):
        return Corrector.load(folder, variants=variants, encoder=encoder)
    return NoisyChannel.load(folder, variants=variants, encoder=encoder)
