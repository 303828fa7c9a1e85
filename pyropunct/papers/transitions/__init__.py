"""Transition-based parsers: states, features, a perceptron and beam search, compiled by numba.

`pyropunct.papers.ma_2014` and `pyropunct.papers.zhang_2013` are the parsers.  Numba caches compiled code on
disk: read `pyropunct.inference.compiling` before you change compiled functions in these folders.
"""

from pathlib import Path

from pyropunct.inference.compiling import forget_outdated

forget_outdated(Path(__file__).parent.parent)  # before any compiled code is loaded, here or there
