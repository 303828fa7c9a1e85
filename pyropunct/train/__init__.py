"""Training: stories by SVI, weights for parser output, the tagger's share, checkpoints.

Treebank sentences and recipes come in, or text without trees; a `pyropunct.Punctuator` with a report of the
training goes out, and checkpoints from which an interrupted training resumes.  The command line,
`pyropunct.papers`, `pyropunct.tasks` and `pyropunct.fit` call this room.
"""
