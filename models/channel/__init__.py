"""Noisy channels: from underlying punctuation to that on the page (Li, Wang & Eisner 2019, section 2.2).

Each channel gives moves and the sites of their weights; a transducer
(`pyropunct.inference.machines.transducers`) and its probabilities, (..., P), go out.  A story calls them;
rooms above `pyropunct.models` make, fit and save them, and look at their edits.
"""
