import pytest
import torch

from pyropunct.inference.inventory import Inventory
from pyropunct.models.symmetry import CLASSES, PARTNERS, symmetry_class, unmatched, unmatched_rows

PAIRS = [(opener, closer) for opener, closers in PARTNERS.items() for closer in closers]


@pytest.mark.parametrize(("opener", "closer"), PAIRS)
def test_an_opener_faces_its_own_closers(opener: str, closer: str) -> None:
    assert not unmatched([opener], [closer])
    assert unmatched([opener], [])
    assert unmatched([], [opener])
    assert unmatched([opener], [opener]) == (opener not in PARTNERS[opener])
    assert unmatched([closer], [opener]) == (opener not in PARTNERS.get(closer, ()))
    assert unmatched([opener, opener], [closer])
    assert not unmatched([opener, opener], [closer, closer])
    # a question or exclamation mark stands well alone, other closers do not
    assert unmatched([], [closer]) == (closer not in "?!")
    assert unmatched([opener], [closer, closer]) == (closer not in "?!")


@pytest.mark.parametrize(("opener", "closer"), PAIRS)
def test_nesting(opener: str, closer: str) -> None:
    for inner, close in PAIRS:
        assert not unmatched([opener, inner], [close, closer])
        if closer not in PARTNERS[inner]:
            assert unmatched([inner], [closer])
            assert unmatched([opener, inner], [closer, close])


@pytest.mark.parametrize(
    ("left", "right", "bad"),
    [
        ("", "", False),
        (",", ",", False),
        ("-", "", False),
        ("", ". . .", False),
        ("", "?", False),
        ("", "! ?", False),
        ("?", "!", False),
        ("( ,", ", )", False),
        (", (", ") ,", False),
        ("( «", "» )", False),
        ("( «", ") »", True),
        ("(", "]", True),
        (")", "(", True),
        (")", "", True),
        (")", ")", True),
        ("( )", "", True),
        ("", "( )", True),
        ("” “", "”", True),
        ("“", "”", False),
        ("”", "”", False),  # as in Finnish
        ("„", "“", False),  # as in German
        ("“", "„", True),
        ("»", "«", False),
        ("¿", "?", False),
        ("¿", "!", True),
        ("¿", "", True),
        ("¡ ¿", "? !", False),
        ("¿ ¡", "? !", True),
        ("¿", "? ? ?", False),
        ("(", "? )", False),
        ("(", ") ?", False),
        ("( ¿", "? )", False),
        ("( ¿", ") ?", True),
        ("“ ‘", "’ ”", False),
        ("“ ‘", "’ . ”", False),
        ("“", "’ ”", True),
        ("¿ (", ") ? !", False),
    ],
)
def test_unmatched_tokens(left: str, right: str, bad: bool) -> None:
    assert unmatched(left.split(), right.split()) == bad
    assert (symmetry_class(left.split(), right.split()) == "unmatched") == bad


@pytest.mark.parametrize(
    ("left", "right", "name"),
    [
        ("", "", "none"),
        (",", "", "left only"),
        ("", ".", "right only"),
        ("", "?", "right only"),
        (",", ",", "the same on both sides"),
        (", -", ", -", "the same on both sides"),
        (",", ".", "different on both sides"),
        ("(", ")", "matched"),
        ("¿", "?", "matched"),
        ("( ,", ")", "matched and more"),
        ("“", ". ”", "matched and more"),
        ("( «", "» )", "matched and more"),
        ("(", "", "unmatched"),
        ("", ")", "unmatched"),
    ],
)
def test_classes(left: str, right: str, name: str) -> None:
    assert symmetry_class(left.split(), right.split()) == name
    assert name in CLASSES


def test_rows_of_an_inventory() -> None:
    pairs = [[((), ()), ((0,), (1,)), ((0,), ())], [((), ()), ((), (1,)), ((2,), (2,)), ((2,), ())]]
    some = Inventory(3, pairs)
    assert some.rows[:3] == [((), ()), ((0,), ()), ((0,), (1,))]
    cost = unmatched_rows(some, ["(", ")", ","])
    assert cost.dtype == torch.double
    assert cost.tolist() == [0, 1, 0, 0, 1, 0, 0]
