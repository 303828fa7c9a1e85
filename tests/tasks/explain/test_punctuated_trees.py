"""Trees from punctuation: Bayes' rule over drawn trees, and the tree of least risk."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from brute_force import projective_trees

from pyropunct.embedded import embedded_treebank_path
from pyropunct.errors import MissingPartError
from pyropunct.nets.biaffine import ParserRecipe
from pyropunct.nets.parser import WeightedTree, train_parser
from pyropunct.nets.word_batches import with_marks
from pyropunct.punctuator import Punctuator
from pyropunct.tasks.explain.punctuated_trees import least_risk_tree, trees_given_marks
from pyropunct.text.marks import START, Surface
from pyropunct.treebank.reading import read_treebank
from pyropunct.treebank.tree import Tree

WORDS = ("Ann", "who", "sang", "left")
COMMAS: Surface = ((START,), (",",), (), (",",), (".",))
SIZE = 4


def tree(heads: Sequence[int], relation: str = "dep") -> Tree:
    named = tuple("root" if not head else relation for head in heads)
    return Tree(tuple(heads), named, ("NOUN", "PRON", "VERB", "VERB"), WORDS)


class AllTrees:
    """A parser of four words, which has a weight for each of their trees."""

    def __init__(self) -> None:
        random = np.random.default_rng(0).random(len(projective_trees(SIZE)))
        trees = map(tree, projective_trees(SIZE))
        self.trees = [WeightedTree(one, w) for one, w in zip(trees, random / random.sum(), strict=True)]

    def parse(self, sentences: Sequence[Sequence[str]], trees: int = 1) -> list[list[WeightedTree]]:
        return [sorted(self.trees[:trees], key=lambda one: -one.weight) for _ in sentences]


@pytest.fixture
def model(small: Path) -> Punctuator:
    return replace(Punctuator.load(small / "model"), parser=AllTrees())


@pytest.mark.parametrize("strength", [0.0, 0.5, 1.0])
def test_weights_are_those_of_bayes_rule(model: Punctuator, strength: float) -> None:
    parser = AllTrees()
    [found] = trees_given_marks(model, [(WORDS, COMMAS)], strength=strength)
    joint = {
        one.tree: one.weight * float(model.log_prob_of_marks([one.tree], [COMMAS]).exp()) ** strength
        for one in parser.trees
    }
    total = sum(joint.values())
    assert {one.tree: one.weight for one in found} == pytest.approx(
        {one: weight / total for one, weight in joint.items()}, rel=1e-5
    )
    weights = [one.weight for one in found]
    assert weights == sorted(weights, reverse=True)
    assert strength == 0 or weights != pytest.approx(
        sorted((one.weight for one in parser.trees), reverse=True)
    )


@pytest.mark.usefixtures("single_precision")
def test_a_parser_that_reads_marks_draws_trees_of_all_but_very_long_sentences(
    model: Punctuator, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = list(read_treebank(embedded_treebank_path("dev")))[:2]
    parser = train_parser(some, None, ParserRecipe(epochs=1, least_steps=0), marks=True)
    monkeypatch.setattr("pyropunct.tasks.explain.punctuated_trees.LONGEST_PARSED", SIZE - 1)
    short: Surface = ((START, "“"), ("”", ","), (".",))
    given = [(WORDS[2:], short), (WORDS, COMMAS)]
    found = list(trees_given_marks(replace(model, mark_parser=parser), given, strength=0))
    assert found == [*parser.parse([with_marks(*given[0])], 200), *AllTrees().parse([WORDS], 200)]


def test_sentences_are_weighed_apart(model: Punctuator) -> None:
    bare: Surface = ((START,), (), (), (), (".",))
    together = list(trees_given_marks(model, [(WORDS, COMMAS), (WORDS, bare)]))
    alone = [next(trees_given_marks(model, [(WORDS, surface)])) for surface in (COMMAS, bare)]
    for some, others in zip(together, alone, strict=True):
        assert [one.tree for one in some] == [one.tree for one in others]
        assert [one.weight for one in some] == pytest.approx([one.weight for one in others])


def test_what_is_learned_from_parsed_trees_weighs_them(
    model: Punctuator, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_parsed = replace(model, parser=None)
    monkeypatch.setattr(Punctuator, "log_prob_of_marks", refused_but_by(of_parsed))
    [found] = trees_given_marks(replace(model, parsed=of_parsed), [(WORDS, COMMAS)])
    assert len(found) == len(projective_trees(SIZE))


def refused_but_by(chosen: Punctuator):  # type: ignore[no-untyped-def]
    itself = Punctuator.log_prob_of_marks

    def log_prob_of_marks(model, *arguments):  # type: ignore[no-untyped-def]
        assert model is chosen
        return itself(model, *arguments)

    return log_prob_of_marks


def test_marks_that_no_tree_explains_change_nothing(
    model: Punctuator, monkeypatch: pytest.MonkeyPatch
) -> None:
    itself = Punctuator.log_prob_of_marks
    monkeypatch.setattr(
        Punctuator, "log_prob_of_marks", lambda *arguments: itself(*arguments).fill_(-float("inf"))
    )
    [found] = trees_given_marks(model, [(WORDS, COMMAS)])
    assert found == AllTrees().parse([WORDS], 1000)[0]


def test_a_parser_is_needed(model: Punctuator) -> None:
    with pytest.raises(MissingPartError):
        list(trees_given_marks(replace(model, parser=None), [(WORDS, COMMAS)]))
    assert list(trees_given_marks(model, [])) == []


def test_the_tree_of_least_risk_has_the_least_expected_loss() -> None:
    some = AllTrees().trees[::7]
    total = sum(one.weight for one in some)
    weighed = [one._replace(weight=one.weight / total) for one in some]

    def risk(heads: Sequence[int]) -> float:
        return sum(
            one.weight * sum(a != b for a, b in zip(heads, one.tree.heads, strict=True)) for one in weighed
        )

    found = least_risk_tree(weighed)
    least = min(map(risk, projective_trees(SIZE)))
    assert found.risk == pytest.approx(least) == pytest.approx(risk(found.tree.heads))
    assert found.tree.heads not in {one.tree.heads for one in weighed[:1]}


def test_an_arc_that_no_tree_has_is_not_chosen() -> None:
    """Though the heads (0, 3, 1, 3, 4), of which one arc is in none of these trees, have less risk."""
    shares = {(0, 5, 4, 5, 1): 1, (0, 5, 2, 3, 1): 5, (0, 3, 4, 1, 4): 4, (3, 3, 0, 3, 4): 5}
    words, tags = (*WORDS, "early"), ("X",) * 5
    trees = [WeightedTree(Tree(heads, ("dep",) * 5, tags, words), n / 15) for heads, n in shares.items()]
    assert least_risk_tree(trees).tree.heads == (3, 3, 0, 3, 4)


def test_an_arc_has_its_most_probable_relation() -> None:
    trees = [
        WeightedTree(tree([2, 0, 2, 3], "obj"), 0.4),
        WeightedTree(tree([2, 0, 2, 3], "obl"), 0.35),
        WeightedTree(tree([2, 0, 2, 2], "obl"), 0.25),
    ]
    found = least_risk_tree(trees)
    assert (found.tree.heads, found.tree.relations) == ((2, 0, 2, 3), ("obl", "root", "obl", "obj"))
    assert found.risk == pytest.approx(0.25)
