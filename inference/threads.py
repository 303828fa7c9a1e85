"""Splitting work over as many threads as torch uses, and processes that are forked from among threads."""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, wraps
from itertools import pairwise
from threading import Condition, Lock, RLock, get_ident
from typing import ParamSpec, TypeVar

import torch

T = TypeVar("T")
P = ParamSpec("P")


def parts_of(size: int, least: int = 1) -> list[int]:
    """Borders of about equal parts of 0..size, one for each torch thread, each of size ``least`` or more."""
    threads = max(1, min(torch.get_num_threads(), size // least))
    return [size * part // threads for part in range(threads + 1)]


def in_threads(work: Callable[[int, int], T], borders: Sequence[int]) -> list[T]:
    """``work(first, last)`` for each two neighbouring borders, each in a thread of its own."""
    own, *others = pairwise(borders)
    if not others:
        return [work(*own)]
    waiting = [_helpers(len(others)).submit(work, *part) for part in others]
    # The calling thread does a part too, rather than wait.
    return [work(*own), *(result.result() for result in waiting)]


_STORY_LOCK = RLock()


def synchronized(function: Callable[P, T]) -> Callable[P, T]:
    """The function, for one thread at a time: Pyro has one list of handlers, which all threads share."""

    @wraps(function)
    def locked(*args: P.args, **kwargs: P.kwargs) -> T:
        with _STORY_LOCK:
            return function(*args, **kwargs)

    return locked


@lru_cache(maxsize=1)
def _helpers(number: int) -> ThreadPoolExecutor:
    """Threads that stay: to start one takes as long as some of the work."""
    return ThreadPoolExecutor(number, thread_name_prefix="pyropunct")


class ForkGuard:
    """Work that a fork of the process waits for; otherwise the child could inherit locked locks.

    Use ``with FORK_GUARD:`` around work that waits for nothing else. A fork within the same thread does not
    wait.
    """

    def __init__(self) -> None:
        self._entrance, self._changed = Lock(), Condition()
        self._inside: Counter[int] = Counter()

    def __enter__(self) -> None:
        own = get_ident()
        with self._changed:
            if self._inside[own]:  # so that work inside of work does not wait for a fork that waits for it
                self._inside[own] += 1
                return
        with self._entrance, self._changed:
            self._inside[own] += 1

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._inside[get_ident()] -= 1
            self._inside += Counter()  # leaves out threads that have left
            self._changed.notify_all()

    def wait(self) -> None:
        """Let no other thread in, and wait until all have left."""
        self._entrance.acquire()
        self._changed.acquire()
        self._changed.wait_for(lambda: not self._inside.keys() - {get_ident()})
        _STORY_LOCK.acquire()

    def go_on(self) -> None:
        """Let others in again."""
        _STORY_LOCK.release()
        self._changed.release()
        self._entrance.release()


FORK_GUARD = ForkGuard()


def _begin_child() -> None:
    """A child has none of its parent's threads: neither ours nor those of torch, which it would wait for."""
    _helpers.cache_clear()
    torch.set_num_threads(1)
    FORK_GUARD.go_on()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=FORK_GUARD.wait, after_in_parent=FORK_GUARD.go_on, after_in_child=_begin_child)
