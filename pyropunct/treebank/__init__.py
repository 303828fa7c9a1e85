"""Treebanks: reading and writing, trees, sentences, and conventions."""
