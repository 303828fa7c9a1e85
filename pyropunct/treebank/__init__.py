"""Treebanks: reading and writing, trees, sentences, and how a treebank writes."""
