"""Explaining a model: what it has learned, and its analysis of a sentence."""
