"""Underlying trees as text."""

import pytest

from pyropunct.explain.brackets import bracketed, misc_entries
from pyropunct.treebank.marks import ABBREVIATION_DOT, UNKNOWN
from pyropunct.treebank.tree import Tree

NOTHING: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
TREE = Tree((2, 0, 4, 2), ("nsubj", "root", "amod", "obj"), ("X",) * 4, ("Dale", "means", "river", "valley"))


@pytest.mark.parametrize(
    ("punctemes", "text"),
    [
        ([NOTHING] * 4, "Dale means river valley"),
        (
            [(("“",), ("”",)), ((), (".",)), NOTHING, (("“",), ("”",))],
            "root[nsubj[“ Dale ”] means obj[“ river valley ”] .]",
        ),
        ([NOTHING, NOTHING, ((), (",",)), NOTHING], "Dale means amod[river ,] valley"),
        ([NOTHING, ((":", "“"), ("!", "”")), NOTHING, NOTHING], "root[: “ Dale means river valley ! ”]"),
        (
            [NOTHING, NOTHING, NOTHING, ((UNKNOWN,), (ABBREVIATION_DOT,))],
            "Dale means obj[UNK river valley abbr.]",
        ),
    ],
)
def test_bracketed(punctemes: list[tuple[tuple[str, ...], tuple[str, ...]]], text: str) -> None:
    assert bracketed(TREE, punctemes) == text


def test_a_deep_tree() -> None:
    """As deep as it may be: nothing recurses."""
    size = 20_000
    tree = Tree(tuple(range(size)), ("x",) * size, ("X",) * size, ("w",) * size)
    assert bracketed(tree, [((), (",",))] * size).count("[") == size


def test_misc_entries() -> None:
    punctemes = [NOTHING, ((",", "“"), ("”",)), ((), (ABBREVIATION_DOT, "."))]
    assert misc_entries(punctemes) == [{}, {"PunctLeft": ",+“", "PunctRight": "”"}, {"PunctRight": "abbr.+."}]
