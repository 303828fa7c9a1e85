"""Mutation testing: small bugs are put in, one at a time; which of them do the tests catch?

Needs cosmic-ray and coverage, a POSIX system, and about an hour of one core::

    pip install cosmic-ray==8.7.0 coverage==7.17.3
    nice python benchmarks/mutants/run.py OUT [--settings around.toml] [--mutants N] [--minutes M]

OUT is a new folder; the same command resumes.  First all tests run, to record which lines each runs.  Then
each mutant meets the tests that run its lines, the quickest first, until one fails.  Mutants that cannot be
imported do not count.  Mutants of code compiled by numba run as plain Python.  The settings are in
settings.toml, for the models and the inference; those in around.toml are for what stands around them.
"""

import argparse
import tomllib
from pathlib import Path


def main() -> None:
    from trials import Trials, report  # not in the processes that are forked, which import this file

    kind = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=kind)
    parser.add_argument("out", type=Path)
    parser.add_argument("--settings", type=Path, default=Path(__file__).parent / "settings.toml")
    parser.add_argument("--mutants", type=int)
    parser.add_argument("--minutes", type=float, default=60.0, help="of the mutants, not of recording")
    options = parser.parse_args()
    settings = tomllib.loads(options.settings.read_text(encoding="utf-8"))
    trials = Trials(options.out.resolve(), settings)
    trials.record()
    trials.run(options.mutants or settings["mutants"], options.minutes)
    print(report(list(trials.results())))


if __name__ == "__main__":
    main()
