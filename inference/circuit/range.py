"""Whether numbers left the range of doubles: the processor notes it in flags, which costs nothing.

Each thread has its own flags.  They stay set until they are cleared.
"""

import ctypes
import os
from collections.abc import Callable

ALL = 0xFF
"""All flags: which bit means what depends on the processor."""


def _with_flags() -> ctypes.CDLL:
    """The C library that has fenv.h: part of the process, or a file of its own."""
    if os.name == "nt":
        return ctypes.CDLL("ucrtbase")
    process = ctypes.CDLL(None)
    return process if hasattr(process, "fetestexcept") else ctypes.CDLL("libm.so.6")


_LIBRARY = _with_flags()


def clear_flags() -> None:
    """Clear the flags of this thread."""
    _LIBRARY.feclearexcept(ALL)


def _flags_of(change: Callable[[float], float], number: float) -> int:
    clear_flags()
    change(number)
    return int(_LIBRARY.fetestexcept(ALL))


_INEXACT = _flags_of(lambda number: 1 / number, 3.0)
_SMALL, _LARGE = _flags_of(lambda small: small * small, 1e-200), _flags_of(lambda large: large * large, 1e200)
_LEFT = (_SMALL | _LARGE) & ~_INEXACT


def has_left_range() -> bool:
    """Whether a number in this thread became too small or too large since `clear_flags`."""
    return bool(_LIBRARY.fetestexcept(_LEFT))
