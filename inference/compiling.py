"""How this package compiles its inner loops: with numba, without Python's lock.

Numba keeps what is `compiled` on disk until the file changes where that function is written.  After a
change to a function in another file that it calls, delete the ``__pycache__`` folders.
"""

from typing import Any

from numba import njit

_OPTIONS: Any = {"nogil": True, "error_model": "numpy"}
_NO_WAY_IN: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

compiled = njit(cache=True, **_OPTIONS)
"""For what is called from Python; kept on disk."""

inner = njit(**_OPTIONS, **_NO_WAY_IN)
"""For what compiled functions alone call: a way in from Python would take long to compile."""

spliced = njit(forceinline=True, **_OPTIONS, **_NO_WAY_IN)
"""For parts of such that run once for each node or more often: they become part of the caller.  A call would
hand over each array of a tuple by itself, hundreds of numbers, and count references to those it returns."""
