"""Underlying trees as text."""

import pytest
from punctuated import french

from pyropunct.tasks.explain.brackets import bracketed, misc_entries
from pyropunct.text.marks import ABBREVIATION_DOT, UNKNOWN
from pyropunct.treebank.reading import read_text
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


def test_words_are_written_as_in_the_sentence() -> None:
    shown, parted = french(), french(parted=True)
    assert bracketed(shown.sentence, shown.punctemes) == "root[L'UE du Nord vote .]"
    assert bracketed(shown.tree, shown.punctemes) == "root[L' UE de le Nord vote .]"
    assert bracketed(parted.sentence, parted.punctemes) == "root[det[( L' )] UE case[“ de ”] le Nord vote .]"


def test_words_of_scripts_without_spaces_stay_apart() -> None:
    lines = ["1\t我\t_\tX\t_\t_\t2\tx\t_\tSpaceAfter=No", "2\t去\t_\tX\t_\t_\t0\troot\t_\tSpaceAfter=No"]
    (sentence,) = read_text("\n".join(lines))
    assert bracketed(sentence, [NOTHING, NOTHING]) == "我 去"


def test_a_deep_tree() -> None:
    """Deeper than Python recurses."""
    size = 5_000
    tree = Tree(tuple(range(size)), ("x",) * size, ("X",) * size, ("w",) * size)
    assert bracketed(tree, [((), (",",))] * size).count("[") == size


def test_misc_entries() -> None:
    punctemes = [NOTHING, ((",", "“"), ("”",)), ((), (ABBREVIATION_DOT, "."))]
    assert misc_entries(punctemes) == [{}, {"PunctLeft": ",+“", "PunctRight": "”"}, {"PunctRight": "abbr.+."}]
