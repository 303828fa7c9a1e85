"""Compare training with other ways to compute the same, as a Markdown table.

    python benchmarks/speed.py TRAIN.conllu [--threads 1] [--device cuda] [--sentences 256] [--few 8]

Sentences a second in training steps (forward, backward, update): by Algorithm 1 of Li, Wang & Eisner (2019)
as printed; by Pyro's own enumeration, on short sentences with small sets of pairs; by tensors on the CPU and,
with ``--device``, on a GPU; and by the compiled loops.  The difference column is the largest relative
difference in log p(x | T) from the compiled loops.  A time is the best of three, after a trial that compiles.
Run it on a quiet machine.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import torch
from pyro.infer import Trace_ELBO, TraceEnum_ELBO
from torch import Tensor

import pyropunct.fitted.fitted_story
from pyropunct import Recipe, Sentence, read_treebank
from pyropunct.inference import inside
from pyropunct.inference.problem import Problem
from pyropunct.inference.pyro.collapse import collapse_trees
from pyropunct.inference.pyro.one_by_one import one_by_one
from pyropunct.inference.solvers import TensorSolver
from pyropunct.models.trees import join_surfaces
from pyropunct.train.story_training import Training
from pyropunct.vocabulary import Pair, Vocabulary, build_vocabulary

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # where Algorithm 1 is as printed

from printed_algorithm import log_evidence_by_matrices

RECIPE = Recipe()
BATCH = RECIPE.batch_size
SHORT = 4
"""The most words of sentences that Pyro enumerates."""
TRIALS, LEAST = 3, 0.5
"""How often a work is timed at least, and for how many seconds altogether."""
NOTHING: Pair = ((), ())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device")
    parser.add_argument("--sentences", type=int, default=256, help="of the fast ways")
    parser.add_argument("--few", type=int, default=8, help="sentences of the slow ways")
    parser.add_argument(
        "--pairs", type=int, default=4, help="the most of each relation in Pyro's enumeration"
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    random, train = Random(options.seed), list(read_treebank(options.train))
    vocabulary = build_vocabulary([(one.tree, one.surface) for one in train])
    training = training_on(train, vocabulary)
    some = random.sample(range(len(train)), min(options.sentences, len(train)))
    print("| way | sentences | together | a second | difference |\n|---|--:|--:|--:|--:|")
    print_ways("Algorithm 1 as printed", by_matrices, training, some[: options.few], 1)
    short = [one for one in train if len(one.tree) <= SHORT][: options.few]
    print_enumeration(short, vocabulary, options.pairs)
    print_ways("tensors on the CPU", by_tensors, training, some, BATCH)
    if options.device:
        wanted, other = log_probs(training, some), training_on(train, vocabulary, options.device)
        print_row(
            f"tensors, {options.device}", other, some, BATCH, difference(log_probs(other, some), wanted)
        )


def training_on(
    train: Sequence[Sentence], vocabulary: Vocabulary, device: str = "cpu", recipe: Recipe = RECIPE
) -> Training:
    """A training at its start."""
    return Training(vocabulary, train, train[:1], recipe, 0, device)


def log_probs(training: Training, numbers: Sequence[int]) -> Tensor:
    """log p(x | T) of some sentences."""
    return training.punctuator().log_prob([training.train[number] for number in numbers])


def difference(found: Tensor, wanted: Tensor) -> float:
    """The greatest one, relative."""
    return float((found / wanted - 1).abs().max())


def print_row(way: str, training: Training, numbers: Sequence[int], size: int, off: float) -> None:
    """Time training steps on some sentences, so many in a batch."""

    def steps() -> None:
        for first in range(0, len(numbers), size):
            training.step(numbers[first : first + size], 0)
        if training.device.startswith("cuda"):
            torch.cuda.synchronize()

    steps()
    times: list[float] = []
    while len(times) < TRIALS or sum(times) < LEAST:
        began = time.perf_counter()
        steps()
        times.append(time.perf_counter() - began)
    print(f"| {way} | {len(numbers)} | {size} | {len(numbers) / min(times):.2f} | {off:.0e} |", flush=True)


def print_ways(
    way: str, evidence: Callable[[Problem], Tensor], training: Training, numbers: Sequence[int], size: int
) -> None:
    """Compare another inside algorithm with the compiled one, all else being the same."""
    wanted = log_probs(training, numbers)
    with computed_by(evidence):
        print_row(way, training, numbers, size, difference(log_probs(training, numbers), wanted))
    print_row("compiled", training, numbers, size, 0)


@contextmanager
def computed_by(evidence: Callable[[Problem], Tensor]) -> Iterator[None]:
    """Training and evaluation take this inside algorithm."""
    with (
        patch.object(inside, "log_evidence", evidence),
        patch.object(pyropunct.fitted.fitted_story, "log_evidence", evidence),
    ):
        yield


def by_matrices(problem: Problem) -> Tensor:
    """Algorithm 1 as printed, in double precision as the compiled loops."""
    automata = problem.automata
    numbers = {name: getattr(automata, name).double() for name in ("weight", "initial", "final")}
    return log_evidence_by_matrices(
        replace(problem, log_pairs=problem.log_pairs.double(), automata=automata._replace(**numbers))
    )


def by_tensors(problem: Problem, compiled: Callable[[Problem], Tensor] = inside.log_evidence) -> Tensor:
    """Tensor operations on the CPU, which otherwise compute on a GPU alone."""
    with patch.object(inside, "solver_of", TensorSolver):
        return compiled(problem)


def print_enumeration(short: Sequence[Sentence], vocabulary: Vocabulary, most: int) -> None:
    """Compare Pyro's enumeration with the compiled sums, on short sentences and small sets of pairs."""
    random = Random(0)

    def fewer(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
        others = [pair for pair in pairs if pair != NOTHING]
        return tuple(sorted([NOTHING, *random.sample(others, min(most - 1, len(others)))]))

    vocabulary = replace(vocabulary, pairs=tuple(map(fewer, vocabulary.pairs)))
    training = training_on(short, vocabulary, recipe=RECIPE.changed(parts=False))
    numbers = range(len(short))
    story = training.punctuator().story
    wanted, known = log_probs(training, numbers), losses(training, Trace_ELBO, collapse_trees(story))
    print_row("compiled, few pairs", training, numbers, 1, 0)
    changed: Any = training
    changed.elbo, changed.story = TraceEnum_ELBO(max_plate_nesting=1), one_by_one(training.story)
    # Both losses are log p(x | T) and the same prior of all weights.
    found = wanted + known - losses(training, TraceEnum_ELBO, one_by_one(story))
    print_row("`TraceEnum_ELBO`, few pairs", training, numbers, 1, difference(found, wanted))


@torch.no_grad()
def losses(training: Training, elbo: Any, story: Callable[..., Any]) -> Tensor:
    """The loss of each sentence alone, with all weights known."""
    vocabulary, found = training.vocabulary, []
    for sentence in training.train:
        surface = join_surfaces([vocabulary.encode_surface(sentence.surface, sentence.tree)])
        trees = vocabulary.encode_trees([sentence.tree])
        found.append(elbo(max_plate_nesting=1).loss(story, lambda *_: None, trees, surface))
    return torch.tensor(found, dtype=torch.double)


if __name__ == "__main__":
    main()
