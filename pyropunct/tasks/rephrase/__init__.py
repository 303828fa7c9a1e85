"""Rephrasing sentences by editing and reordering underlying trees (Li, Wang & Eisner 2019, section 6.3).

Treebank sentences and a fitted model come in; `rephrasing.Rephraser` finds their underlying trees, which
callers edit or reorder, and gives them back as sentences with words in their new order and new marks.  The
command line and experiments may call this room.
"""
