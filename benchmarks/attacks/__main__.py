"""Attacks on the program: many tries with damaged and hostile input, and their outcomes.

    python benchmarks/attacks models --tries 1000 --seed 0

prints a row of outcomes (docs/reference/reliability.md).  Each attack is a module with a function
``attack(tries, seed)`` that returns a `row.Row`; equal seeds try the same.
"""

import argparse
import sys
from importlib import import_module
from pathlib import Path

HELPERS = {"__main__", "row", "unchanged"}
KINDS = sorted({path.stem for path in Path(__file__).parent.glob("*.py")} - HELPERS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], prog="attacks")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--tries", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    row = import_module(options.kind).attack(options.tries, options.seed)
    print("| attack | tries | outcomes | failures |\n|---|---|---|---|")
    print(row)
    for failure in row.failures:
        print(failure, file=sys.stderr)
    sys.exit(1 if row.failures else 0)


if __name__ == "__main__":
    main()
