"""Compares a GPU with the compiled path on the cores of the same machine; prints tables.

    python benchmarks/gpu.py TRAIN.conllu DEV.conllu [--device cuda] [--sizes 64,256,1024,4096]
                             [--threads 16] [--seed 0] [--repeats 3] [--no-tests]

Runs the tests that need a GPU, then times the inside pass with its gradient, a training step, evaluation,
posterior draws and best trees, and profiles a training step.  ``--device cpu`` runs the tensors of the GPU
path on the CPU, to check that all works.
"""

import argparse
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import speed_systems as systems
import torch
from torch.profiler import ProfilerActivity, profile

from pyropunct import Recipe, Sentence, read_treebank
from pyropunct.inference import inside
from pyropunct.inference.problem import Problem
from pyropunct.inference.solvers import TensorSolver
from pyropunct.train.story_training import Training
from pyropunct.vocabulary import build_vocabulary

ROOT = Path(__file__).parents[1]

TESTS = ("tests/inference/tensors", "tests/models/test_story_on_other_device.py")
"""Where the tests are that are skipped without a GPU."""

DRAWS = 10
"""Posterior draws of each tree."""

OPERATIONS = 12
"""How many operations of a training step are told."""

Works = dict[str, Callable[[], object]]


@dataclass(frozen=True)
class Way:
    """A way to compute: compiled, or with tensors (even on the CPU), and weights on some device."""

    training: Training
    with_tensors: bool = False

    def computing(self) -> AbstractContextManager[Any]:
        """Here training and evaluation take this way."""
        return systems.solved_by(TensorSolver) if self.with_tensors else nullcontext()

    def seconds(self, work: Callable[[], object], repeats: int) -> float:
        """The best time of some calls, each until the device has done its part."""

        def finished() -> None:
            work()
            if torch.cuda.is_available():
                torch.cuda.synchronize()

        with self.computing():
            return systems.best_seconds(finished, repeats)

    def works(self, numbers: Sequence[int], held_out: Sequence[Sentence], size: int) -> Works:
        """The timed works, with ``size`` sentences at a time."""
        model, given = self.training.punctuator(), systems.problems(self.training, numbers, size)
        return {
            "inside and gradient": partial(for_each, given, _inside_and_gradient),
            "training step": partial(systems.train, self.training, numbers, size),
            "evaluation": partial(systems.evaluate, model, held_out, size),
            f"{DRAWS} posterior draws": partial(for_each, given, _draw),
            "best trees": partial(for_each, given, inside.best_derivation),
        }


def for_each(given: Sequence[Problem], work: Callable[[Problem], object]) -> None:
    for problem in given:
        work(problem)


def _inside_and_gradient(problem: Problem) -> None:
    systems.inside_and_gradient(problem, inside.log_evidence)


def _draw(problem: Problem) -> None:
    inside.posterior_draws(problem, DRAWS)


def print_speeds(compiled: Way, other: Way, dev: Sequence[Sentence], options: argparse.Namespace) -> None:
    """Print sentences a second of each work, for each size."""
    print("\n| work | sentences at a time | compiled | device | times as fast |\n|---|---|---|---|---|")
    random = Random(options.seed)
    for size in map(int, options.sizes.split(",")):
        numbers = random.choices(range(len(compiled.training.train)), k=size)
        held_out = random.choices(dev, k=size)
        ours, theirs = (way.works(numbers, held_out, size) for way in (compiled, other))
        for name, work in ours.items():
            one = size / compiled.seconds(work, options.repeats)
            two = size / other.seconds(theirs[name], options.repeats)
            print(f"| {name} | {size:,} | {one:,.0f} | {two:,.0f} | {two / one:.2f} |", flush=True)


def print_profile(way: Way, options: argparse.Namespace) -> None:
    numbers = range(min(max(map(int, options.sizes.split(","))), len(way.training.train)))
    on_gpu = way.training.device.startswith("cuda")
    kinds = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if on_gpu else [])]
    with way.computing():
        way.training.step(numbers, 0)
        with profile(activities=kinds) as found:
            way.training.step(numbers, 0)
    order = f"self_{'device' if on_gpu else 'cpu'}_time_total"
    print(f"\nA training step of {len(numbers):,} sentences:\n")
    print(found.key_averages().table(sort_by=order, row_limit=OPERATIONS, max_name_column_width=40))


def run_tests() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-k", "cuda", *TESTS]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    print(f"Tests on the GPU: {done.stdout.splitlines()[-1]}", flush=True)


def options_of_command_line() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("train")
    parser.add_argument("dev")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--sizes", default="64,256,1024,4096", help="sentences computed together")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="of the compiled path")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=3, help="trials of which the best counts")
    parser.add_argument("--no-tests", action="store_true", help="measure only")
    return parser.parse_args()


def main() -> None:
    options = options_of_command_line()
    torch.set_num_threads(options.threads)
    if options.device != "cpu" and not torch.cuda.is_available():
        sys.exit("there is no GPU here that torch can use; --device cpu shows that everything works")
    name = torch.cuda.get_device_name() if options.device != "cpu" else "tensors on the CPU"
    print(f"{name}; compiled path: {options.threads} threads; torch {torch.__version__}", flush=True)
    if options.device != "cpu" and not options.no_tests:
        run_tests()
    train, dev = list(read_treebank(options.train)), list(read_treebank(options.dev))
    vocabulary = build_vocabulary([(sentence.tree, sentence.surface) for sentence in train])
    trainings = [
        Training(vocabulary, train, train[:1], Recipe(), options.seed, device)
        for device in ("cpu", options.device)
    ]
    compiled, other = Way(trainings[0]), Way(trainings[1], with_tensors=True)
    print_speeds(compiled, other, dev, options)
    print_profile(other, options)


if __name__ == "__main__":
    main()
