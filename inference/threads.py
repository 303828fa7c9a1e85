"""Splitting work over as many threads as torch uses."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
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
    parts = list(pairwise(borders))
    if len(parts) == 1:
        return [work(*parts[0])]
    with ThreadPoolExecutor(len(parts)) as pool:
        return list(pool.map(lambda part: work(*part), parts))
