"""Fitted stories: p(x | T) with learned weights, their training settings, and model files.

Trees and sentences come in; probabilities, scores, underlying trees, edits and draws go out, and models are
written to files and read from files.  `pyropunct.restore`, `pyropunct.punctuator`, `pyropunct.train` and all
rooms above may call this one, which trains nothing.
"""
