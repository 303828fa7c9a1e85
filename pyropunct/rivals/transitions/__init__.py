"""Parsers with transitions: cells, features, a perceptron and beam search, compiled.

- `pyropunct.rivals.transitions.cells`: trees and stacks that the states of a beam share, and their atoms.
- `pyropunct.rivals.transitions.arc_standard`: arc-standard transitions.
- `pyropunct.rivals.transitions.arc_eager`: arc-eager transitions, which predict punctuation.
- `pyropunct.rivals.transitions.systems`: one of the two, by its number.
- `pyropunct.rivals.transitions.templates`: which atoms make features.
- `pyropunct.rivals.transitions.perceptron`: their weights.
- `pyropunct.rivals.transitions.search`: beam search and early update.
- `pyropunct.rivals.transitions.learning`: one example after the other.
- `pyropunct.rivals.transitions.parser`: trained parsers, their actions, and their parts in a file.

`pyropunct.rivals.ma_2014` and `pyropunct.rivals.zhang_2013` are the parsers.  What numba has compiled
is kept on disk: see `pyropunct.inference.compiling` before changing anything here or there.
"""

from pathlib import Path

from pyropunct.inference.compiling import forget_outdated

forget_outdated(Path(__file__).parent.parent)  # before anything is read of what was kept, by them too
