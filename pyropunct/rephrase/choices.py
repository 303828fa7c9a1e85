"""What can be asked for, by name."""

FIRST, LAST = "first", "last"
PLACES = (FIRST, LAST)
"""Where a constituent can be moved to among the dependents of its head."""

BASE, HALF, FULL = "base", "half", "full"
VARIANTS = (FULL, HALF, BASE)
"""What is permuted: the underlying tree, of which surface punctuation is made; all tokens on the page, marks
too, but then the marks are taken off and made anew from the underlying ones; or all tokens on the page and
nothing more, as Wang & Eisner (2016) do."""
