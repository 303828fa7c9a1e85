"""Noisy channels: from underlying punctuation to that on the page (Li, Wang & Eisner 2019, section 2.2)."""
