"""Commands that work through texts: one function loads the model and says what to do with a text."""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click

from pyropunct.cli import console
from pyropunct.cli.command import Command, option
from pyropunct.errors import UserError
from pyropunct.files import MODEL_SUFFIX
from pyropunct.limits import Help
from pyropunct.shipped import DEFAULT, place_of

if TYPE_CHECKING:
    from pyropunct.corpus.shards import Work

InputKind = Annotated[
    Literal["auto", "text", "conllu"],
    Help("The kind of FILE; by default recognised by its name or its first lines."),
]


class TextCommand(Command):
    """A command for a file, which `pyropunct corpus` has for many files too.

    :param function: loads a model, its first parameter, and gives what is to be done with a text; without a
        model, if that has a default, the command takes the one of the package.
    """

    def __init__(self, function: "Callable[..., Work]") -> None:
        super().__init__(function)
        model, *own = self.params
        model_file: list[click.Parameter] = [model, click.Argument(["file"])]
        if not model.required:
            model_file = [click.Argument(["places"], nargs=-1, required=True, metavar="[MODEL] FILE")]
        self.params = [*model_file, option("input", InputKind, "auto", None), *own]

    def run(self, values: dict[str, Any]) -> None:
        """Work on a file."""
        from pyropunct.text.lines import Part, opened

        if "places" in values:
            model, file = _model_and_file(values["places"])
        else:
            model, file = values["model"], values["file"]
        work = self.function(**self.arguments({**values, "model": model}))
        out = sys.stdout  # before a progress bar replaces it
        with opened(file) as (stream, name), console.stream_bar(stream, name) as advance:
            work(Part(stream, name, values["input"]), out, None, advance)


def text_command(function: "Callable[..., Work]") -> TextCommand:
    """Make a command of a function: see `TextCommand`."""
    return TextCommand(function)


def _model_and_file(places: Sequence[str]) -> tuple[str, str]:
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
