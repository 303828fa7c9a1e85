"""What parsers with transitions share: cells, features, a perceptron and beam search, compiled.

- `pyropunct.parsing.transitions.cells`: trees and stacks that the states of a beam share, and their atoms.
- `pyropunct.parsing.transitions.arc_standard`: arc-standard transitions.
- `pyropunct.parsing.transitions.arc_eager`: arc-eager transitions, which predict punctuation.
- `pyropunct.parsing.transitions.systems`: one of the two, by its number.
- `pyropunct.parsing.transitions.templates`: which atoms make features.
- `pyropunct.parsing.transitions.perceptron`: their weights.
- `pyropunct.parsing.transitions.search`: beam search and early update.
- `pyropunct.parsing.transitions.learning`: one example after the other.
- `pyropunct.parsing.transitions.actions`: actions as numbers, and weights as they are saved.
- `pyropunct.parsing.transitions.parser`: what trained parsers are made of, and how that is saved.

`pyropunct.parsing.arc_standard` and `pyropunct.parsing.arc_eager` are the parsers.  What numba has compiled
is kept on disk: see `pyropunct.inference.compiling` before changing anything here or there.
"""

from pathlib import Path

from pyropunct.inference.compiling import forget_outdated

forget_outdated(Path(__file__).parent.parent)  # before anything is read of what was kept, by them too
