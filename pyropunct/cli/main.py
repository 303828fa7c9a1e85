"""The command line: modules of commands are imported on demand, see `pyropunct.cli.command`."""

import gc
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import current_thread, main_thread
from typing import Any

import click

from pyropunct.cli import console
from pyropunct.cli.loading import USUAL, WHILE_READING

COMMANDS = {
    "adapt": "adapt",
    "compare": "compare",
    "convert": "tree_commands",
    "corpus": "corpus",
    "correct": "restore",
    "evaluate": "evaluate",
    "fit": "fit",
    "fit-correction": "adapt",
    "parse": "restore",
    "rephrase": "rephrase",
    "restore": "restore",
    "rules": "explain",
    "sample": "tree_commands",
    "typology": "typology",
    "underlying": "tree_commands",
}
"""The module of each command, which is a function of its name, with underscores for hyphens."""


@contextmanager
def _ended_as_interrupted() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C, so that no files are left."""
    if current_thread() is not main_thread():  # no other gets signals
        yield
        return

    def interrupt(*now: Any) -> None:
        by_hand = signal.getsignal(signal.SIGINT)
        (by_hand if callable(by_hand) else signal.default_int_handler)(*now)

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _Commands(click.Group):
    """A group whose commands are imported on demand."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """The context of a call."""
        with console.misuse_in_one_line():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Call a command."""
        with _ended_as_interrupted(), console.misuse_in_one_line():
            try:
                gc.set_threshold(WHILE_READING)  # until hardware or a model has been loaded
                return super().invoke(ctx)
            finally:
                gc.unfreeze()
                gc.set_threshold(*USUAL)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, if there is one."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"pyropunct.cli.{COMMANDS[cmd_name]}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="pyropunct")
def main() -> None:
    """Latent punctuation in syntax trees: train, inspect and use a model."""
    console.prepare_output()


if __name__ == "__main__":
    main()
