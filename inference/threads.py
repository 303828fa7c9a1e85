"""Splitting work over as many threads as torch uses."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar

import torch

T = TypeVar("T")


def parts_of(size: int, least: int = 1) -> list[int]:
    """The borders of about equal parts of 0..size, one part for each of torch's threads.

    :param least: how large a part shall be at least, for a thread to be worth its while.
    """
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


@lru_cache(maxsize=1)
def _helpers(number: int) -> ThreadPoolExecutor:
    """Threads that stay: to start one takes as long as some of the work."""
    return ThreadPoolExecutor(number, thread_name_prefix="pyropunct")


if hasattr(os, "register_at_fork"):  # a child process has none of its parent's threads
    os.register_at_fork(after_in_child=_helpers.cache_clear)
