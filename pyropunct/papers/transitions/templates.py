"""Templates of features: atoms of a state, see `pyropunct.papers.transitions.machine.ATOMS`."""

from collections.abc import Mapping

import numpy as np

from pyropunct.papers.options import ALL, AWAY, CASCADED, PAIRED, TOKENS, UNIFIED
from pyropunct.papers.transitions.machine import ATOMS
from pyropunct.papers.transitions.perceptron import Array, number_of

_STANDARD_WORDS = """
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
"""The templates of Zhang & Nivre (2011, Tables 1 and 2), group by group: single words, pairs, three words,
distance, valency, children, second children, and sets of relations.  Arcs of their arc-eager system join s0
and b0, but arcs of the system here join s1 and s0: so s1 and s0 take the places of s0 and b0.  Templates with
the head of s0 are left out, since s0 has no head here."""

_PAIRED = """
b0.p | b1.p | b2.p | b3.p | s0.p | s1.p | s2.p
b0.p b0.w | b1.p b1.w | b2.p b2.w | s0.p s0.w | s1.p s1.w
b0.p b0.t | b1.p b1.t | b2.p b2.t | s0.p s0.t | s1.p s1.t
s0.p b0.p | s0.p b1.p | s0.p b2.p | s0.p s1.p | s0.p s2.p
s0.p b0.t | s0.p b1.t | s0.p b2.t | s0.p s1.t | s0.p s2.t
s0.p b0.w | s0.p b1.w | s0.p b2.w | s0.p s1.w | s0.p s2.w
"""
"""The first three lines of Table 3 of Ma, Zhang & Zhu (2014)."""

_UNPAIRED = """
s2.p s0.t | s1.p s0.t | s2.p s2.t s0.t | s1.p s1.t s0.t | s0.p s0.t b0.t
s2.p d20 s2.t s0.t | s1.p d10 s1.t s0.t | s0.p d0b s0.t b0.t
s2.p s2.leaf s0.t | s1.p s1.leaf s0.t | s2.p s2.leaf s2.t s0.t | s1.p s1.leaf s1.t s0.t
s2.p s2.leaf d20 s2.t s0.t | s1.p s1.leaf d10 s1.t s0.t | s0.p s0.leaf d0b s0.t b0.t
s0.l.p s0.t | s0.l.p s0.l.t s0.t
"""
"""The other lines of Table 3, whose first line names the pair (s2, s0) twice; and further templates of the
authors' program: whether items are leaves, and the property of the left child."""

WORDS = """
s0.w | b0.w | b1.w | b2.w | s0.t | b0.t | b1.t | b2.t | s0.w s0.t | b0.w b0.t | b1.w b1.t | b2.w b2.t
s0.w s0.t b0.w b0.t | s0.w s0.t b0.w | s0.w s0.t b0.t | s0.w b0.w b0.t | s0.t b0.w b0.t
s0.w b0.w | s0.t b0.t | b0.t b1.t | s0.t b0.t b1.t | b0.t b1.t b2.t
"""
"""Words and tags: Table 2 (a) of Zhang, Wu, Yang & Li (2013)."""

_TREES = """
h.t s0.t b0.t | s0.t s0.l.t b0.t | s0.t s0.r.t b0.t | s0.t b0.t b0.l.t
s0.w d | s0.t d | b0.w d | b0.t d | s0.w b0.w d | s0.t b0.t d
s0.w s0.vl | s0.t s0.vl | s0.w s0.vr | s0.t s0.vr | b0.w b0.vl | b0.t b0.vl
h.w | h.t | s0.d | s0.l.w | s0.l.t | s0.l.d | s0.r.w | s0.r.t | s0.r.d | b0.l.w | b0.l.t | b0.l.d
h2.w | h2.t | h.d | s0.l2.w | s0.l2.t | s0.l2.d | s0.r2.w | s0.r2.t | s0.r2.d | b0.l2.w | b0.l2.t | b0.l2.d
s0.t s0.l.t s0.l2.t | s0.t s0.r.t s0.r2.t | s0.t h.t h2.t | b0.t b0.l.t b0.l2.t
s0.w s0.sl | s0.t s0.sl | s0.w s0.sr | s0.t s0.sr | b0.w b0.sl | b0.t b0.sl
"""
"""Trees: Table 2 (b), with children of s0 and b0 where it prints those of b0 and b1, as in Zhang & Nivre
(2011), from which it is taken."""

_MARKS = """
b0.p | b1.p | s0.p | b0.p b0.w | b0.p b0.t | b0.p b1.t | b0.p b0.t b1.t | b0.p b1.p
b0.p s0.t | b0.p s0.p | b0.p s0.t b0.t | b0.p s0.d | b0.p s0.r.d | b0.p b0.sl
s0.p s0.t | s0.p b0.t | s0.p s0.t b0.t
"""
"""Marks that were found before: properties of the words before them, and of the heads of these."""

TEMPLATES: Mapping[str, str] = {
    TOKENS: _STANDARD_WORDS,
    AWAY: _STANDARD_WORDS,
    PAIRED: _STANDARD_WORDS + _PAIRED,
    ALL: _STANDARD_WORDS + _PAIRED + _UNPAIRED,
    UNIFIED: WORDS + _TREES,
    CASCADED: WORDS + _TREES + _MARKS,
}
"""The templates of each parser, by the treatment of marks that it reads, or by its system."""


def templates_in(text: str) -> list[tuple[str, ...]]:
    """The templates of a text, each with its atoms."""
    return [tuple(one.split()) for line in text.splitlines() if line for one in line.split("|")]


def compiled_templates(text: str) -> Array:
    """The templates of a text for `pyropunct.papers.transitions.perceptron.features_of`."""
    templates = templates_in(text)
    table = np.zeros((len(templates), 2 + max(map(len, templates))), np.int64)
    for row, names in zip(table, templates, strict=True):
        row[:2] = number_of(" ".join(names)), len(names)
        row[2 : 2 + len(names)] = list(map(ATOMS.index, names))
    return table
