"""Correcting wrong punctuation (Li, Wang & Eisner 2019, section 6.2)."""
