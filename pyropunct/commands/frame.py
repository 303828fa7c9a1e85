"""What all commands have in common: errors in one line, options, models."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from pyropunct.commands import console

if TYPE_CHECKING:
    from pyropunct.punctuator import Punctuator
    from pyropunct.treebank.reading import Treebank
    from pyropunct.treebank.sentence import Sentence

# Modules that need torch are imported inside the functions, so that --help answers at once.

BAD_INPUT, FAILURE = 2, 1


class OneLineError(click.ClickException):
    """An error that a person can mend, told in one line."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(" ".join(message.split()))
        self.exit_code = exit_code  # type: ignore[misc]  # click means it to be set like this

    def show(self, file: Any = None) -> None:
        """Print it on standard error."""
        console.tell(f"pyropunct: {self.message}")


@contextmanager
def interrupts() -> Iterator[None]:
    """Let an interruption be one wherever it comes.

    In the middle of a call of compiled code Python makes a SystemError of it, whose cause it is.
    """
    try:
        yield
    except SystemError as error:
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        raise


def polite(command: Callable[..., None]) -> Callable[..., None]:
    """Turn errors into one line and an exit status."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            with interrupts():
                command(*args, **kwargs)
            console.flush()
        except click.ClickException:
            raise
        except BrokenPipeError:
            console.close()  # the reader has seen enough
        except KeyboardInterrupt:
            raise OneLineError("interrupted", FAILURE) from None
        except Exception as error:
            if os.environ.get("PYROPUNCT_DEBUG"):
                raise
            raise _explained(error) from error

    return run


def _explained(error: Exception) -> OneLineError:
    from pyropunct.inference.pyro.handlers import ImpossibleSurfaceError
    from pyropunct.restore.restoring import NoParserError
    from pyropunct.training.model_folder import ModelFolderError
    from pyropunct.training.registry import UnknownVariantError
    from pyropunct.treebank.reading import TreebankError

    bad_input = (
        TreebankError | ModelFolderError | UnknownVariantError | ImpossibleSurfaceError | NoParserError
    )
    if isinstance(error, bad_input):
        return OneLineError(str(error), BAD_INPUT)
    if isinstance(error, OSError) and error.filename:
        return OneLineError(f"{error.filename}: {error.strerror}", BAD_INPUT)
    if isinstance(error, OSError) and error.strerror:
        return OneLineError(f"cannot write the results: {error.strerror}", FAILURE)
    if isinstance(error, UnicodeEncodeError):
        lacking = f"{error.object[error.start]!r}, which {error.encoding} lacks"
        return OneLineError(f"cannot print {lacking}: set PYTHONIOENCODING=utf-8", FAILURE)
    kind = type(error).__name__
    return OneLineError(f"{kind}: {error} (set PYROPUNCT_DEBUG=1 to see where)", FAILURE)


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
seed_option = click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Equal seeds give equal results.",
)
sentence_option = click.option(
    "--sentence", "identifier", metavar="ID", help="Only the sentence with this sent_id."
)

threads_option = click.option(
    "--threads", type=click.IntRange(1), help="Threads to use; by default all cores."
)


trees_option = click.option(
    "--trees",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="Trees of the parser to average over, as far as there are so many.",
)

decoder_option = click.option(
    "--decoder",
    type=click.Choice(["mbr", "slot-mbr", "map"]),
    default="mbr",
    show_default=True,
    help="Of the draws take the one of least expected edit distance; decide each slot by itself; or "
    "take the most frequent draw.",
)


def decoding_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of commands that read text or CoNLL-U and decide on punctuation."""
    options = (
        click.option(
            "--input",
            "kind",
            type=click.Choice(["auto", "text", "conllu"]),
            default="auto",
            show_default=True,
            help="What FILE is; by default its name or its first lines tell.",
        ),
        click.option(
            "--samples",
            type=click.IntRange(1),
            default=1000,
            show_default=True,
            help="Draws for each sentence.",
        ),
        decoder_option,
        trees_option,
        click.option("--parse", is_flag=True, help="Parse the words of CoNLL-U input anew."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def use_threads(threads: int | None) -> None:
    """Let torch use so many threads, or as many as it likes."""
    import torch

    if threads is not None:
        torch.set_num_threads(threads)


def load_model(folder: str) -> "Punctuator":
    """The model in a folder.

    :raises ModelFolderError: if there is none.
    """
    from pyropunct.punctuator import Punctuator

    return Punctuator.load(folder)


def read_file(path: str) -> "Treebank":
    """The treebank in a CoNLL-U file, with a progress bar.

    :raises TreebankError: if it cannot be read.
    """
    from pyropunct.treebank.reading import read_treebank

    with console.reading_bar(path) as progress:
        return read_treebank(path, progress=progress)


def chosen(treebank: "Treebank", identifier: str | None) -> "list[Sentence]":
    """What `sentence_option` chooses: all sentences, or those with an identifier.

    :raises OneLineError: if there are none.
    """
    if identifier is None:
        return list(treebank)
    found = [sentence for sentence in treebank if sentence.identifier == identifier]
    if not found:
        omitted = {one.identifier: one.reason for one in treebank.omitted}
        why = f"is omitted: {omitted[identifier]}" if identifier in omitted else "is not there"
        raise OneLineError(f"{treebank.path}: sentence {identifier!r} {why}", BAD_INPUT)
    return found


def check_device(device: str) -> None:
    """Refuse a device that torch does not have here."""
    import torch

    try:
        torch.zeros(1, device=device)
    except Exception as error:  # torch raises many kinds, some of several lines
        raise OneLineError(f"--device {device}: {str(error).splitlines()[0]}", BAD_INPUT) from error
