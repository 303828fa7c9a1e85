"""The embedded treebank as phrase-structure trees: the same words and marks, nearly the same perplexity."""

import pytest
from penn_style import penn_style
from phrase_structures import phrase_structure, written

from pyropunct.embedded import embedded_treebank_path
from pyropunct.fitted.recipes import Recipe
from pyropunct.train.fitting import fit
from pyropunct.treebank.brackets import Conversion
from pyropunct.treebank.head_rules import load_head_rules
from pyropunct.treebank.reading import Treebank, read_text, read_treebank

pytestmark = pytest.mark.usefixtures("single_precision")


def converted(treebank: Treebank) -> Treebank:
    """The sentences of a treebank, written in brackets and read again."""
    lines = [written(penn_style(sentence)) for sentence in treebank]
    return read_text("".join(Conversion(load_head_rules("english")).blocks(lines, "embedded")))


@pytest.fixture(scope="module")
def dev() -> Treebank:
    return read_treebank(embedded_treebank_path("dev"))


def test_words_and_marks_are_the_same(dev: Treebank) -> None:
    for sentence, again in zip(dev, converted(dev), strict=True):
        assert again.surface == sentence.surface
        assert again.tree.forms == sentence.tree.forms
        assert again.lifted == 0


def test_trees_come_back(dev: Treebank) -> None:
    for sentence, again in zip(dev, converted(dev), strict=True):
        assert written(phrase_structure(again.layout.block)) == written(penn_style(sentence).daughters[0])


def test_analyses_differ(dev: Treebank) -> None:
    """So that what follows shows something: most trees are not those of Universal Dependencies."""
    same = [one.tree.heads == other.tree.heads for one, other in zip(dev, converted(dev), strict=True)]
    assert sum(same) < len(same) / 4


def test_perplexity(dev: Treebank) -> None:
    """After an epoch on 600 sentences."""
    train = read_treebank(embedded_treebank_path("train"))
    part = Treebank(train.path, train.sentences[:600], ())
    recipe = Recipe(epochs=1)
    perplexities = [
        fit(some, test, recipe, direction="right").evaluate(list(test)).perplexity
        for some, test in [(part, dev), (converted(part), converted(dev))]
    ]
    assert perplexities[1] == pytest.approx(perplexities[0], abs=0.02)
    assert perplexities[1] < 1.25
