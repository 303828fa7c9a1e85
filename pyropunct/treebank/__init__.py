"""Treebanks: reading and writing, trees, marks, and how a treebank writes them."""
