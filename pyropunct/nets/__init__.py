"""Neural networks that read words: parsers, slot taggers, readers of running text, and their encoders.

Words come in, and sentences to train on; weighted trees, probabilities of the strings of slots, sentence
ends, marks and upper case go out.  `pyropunct.fitted` and all rooms above may call this one, which knows no
story.
"""
