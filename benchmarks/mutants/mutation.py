"""Small bugs put into a file, one at a time: those of cosmic-ray, https://cosmic-ray.readthedocs.io."""

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

OPERATORS = {name: get_operator(name) for name in operator_names()}


class Place(NamedTuple):
    """Where something can be changed: a file, and the first and the last line."""

    path: str
    first: tuple[int, int]
    last: tuple[int, int]


class Mutant(NamedTuple):
    """A change: its place, the operator that makes it, and which of those that it can make in the file."""

    place: Place
    operator: str
    occurrence: int

    def source(self, root: Path) -> str:
        """The whole changed file."""
        text = (root / self.place.path).read_text(encoding="utf-8")
        changed = mutate_code(text, OPERATORS[self.operator](), self.occurrence)
        assert changed is not None
        return str(changed)

    def difference(self, root: Path) -> str:
        """The changed lines."""
        before = (root / self.place.path).read_text(encoding="utf-8").splitlines()
        changed = list(unified_diff(before, self.source(root).splitlines(), n=0, lineterm=""))[3:]
        return "\n".join(changed)


def sampled(root: Path, folders: Sequence[str], seed: int) -> Iterator[Mutant]:
    """Mutants in random order: places first, so that none counts more because more can be done to it."""
    generator = random.Random(seed)
    files = [path for folder in folders for path in sorted((root / folder).rglob("*.py"))]
    there: dict[Place, list[Mutant]] = defaultdict(list)
    for path in files:
        for mutant in _mutants(str(path.relative_to(root)), path.read_text(encoding="utf-8")):
            there[mutant.place].append(mutant)
    for place in generator.sample(sorted(there), len(there)):
        yield generator.choice(there[place])


def _mutants(path: str, text: str) -> Iterator[Mutant]:
    nodes = list(ast_nodes(get_ast(text)))
    for name, kind in OPERATORS.items():
        if kind.arguments():  # it needs to be told names
            continue
        operator = kind()
        positions = (position for node in nodes for position in operator.mutation_positions(node))
        for occurrence, (first, last) in enumerate(positions):
            yield Mutant(Place(path, tuple(first), tuple(last)), name, occurrence)
