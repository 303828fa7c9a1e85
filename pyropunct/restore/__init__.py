"""Restoring the punctuation of words and trees (Li, Wang & Eisner 2019, section 6.1).

Raw text, running text or sentences of a treebank come in, with a fitted model and `settings`; sentences with
the decided marks, their probabilities and their trees go out, in the order of the text.
`pyropunct.punctuator` and all rooms above may call this one.
"""
