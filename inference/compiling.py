"""Compiles inner loops with numba, without Python's lock (GIL).

All compiled code is deleted whenever a file of this folder changes, since numba checks only a function's own
file. In compiled functions, write a two-line loop rather than call NumPy: assigning an array or a tuple to a
slice costs two seconds of compilation, ``max`` one, and creating an array a tenth.
"""

import _signal  # type: ignore[import-not-found]  # signal makes enumerations, for 20 microseconds a call
import logging
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from threading import current_thread, main_thread
from types import FrameType
from typing import Any

from numba import config, njit
from numba.core.caching import FunctionCache
from numba.core.registry import CPUDispatcher

FOLDER = Path(__file__).parent
"""The sources of the inner loops."""

_OPTIONS: Any = {"nogil": True, "error_model": "numpy"}
_NO_ENTRY: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

inner = njit(**_OPTIONS, **_NO_ENTRY)
"""For functions that only compiled functions call: an entry point for Python would take long to compile."""

spliced = njit(forceinline=True, **_OPTIONS, **_NO_ENTRY)
"""For inner functions that run once for each node or more often: they are inlined.  A call would pass every
array of a tuple separately, hundreds of numbers, and count references to the arrays that it returns."""


def forget_outdated(folder: Path) -> None:
    """Delete the compiled code of a folder of sources if any of these has changed; skip read-only folders."""
    note = _note(folder)
    try:
        if note.exists() and note.read_text() == _stamp(folder):
            return
        for kept in _kept(folder):
            kept.unlink(missing_ok=True)
        keep_compiled(folder)
    except OSError:
        return


def is_compiled(folder: Path = FOLDER) -> bool:
    """Whether a folder has compiled code, or numba keeps it elsewhere; if not, first calls are slow."""
    return bool(getattr(config, "CACHE_DIR", "")) or next(_kept(folder), None) is not None


def _kept(folder: Path) -> Iterator[Path]:
    return (path for kind in ("*.nbi", "*.nbc") for path in folder.rglob(kind))


def keep_compiled(folder: Path) -> None:
    """Note that the compiled code of a folder is that of its sources as they are now."""
    note = _note(folder)
    note.parent.mkdir(exist_ok=True)
    new = note.with_name(f"{note.name}.{os.getpid()}")
    new.write_text(_stamp(folder))
    new.replace(note)  # other processes may be doing the same


def _note(folder: Path) -> Path:
    return folder / "__pycache__" / "sources.sha256"


def _stamp(folder: Path) -> str:
    """A checksum of the names, times and sizes of the sources."""
    files = [(path.relative_to(folder), path.stat()) for path in sorted(folder.rglob("*.py"))]
    seen = [(str(path), stat.st_mtime_ns, stat.st_size) for path, stat in files]
    return sha256(repr(seen).encode()).hexdigest()


def _is_safe(folder: Path) -> bool:
    """Whether nobody but this user and the administrator can write to a folder."""
    if not hasattr(os, "getuid"):
        return True
    found, user = folder.stat(), os.getuid()
    own_group = found.st_gid == os.getgid() == user
    writers = stat.S_IWOTH if own_group else stat.S_IWOTH | stat.S_IWGRP
    return found.st_uid in (user, 0) and not found.st_mode & writers


@cache
def _tell(problem: str) -> None:
    place = "the environment variable NUMBA_CACHE_DIR can name a place"
    logging.getLogger("pyropunct").warning("pyropunct: %s; %s", problem, place)


forget_outdated(FOLDER)


class _Kept(FunctionCache):
    """The code of a function on disk; where it cannot be read, the function is compiled anew."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for arguments of some types; None if there is none."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # damaged bytes can be unpickled to anything
            self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code for arguments of some types, unless the disk is full."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _tell(f"compiled code cannot be kept: {error.strerror}")


@contextmanager
def put_off() -> Iterator[None]:
    """Delay Ctrl-C to the end of a context, for work that must not be interrupted."""
    interrupt = _signal.getsignal(_signal.SIGINT)
    if not callable(interrupt) or current_thread() is not main_thread():
        yield
        return
    came = list[tuple[int, FrameType | None]]()
    _signal.signal(_signal.SIGINT, lambda *now: came.append(now))
    try:
        yield
    finally:
        _signal.signal(_signal.SIGINT, interrupt)
        if came:
            interrupt(*came[0])


class _Compiled(CPUDispatcher):
    """A compiled function that defers interruptions to its end; raised earlier, they can end the process."""

    def enable_caching(self) -> None:
        """Keep the code on disk, where nobody else can write to it, since it is run."""
        try:
            kept = _Kept(self.py_func)
        except RuntimeError:  # neither its folder nor the user's home can be written to
            _tell("no place for compiled code: each process compiles anew, for half a minute")
            return
        if _is_safe(Path(kept.cache_path)):
            self._cache = kept
        else:
            _tell(f"compiled code in {kept.cache_path} is not used: others can write there (chmod go-w)")

    def __call__(self, *arguments: Any) -> Any:
        """Call it."""
        with put_off():
            return super().__call__(*arguments)


def compiled(function: Callable[..., Any]) -> Any:
    """For functions that Python calls; kept on disk where this can be done."""
    if getattr(config, "DISABLE_JIT", False):
        return function
    dispatcher = _Compiled(function, targetoptions={"nopython": True, "boundscheck": None, **_OPTIONS})
    dispatcher.enable_caching()
    return dispatcher
