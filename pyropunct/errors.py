"""Errors that a user can act on: each is one line, without a traceback."""

BAD_INPUT, FAILURE, INTERRUPTED = 2, 1, 130
"""The exit statuses of the commands: the input is at fault, or the machine, or the user has interrupted.

The last is what shells give a process that an interruption has ended."""


def installing(extra: str) -> str:
    """How to install an extra of the package; pyropunct is on no package index."""
    return f"in the folder of pyropunct's source, pip install -c constraints.txt '.[{extra}]'"


def first_line(error: BaseException) -> str:
    """The first line of an error's message, or its type."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def is_panic(error: BaseException) -> bool:
    """Whether code in Rust panicked, as it does without memory; a panic is not an `Exception`."""
    return type(error).__name__ == "PanicException"


class UserError(Exception):
    """An error that a user can act on, with exit status; its one line names the place and a remedy."""

    exit_status = BAD_INPUT


class FailureError(UserError):
    """Something outside failed, such as a disk or another process; trying again may work."""

    exit_status = FAILURE


class InputError(UserError, ValueError):
    """A file, a text or an edit cannot be used; the line names the file, the line or the sentence."""


class SettingError(UserError, ValueError):
    """A setting or an option is unknown, out of bounds, or excludes another one."""


class VariantError(UserError, ValueError):
    """An attach model or a channel is unknown, not trusted, unfit for its use, or breaks the rules."""


class MissingPartError(UserError, ValueError):
    """A model lacks a part that is needed: a parser, a reader, an encoder, or a channel with edits."""


class ModelFileError(UserError, ValueError):
    """The file of a model or a checkpoint cannot be read or written; the line names it."""


class CannotWriteError(FailureError, ModelFileError):
    """Writing a model or a checkpoint failed, for example on a full disk."""
