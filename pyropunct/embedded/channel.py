"""The edit channel of the embedded treebank, in plain Python.

A slow, literal rendering of the sliding window of Li, Wang & Eisner 2019, section 2.2, that shares
no code with the rest of the package, so that it can also serve as a reference.

The window holds two neighbouring tokens a b of the underlying string and makes one of four edits:
keep (a b stays), left absorption (b remains), right absorption (a remains), transposition (b a).
English slides it from right to left: b is held, a is read, and whatever comes to stand on the
right is finished.  So a mark that is read late can still follow one that was read early, as the
comma does in ``, ” .``.
"""

from collections.abc import Mapping, Sequence

Edits = Mapping[tuple[str, str], tuple[float, float, float, float]]
"""For a window (a, b) the probabilities of keep, left absorption, right absorption, transposition."""

KEEP = (1.0, 0.0, 0.0, 0.0)
"""What happens to a window that has no entry."""

Histories = dict[tuple[str, tuple[str, ...]], float]
"""From the token in the window and the string finished so far to the probability of both."""


def surface_distribution(underlying: Sequence[str], edits: Edits) -> dict[tuple[str, ...], float]:
    """The probability p(x | u) of every surface string x of an underlying string u."""
    if not underlying:
        return {(): 1.0}
    histories: Histories = {(underlying[-1], ()): 1.0}
    for read in reversed(underlying[:-1]):
        histories = _slide(histories, read, edits)
    surfaces: dict[tuple[str, ...], float] = {}
    for (held, finished), probability in histories.items():
        surface = (held, *finished)
        surfaces[surface] = surfaces.get(surface, 0.0) + probability
    return surfaces


def _slide(histories: Histories, read: str, edits: Edits) -> Histories:
    """Read one more token to the left in every history."""
    following: Histories = {}
    for (held, finished), probability in histories.items():
        keep, left, right, transpose = edits.get((read, held), KEEP)
        outcomes = (
            ((read, (held, *finished)), keep),
            ((held, finished), left),
            ((read, finished), right),
            ((held, (read, *finished)), transpose),
        )
        for outcome, share in outcomes:
            if share:
                following[outcome] = following.get(outcome, 0.0) + probability * share
    return following
