"""Restoring the punctuation of words and trees (Li, Wang & Eisner 2019, section 6.1)."""
