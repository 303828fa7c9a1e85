"""Compare ways to correct punctuation on simulated errors: the tables of docs/reference/correction.md.

Usage::

    python benchmarks/correction.py TRAIN.conllu DEV.conllu MODEL [--parser FOLDER] [--systems correction,crf]
                                    [--errors 1] [--copies 2] [--trees 1] [--samples 1000]
                                    [--decoder mbr] [--seed 0] [--threads 1] [--out FOLDER]

MODEL is what ``pyropunct fit TRAIN.conllu --dev DEV.conllu`` wrote.  If it has a parser, or if ``--parser``
is the folder of one that ``pyropunct compare`` has kept, systems that read trees are also tried on predicted
ones.  ``--out`` keeps the trained corrector; if it is there already, it is taken.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import torch

from pyropunct import Sentence, read_treebank
from pyropunct.baselines.correcting_crf import CorrectingCRF, train_correcting_crf
from pyropunct.baselines.recipes import TaggerRecipe
from pyropunct.comparison.significance import permutation_test
from pyropunct.correct.correcting import Corrector
from pyropunct.correct.edit_scores import edit_scores
from pyropunct.correct.fitting import COPIES, fit_correction
from pyropunct.correct.learner_errors import ErrorRates, WrongSurface, occasions, wrong_copies, wrong_surfaces
from pyropunct.parsing import BiaffineParser, WeightedTree
from pyropunct.punctuator import Punctuator
from pyropunct.restore.edit_distance import average_edit_distance, surface_distance
from pyropunct.restore.restoring import decide
from pyropunct.training.model_folder import read_model_folder
from pyropunct.treebank.marks import Surface

SYSTEMS = ("input", "restoration", "correction", "crf")


class Task(NamedTuple):
    """What is corrected."""

    sentences: list[Sentence]
    wrong: list[WrongSurface]

    @property
    def surfaces(self) -> list[Surface]:
        """The wrong punctuation."""
        return [one.surface for one in self.wrong]

    @property
    def right(self) -> list[Surface]:
        """The right punctuation."""
        return [one.surface for one in self.sentences]


Found = dict[str, list[Surface]]
Pairs = list[tuple[Sentence, WrongSurface]]


def main() -> None:
    """Run the benchmark from the command line."""
    options = _parser().parse_args()
    torch.set_num_threads(options.threads)
    rates = ErrorRates().times(options.errors)
    train, dev = (
        Task(some, list(wrong_surfaces(some, rates, options.seed + number)))
        for number, some in enumerate(list(read_treebank(path)) for path in (options.train, options.dev))
    )
    clean = Punctuator.load(options.model)
    if options.parser:
        clean = replace(clean, parser=_read_parser(options.parser))
    found: Found = {"input as it is": dev.surfaces}
    trees = {"gold trees": [[WeightedTree(one.tree, 1.0, given=True)] for one in dev.sentences]}
    if clean.parser is not None:
        words = [one.tree.forms for one in dev.sentences]
        trees["predicted trees"] = clean.parser.parse(words, options.trees)
    how = {"samples": options.samples, "decoder": options.decoder, "seed": options.seed}
    systems = options.systems.split(",")
    if "restoration" in systems:
        for kind, parses in trees.items():
            found[f"restoration, {kind}"] = [one.surface for one in decide(clean, parses, **how)]
    if "correction" in systems:
        corrector = _corrector(options, clean, train, dev, rates)
        for kind, parses in trees.items():
            decided = corrector.decide(parses, dev.surfaces, **how)
            found[f"correction, {kind}"] = [one.surface for one in decided]
    if "crf" in systems:
        pairs = wrong_copies(train.sentences, rates, options.copies, options.seed)
        # As many passes over the sentences as without copies.
        recipe = TaggerRecipe(epochs=max(1, TaggerRecipe().epochs // options.copies))
        crf = _crf(pairs, dev, recipe, options.seed)
        found[crf.name] = crf.correct([one.tree.forms for one in dev.sentences], dev.surfaces)
    _print_rates(train, rates)
    _print_scores(found, dev)
    _print_kinds(found, dev)


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    made.add_argument("train")
    made.add_argument("dev")
    made.add_argument("model")
    made.add_argument("--parser", type=Path)
    made.add_argument("--systems", default=",".join(SYSTEMS))
    made.add_argument("--errors", type=float, default=1.0)
    made.add_argument("--copies", type=int, default=COPIES)
    made.add_argument("--trees", type=int, default=1)
    made.add_argument("--samples", type=int, default=1000)
    made.add_argument("--decoder", default="mbr")
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--threads", type=int, default=1)
    made.add_argument("--out", type=Path)
    return made


def _read_parser(folder: Path) -> BiaffineParser:
    return BiaffineParser.from_parts(*read_model_folder(folder))


def _corrector(
    options: argparse.Namespace, clean: Punctuator, train: Task, dev: Task, rates: ErrorRates
) -> Corrector:
    if options.out is not None and options.out.exists():
        return Corrector.load(options.out)
    began = time.process_time()
    how = {"rates": rates, "copies": options.copies, "seed": options.seed}
    made = fit_correction(train.sentences, dev.sentences, clean, **how)
    _tell(f"corrector: {time.process_time() - began:.0f} s, dev perplexity {_perplexity(made):.4f}")
    if options.out is not None:
        made.save(options.out)
    return made


def _perplexity(corrector: Corrector) -> float:
    return float(corrector.writer.report["epochs"][-1]["perplexity"])


def _crf(train: Pairs, dev: Task, recipe: TaggerRecipe, seed: int) -> CorrectingCRF:
    began = time.process_time()
    unseen = list(zip(dev.sentences, dev.surfaces, strict=True))
    made = train_correcting_crf([(one, wrong.surface) for one, wrong in train], unseen, recipe, seed)
    perplexity = made.report["epochs"][made.report["chosen"] - 1]["perplexity"]
    _tell(f"CRF: {time.process_time() - began:.0f} s, dev perplexity {perplexity:.4f}")
    return made


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _print_rates(train: Task, rates: ErrorRates) -> None:
    """How many occasions and errors of each kind there are in 1,000 words of the training treebank."""
    words = sum(len(one.tree) for one in train.sentences)
    made = Counter(error.kind for one in train.wrong for error in one.errors)
    unit = ErrorRates(**dict.fromkeys(vars(rates), 0.1))  # the same shares, whatever the rates
    there: Counter[str] = Counter()
    for one in train.sentences:
        for option in (option for some in occasions(one.tree, one.surface, unit) for option in some):
            there[option.kind] += option.rate / 0.1  # type: ignore[assignment]
    _print_row("error", "rate", "occasions per 1,000 words", "errors per 1,000 words")
    _print_row(*["---"] * 4)
    for kind, rate in vars(rates).items():
        _print_row(kind, f"{rate:g}", *(f"{1000 * count[kind] / words:.2f}" for count in (there, made)))
    _print_row("all", "", "", f"{1000 * made.total() / words:.2f}")
    print()


def _print_scores(found: Found, dev: Task) -> None:
    """AED and F0.5; p is that of the difference in edits from the best system."""
    distances = {name: _distances(surfaces, dev.right) for name, surfaces in found.items()}
    best = min(distances.values(), key=sum)
    empty = [[() for _ in surface] for surface in dev.right]
    _print_row("system", "AED", "precision", "recall", "F0.5", "F0.5 of all marks", "p")
    _print_row(*["---"] * 7)
    for name, surfaces in found.items():
        scores = edit_scores(dev.surfaces, surfaces, dev.right)
        p = "" if distances[name] is best else f"{permutation_test(distances[name], best):.4f}"
        shares = [scores.precision, scores.recall, scores.f(), edit_scores(empty, surfaces, dev.right).f()]
        aed = average_edit_distance(surfaces, dev.right)
        _print_row(name, f"{aed:.4f}", *(f"{share:.3f}" for share in shares), p)
    print()


def _distances(found: Sequence[Surface], right: Sequence[Surface]) -> list[int]:
    return [surface_distance(*both) for both in zip(found, right, strict=True)]


def _print_kinds(found: Found, dev: Task) -> None:
    """The share of the errors of each kind that are mended, in all of their slots."""
    made = Counter(error.kind for one in dev.wrong for error in one.errors)
    _print_row("error", "number", *found)
    _print_row(*["---"] * (2 + len(found)))
    for kind, number in made.most_common():
        shares = []
        for surfaces in found.values():
            mended = sum(
                _mended(error.changes, surface, sentence.surface)
                for one, surface, sentence in zip(dev.wrong, surfaces, dev.sentences, strict=True)
                for error in one.errors
                if error.kind == kind
            )
            shares.append(f"{mended / number:.0%}")
        _print_row(kind, number, *shares)


def _mended(slots: Sequence[int], surface: Surface, right: Surface) -> bool:
    return not sum(surface_distance([surface[slot]], [right[slot]]) for slot in slots)


def _print_row(*cells: object) -> None:
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


if __name__ == "__main__":
    main()
