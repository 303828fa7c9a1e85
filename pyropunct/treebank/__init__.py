"""Treebanks: reading and writing, trees, sentences, and conventions.

CoNLL-U comes in, or bracketed trees; sentences as pairs of an unpunctuated tree and its surface punctuation
go out, what was omitted and why, and CoNLL-U with other marks or heads.  All rooms from `pyropunct.models` up
may call this one.
"""
