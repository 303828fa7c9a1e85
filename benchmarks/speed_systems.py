"""The systems that `speed.py` compares: training steps and evaluation by several inside algorithms."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from pyro.infer import TraceEnum_ELBO
from torch import Tensor

import pyropunct.fitted.fitted_story
from pyropunct import Punctuator, Sentence
from pyropunct.inference import inside
from pyropunct.inference.problem import Problem
from pyropunct.inference.pyro.collapse import tree_problem
from pyropunct.inference.pyro.one_by_one import one_by_one
from pyropunct.inference.pyro.svi import TreeEnum_ELBO
from pyropunct.inference.solvers import Solver, TensorSolver
from pyropunct.models.trees import TreeBatch, join_surfaces
from pyropunct.train.story_training import Training

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # where Algorithm 1 is as printed

from printed_algorithm import log_evidence_by_matrices

Evidence = Callable[[Problem], Tensor]

compiled: Evidence = inside.log_evidence


LEAST = 0.5
"""Seconds that all calls of what is timed take together at least: short ones need more trials."""


def best_seconds(work: Callable[[], object], repeats: int) -> float:
    """The shortest time of some calls, after one that is not counted: it compiles and fills caches."""
    work()
    times: list[float] = []
    while len(times) < repeats or sum(times) < LEAST:
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def by_matrices(problem: Problem) -> Tensor:
    """Algorithm 1 as printed, in double precision as the compiled loops."""
    automata = problem.automata
    numbers = {name: getattr(automata, name).double() for name in ("weight", "initial", "final")}
    return log_evidence_by_matrices(
        replace(problem, log_pairs=problem.log_pairs.double(), automata=automata._replace(**numbers))
    )


def by_tensors(problem: Problem) -> Tensor:
    """Tensor operations on the CPU, which otherwise compute on a GPU alone."""
    with solved_by(TensorSolver):
        return compiled(problem)


@contextmanager
def solved_by(solver: Callable[[Problem], Solver]) -> Iterator[None]:
    """All inference by compiled loops, or all by tensor operations, on any device."""
    with patch.object(inside, "solver_of", solver):
        yield


@contextmanager
def inside_by(evidence: Evidence) -> Iterator[None]:
    """Training and evaluation with another inside algorithm, all else being the same."""
    with (
        patch.object(inside, "log_evidence", evidence),
        patch.object(pyropunct.fitted.fitted_story, "log_evidence", evidence),
    ):
        yield


def parts(items: Sequence[Any], size: int) -> list[Sequence[Any]]:
    """Consecutive parts of some items."""
    return [items[first : first + size] for first in range(0, len(items), size)]


def train(training: Training, numbers: Sequence[int], size: int) -> None:
    """A training step on each part of some sentences."""
    for part in parts(numbers, size):
        training.step(part, 0)


def evaluate(model: Punctuator, sentences: Sequence[Sentence], size: int) -> None:
    """Evaluate some sentences, so many at a time."""
    for part in parts(sentences, size):
        model.evaluate(part)


def greatest_difference(found: Tensor, wanted: Tensor) -> float:
    """Of two columns of log-probabilities, relative."""
    return float((found / wanted - 1).abs().max())


def inside_and_gradient(problem: Problem, evidence: Evidence) -> None:
    """The inside part of a training step alone: log p(x | T) and its gradient in all that it depends on."""
    with torch.enable_grad():
        automata = problem.automata
        leaves = [problem.log_pairs, automata.weight, automata.initial, automata.final]
        leaves = [leaf.detach().double().requires_grad_() for leaf in leaves]
        names = ("weight", "initial", "final")
        moved = automata._replace(**dict(zip(names, leaves[1:], strict=True)))
        total = evidence(replace(problem, log_pairs=leaves[0], automata=moved)).sum()
        torch.autograd.grad(total, leaves)


def problems(training: Training, numbers: Sequence[int], size: int) -> list[Problem]:
    """The inference problems of parts of the training treebank, with the weights as they are."""
    model = training.punctuator().story
    return [tree_problem(model, *training.batch(part)) for part in parts(numbers, size)]


def encoded(model: Punctuator, sentences: Sequence[Sentence]) -> tuple[TreeBatch, Tensor]:
    """Any sentences as the models read them."""
    vocabulary = model.vocabulary
    surfaces = [vocabulary.encode_surface(sentence.surface) for sentence in sentences]
    return vocabulary.encode_trees([sentence.tree for sentence in sentences]), join_surfaces(surfaces)


def problem_of(model: Punctuator, sentences: Sequence[Sentence]) -> Problem:
    """The inference problem of any sentences."""
    return tree_problem(model.story, *encoded(model, sentences))


def enumerateone_by_one(training: Training) -> None:
    """Let Pyro's own ELBO sum over the punctemes in this training."""
    channel: Any = training.story.channel
    weights = channel.weights
    # Pyro's sums take one kind of number, and scores are double.
    channel.weights = lambda: {name: values.double() for name, values in weights().items()}
    changed: Any = training
    changed.elbo = TraceEnum_ELBO(max_plate_nesting=1)
    changed.story = one_by_one(training.story)


def _no_guide(*args: Any) -> None:
    """A guide for models whose only latent sites are those of trees."""


@torch.no_grad()
def enumerated_losses(model: Punctuator, sentences: Sequence[Sentence]) -> Tensor:
    """The loss of each sentence on its own by `TraceEnum_ELBO`, with all weights known."""
    elbo, told = TraceEnum_ELBO(max_plate_nesting=1), one_by_one(model.story)
    losses = [elbo.loss(told, _no_guide, *encoded(model, [sentence])) for sentence in sentences]
    return torch.tensor(losses, dtype=torch.double)


@torch.no_grad()
def collapsed_losses(model: Punctuator, sentences: Sequence[Sentence]) -> Tensor:
    """The same by `TreeEnum_ELBO`."""
    elbo = TreeEnum_ELBO(max_plate_nesting=1)
    losses = [elbo.loss(model.story, _no_guide, *encoded(model, [sentence])) for sentence in sentences]
    return torch.tensor(losses, dtype=torch.double)
