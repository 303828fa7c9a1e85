"""Commas on both sides: what the middle of sentences shows, and costs that follow it."""

import dataclasses

import pytest
import torch
from sentences import annotated
from torch import Tensor
from torch.testing import assert_close

from pyropunct.fitted.recipes import Recipe
from pyropunct.fitted.stories import in_language
from pyropunct.train.both_sides import found_shares, level, shown, sprouted, take_step, wanted_shares
from pyropunct.train.fitting import fit_story
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import opens_clause
from pyropunct.vocabulary import build_vocabulary

BOTH = annotated("it/2/nsubj rains/0/root ,/4/punct maybe/6/advmod ,/4/punct again/2/advmod")
LONE = annotated("we/5/nsubj soon/5/advmod ,/2/punct also/5/advmod left/0/root")
BEHIND = annotated("and/6/cc if/3/mark asked/5/advcl ,/3/punct we/6/nsubj go/0/root")
FIRST = annotated("soon/4/advmod ,/1/punct we/4/nsubj left/0/root then/4/advmod")


def test_what_the_middle_shows() -> None:
    """Not the edges of sentences, and not behind a conjunction, where a clause absorbs a comma."""
    assert shown([BOTH, LONE, FIRST]) == {
        ("", "advmod", True, True): 1,
        ("", "advmod", True, False): 1,
    }
    assert opens_clause(BEHIND.tree) == [True, True, False, False, False]
    assert not shown([BEHIND])


def test_costs_follow_the_page() -> None:
    """A step goes towards the share of the page; for a relation that it hardly shows, of the side."""
    vocabulary = build_vocabulary([(BOTH.tree, BOTH.surface)] * 5)
    number = vocabulary.relation_number("advmod")
    page = {("", "advmod", True, True): 30, ("", "advmod", True, False): 70}
    edge = {("", "advmod", True, True): 50}
    wanted = wanted_shares(page, {}, vocabulary)
    assert_close(wanted_shares(page, page, vocabulary)[number, 1], torch.tensor(0.3), atol=0.03, rtol=0)
    assert 0.3 < wanted[number, 1] < 0.35
    costs = torch.full((len(vocabulary.relations), 2), 2.0)
    take_step(costs, wanted, found_shares(edge, vocabulary, wanted), 0.2)
    assert costs[number, 1] < 2
    assert costs[number, 0] == 2
    before = costs.clone()
    take_step(costs, wanted, found_shares({("", "advmod", True, False): 50}, vocabulary, wanted), 0.2)
    assert costs[number, 1] > before[number, 1]


def test_costs_of_the_best_trees() -> None:
    """A share that grows with the cost is met; of shares that cannot be met, the nearest is taken."""
    wanted, costs = torch.tensor([[0.3, 0.3], [0.9, 0.5]]), torch.zeros(2, 2)

    def found() -> Tensor:
        return torch.stack([(costs[0] / 10).sigmoid(), (costs[1] > 3).float()])

    level(costs, lambda: found() - wanted)
    assert_close(found()[0], wanted[0], atol=0.02, rtol=0)
    assert found()[1, 0] == 1


def sentences(share: float, number: int) -> list[Sentence]:
    """Adverbs with a comma behind them: at the start, and in the middle, where a share has both commas."""
    found = []
    for place in range(number):
        if place % 2:
            found.append(annotated("soon/4/advmod ,/1/punct we/4/nsubj left/0/root ./4/punct"))
        elif place % 100 < 100 * share:
            found.append(annotated("we/5/nsubj ,/3/punct soon/5/advmod ,/3/punct left/0/root ./5/punct"))
        else:
            found.append(annotated("we/4/nsubj soon/4/advmod ,/2/punct left/0/root ./4/punct"))
    return [dataclasses.replace(one, identifier=str(place)) for place, one in enumerate(found)]


def test_commas_in_the_middle() -> None:
    """T' has both commas where the page has, and one where it has one; `sprouted` counts them."""
    train = sentences(0.5, 200)
    model = fit_story(train, train[:40], Recipe(epochs=4, families=("head",), least=1), direction="left")
    for sentence, both in ((train[0], True), (train[-2], False)):
        for best in (False, True):
            edges, middle = sprouted(model.problems([sentence]), model.vocabulary, best)
            assert middle["", "advmod", True, both] > 0.9
            assert middle["", "advmod", True, not both] < 0.1
            assert not {place for place in edges if place[1] == "advmod"}


@pytest.mark.parametrize(("share", "both"), [(0.05, False), (1.0, True)])
def test_a_fit_follows_the_page(share: float, both: bool) -> None:
    train = sentences(share, 200)
    recipe = Recipe(page_decides=True, epochs=4, families=("head",), least=1)
    model = fit_story(train, train[:40], recipe, direction="left")
    first = annotated("soon/4/advmod ,/1/punct we/4/nsubj left/0/root ./4/punct")
    [trees] = model.underlying([first])
    assert (trees[0][0][0] == (",",)) == both
    counts, _ = sprouted(model.problems([first] * 3), model.vocabulary)
    total = counts["", "advmod", True, True] + counts["", "advmod", True, False]
    assert 0 < total <= 3 + 1e-9
    assert (counts["", "advmod", True, True] > total / 2) == both


def of_treebank(name: str, some: list[Sentence]) -> list[Sentence]:
    """The same sentences, of a treebank with a name."""
    return [dataclasses.replace(one, tree=dataclasses.replace(one.tree, treebank=name)) for one in some]


def test_each_language_follows_its_own_page() -> None:
    train = of_treebank("one", sentences(0.05, 200)) + of_treebank("two", sentences(1.0, 200))
    recipe = Recipe(channel="languages", epochs=4, families=("head",), least=1)
    model = fit_story(train, train[:40], recipe, direction="left")
    first = annotated("soon/4/advmod ,/1/punct we/4/nsubj left/0/root ./4/punct")
    for name, both in (("one", False), ("two", True)):
        for own in (model, in_language(model, name)):
            [trees] = own.underlying(of_treebank(name, [first]))
            assert (trees[0][0][0] == (",",)) == both
