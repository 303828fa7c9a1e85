"""Positions of the commas in surface strings are those of the trees."""

from pyropunct.baselines.commas.sentences import comma_sentences
from pyropunct.comparison.story_commas import commas_of
from pyropunct.treebank.constituency.head_rules import load_head_rules
from pyropunct.treebank.constituency.phrase_trees import read_phrase_trees
from pyropunct.treebank.constituency.reading import Conversion
from pyropunct.treebank.reading import read_text

TREES = [
    "(S (`` ``) (NP (NNP Mr.) (NNP Roe)) (, ,) ('' '') (VP (VBD said) (NP (NN $) (CD 5))) (, ,) (. .))",
    "(S (, ,) (NP (NN a) (HYPH -) (NN b)) (VP (VBD c)) (: --) (, ,) (NP (NN d) (NNP Corp.)) (. .))",
]


def test_commas_of_converted_trees_are_where_they_are_in_the_trees() -> None:
    blocks = Conversion(load_head_rules("english")).blocks(TREES, "t")
    converted = read_text("".join(blocks))
    own = list(comma_sentences(read_phrase_trees(TREES, "t")))
    assert [commas_of(one.surface).tolist() for one in converted] == [one.commas.tolist() for one in own]
    assert [one.identifier for one in converted] == [f"t-{one.number}" for one in own]
