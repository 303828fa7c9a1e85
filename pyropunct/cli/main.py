"""The command line.

Each command has a module in this folder, which is imported only when the command is called or its help is
shown.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click
from click.exceptions import NoArgsIsHelpError

from pyropunct.cli import console
from pyropunct.cli.frame import BAD_INPUT, FAILURE, OneLineError

COMMANDS = {
    "compare": "compare:compare",
    "compare-commas": "compare_commas:compare_commas",
    "compare-correction": "compare_correction:compare_correction",
    "compare-joint": "compare_joint:compare_joint",
    "compare-parsers": "compare_parsers:compare_parsers",
    "convert": "convert:convert",
    "corpus": "corpus:corpus",
    "correct": "correct:correct",
    "dream": "dream:dream",
    "evaluate": "evaluate:evaluate",
    "fit": "fit:fit",
    "fit-correction": "fit_correction:fit_correction",
    "parse": "parse:parse",
    "relations": "relations:relations",
    "rephrase": "rephrase:rephrase",
    "restore": "restore:restore",
    "rules": "rules:rules",
    "sample": "sample:sample",
    "underlying": "underlying:underlying",
}
"""For each command its module in this folder, and the name of its function there."""

COLLECTED_AFTER = 100_000
"""How many objects more there are when garbage is looked for; Python's own 700 take a quarter of a start."""


@contextmanager
def _rarely_collected() -> Iterator[None]:
    """Look for garbage rarely: to import and to read a model is to make many objects that stay."""
    before = gc.get_threshold()
    gc.set_threshold(COLLECTED_AFTER, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def _misuse_in_one_line() -> Iterator[None]:
    """Tell of wrong options and arguments in one line too, and of help that cannot be written."""
    try:
        yield
    except NoArgsIsHelpError:
        raise
    except click.UsageError as error:
        message = error.format_message()
        if error.ctx is not None:
            message += f" (see {error.ctx.command_path} --help)"
        raise OneLineError(message, BAD_INPUT) from error
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OneLineError(f"cannot write the help: {error.strerror}", FAILURE) from error


class _Commands(click.Group):
    """A group whose commands are imported on demand."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """The context of a call."""
        with _misuse_in_one_line():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Call a command."""
        with _rarely_collected(), _misuse_in_one_line():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, if there is one."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(f"pyropunct.cli.{module}"), name)
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="pyropunct")
def main() -> None:
    """Latent punctuation in syntax trees: train, inspect and use a model."""
    console.prepare_output()


if __name__ == "__main__":
    main()
