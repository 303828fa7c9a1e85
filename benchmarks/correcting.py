"""How well the correctors of models correct learners' punctuation, as a Markdown table.

    python benchmarks/correcting.py LEARNERS.jsonl MODEL [MODEL ...]
    python benchmarks/correcting.py LEARNERS.jsonl MODEL --train TRAIN.conllu --dev DEV.conllu [--every 4]

Precision, recall and F0.5 of edits; *touched* is the share of right sentences that are changed, of those that
no annotator changed.  Words are parsed.  With ``--train``, the correctors of `pyropunct compare correction`
learn from simulated errors in every so many sentences, given the model of right text, and correct the same.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import torch

import pyropunct
from pyropunct import read_treebank
from pyropunct.cli.progress import step_bar
from pyropunct.papers.li_2019.correction_experiment import CorrectionExperiment
from pyropunct.papers.options import CorrectionSettings
from pyropunct.restore.parses import weighted_trees
from pyropunct.tasks import CorrectingSettings
from pyropunct.tasks.correct.correcting import decisions, load_corrector
from pyropunct.tasks.correct.edit_scores import edit_scores
from pyropunct.tasks.correct.gold_corrections import Corrected, read_learners
from pyropunct.tasks.correct.hearing import FITTED_RATE, WritersRate, hear, wrong_sentences
from pyropunct.text.marks import Surface

THRESHOLDS = 0.0, 0.7, 0.8
"""The least probabilities of edits."""


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    made.add_argument("learners", type=Path)
    made.add_argument("models", nargs="+")
    made.add_argument("--train", type=Path)
    made.add_argument("--dev", type=Path)
    made.add_argument("--every", type=int, default=4)
    options = made.parse_args()
    torch.set_num_threads(1)
    learners = read_learners(options.learners)
    if options.train is not None:
        train, dev = (list(read_treebank(path))[:: options.every] for path in (options.train, options.dev))
        settings = CorrectionSettings(systems=("alone", "paper", "crf", "channel"))
        [model] = options.models
        experiment = CorrectionExperiment(
            train, dev, settings, watch=step_bar, model=pyropunct.load(model), learners=learners
        )
        tables = experiment.run().tables
        print("\n".join(line for line in tables["learners"].markdown().splitlines() if line[:1] == "|"))
        return
    print(
        "| model | threshold | sentences | precision | recall | F0.5 | right | touched |\n" + "|---" * 8 + "|"
    )
    for name in options.models:
        corrector = load_corrector(name)
        trees = weighted_trees(corrector.model, [one.words for one in learners], CorrectingSettings.trees)
        heard = hear(
            corrector.model, corrector.errors, wrong_sentences(trees, [one.wrong for one in learners])
        )
        rate = WritersRate(FITTED_RATE).probabilities
        for threshold in THRESHOLDS:
            decided = decisions(heard, CorrectingSettings(threshold=threshold), rate)
            print(_row(name, threshold, learners, [one.surface for one in decided]), flush=True)


def _row(name: str, threshold: float, learners: Sequence[Corrected], found: Sequence[Surface]) -> str:
    wrong, gold = [one.wrong for one in learners], [one.right for one in learners]
    scores = edit_scores(wrong, found, gold)
    changed = {one.sentence for one in learners if one.wrong != one.right}
    right = [place for place, one in enumerate(learners) if one.sentence not in changed]
    touched = sum(edit_scores([wrong[n]], [found[n]], [wrong[n]]).proposed > 0 for n in right)
    cells = (
        name,
        f"{threshold:g}",
        f"{len(learners):,}",
        f"{scores.precision:.3f}",
        f"{scores.recall:.3f}",
        f"{scores.f():.3f}",
        f"{len(right):,}",
        f"{100 * touched / len(right):.1f} %",
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
