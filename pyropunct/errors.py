"""Errors that a user can act on: each is one line, without a traceback."""

BAD_INPUT, FAILURE = 2, 1
"""The exit statuses of the commands: the input is at fault, or the machine."""


class UserError(Exception):
    """An error that a user can act on; its text is one line that names the place and a remedy.

    :cvar exit_status: with which a command ends.
    """

    exit_status = BAD_INPUT


class FailureError(UserError):
    """Something outside failed, such as a disk or another process; the same input may work later."""

    exit_status = FAILURE
