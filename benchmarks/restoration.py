"""Restore the punctuation of words alone, in languages of the paper, by taggers and by our models.

    python benchmarks/restoration.py FOLDER --only ar [--most 1500] [--folds 2] [--seed 0] [--threads 1]
                                     [--test FOLDER]

FOLDER holds the treebanks of `treebanks.FILES`.  Trains on at most so many sentences, taken evenly from the
training part.  Prints a Markdown table: perplexity per slot and average edit distance (AED) with gold trees,
and with those of a parser, and F1 of all marks with the latter.  It measures on dev parts, or on test parts
in another folder.  Bold: the best of a language, and all that are not significantly worse.
"""

import argparse
from pathlib import Path

import torch
from treebanks import FILES, parts_of

from pyropunct import Sentence
from pyropunct.cli.progress import step_bar
from pyropunct.papers.li_2019.restoration_experiment import RestorationExperiment
from pyropunct.papers.li_2019.restorers import Conditions

SYSTEMS = ("trivial", "crf", "attention", "attach", "full", "mixed")


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    made.add_argument("folder", type=Path)
    made.add_argument("--only", default=",".join(FILES))
    made.add_argument("--most", type=int, default=1500)
    made.add_argument("--folds", type=int, default=2)
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--threads", type=int, default=1)
    made.add_argument("--test", type=Path)
    options = made.parse_args()
    torch.set_num_threads(options.threads)
    conditions = Conditions(systems=SYSTEMS, folds=options.folds, seed=options.seed)
    parts = parts_of(options.folder, options.test, options.only.split(","))
    for place, (code, whole, dev, test) in enumerate(parts):
        train = list(whole[:: -(-len(whole) // options.most)])
        header, rule, *rows = table(train, list(dev), None if test is None else list(test), conditions)
        if place == 0:
            print(f"| language, sentences {header}\n|---{rule.replace(' ', '')}")
        print("\n".join(f"| {code}, {len(train):,} {row}" for row in rows), flush=True)


def table(
    train: list[Sentence], dev: list[Sentence], test: list[Sentence] | None, conditions: Conditions
) -> list[str]:
    """The lines of the table of a language."""
    found = RestorationExperiment(train, dev, conditions, watch=step_bar, test=test).run()
    return [line for line in found.tables["systems"].markdown().splitlines() if line.startswith("|")]


if __name__ == "__main__":
    main()
