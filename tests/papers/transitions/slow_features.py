"""Features of the perceptron parsers again, in plain Python."""

from collections.abc import Mapping, Sequence

from pyropunct.papers.transitions.perceptron import number_of


def features_of(atoms: Mapping[str, int], templates: Sequence[Sequence[str]]) -> list[int]:
    """The keys of the features of some atoms, of which absent ones may be left out."""
    return [
        key_of(number_of(" ".join(names)), [atoms.get(name, 0) for name in names])
        for names in templates
        if atoms.get(names[0])
    ]


def key_of(key: int, values: Sequence[int]) -> int:
    for value in values:
        key = (key ^ value) * -7046029254386353131 & (1 << 64) - 1
        key -= key >> 63 << 64
        key ^= key >> 29
    return key


def distance(apart: int) -> int:
    return apart if apart < 5 else 5 if apart <= 10 else 6
