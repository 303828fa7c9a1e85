"""Parsers with transitions: cells, features, a perceptron and beam search, compiled.

- `pyropunct.rivals.transitions.cells`: trees and stacks that the states of a beam share, and their atoms.
- `pyropunct.rivals.transitions.arc_standard`: arc-standard transitions.
- `pyropunct.rivals.transitions.arc_eager`: arc-eager transitions, which predict punctuation.
- `pyropunct.rivals.transitions.perceptron`: the features, as templates of atoms, and their weights.
- `pyropunct.rivals.transitions.search`: beam search and early update, with either of these two systems.
- `pyropunct.rivals.transitions.parser`: parsers, their actions, their parts in a file, and their learning.

`pyropunct.rivals.ma_2014` and `pyropunct.rivals.zhang_2013` are the parsers.  Numba keeps compiled
code on disk: read `pyropunct.inference.compiling` before you change compiled functions in these folders.
"""

from pathlib import Path

from pyropunct.inference.compiling import forget_outdated

forget_outdated(Path(__file__).parent.parent)  # before any compiled code is loaded, here or there
