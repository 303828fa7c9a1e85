"""Errors that a user can act on: each is one line, without a traceback."""

BAD_INPUT, FAILURE, INTERRUPTED = 2, 1, 130
"""The exit statuses of the commands: the input is at fault, or the machine, or the user has interrupted.

The last is what shells give a process that an interruption has ended."""


def installing(extra: str) -> str:
    """How to install an extra of the package; pyropunct is on no package index."""
    return f"in the folder of pyropunct's source, pip install -c constraints.txt '.[{extra}]'"


class UserError(Exception):
    """An error that a user can act on, with exit status; its one line names the place and a remedy."""

    exit_status = BAD_INPUT


class FailureError(UserError):
    """Something outside failed, such as a disk or another process; trying again may work."""

    exit_status = FAILURE
