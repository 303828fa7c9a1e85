"""Sentences made of edited and reordered underlying trees (Li, Wang & Eisner 2019, section 6.3)."""
