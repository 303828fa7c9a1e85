"""Positions of the commas in surface strings are those of the trees."""

from collections.abc import Sequence
from pathlib import Path

from pyropunct.papers.options import CommaSettings
from pyropunct.papers.shieber_tao_2003.comma_experiment import commas_of, story_commas
from pyropunct.papers.shieber_tao_2003.sentences import CommaSentence, comma_sentences
from pyropunct.punctuator import Punctuator
from pyropunct.treebank.constituency import Conversion
from pyropunct.treebank.head_rules import load_head_rules
from pyropunct.treebank.phrase_trees import read_phrase_trees
from pyropunct.treebank.reading import Treebank, read_text

TREES = [
    "(S (`` ``) (NP (NNP Mr.) (NNP Roe)) (, ,) ('' '') (VP (VBD said) (NP (NN $) (CD 5))) (, ,) (. .))",
    "(S (, ,) (NP (NN a) (HYPH -) (NN b)) (VP (VBD c)) (: --) (, ,) (NP (NN d) (NNP Corp.)) (. .))",
]


def both(trees: Sequence[str]) -> tuple[Treebank, list[CommaSentence]]:
    """The trees converted, and as sentences without their commas."""
    converted = read_text("".join(Conversion(load_head_rules("english")).blocks(trees, "t")))
    return converted, list(comma_sentences(read_phrase_trees(trees, "t")))


def test_commas_of_converted_trees_are_where_they_are_in_the_trees() -> None:
    converted, own = both(TREES)
    assert [commas_of(one.surface).tolist() for one in converted] == [one.commas.tolist() for one in own]
    assert [one.identifier for one in converted] == [f"t-{one.number}" for one in own]


def test_a_comma_that_its_tag_makes_a_word_is_not_restored(small: Path) -> None:
    converted, own = both(["(S (NP (NN a)) (CC ,) (NP (NN b)) (, ,) (NP (NN c)) (. .))"])
    assert "," in converted.sentences[0].tree.forms
    model = Punctuator.load(small / "model")
    (found,) = story_commas(model, own, list(converted), parse=False, settings=CommaSettings(samples=5))
    assert found.tolist() == [False] * len(own[0].commas)


def test_marks_that_the_model_does_not_know_have_positions(small: Path) -> None:
    converted, own = both(["(S (NP (NN a)) (: ~~) (, ,) (VP (VBZ b)) (. .))"])
    (found,) = story_commas(
        Punctuator.load(small / "model"), own, list(converted), parse=False, settings=CommaSettings(samples=5)
    )
    assert len(found) == len(own[0].commas) == 5
