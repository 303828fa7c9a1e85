"""The features of a configuration: each template combines atoms.

The atoms of an item, a tree of the stack or of the buffer, are its word ``w``, its tag ``t`` and its
punctuation property ``p``; whether it has children, ``leaf``; the outermost left and right child, ``l`` and
``r``, and the children next to them, ``l2`` and ``r2``, each with word, tag and the relation ``d``; the
numbers of children to the left and right, ``vl`` and ``vr``; the sets of their relations, ``sl`` and ``sr``;
and the property of ``l``.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

_CHILDREN = ("l", "r", "l2", "r2")

ITEM_ATOMS = (
    *("w", "t", "p", "leaf"),
    *(f"{child}.{part}" for child in _CHILDREN for part in "wtd"),
    *("vl", "vr", "sl", "sr", "l.p"),
)
"""The atoms of an item, in the order in which `pyropunct.rivals.transitions.cells` writes them."""


def templates_in(text: str) -> list[tuple[str, ...]]:
    """The templates of a text, each with its atoms."""
    return [tuple(one.split()) for line in text.splitlines() if line for one in line.split("|")]


def compiled_templates(templates: Iterable[Sequence[str]], atoms: Sequence[str]) -> NDArray[Any]:
    """Templates as `pyropunct.rivals.transitions.perceptron.features_of` reads them.

    :param atoms: the names of all atoms.
    """
    templates = list(templates)
    longest = max(map(len, templates))
    table = np.zeros((len(templates), 2 + longest), np.int64)
    for row, names in zip(table, templates, strict=True):
        row[:2] = number_of(" ".join(names)), len(names)
        row[2 : 2 + len(names)] = [atoms.index(name) for name in names]
    return table


@lru_cache(1 << 20)
def number_of(text: str) -> int:
    """A number above 0 that stands for a text: 62 bits of its hash, always the same."""
    return 1 + (int.from_bytes(blake2b(text.encode(), digest_size=8).digest()) >> 2)
