"""The features of a configuration: which atoms each template puts together.

Items are the three topmost of the stack, ``s0`` being the top, and the next four words of the buffer, ``b0``
to ``b3``.  Of an item there are its word ``w``, its tag ``t`` and its punctuation property ``p``.  Of ``s0``
and ``s1`` there are besides the outermost left and right child, ``l`` and ``r``, and those next to them,
``l2`` and ``r2``, each with word, tag and the relation ``d``, and the property of ``l``; the numbers of
children to the left and right, ``vl`` and ``vr``; the sets of their relations, ``sl`` and ``sr``; and whether
the item has children, ``leaf``.  ``d10`` is the distance between the heads of s1 and s0, likewise ``d20`` and
``d0b``.
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
"""The atoms of s0 and s1, in the order in which `pyropunct.parsing.arc_standard.transitions` writes them."""

ATOMS = (
    *(f"{item}.{atom}" for item in ("s0", "s1") for atom in ITEM_ATOMS),
    *(f"s2.{atom}" for atom in ITEM_ATOMS[:4]),
    *(f"b{place}.{atom}" for place in range(4) for atom in "wtp"),
    *("d10", "d20", "d0b"),
)
"""All atoms, in this order."""

WORDS = """
s0.w s0.t | s0.w | s0.t | s1.w s1.t | s1.w | s1.t | s2.w s2.t | s2.w | s2.t
b0.w b0.t | b0.w | b0.t | b1.w b1.t | b1.w | b1.t | b2.w b2.t | b2.w | b2.t

s1.w s1.t s0.w s0.t | s1.w s1.t s0.w | s1.w s0.w s0.t | s1.w s1.t s0.t | s1.t s0.w s0.t
s1.w s0.w | s1.t s0.t | s1.w s0.t | s1.t s0.w
s0.w s0.t b0.w b0.t | s0.w s0.t b0.w | s0.w b0.w b0.t | s0.w s0.t b0.t | s0.t b0.w b0.t
s0.w b0.w | s0.t b0.t | s1.t b0.t | s2.t s0.t | b0.t b1.t

b0.t b1.t b2.t | s0.t b0.t b1.t | s1.t s0.t b0.t | s1.t s0.w b0.t | s2.t s1.t s0.t
s1.l.t s1.t s0.t | s1.r.t s1.t s0.t | s0.l.t s1.t s0.t | s0.r.t s1.t s0.t
s0.l.t s0.t b0.t | s0.r.t s0.t b0.t

d10 s1.w | d10 s1.t | d10 s0.w | d10 s0.t | d10 s1.w s0.w | d10 s1.t s0.t

s0.vl s0.w | s0.vl s0.t | s0.vr s0.w | s0.vr s0.t | s1.vl s1.w | s1.vl s1.t | s1.vr s1.w | s1.vr s1.t

s0.l.w | s0.l.t | s0.l.d | s0.r.w | s0.r.t | s0.r.d | s1.l.w | s1.l.t | s1.l.d | s1.r.w | s1.r.t | s1.r.d

s0.l2.w | s0.l2.t | s0.l2.d | s0.r2.w | s0.r2.t | s0.r2.d | s1.l2.w | s1.l2.t | s1.l2.d
s1.r2.w | s1.r2.t | s1.r2.d
s0.l2.t s0.t s0.l.t | s0.r2.t s0.t s0.r.t | s1.l2.t s1.t s1.l.t | s1.r2.t s1.t s1.r.t

s0.sl s0.w | s0.sl s0.t | s0.sr s0.w | s0.sr s0.t | s1.sl s1.w | s1.sl s1.t | s1.sr s1.w | s1.sr s1.t
"""
"""Those of Zhang & Nivre (2011, Tables 1 and 2), group by group: single words, pairs, three words, distance,
valency, children, second children, and sets of relations.  They are for an arc-eager system, in which arcs
join s0 and b0; here they join s1 and s0, so s1 and s0 take the places of s0 and b0, and what they say of the
head of s0, which it has not got here, is left out."""

PAIRED = """
b0.p | b1.p | b2.p | b3.p | s0.p | s1.p | s2.p
b0.p b0.w | b1.p b1.w | b2.p b2.w | s0.p s0.w | s1.p s1.w
b0.p b0.t | b1.p b1.t | b2.p b2.t | s0.p s0.t | s1.p s1.t
s0.p b0.p | s0.p b1.p | s0.p b2.p | s0.p s1.p | s0.p s2.p
s0.p b0.t | s0.p b1.t | s0.p b2.t | s0.p s1.t | s0.p s2.t
s0.p b0.w | s0.p b1.w | s0.p b2.w | s0.p s1.w | s0.p s2.w
"""
"""The first three lines of Table 3 of Ma, Zhang & Zhu (2014)."""

UNPAIRED = """
s2.p s0.t | s1.p s0.t | s2.p s2.t s0.t | s1.p s1.t s0.t | s0.p s0.t b0.t
s2.p d20 s2.t s0.t | s1.p d10 s1.t s0.t | s0.p d0b s0.t b0.t
s2.p s2.leaf s0.t | s1.p s1.leaf s0.t | s2.p s2.leaf s2.t s0.t | s1.p s1.leaf s1.t s0.t
s2.p s2.leaf d20 s2.t s0.t | s1.p s1.leaf d10 s1.t s0.t | s0.p s0.leaf d0b s0.t b0.t
s0.l.p s0.t | s0.l.p s0.l.t s0.t
"""
"""The other lines of it, of which the first names the pair (s2, s0) twice; and what their program has
besides, whether items are leaves and the property of the left child."""


def templates_in(text: str) -> list[tuple[str, ...]]:
    """The templates of a text, each with its atoms."""
    return [tuple(one.split()) for line in text.splitlines() if line for one in line.split("|")]


def compiled_templates(templates: Iterable[Sequence[str]], atoms: Sequence[str]) -> NDArray[Any]:
    """Templates as `pyropunct.parsing.arc_standard.perceptron.features_of` reads them.

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
