"""On which sides T' has commas where no page shows one of them: as in the middle of sentences."""

import dataclasses

import pytest
from sentences import annotated

from pyropunct.fitted.recipes import Recipe
from pyropunct.fitted.stories import in_language
from pyropunct.train.fitting import fit_story
from pyropunct.treebank.sentence import Sentence

FIRST = annotated("soon/4/advmod ,/1/punct we/4/nsubj left/0/root ./4/punct")
LAST = annotated("we/2/nsubj left/0/root ,/4/punct soon/2/advmod ./2/punct")


def sentences(both: bool, treebank: str = "") -> list[Sentence]:
    """Adverbs at the edges of sentences, and in the middle with commas on both sides, or on one."""
    middle = (
        ["we/5/nsubj ,/3/punct soon/5/advmod ,/3/punct left/0/root ./5/punct"] * 2
        if both
        else [
            "we/4/nsubj soon/4/advmod ,/2/punct left/0/root ./4/punct",
            "we/2/nsubj left/0/root ,/4/punct soon/2/advmod then/2/advmod ./2/punct",
        ]
    )
    both_behind = "we/2/nsubj left/0/root ,/4/punct soon/2/advmod ,/4/punct then/2/advmod ./2/punct"
    texts = [annotated(text) for text in (*middle, *[both_behind] * both)]
    some = [*texts, FIRST, LAST, annotated("we/2/nsubj left/0/root ./2/punct")] * 40
    named = [dataclasses.replace(one, tree=dataclasses.replace(one.tree, treebank=treebank)) for one in some]
    return [dataclasses.replace(one, identifier=str(place)) for place, one in enumerate(named)]


@pytest.mark.parametrize("both", [True, False])
def test_edges_are_like_the_middle(both: bool) -> None:
    """Features of place must not tell T' apart that have the same page."""
    train = sentences(both)
    model = fit_story(train, train[:20], Recipe(epochs=16, least=1), direction="left")
    [[first], [last]] = model.underlying([FIRST, LAST])
    assert first[0] == ((",",) if both else (), (",",))
    assert last[3 - 1] == ((",",), (",",) if both else ())


def test_each_language_is_like_its_own_middle() -> None:
    train = sentences(False, "one") + sentences(True, "two")
    model = fit_story(train, train[:20], Recipe(channel="languages", epochs=16, least=1), direction="left")
    for name, both in (("one", False), ("two", True)):
        first = dataclasses.replace(FIRST, tree=dataclasses.replace(FIRST.tree, treebank=name))
        for own in (model, in_language(model, name)):
            [[trees]] = own.underlying([first])
            assert trees[0] == ((",",) if both else (), (",",))
