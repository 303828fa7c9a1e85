"""Edit distance of slots, surfaces and sets of sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyropunct.restore.edit_distance import average_edit_distance, slot_distance, surface_distance
from pyropunct.text.marks import START

slots = st.lists(st.sampled_from([",", ".", "...", "\tabbr."]), max_size=5)


def recursive_distance(one: list[str], other: list[str]) -> int:
    """From the definition: the last token is deleted, inserted, or replaced, which is free if it stays."""
    if not one or not other:
        return len(one) + len(other)
    return min(
        recursive_distance(one[:-1], other) + 1,
        recursive_distance(one, other[:-1]) + 1,
        recursive_distance(one[:-1], other[:-1]) + (one[-1] != other[-1]),
    )


@given(slots, slots)
def test_slots_against_the_recursive_definition(one: list[str], other: list[str]) -> None:
    assert slot_distance(one, other) == recursive_distance(one, other)


def test_edits_are_of_whole_tokens() -> None:
    assert slot_distance(["..."], [".", ".", "."]) == 3
    assert slot_distance(["..."], [".."]) == 1


def test_start_never_counts() -> None:
    assert slot_distance((START,), ()) == 0
    assert slot_distance((START, "“"), ("“",)) == 0
    assert slot_distance((START, "“"), (START,)) == 1


def test_surface_distance_adds_up_over_slots() -> None:
    assert surface_distance([(START,), (",",), (".",)], [(START, "“"), (), (".", "”")]) == 3
    assert surface_distance([(START,), (",",), ()], [(START,), (), (",",)]) == 2  # no token changes its slot


def test_average_is_over_all_slots_of_all_sentences() -> None:
    found = [[(START,), (".",)], [(START,), (), (".",)]]
    wanted = [[(START,), ("?",)], [(START,), (",",), ("!", ".")]]
    assert average_edit_distance(found, wanted) == 3 / 5
    assert average_edit_distance(wanted, wanted) == 0


def test_what_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="2 slots from 1"):
        surface_distance([(), ()], [()])
    with pytest.raises(ValueError, match="1 sentences cannot be compared with 2"):
        average_edit_distance([[()]], [[()], [()]])
    with pytest.raises(ValueError, match="no sentence"):
        average_edit_distance([], [])
