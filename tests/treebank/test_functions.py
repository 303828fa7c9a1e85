"""What marks do, learned from small treebanks."""

from pyropunct.text.marks import START, Surface
from pyropunct.treebank.functions import mark_functions
from pyropunct.treebank.tree import Tree

Example = tuple[Tree, Surface]


def members(relation: str, mark: str) -> list[Example]:
    """Words w1 w2 w3 w4 of one head, with a mark on both sides of the second, all in one relation or not."""
    relations = ("root", relation, relation if relation == "conj" else "nsubj", "obj")
    tree = Tree((0, 1, 1, 1), relations, ("X",) * 4, ("a", "b", "c", "d"))
    return [(tree, ((START,), (mark,), (mark,), (), (".",)))]


def test_a_mark_around_constituents_delimits_and_a_mark_between_sisters_separates() -> None:
    examples = 5 * members("appos", ",") + 4 * members("appos", "—") + 9 * members("conj", ";")
    found = mark_functions(examples)
    assert (found[","], found["—"], found[";"], found["."]) == (
        "delimiting",
        "separating",  # seen too rarely
        "separating",
        "final",
    )


def test_a_mark_that_seldom_stands_on_both_sides_separates() -> None:
    words = ("root", "obj", "amod", "obl"), ("X",) * 4, ("a", "b", "c", "d")
    one_side: Example = Tree((0, 1, 2, 1), *words), ((START,), (":",), (), (), (".",))
    other_side: Example = Tree((0, 1, 2, 1), *words), ((START,), (), (), (":",), (".",))
    few = 5 * members("appos", ":") + 120 * [one_side, other_side]
    assert mark_functions(few)[":"] == "separating"
    assert mark_functions(few + 2 * members("appos", ":"))[":"] == "delimiting"


def test_brackets_open_and_close() -> None:
    tree = Tree((0, 1, 2), ("root", "appos", "obj"), ("X",) * 3, ("a", "b", "c"))
    found = mark_functions([(tree, ((START,), ("»",), (), ("«", ".")))])
    assert (found["»"], found["«"]) == ("opening", "closing")
