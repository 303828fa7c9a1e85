"""Attacks on the program: many tries with damaged and hostile input, and their outcomes.

    python benchmarks/attacks models --tries 1000 --seed 0

prints a row of outcomes (docs/reference/reliability.md).  Each attack is a module with a function
``attack(tries, chance, folder)``.  It gets the number of tries, a random generator and an empty folder, and
yields a `row.Try` for each try.  Equal seeds make equal tries.
"""

import argparse
import random
import sys
import tempfile
from importlib import import_module
from pathlib import Path

import torch
from row import row_of

HELPERS = {"__main__", "material", "processes", "row", "unchanged"}
KINDS = sorted({path.stem for path in Path(__file__).parent.glob("*.py")} - HELPERS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], prog="attacks")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--tries", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)  # threads do not survive a fork
    module = import_module(options.kind)
    title = module.__doc__.splitlines()[0].rstrip(".")
    with tempfile.TemporaryDirectory() as place:
        row = row_of(title, module.attack(options.tries, random.Random(options.seed), Path(place)))
    print("| attack | tries | outcomes | failures |\n|---|---|---|---|")
    print(row)
    for failure in row.failures:
        print(failure, file=sys.stderr)
    sys.exit(1 if row.failures else 0)


if __name__ == "__main__":
    main()
