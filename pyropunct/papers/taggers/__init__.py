"""Rivals that restore punctuation from words alone, without trees (Li, Wang & Eisner 2019, section 4)."""
