"""Where no page shows a side of a constituent, and how much the page tells of it elsewhere."""

import pytest
from sentences import annotated

from pyropunct.tasks.explain.edges import SEEN, constituents, hardly_shown
from pyropunct.text.marks import CLAUSE, START
from pyropunct.treebank.sentence import Sentence
from pyropunct.vocabulary import build_vocabulary

BOTH = annotated("it/2/nsubj rains/0/root ,/4/punct maybe/6/advmod ,/4/punct again/2/advmod ./2/punct")
INITIAL = annotated("soon/4/advmod ,/1/punct we/4/nsubj left/0/root then/4/advmod ./4/punct")
LAST = annotated("we/2/nsubj left/0/root ,/4/punct soon/2/advmod ./2/punct")
CLAUSAL = annotated("and/6/cc if/3/mark asked/6/advcl ,/3/punct we/6/nsubj go/0/root ./6/punct")


@pytest.mark.parametrize(
    ("sentence", "places"),
    [
        (BOTH, {"it": "beginning", "maybe": "middle", "again": "end"}),
        (INITIAL, {"soon": "beginning", "we": "middle", "then": "end"}),
        (CLAUSAL, {"and": "beginning", "if": "opener", "asked": "opener", "we": "middle"}),
    ],
)
def test_places_of_sides(sentence: Sentence, places: dict[str, str]) -> None:
    found = {sentence.tree.forms[one.word - 1]: one.place for one in constituents(sentence)}
    assert found == places


def test_pairs_that_the_page_hardly_shows() -> None:
    """Each edge by itself; as many constituents in the middle on the same side of the head support it."""
    sentences = [BOTH, INITIAL, LAST, CLAUSAL] * 5
    vocabulary = build_vocabulary([(one.tree, one.surface) for one in sentences], clauses=True)
    beginning, clause, end = (START, ","), (CLAUSE, ","), (",", ".")
    few = [INITIAL, LAST, CLAUSAL, *[BOTH] * (SEEN - 1)]
    assert hardly_shown(few, vocabulary) == {beginning, clause, end}
    assert hardly_shown([*few, BOTH], vocabulary) == {clause, end}
    # Support of half of the constituents at the beginning is enough.
    other = annotated("yes/4/discourse ,/1/punct we/4/nsubj left/0/root ./4/punct")
    assert hardly_shown([*few, BOTH, other], vocabulary) == {clause, end}
    assert hardly_shown([*few, BOTH, other, other], vocabulary) == {beginning, clause, end}
    assert not hardly_shown([], vocabulary)
