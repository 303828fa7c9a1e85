"""The templates of features, whose atoms are `pyropunct.rivals.transitions.arc_eager.ATOMS`."""

WORDS = """
s0.w | b0.w | b1.w | b2.w | s0.t | b0.t | b1.t | b2.t | s0.w s0.t | b0.w b0.t | b1.w b1.t | b2.w b2.t
s0.w s0.t b0.w b0.t | s0.w s0.t b0.w | s0.w s0.t b0.t | s0.w b0.w b0.t | s0.t b0.w b0.t
s0.w b0.w | s0.t b0.t | b0.t b1.t | s0.t b0.t b1.t | b0.t b1.t b2.t
"""
"""Words and tags: Table 2 (a) of Zhang, Wu, Yang & Li (2013)."""

TREES = """
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

MARKS = """
b0.p | b1.p | s0.p | b0.p b0.w | b0.p b0.t | b0.p b1.t | b0.p b0.t b1.t | b0.p b1.p
b0.p s0.t | b0.p s0.p | b0.p s0.t b0.t | b0.p s0.d | b0.p s0.r.d | b0.p b0.sl
s0.p s0.t | s0.p b0.t | s0.p s0.t b0.t
"""
"""Marks that were found before: properties of the words before them, and of the heads of these."""
