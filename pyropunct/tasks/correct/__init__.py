"""Correcting wrong punctuation by a model of right text and a channel of errors.

Sentences whose marks may be wrong come in, or pairs of wrong and right ones to fit the channel to; corrected
sentences, the probabilities of changes, and scores against gold corrections go out.  The command line,
`pyropunct.papers` and `pyropunct.load_corrector` call this room; it may call `pyropunct.tasks.explain`.
"""
