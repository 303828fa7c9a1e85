"""Loading what commands need: models, treebanks, threads and devices."""

from typing import TYPE_CHECKING

from pyropunct.cli import console
from pyropunct.errors import UserError

if TYPE_CHECKING:
    from pyropunct.treebank.reading import Treebank

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


def check_device(device: str) -> None:
    """Check that torch can use a device.

    :raises UserError: if it cannot.
    """
    import torch

    try:
        torch.zeros(1, device=device)
    except Exception as error:  # torch raises many kinds, some of several lines
        raise UserError(f"--device {device}: {str(error).splitlines()[0]}") from error
