"""Stories of sentences whose trees are latent: a parser's trees, an attach model that is local to an arc."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from brute_force import projective_trees

from pyropunct.fitted.recipes import Recipe
from pyropunct.inference.forest import forest_of
from pyropunct.inference.inside import log_evidence, posterior_items
from pyropunct.inference.pyro.collapse import collapse_trees, tree_problem
from pyropunct.models.attach.local import LocalAttach
from pyropunct.models.trees import LatentTrees
from pyropunct.nets.parser import BiaffineParser, WeightedTree
from pyropunct.punctuator import Punctuator
from pyropunct.tasks.explain.punctuated_trees import least_risk_trees
from pyropunct.train.all_trees import (
    LatentTraining,
    PossibleTrees,
    Pruning,
    certain_trees,
    log_prob_over_all_trees,
    possible_trees,
)
from pyropunct.train.fitting import fit
from pyropunct.train.parser_output import fit_parsed, fit_reading
from pyropunct.treebank.sentence import Sentence

WORDS = 4
BEST_RELATION = Pruning(0.0, 0.0, 1.0)
"""All trees, each arc with its best relation."""


@pytest.fixture(scope="module")
def of_trees(train: list[Sentence], dev: list[Sentence]) -> Punctuator:
    """A story of the trees of a treebank."""
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float)
    model = fit(train, dev, Recipe(attach="local", epochs=1, parts=False, clauses=False), direction="right")
    torch.set_default_dtype(default)
    return model


@pytest.fixture
def model(of_trees: Punctuator, parser: BiaffineParser) -> Punctuator:
    assert isinstance(of_trees.story.attach, LocalAttach)
    return replace(of_trees, parser=parser)


def short(sentences: list[Sentence]) -> Sentence:
    """A sentence of some words with a mark inside."""
    return next(s for s in sentences if len(s.tree) == WORDS)


def of_heads(trees: LatentTrees) -> list[torch.Tensor]:
    """The trees of a forest in which each arc has one relation, as items."""
    found, forest = [], trees.forest
    for heads in projective_trees(WORDS):
        shape = forest_of([heads])
        wanted = zip(heads, shape.left_slot.tolist(), shape.right_slot.tolist(), strict=True)
        same = [
            (forest.word == word)
            & (forest.head == head - 1)
            & (forest.left_slot == left)
            & (forest.right_slot == right)
            for word, (head, left, right) in enumerate(wanted)
        ]
        if all(bool(some.any()) for some in same):
            found.append(torch.stack(same).any(0).long())
    return found


@pytest.mark.usefixtures("single_precision")
def test_scores_of_arcs_are_those_of_trees(model: Punctuator, train: list[Sentence]) -> None:
    """The sum over all trees is that of p(T | words) p(x | T), each computed by itself."""
    sentence = short(train)
    found = possible_trees(model.parser, model.vocabulary, [sentence.tree.forms], BEST_RELATION)
    surface = model.vocabulary.encode_surface(sentence.surface)
    story = collapse_trees(model.story)
    logs = []
    for mask in of_heads(found.trees):
        of_tree = log_evidence(tree_problem(story, found.trees.trees(mask), surface))
        logs.append(float(of_tree) + float(found.trees.log_arcs[mask > 0].sum().detach()))
    assert len(logs) == len(projective_trees(WORDS))
    [total] = log_prob_over_all_trees(model, [found.trees], [sentence]).tolist()
    assert total == pytest.approx(float(np.logaddexp.reduce(logs)), rel=1e-6)
    [tree] = least_risk_trees(model, [(sentence.tree.forms, sentence.surface)])
    assert len(tree.tree) == WORDS
    assert 0 <= tree.risk <= WORDS


def kept(found: PossibleTrees) -> float:
    return float(found.covered[0])


@pytest.mark.usefixtures("single_precision")
def test_what_pruning_may_cost(model: Punctuator, dev: list[Sentence]) -> None:
    """No more than the probability of the trees that are left out; and the best tree stays."""
    sentence = next(s for s in dev if 6 <= len(s.tree) <= 12)
    words = [sentence.tree.forms]

    def found(*pruning: float) -> PossibleTrees:
        return possible_trees(model.parser, model.vocabulary, words, Pruning(*pruning))

    everything = found(0.0, 0.0, 0.0)
    assert kept(everything) == pytest.approx(1.0)
    [whole] = log_prob_over_all_trees(model, [everything.trees], [sentence]).exp().tolist()
    last = 1.0
    for pruning in ((1e-3, 1e-4, 0.03), (0.05, 0.02, 0.2), (1.0, 1.0, 1.0)):
        some = found(*pruning)
        [part] = log_prob_over_all_trees(model, [some.trees], [sentence]).exp().tolist()
        assert -1e-15 <= whole - part <= 1 - kept(some) + 1e-12
        assert 0 < kept(some) <= last + 1e-9
        last = kept(some)
    assert some.best == [parse.tree for [parse] in model.parser.parse(words)]


@pytest.mark.usefixtures("single_precision")
def test_gradients_reach_the_parser(model: Punctuator, dev: list[Sentence]) -> None:
    """The derivative of log p(x | words) by one number of the network, against differences."""
    sentence = next(s for s in dev if 6 <= len(s.tree) <= 12)
    parser = model.parser
    assert isinstance(parser, BiaffineParser)
    weight = parser.network.arcs.bias
    surface = model.vocabulary.encode_surface(sentence.surface)

    def evidence() -> torch.Tensor:
        trees = possible_trees(parser, model.vocabulary, [sentence.tree.forms], Pruning(0.0, 0.0, 0.0)).trees
        return log_evidence(tree_problem(collapse_trees(model.story), trees, surface)).sum()

    (gradient,) = torch.autograd.grad(evidence(), weight)
    place, step = int(gradient.abs().argmax()), 0.02
    values = []
    for sign in (1, -2, 1):
        with torch.no_grad():
            weight[place] += sign * step
        values.append(float(evidence().detach()))
    assert (values[0] - values[1]) / (2 * step) == pytest.approx(float(gradient[place]), rel=0.02, abs=1e-4)


@pytest.mark.usefixtures("single_precision")
def test_known_trees_are_what_they_are_by_themselves(model: Punctuator, dev: list[Sentence]) -> None:
    trees = certain_trees(model.vocabulary, [sentence.tree for sentence in dev])
    torch.testing.assert_close(
        log_prob_over_all_trees(model, trees, dev), model.log_prob(dev).double(), rtol=1e-5, atol=1e-4
    )


@pytest.mark.usefixtures("single_precision")
def test_text_is_learned_from_all_trees(
    model: Punctuator, train: list[Sentence], dev: list[Sentence]
) -> None:
    """What is learned makes the marks of other sentences more probable."""
    learnable, others = ([one for one in some if 4 <= len(one.tree) <= 10] for some in (train, dev))
    words = [sentence.tree.forms for sentence in others]
    learned = fit_parsed(model, (), (), others[:2], latent=learnable[:24], epochs=1)
    assert learned.parsed is not None
    trees = [possible_trees(model.parser, model.vocabulary, [some]).trees for some in words]
    after = float(log_prob_over_all_trees(learned.parsed, trees, others).sum())
    blank = LatentTraining(model.vocabulary, train[:5], dev, model.recipe, 0, "cpu", parser=model.parser)
    before = float(log_prob_over_all_trees(blank.punctuator(), trees, others).sum())
    assert after > before + 10


@pytest.mark.usefixtures("single_precision")
def test_a_story_of_all_trees_reads(
    model: Punctuator, model_with_parser: Path, train: list[Sentence]
) -> None:
    """What a tagger says of the slots counts in the sum as it does in each tree."""
    tagger, sentence = Punctuator.load(model_with_parser).tagger, short(train)
    assert tagger is not None
    words, surface = sentence.tree.forms, model.vocabulary.encode_surface(sentence.surface)
    parses = [[WeightedTree(sentence.tree, 1.0)]]
    reading = replace(fit_reading(model, tagger, [sentence], parses), tagger=tagger)
    [heard] = tagger.log_odds([words], model.vocabulary.tokens)
    found = possible_trees(model.parser, model.vocabulary, [words], BEST_RELATION)
    trees = found.trees.with_reading(heard)
    logs = []
    for mask in of_heads(trees):
        of_tree = log_evidence(tree_problem(collapse_trees(reading.story), trees.trees(mask), surface))
        logs.append(float(of_tree) + float(trees.log_arcs[mask > 0].sum().detach()))
    total = log_evidence(tree_problem(collapse_trees(reading.story), trees, surface))
    assert float(total.detach()) == pytest.approx(float(np.logaddexp.reduce(logs)), rel=1e-6)
    # parsing reads, too
    probable = possible_trees(model.parser, model.vocabulary, [words]).trees.with_reading(heard)
    of_arc = posterior_items(tree_problem(collapse_trees(reading.story), probable, surface))
    forest = probable.forest
    [found] = least_risk_trees(replace(model, parsed=reading), [(words, sentence.surface)])
    chosen = sum(
        float(of_arc[(forest.word == word) & (forest.head == head - 1)].sum())
        for word, head in enumerate(found.tree.heads)
    )
    assert found.risk == pytest.approx(WORDS - chosen)
