"""Names of the choices in rephrasing."""

FIRST, LAST = "first", "last"
PLACES = (FIRST, LAST)
"""Where a constituent can be moved to among the dependents of its head."""

BASE, HALF, FULL = "base", "half", "full"
VARIANTS = (FULL, HALF, BASE)
"""What is permuted.

For full, the words of the underlying tree, from which new surface punctuation is made.  For half, all surface
tokens, whose marks are then replaced by new ones made from the underlying marks.  For base, all surface
tokens, as in Wang & Eisner (2016).
"""
