"""Exact inference for latent punctuation (Li, Wang & Eisner 2019, section 3)."""
