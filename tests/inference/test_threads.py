"""Results do not depend on the number of threads, but for the order of sums in shared gradients."""

from pathlib import Path

import pytest
import torch
from brute_force import projective_trees
from problems import cost_of, evidence_of_trees, inventory, problem_of, random_case, window
from pyro import poutine
from torch import Tensor

from pyropunct.fitted.recipes import Recipe
from pyropunct.inference import inside
from pyropunct.inference.pyro.collapse import collapse_trees
from pyropunct.train.story_training import Training
from pyropunct.treebank.reading import read_treebank
from pyropunct.treebank.sentence import Sentence
from pyropunct.vocabulary import build_vocabulary

THREADS = (1, 2, 3)


@pytest.fixture(scope="module")
def train(small: Path) -> tuple[Sentence, ...]:
    """120 sentences of some 1,200 words: enough for several threads."""
    return read_treebank(small / "train.conllu").sentences


def training(sentences: tuple[Sentence, ...], threads: int, recipe: Recipe | None = None) -> Training:
    torch.set_num_threads(threads)
    vocabulary = build_vocabulary([(sentence.tree, sentence.surface) for sentence in sentences])
    return Training(vocabulary, sentences, sentences[:30], recipe or Recipe(), 0, "cpu")


def gradients(run: Training) -> dict[str, Tensor]:
    """Those of the training objective of all sentences, in all weights."""
    numbers = range(len(run.train))
    run.elbo.differentiable_loss(collapse_trees(run.story), run.guide, *run.batch(numbers)).backward()
    return {name: parameter.grad.to_dense() for name, parameter in run.guide.named_parameters()}


def test_inference() -> None:
    """Equal to the last bit, but for the gradients in weights that automata share."""
    channel, some = window("right"), inventory()
    trees = [heads for words in (5, 1, 3, 4) for heads in projective_trees(words)[::3]]
    cases = [random_case(heads, channel, some, seed) for seed, heads in enumerate(trees)]
    problem, cost = problem_of(cases, channel, some), cost_of(cases)
    log_pairs, weight = problem.log_pairs.requires_grad_(), problem.automata.weight.requires_grad_()
    results = []
    for threads in THREADS:
        torch.set_num_threads(threads)
        torch.manual_seed(0)
        evidence, expectation = inside.expected_cost(problem, cost)
        slopes = torch.autograd.grad((evidence + expectation).sum(), [log_pairs, weight])
        draws = inside.posterior_draws(problem, 5)
        results.append([evidence, expectation, slopes[0], inside.best_derivation(problem), draws, slopes[1]])
    for other in results[1:]:
        assert all(torch.equal(one, same) for one, same in zip(results[0][:-1], other[:-1], strict=True))
        torch.testing.assert_close(other[-1], results[0][-1], rtol=1e-13, atol=1e-13)


def test_the_likelihood_of_a_model(train: tuple[Sentence, ...]) -> None:
    """From trees and strings to log p(x | T): equal to the last bit."""
    found = []
    for threads in THREADS:
        run = training(train, threads)
        with torch.no_grad():
            model = poutine.condition(run.story, data=run.guide.median())
            found.append(evidence_of_trees(model, *run.batch(range(len(train)))))
    assert len(found[0]) == len(train)
    assert all(torch.equal(one, found[0]) for one in found)


@pytest.mark.parametrize(("kind", "part"), [(torch.float, 2e-5), (torch.double, 1e-13)])
def test_gradients_of_training(train: tuple[Sentence, ...], kind: torch.dtype, part: float) -> None:
    """To so great a part of the greatest gradient of their kind; seen were 5e-6 and 2e-14."""
    torch.set_default_dtype(kind)
    recipe = Recipe(symmetry_weight=1.0)
    alone, *others = (gradients(training(train, threads, recipe)) for threads in THREADS)
    assert len(alone) == 6
    for other in others:
        for name, gradient in alone.items():
            assert gradient.dtype == kind
            near = part * float(gradient.abs().max())
            torch.testing.assert_close(other[name], gradient, rtol=0, atol=near)


@pytest.mark.parametrize(("kind", "part"), [(torch.float, 1e-5), (torch.double, 1e-12)])
def test_an_epoch(train: tuple[Sentence, ...], kind: torch.dtype, part: float) -> None:
    """Of three steps: perplexities differ by so great a part at most; seen were 5e-8 and none at all."""
    torch.set_default_dtype(kind)
    perplexities = []
    for threads in THREADS:
        run = training(train, threads, Recipe(batch_size=50))
        run.run_epoch()
        perplexities.append(run.perplexity)
    assert perplexities == pytest.approx([perplexities[0]] * len(THREADS), rel=part)
