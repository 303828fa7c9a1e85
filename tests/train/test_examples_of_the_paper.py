"""The examples of the paper (Li, Wang & Eisner 2019): what stands behind them is the best T' of a model.

The model is fitted to the embedded treebank, which has other words.
"""

import pytest
import torch
from sentences import tagged

from pyropunct.embedded import embedded_treebank_path
from pyropunct.fitted.recipes import Recipe
from pyropunct.punctuator import Punctuator
from pyropunct.tasks.explain.tree_text import bracketed
from pyropunct.tasks.rephrase.rephrasing import Rephraser
from pyropunct.train.fitting import fit
from pyropunct.treebank.reading import read_treebank

pytestmark = pytest.mark.usefixtures("single_precision")

DALE = "“ Dale/PROPN/means/nsubj ” means/VERB//root “ river/NOUN/valley/compound valley/NOUN/means/obj . ”"
CLARA = (
    "Clara/PROPN/sings/nsubj , my/PRON/neighbor/nmod:poss neighbor/NOUN/Clara/appos , sings/VERB//root "
    "“ Yesterday/PROPN/sings/obj . ”"
)
KERRY = (
    "Earlier/ADV/said/advmod , Kerry/PROPN/said/nsubj said/VERB//root , "
    "“ voters/NOUN/answer/nsubj answer/VERB/said/ccomp the/DET/question/det question/NOUN/answer/obj . ”"
)
CAPER = (
    "If/SCONJ/true/mark true/ADJ/failed/advcl , the/DET/caper/det caper/NOUN/failed/nsubj failed/VERB//root ."
)
LATER = (
    "The/DET/caper/det caper/NOUN/failed/nsubj failed/VERB//root , if/SCONJ/true/mark true/ADJ/failed/advcl ."
)


@pytest.fixture(scope="module")
def model() -> Punctuator:
    torch.set_num_threads(1)
    train, dev = (list(read_treebank(embedded_treebank_path(split))) for split in ("train", "dev"))
    return fit(train[:1300], dev[:50], Recipe(epochs=4), direction="right")


@pytest.mark.parametrize(
    ("written", "underlying"),
    [
        # figure 1: the period has moved inside
        (DALE, "root[nsubj[“ Dale ”] means obj[“ river valley ”] .]"),
        (CLARA, "root[Clara appos[, my neighbor ,] sings obj[“ Yesterday ”] .]"),
        # section 5.2: the beginning has absorbed a comma; speech has a comma on the left
        (KERRY, "root[advmod[, Earlier ,] Kerry said ccomp[, “ voters answer the question ”] .]"),
        # section 6.3: the beginning or the period has absorbed a comma
        (CAPER, "root[advcl[, If true ,] the caper failed .]"),
        (LATER, "root[The caper failed advcl[, if true ,] .]"),
    ],
)
def test_the_best_underlying_tree(model: Punctuator, written: str, underlying: str) -> None:
    given = tagged(written)
    (((best),),) = model.underlying([given])
    assert bracketed(given, best) == underlying


@pytest.mark.parametrize("written", [CAPER, LATER])
def test_a_moved_clause_brings_its_commas(model: Punctuator, written: str) -> None:
    """Section 6.3."""
    rephraser = Rephraser(model)
    (tree,) = rephraser.underlying([tagged(written)])
    last, first = (
        rephraser.best(tree.moved(tree.with_relation("advcl"), place)) for place in ("last", "first")
    )
    assert last.surface[3:] == ((",",), (), (".",))
    assert first.surface[2] == (",",)
    assert (last.tree.forms[0], first.tree.forms[0]) == ("The", "If")
