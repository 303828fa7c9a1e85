"""The generator of the embedded treebank: a grammar, a lexicon, and marks drawn from the true rules."""
