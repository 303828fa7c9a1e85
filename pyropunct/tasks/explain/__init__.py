"""Explaining a model: what it has learned, and its analysis of a sentence.

A fitted model and treebank sentences come in; learned edits, punctemes of relations, comparisons of
languages, derivations of slots and better heads of marks go out, as plain values without layout.  The command
line, `pyropunct.figures` and the other tasks may call this room.
"""
