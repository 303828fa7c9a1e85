"""Training that has come to numbers which are none."""


class DivergedError(ArithmeticError):
    """Training diverged, so there is no model; the message is one line that says where, and what may help."""
