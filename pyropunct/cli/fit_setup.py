"""What the command ``pyropunct fit`` begins with: a recipe, treebanks, features of words, and checkpoints."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyropunct.cli.frame import interrupts
from pyropunct.cli.loading import read_file
from pyropunct.embedded import embedded_treebank_path
from pyropunct.errors import FailureError, UserError
from pyropunct.files import remove_unwritten
from pyropunct.fitted.model_file import ModelFileError
from pyropunct.fitted.recipes import Recipe, SettingError, named_recipe, parsed_setting
from pyropunct.fitted.variants import check_of_use, with_options
from pyropunct.models.attach.templates import FAMILIES
from pyropunct.nets.encoder import Encoder
from pyropunct.nets.pretrained import Kept
from pyropunct.train.checkpoints import own_folder
from pyropunct.treebank.reading import Treebank, require_punctuation


class Checkpoints:
    """The checkpoints of a fit: one for each training that has begun.

    :param folder: where they are kept until the model is saved.
    :param resume: whether the fit goes on from those that are there.
    :ivar first: the checkpoint of the story; the others have endings.
    :raises UserError: if the fit is to go on, but none is there.
    """

    def __init__(self, folder: Path, resume: bool) -> None:
        self._folder, self._resume, self.first = folder, resume, folder / "checkpoint"
        if resume and not self._there():
            raise UserError(f"{folder}: there is nothing to resume")

    def _there(self) -> list[Path]:
        return sorted(self._folder.glob(f"{self.first.name}.*"))

    def _forget(self) -> None:
        """Delete the files, and those that a fit that was killed has half written."""
        for path in self._there():
            path.unlink(missing_ok=True)
        remove_unwritten(self._folder, self.first.name)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Keep finished epochs during a training, and say so if it does not come to its end."""
        with own_folder(self._folder):
            if not self._resume:
                self._forget()
            kept = f"finished epochs are kept in {self._folder}; continue with the same command and --resume"
            try:
                with interrupts():
                    yield
            except KeyboardInterrupt as error:
                raise KeyboardInterrupt(f": {kept if self._there() else 'no epoch was finished'}") from error
            except ModelFileError as error:
                if self._there() and not self._resume:
                    raise FailureError(f"{error}; {kept}") from error
                raise
            self._forget()


def changed_recipe(
    name: str, settings: Sequence[str], changes: dict[str, Any], elsewhere: Collection[str]
) -> Recipe:
    """A recipe with changes.

    :param settings: those of ``--set``.
    :param changes: values of settings that have options, by name.
    :param elsewhere: the names of all settings that have options.
    """
    of_variants = [text for text in settings if "." in text.partition("=")[0]]
    try:
        others = dict(parsed_setting(text, elsewhere) for text in settings if text not in of_variants)
        recipe = with_options(named_recipe(name, **others, **changes), of_variants)
        check_of_use(recipe, others)
    except SettingError as error:
        raise UserError(f"--set: {error}") from error
    unknown = set(recipe.families) - set(FAMILIES)
    if unknown or not recipe.families:
        names = ",".join(sorted(unknown)) or "none"
        raise UserError(f"--families takes some of {','.join(FAMILIES)}, not {names}")
    check_of_use(recipe, {"families"} & changes.keys())
    return recipe


def read_treebanks(train: Sequence[str], dev: str | None) -> tuple[list[Treebank], Treebank | None]:
    """Training treebanks, the main one first, and the dev treebank if there is one.

    All training treebanks but the first have the names of their files in their trees.

    :raises UserError: if a training treebank is given twice.
    """
    if not train:
        train, dev = [str(embedded_treebank_path("train"))], dev or str(embedded_treebank_path("dev"))
    for place, path in enumerate(train):
        if path in train[:place]:
            raise UserError(f"{path} is given twice")
    first, *others = (read_file(path) for path in train)
    require_punctuation(first)
    named = [part.named(Path(part.path).stem) for part in others]
    return [first, *named], None if dev is None else read_file(dev)


def pretrained_source(encoder: str | None) -> Kept | None:
    """The source of features of words, each of which is computed once for all networks that read them."""
    if encoder is None:
        return None
    source = Encoder(encoder)
    source.open()
    return Kept(source)
