"""How well the correctors of models correct learners' punctuation, as a Markdown table.

    python benchmarks/correcting.py LEARNERS.jsonl MODEL [MODEL ...]

Precision, recall and F0.5 of edits; *touched* is the share of right sentences that are changed, of those that
no annotator changed.  Words are parsed.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import torch

from pyropunct.nets.parser import WeightedTree
from pyropunct.restore.parses import weighted_trees
from pyropunct.tasks import CorrectingSettings
from pyropunct.tasks.correct.correcting import NoisyChannel, load_corrector
from pyropunct.tasks.correct.edit_scores import edit_scores
from pyropunct.tasks.correct.gold_corrections import Corrected, read_learners
from pyropunct.tasks.correct.hearing import wrong_sentences

THRESHOLDS = 0.0, 0.7, 0.8
"""The least probabilities of edits."""


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    made.add_argument("learners", type=Path)
    made.add_argument("models", nargs="+")
    options = made.parse_args()
    torch.set_num_threads(1)
    learners = read_learners(options.learners)
    print(
        "| model | threshold | sentences | precision | recall | F0.5 | right | touched |\n" + "|---" * 8 + "|"
    )
    for name in options.models:
        corrector = load_corrector(name)
        trees = weighted_trees(corrector.model, [one.words for one in learners], CorrectingSettings.trees)
        for threshold in THRESHOLDS:
            print(_row(name, corrector, learners, trees, threshold), flush=True)


def _row(
    name: str,
    corrector: NoisyChannel,
    learners: Sequence[Corrected],
    trees: Sequence[Sequence[WeightedTree]],
    threshold: float,
) -> str:
    wrong, gold = [one.wrong for one in learners], [one.right for one in learners]
    decided = corrector.decide(wrong_sentences(trees, wrong), CorrectingSettings(threshold=threshold))
    found = [one.surface for one in decided]
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
