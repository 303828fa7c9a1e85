"""Rephrasing sentences by editing and reordering underlying trees (Li, Wang & Eisner 2019, section 6.3)."""
