"""Correcting wrong punctuation by a model of right text and a channel of errors."""
