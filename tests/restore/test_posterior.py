"""The posterior of punctuation of which some is known, through a fitted model."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pyropunct.draws import Draws
from pyropunct.inference.machines.evidence import Evidence, any_over, exactly, one_of
from pyropunct.inference.pyro.posterior import ImpossibleSurfaceError
from pyropunct.nets.parser import WeightedTree
from pyropunct.punctuator import Punctuator
from pyropunct.restore.posterior import LONGEST_OPEN, Posterior, evidence_of_marks
from pyropunct.restore.restorer import Restorer
from pyropunct.restore.settings import RestoreSettings
from pyropunct.text.marks import ABBREVIATION_DOT, START, marks_of
from pyropunct.treebank.reading import read_treebank
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree

pytestmark = pytest.mark.usefixtures("single_precision")

NOTHING = Evidence(1, (), (), ())


class TwoTrees:
    """A parser that finds two trees for a sentence, which it knows."""

    def __init__(self, tree: Tree) -> None:
        size = len(tree)
        chain = Tree(tuple(range(size)), ("root", *["dep"] * (size - 1)), ("X",) * size, tree.forms)
        self.trees = [WeightedTree(tree, 0.25), WeightedTree(chain, 0.75)]

    def parse(self, sentences: object, trees: int = 1) -> list[list[WeightedTree]]:
        return [self.trees[:trees]]


@pytest.fixture(scope="module")
def sentence(small: Path) -> Sentence:
    """One with a comma."""
    dev = read_treebank(small / "dev.conllu")
    return next(one for one in dev if (",",) in one.surface and len(one.tree) < 12)


@pytest.fixture
def model(small: Path, sentence: Sentence) -> Punctuator:
    return replace(Punctuator.load(small / "model"), parser=TwoTrees(sentence.tree))


def test_where_all_is_known_the_evidence_is_the_surface(model: Punctuator, sentence: Sentence) -> None:
    posterior = model.posterior(sentence.tree, sentence.surface, samples=10)
    assert posterior.log_evidence == pytest.approx(float(model.log_prob([sentence])), rel=1e-9)
    assert posterior.effective_draws == pytest.approx(10)
    assert posterior.best() == tuple(map(tuple, sentence.surface))


def test_known_marks_tell_which_tree_is_right(model: Punctuator, sentence: Sentence) -> None:
    assert isinstance(model.parser, TwoTrees)
    alone = [replace(sentence, tree=one.tree) for one in model.parser.trees]
    joint = np.array([0.25, 0.75]) * model.log_prob(alone).exp().numpy()
    posterior = model.posterior(sentence.tree.forms, sentence.surface, samples=2000, trees=2, seed=0)
    found = [one.weight for one in posterior.trees]
    assert found == pytest.approx((joint / joint.sum()).tolist(), abs=0.02)
    assert found[0] > 0.5
    assert posterior.log_evidence == pytest.approx(math.log(joint.sum()), abs=0.1)


def test_all_draws_agree_with_what_is_known(model: Punctuator, sentence: Sentence) -> None:
    posterior = model.posterior(sentence.tree, sentence.surface, hidden=[","], samples=60, seed=1)
    for draw in range(60):
        for drawn, given in zip(posterior.draws.surface(draw), sentence.surface, strict=True):
            assert [one for one in drawn if one != ","] == [one for one in given if one != ","]
    assert 20 < posterior.effective_draws <= 60
    marginals = posterior.marginals()
    assert [sum(one.values()) for one in marginals] == pytest.approx([1.0] * len(sentence.surface))
    assert any(0 < one.get((",",), 0) < 1 for one in marginals)
    again = model.posterior(sentence.tree, sentence.surface, hidden=[","], samples=60, seed=1)
    assert again.marginals() == marginals


def test_evidence_that_nothing_explains_names_slot_and_sentence(
    model: Punctuator, sentence: Sentence
) -> None:
    known = [*sentence.surface[:-1], NOTHING]
    where = f"what is known of slot {len(sentence.tree)} in '{' '.join(sentence.tree.forms[:7])} .*…'$"
    with pytest.raises(ImpossibleSurfaceError, match=where):
        model.posterior(sentence.tree, known, samples=10)


def test_effective_draws_of_unequal_weights() -> None:
    draws = Draws(("",), np.zeros((3, 1), np.int32), np.array([0.5, 0.3, 0.2]))
    assert Posterior(draws, (), 0.0).effective_draws == pytest.approx(1 / (0.25 + 0.09 + 0.04))


# With a tagger


@pytest.fixture(scope="module")
def tagged(model_with_parser: Path) -> Punctuator:
    """A model with a parser and a tagger, which is the less probable one."""
    return Punctuator.load(model_with_parser)


def test_the_story_that_reads_is_conditioned(tagged: Punctuator, sentence: Sentence) -> None:
    words = sentence.tree.forms
    parses = tagged.parser.parse([words], 1)  # type: ignore[union-attr]
    expected = float(tagged.log_prob_over_trees([sentence], parses))
    posterior = tagged.posterior(words, sentence.surface, samples=10, trees=1)
    assert posterior.log_evidence == pytest.approx(expected, rel=1e-6)
    of_tree = tagged.posterior(sentence.tree, sentence.surface, samples=10)
    assert of_tree.log_evidence == pytest.approx(float(tagged.log_prob([sentence])), rel=1e-6)
    assert of_tree.log_evidence != pytest.approx(expected, rel=1e-3)


# What is refused


def test_what_is_refused(model: Punctuator, sentence: Sentence) -> None:
    with pytest.raises(ValueError, match="the model has no mark ‽"):
        model.posterior(sentence.tree, sentence.surface, hidden=["‽"])
    with pytest.raises(ValueError, match="there is evidence about 1 slots of "):
        model.posterior(sentence.tree, [None])


def test_other_evidence_has_its_weights(model: Punctuator) -> None:
    """A mark that was read with doubt, at the end of a word: odds of four, times those of the model."""
    tree = Tree((0,), ("root",), ("VERB",), ("go",))
    number = model.vocabulary.token_number
    marks = {".": 1.0, "?": 4.0}
    doubt = one_of([((number[mark],), weight) for mark, weight in marks.items()])
    chances = {
        mark: math.exp(model.posterior(tree, [(), (mark,)], samples=1).log_evidence) * weight
        for mark, weight in marks.items()
    }
    last = model.posterior(tree, [(), doubt], samples=2000, seed=0).marginals()[-1]
    for mark, chance in chances.items():
        assert last[mark,] == pytest.approx(chance / sum(chances.values()), abs=0.04)


# What the marks of a sentence say


def weights(model: Punctuator, evidence: Evidence, *strings: str) -> list[float]:
    encode = model.vocabulary.encode_string
    return [evidence.weight(encode([START if one == "^" else one for one in text])) for text in strings]


SURFACE = [(START,), (",",), (), (ABBREVIATION_DOT,), ("!", "‽"), ()]


def test_all_but_hidden_marks_are_known(model: Punctuator) -> None:
    found = evidence_of_marks(model.vocabulary, SURFACE, hidden=[","], closed=[2])
    assert weights(model, found[0], "^", "^,", "", "^.") == [1, 1, 0, 0]
    assert weights(model, found[1], "", ",", ".") == [1, 1, 0]
    assert found[2] == exactly(())
    assert weights(model, found[4], "!‽", "!,‽", "‽!", "!") == [1, 1, 0, 0]
    kept = evidence_of_marks(model.vocabulary, SURFACE, hidden=[","], keep=True)
    assert kept[1] == exactly(model.vocabulary.encode_string([","]))
    assert kept[2] == found[5] == any_over(model.vocabulary.encode_string([","]))


def test_of_empty_slots_nothing_is_known(model: Punctuator) -> None:
    found = evidence_of_marks(model.vocabulary, SURFACE, keep=True)
    assert weights(model, found[0], "^", "^,.", "", ",^") == [1, 1, 0, 1]
    assert found[1] == exactly(model.vocabulary.encode_string([","]))
    assert weights(model, found[2], "", ",", "‽") == [1, 1, 0]
    dot = model.vocabulary.encode_string([ABBREVIATION_DOT, "."])
    assert [found[3].weight(dot[:1]), found[3].weight(dot), found[3].weight([])] == [1, 1, 0]


def test_many_marks_are_linear(model: Punctuator) -> None:
    """A slot with many given marks has as many states as it has marks; with many hidden ones it has one."""
    surface = [(START,), (",",) * 5000, ("!",) * (LONGEST_OPEN + 1)]
    found = evidence_of_marks(model.vocabulary, surface, hidden=[","])
    assert [one.num_states for one in found] == [2, 1, LONGEST_OPEN + 2]
    assert [one.string is None for one in found] == [True, True, False]


def test_restored_commas(model: Punctuator, sentence: Sentence) -> None:
    """Nothing else is changed; and what has no commas is restored to the same."""
    (found,) = Restorer(model, RestoreSettings(hidden=[","], samples=100)).restore([sentence])
    bare = replace(sentence, surface=[[t for t in slot if t != ","] for slot in sentence.surface])
    (same,) = Restorer(model, RestoreSettings(hidden=[","], samples=100)).restore([bare])
    assert found.surface == same.surface
    for slot, given in zip(found.surface, sentence.surface, strict=True):
        assert [one for one in marks_of(slot) if one != ","] == [one for one in marks_of(given) if one != ","]
    (kept,) = Restorer(model, RestoreSettings(hidden=[","], keep=True, samples=100)).restore([sentence])
    assert all(
        slot == given for slot, given in zip(kept.surface, sentence.surface, strict=True) if "," in given
    )
