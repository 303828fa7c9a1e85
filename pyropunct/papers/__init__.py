"""Experiments after papers: systems to compare with, their training, their data and their results.

Treebanks, texts and settings come in, and a folder that keeps what was trained, so that an experiment
resumes; tables with significance tests go out, as Markdown and JSON.  Only the command line (``compare``)
calls this room, which may call all others but the command line.
"""
