"""Loading what commands need: models, treebanks, threads and devices."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

import click

from pyropunct.cli import console
from pyropunct.errors import UserError
from pyropunct.files import MODEL_SUFFIX
from pyropunct.shipped import DEFAULT, place_of

if TYPE_CHECKING:
    from pyropunct.treebank.reading import Treebank
    from pyropunct.treebank.sentence import Sentence

# Modules that need torch are imported inside the functions, so that --help answers at once.


def use_threads(threads: int | None) -> None:
    """Set the number of threads of torch; None leaves torch's default.

    On a terminal, the user is told if compiling comes first.
    """
    import torch

    from pyropunct.inference.compiling import is_compiled

    if threads is not None:
        torch.set_num_threads(threads)
    if console.shows_bars() and not is_compiled():
        console.tell("compiling the inner loops, this once: it takes half a minute")


def model_and_file(places: Sequence[str]) -> tuple[str, str]:
    """The model and the file of a call; a single argument is the file.

    :raises UserError: if the single argument is a model.
    :raises UsageError: if there are more than two.
    """
    if len(places) > 2:
        raise click.UsageError(f"Got unexpected extra arguments ({' '.join(places[2:])})")
    *model, file = places
    place = place_of(file)
    if not model and (place.is_dir() or place.suffix == MODEL_SUFFIX):
        kind = "folder" if place.is_dir() else "model"
        raise UserError(f"{file}: is no text but a {kind}: give MODEL and FILE, or FILE alone")
    return (model or [DEFAULT])[0], file


def read_file(path: str, *, tell: bool = False) -> "Treebank":
    """The treebank in a CoNLL-U file, with a progress bar.

    :param tell: whether to say which sentences are left out.
    :raises TreebankError: if it cannot be read.
    """
    from pyropunct.treebank.reading import read_treebank

    with console.reading_bar(path) as progress:
        treebank = read_treebank(path, progress=progress)
    if tell:
        console.tell_omitted(treebank.path, treebank.omitted)
    return treebank


def chosen(treebank: "Treebank", identifier: str | None) -> "list[Sentence]":
    """The sentences with an identifier; all if that is None.

    :raises UserError: if there is no such sentence.
    """
    if identifier is None:
        return list(treebank)
    found = [sentence for sentence in treebank if sentence.identifier == identifier]
    if not found:
        omitted = {one.identifier: one.reason for one in treebank.omitted}
        known = [sentence.identifier for sentence in treebank]
        near = get_close_matches(identifier, known, 1, 0.0)
        why = f"is omitted: {omitted[identifier]}" if identifier in omitted else "is not there"
        why += f" (the nearest is {near[0]!r})" if near and identifier not in omitted else ""
        raise UserError(f"{treebank.path}: sentence {identifier!r} {why}")
    return found


def check_device(device: str) -> None:
    """Check that torch can use a device.

    :raises UserError: if it cannot.
    """
    import torch

    try:
        torch.zeros(1, device=device)
    except Exception as error:  # torch raises many kinds, some of several lines
        raise UserError(f"--device {device}: {str(error).splitlines()[0]}") from error
