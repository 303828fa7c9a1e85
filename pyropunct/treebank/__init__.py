"""Treebanks: reading and writing, trees, sentences, and what they show of how a treebank writes."""
